//! One call's elements: a template with the call's arguments.
//!
//! A value can never become an option: before `--`, an element that begins with a variable must not begin with a
//! hyphen. Literal elements are never changed, left out or reordered, whatever the values.

use haft_schema::{Issue, Issues};
use serde_json::{Map, Value};

use super::template::{ArgvElement, ArgvPiece, ArgvTemplate, ArgvVariable, ArgvZone, VariableForm};

/// The largest element in bytes, which is Linux's limit.
const MAX_ELEMENT: usize = 128 * 1024 - 1;

/// The keyword for issues that the template causes.
const KEYWORD: &str = "command";

impl ArgvTemplate {
    /// Returns the elements after the program, or all reasons why the arguments are rejected.
    pub(super) fn render(&self, arguments: &Map<String, Value>) -> Result<Vec<String>, Issues> {
        let mut rendering = ArgvRendering { arguments, argv: Vec::new(), issues: Vec::new() };
        let mut after_option = false;
        for (index, (element, zone)) in self.zoned().enumerate() {
            let before = rendering.argv.len();
            match element {
                ArgvElement::Literal(text) => rendering.argv.push(text.clone()),
                ArgvElement::Values(variable) => rendering.values(variable, zone),
                ArgvElement::Joined(pieces) => rendering.joined(pieces, zone),
            }
            let is_missing = rendering.argv.len() == before && rendering.issues.is_empty();
            if let (ArgvElement::Values(variable), true, true) = (element, is_missing, after_option) {
                rendering.reject(variable, "requires a value, as an option precedes it");
            }
            if self.counted.contains(&index) && rendering.argv.len() != before + 1 && rendering.issues.is_empty() {
                for variable in element.variables() {
                    rendering
                        .reject(variable, "requires exactly one value, as the meaning of what follows depends on it");
                }
            }
            after_option = element.is_option(zone);
        }
        if rendering.issues.is_empty() { Ok(rendering.argv) } else { Err(Issues::new(rendering.issues)) }
    }
}

/// The elements so far, and the reasons why the arguments are rejected.
struct ArgvRendering<'a> {
    arguments: &'a Map<String, Value>,
    argv: Vec<String>,
    issues: Vec<Issue>,
}

impl<'a> ArgvRendering<'a> {
    /// Adds the elements for a variable that stands alone.
    fn values(&mut self, variable: &ArgvVariable, zone: ArgvZone) {
        let values = match (self.value(variable), variable.form) {
            (None, _) => return,
            (Some(Value::Array(list)), VariableForm::Plain) => list.iter().collect(),
            (Some(value), _) => vec![value],
        };
        for value in values {
            if let Some(text) = self.text(variable, value) {
                self.push(text, variable, zone);
            }
        }
    }

    /// Adds an element with variables in it, unless none has a value.
    fn joined(&mut self, pieces: &[ArgvPiece], zone: ArgvZone) {
        // Literal text at the beginning decides what the element is: the template was checked for that.
        let zone = if matches!(pieces.first(), Some(ArgvPiece::Literal(_))) { ArgvZone::Operands } else { zone };
        let mut text = String::new();
        let (mut given, mut missing) = (Vec::new(), Vec::new());
        for piece in pieces {
            match piece {
                ArgvPiece::Literal(literal) => text.push_str(literal),
                ArgvPiece::Variable(variable) => match self.value(variable) {
                    None => missing.push(variable),
                    Some(value) => {
                        text.push_str(&self.text(variable, value).unwrap_or_default());
                        given.push(variable);
                    }
                },
            }
        }
        let Some(first) = given.first() else { return };
        for variable in missing {
            self.reject(variable, "requires a value, as it is part of an argument with others");
        }
        self.push(text, first, zone);
    }

    /// Adds an element, unless it looks like an option or is too long.
    fn push(&mut self, text: String, variable: &ArgvVariable, zone: ArgvZone) {
        if zone == ArgvZone::Options && text.starts_with('-') {
            self.reject(variable, "must not begin with `-`, as it would be read as an option");
        } else if text.len() > MAX_ELEMENT {
            self.reject(variable, "is too long for an argument of a command");
        } else {
            self.argv.push(text);
        }
    }

    /// Returns a variable's value, or `None` if it is missing or null.
    fn value(&self, variable: &ArgvVariable) -> Option<&'a Value> {
        self.arguments.get(&variable.name).filter(|value| !value.is_null())
    }

    /// Returns a value as text, unless it has none.
    fn text(&mut self, variable: &ArgvVariable, value: &Value) -> Option<String> {
        let text = match (value, variable.form) {
            (Value::String(text), VariableForm::Plain) => text.clone(),
            (Value::Number(_) | Value::Bool(_), VariableForm::Plain) | (_, VariableForm::Json) => value.to_string(),
            (Value::Null | Value::Array(_) | Value::Object(_), VariableForm::Plain) => {
                self.reject(variable, "must be text, a number or a boolean");
                return None;
            }
        };
        if text.contains('\0') {
            self.reject(variable, "must not contain a NUL character");
            return None;
        }
        Some(text)
    }

    fn reject(&mut self, variable: &ArgvVariable, message: &str) {
        self.issues.push(Issue::new(pointer(&variable.name), KEYWORD, message));
    }
}

/// Returns a member's JSON Pointer.
pub(super) fn pointer(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn template(argv: &[&str]) -> ArgvTemplate {
        let mut faults = Vec::new();
        let argv: Vec<String> = argv.iter().map(|&text| text.to_owned()).collect();
        let template = ArgvTemplate::parse(&argv, &mut faults);
        assert_eq!(faults, []);
        template
    }

    fn render(argv: &[&str], arguments: &Value) -> Result<Vec<String>, String> {
        template(argv).render(arguments.as_object().unwrap()).map_err(|issues| issues.to_string())
    }

    #[test]
    fn values_become_elements() {
        for (argv, arguments, expected) in [
            (&["p", "{x}"][..], json!({"x": "a b"}), &["a b"][..]),
            (&["p", "{x}"], json!({"x": ""}), &[""]),
            (&["p", "{x}"], json!({"x": "$(id); `id` | id\n*"}), &["$(id); `id` | id\n*"]),
            (&["p", "{x}"], json!({"x": 1.5}), &["1.5"]),
            (&["p", "{x}"], json!({"x": true}), &["true"]),
            (&["p", "{x}"], json!({"x": null}), &[]),
            (&["p", "{x}"], json!({}), &[]),
            (&["p", "{x}"], json!({"x": ["a", 2, false]}), &["a", "2", "false"]),
            (&["p", "{x}"], json!({"x": []}), &[]),
            (&["p", "{x:json}"], json!({"x": ["a", {"b": 1}]}), &[r#"["a",{"b":1}]"#]),
            (&["p", "{x:json}"], json!({"x": "a"}), &["\"a\""]),
            (&["p", "--n={x}"], json!({"x": "-rf"}), &["--n=-rf"]),
            (&["p", "--n={x}"], json!({}), &[]),
            (&["p", "{x}={y}"], json!({"x": "a", "y": "-b"}), &["a=-b"]),
            (&["p", "--", "{x}"], json!({"x": ["-rf", "--", "-"]}), &["--", "-rf", "--", "-"]),
            (&["p", "{{x}}", "{x}"], json!({"x": "{y}", "y": 1}), &["{x}", "{y}"]),
            (&["p", "-o", "{x}"], json!({"x": ["a", "b"]}), &["-o", "a", "b"]),
        ] {
            let expected = expected.iter().map(|&text| text.to_owned()).collect();
            assert_eq!(render(argv, &arguments), Ok(expected), "{argv:?} {arguments}");
        }
    }

    #[test]
    fn invalid_values_are_rejected_at_their_pointers() {
        let long = "x".repeat(MAX_ELEMENT + 1);
        for (argv, arguments, issue) in [
            (&["p", "{x}"][..], json!({"x": "-rf"}), "/x: must not begin with `-`"),
            (&["p", "{x}"], json!({"x": "--"}), "/x: must not begin with `-`"),
            (&["p", "{x}"], json!({"x": "-"}), "/x: must not begin with `-`"),
            (&["p", "{x}"], json!({"x": -5}), "/x: must not begin with `-`"),
            (&["p", "{x:json}"], json!({"x": -5}), "/x: must not begin with `-`"),
            (&["p", "{x}"], json!({"x": ["a", "-b"]}), "/x: must not begin with `-`"),
            (&["p", "{x}{y}"], json!({"x": "", "y": "-b"}), "/x: must not begin with `-`"),
            (&["p", "{x}-rf"], json!({"x": ""}), "/x: must not begin with `-`"),
            (&["p", "{x}", "--"], json!({"x": "-a"}), "/x: must not begin with `-`"),
            (&["p", "--", "{x}"], json!({"x": "a\u{0}b"}), "/x: must not contain a NUL"),
            (&["p", "--n={a~/b}"], json!({"a~/b": "\u{0}"}), "/a~0~1b: must not contain a NUL"),
            (&["p", "{x}"], json!({"x": {"a": 1}}), "/x: must be text, a number or a boolean"),
            (&["p", "{x}"], json!({"x": [["a"]]}), "/x: must be text, a number or a boolean"),
            (&["p", "{x}"], json!({"x": [null]}), "/x: must be text, a number or a boolean"),
            (&["p", "--n={x}"], json!({"x": ["a"]}), "/x: must be text, a number or a boolean"),
            (&["p", "{x}={y}"], json!({"x": "a"}), "/y: requires a value"),
            (&["p", "-o", "{x}", "y"], json!({"x": []}), "/x: requires a value, as an option precedes it"),
            (&["p", "-o", "{x}", "y"], json!({"x": null}), "/x: requires a value, as an option precedes it"),
            (&["p", "{x}"], json!({"x": long}), "/x: is too long"),
        ] {
            let rejected = render(argv, &arguments).unwrap_err();
            assert!(rejected.starts_with(issue), "{argv:?}: {rejected}");
        }
        let both = template(&["p", "{x}", "{y}"]).render(json!({"x": "-a", "y": {}}).as_object().unwrap()).unwrap_err();
        assert_eq!(both.len(), 2, "all issues are reported");
    }

    /// Values that look like options, templates and shell code, and any others.
    fn value() -> impl Strategy<Value = Value> {
        let text = prop_oneof![
            any::<String>(),
            "-{0,3}[a-z=]{0,3}",
            prop::sample::select(vec!["--", "-", "{x}", "{{", "$(id)", "; id", "\n-x", "\u{0}", "", "−x"])
                .prop_map(str::to_owned),
        ];
        let scalar = prop_oneof![
            text.prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            Just(Value::Null),
        ];
        prop_oneof![
            4 => scalar.clone(),
            1 => prop::collection::vec(scalar.clone(), 0..4).prop_map(Value::from),
            1 => scalar.prop_map(|inner| json!({"a": inner})),
        ]
    }

    fn element() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "lit",
            "-o",
            "--flag",
            "--",
            "",
            "{x}",
            "{y}",
            "{x:json}",
            "--n={x}",
            "--n={x}{y}",
            "{x}{y}",
            "{x}-l",
            "a{y}",
        ])
    }

    proptest! {
        #[test]
        fn no_value_becomes_an_option_and_no_literal_changes(
            elements in prop::collection::vec(element(), 0..8), x in value(), y in value(),
        ) {
            let argv: Vec<&str> = std::iter::once("p").chain(elements.iter().copied()).collect();
            let template = template(&argv);
            let arguments = json!({"x": x, "y": y});
            let Ok(rendered) = template.render(arguments.as_object().unwrap()) else { return Ok(()) };
            // Every rendered element belongs to the template element that it came from, in order.
            let mut left = rendered.as_slice();
            for (at, (element, zone)) in template.zoned().enumerate() {
                let literals_after = template.elements[at + 1..].iter().filter(|e| matches!(e, ArgvElement::Literal(_))).count();
                match element {
                    ArgvElement::Literal(text) => {
                        prop_assert_eq!(left.first(), Some(text));
                        left = &left[1..];
                    }
                    ArgvElement::Values(_) | ArgvElement::Joined(_) => {
                        let one = ArgvTemplate {
                            elements: vec![element.clone()],
                            options: 1,
                            ..ArgvTemplate::default()
                        };
                        // A single element is in the option zone: it is never rendered differently after `--`.
                        let count = match one.render(arguments.as_object().unwrap()) {
                            Ok(own) => own.len(),
                            Err(_) => {
                                prop_assert_eq!(zone, ArgvZone::Operands, "only operands may begin with a hyphen");
                                let operand = ArgvTemplate {
                                    elements: vec![ArgvElement::Literal("--".to_owned()), element.clone()],
                                    options: 1,
                                    ..ArgvTemplate::default()
                                };
                                operand.render(arguments.as_object().unwrap()).unwrap().len() - 1
                            }
                        };
                        for text in &left[..count] {
                            let begins_literally = matches!(element, ArgvElement::Joined(pieces)
                                if matches!(pieces.first(), Some(ArgvPiece::Literal(_))));
                            prop_assert!(
                                zone == ArgvZone::Operands || begins_literally || !text.starts_with('-'), "{:?}", text
                            );
                            prop_assert!(!text.contains('\0'));
                        }
                        left = &left[count..];
                    }
                }
                prop_assert!(left.len() >= literals_after);
            }
            prop_assert!(left.is_empty());
        }
    }
}
