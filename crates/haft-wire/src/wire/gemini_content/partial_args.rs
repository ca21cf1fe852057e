//! A call's arguments, streamed in pieces, each with the path to its value.
//!
//! Only Vertex AI streams arguments, and only on request. The pieces are put into a tree here, which is written when
//! the call ends.

use serde_json::{Map, Value};

use super::response::PartialArg;
use crate::wire_error::ReadError;

/// The most steps in a path.
const MAX_STEPS: usize = 64;

/// The arguments so far.
#[derive(Debug, Default)]
pub(super) struct PartialArguments {
    root: Map<String, Value>,
    /// The path to the string that the next piece continues.
    open: Option<String>,
}

/// A path step.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Member(String),
    Item(usize),
}

impl PartialArguments {
    /// Adds a piece.
    pub(super) fn add(&mut self, piece: PartialArg<'_>) -> Result<(), ReadError> {
        let Some(path) = piece.json_path else { return Err(invalid("", "has no path")) };
        let path = path.0;
        let continues = self.open.as_deref() == Some(&*path);
        let steps = steps(&path).ok_or_else(|| invalid(&path, "is no path of a value"))?;
        let place = place(&mut self.root, steps).ok_or_else(|| invalid(&path, "does not lead to a value"))?;
        match (piece.string_value, piece.number_value, piece.bool_value) {
            (Some(text), ..) => match place {
                Value::String(known) if continues => known.push_str(&text.0),
                place => *place = text.0.into_owned().into(),
            },
            (None, Some(number), _) => *place = Value::Number(number),
            (None, None, Some(flag)) => *place = flag.into(),
            (None, None, None) if piece.null_value.is_some() => *place = Value::Null,
            // A string's end may come without more text.
            (None, None, None) if !continues && place.is_null() => *place = String::new().into(),
            (None, None, None) => {}
        }
        self.open = piece.will_continue.unwrap_or_default().then(|| path.into_owned());
        Ok(())
    }

    /// Reports whether no piece arrived.
    pub(super) fn is_empty(&self) -> bool {
        self.root.is_empty()
    }

    /// Returns the arguments as JSON text.
    pub(super) fn into_text(self) -> String {
        Value::Object(self.root).to_string()
    }
}

fn invalid(path: &str, what: &str) -> ReadError {
    ReadError::invalid(format!("a piece of the arguments of a call {what}: `{path}`"))
}

/// Returns a value's place, creating it on the way. List items can only be appended.
fn place(root: &mut Map<String, Value>, steps: Vec<Step>) -> Option<&mut Value> {
    let mut steps = steps.into_iter();
    let Some(Step::Member(first)) = steps.next() else { return None };
    let mut place = root.entry(first).or_insert(Value::Null);
    for step in steps {
        place = match step {
            Step::Member(name) => {
                if place.is_null() {
                    *place = Value::Object(Map::new());
                }
                place.as_object_mut()?.entry(name).or_insert(Value::Null)
            }
            Step::Item(at) => {
                if place.is_null() {
                    *place = Value::Array(Vec::new());
                }
                let items = place.as_array_mut()?;
                if at == items.len() {
                    items.push(Value::Null);
                }
                items.get_mut(at)?
            }
        };
    }
    Some(place)
}

/// Reads a path such as `$.a.b[0]['c d']`.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if steps.len() == MAX_STEPS {
            return None;
        }
        let (step, after) = match rest.strip_prefix('.') {
            Some(name) => {
                let end = name.find(['.', '[']).unwrap_or(name.len());
                (Step::Member(name[..end].to_owned()), &name[end..])
            }
            None => bracketed(rest.strip_prefix('[')?)?,
        };
        if step == Step::Member(String::new()) && rest.starts_with('.') {
            return None;
        }
        steps.push(step);
        rest = after;
    }
    (!steps.is_empty()).then_some(steps)
}

/// Reads `0]…` or `'name']…`.
fn bracketed(text: &str) -> Option<(Step, &str)> {
    let Some(quote) = text.chars().next().filter(|first| matches!(first, '\'' | '"')) else {
        let (index, after) = text.split_once(']')?;
        return Some((Step::Item(index.parse().ok()?), after));
    };
    let mut name = String::new();
    let mut chars = text[1..].char_indices();
    while let Some((at, letter)) = chars.next() {
        match letter {
            '\\' => name.push(chars.next()?.1),
            _ if letter == quote => return Some((Step::Member(name), text[1 + at + 1..].strip_prefix(']')?)),
            _ => name.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn assemble(pieces: &[Value]) -> Result<String, ReadError> {
        let mut arguments = PartialArguments::default();
        for piece in pieces {
            let text = piece.to_string();
            arguments.add(serde_json::from_str(&text).unwrap())?;
        }
        Ok(arguments.into_text())
    }

    #[test]
    fn pieces_are_put_in_their_place() {
        let pieces = [
            json!({"jsonPath": "$.city", "stringValue": "Os", "willContinue": true}),
            json!({"jsonPath": "$.city", "stringValue": "lo"}),
            json!({"jsonPath": "$.days[0].n", "numberValue": 3}),
            json!({"jsonPath": "$.days[0].wet", "boolValue": false}),
            json!({"jsonPath": "$.days[1]['a b']", "nullValue": "NULL_VALUE"}),
            json!({"jsonPath": "$[\"it's\"]", "stringValue": "one", "willContinue": true}),
            json!({"jsonPath": "$[\"it's\"]"}),
        ];
        assert_eq!(
            assemble(&pieces).unwrap(),
            r#"{"city":"Oslo","days":[{"n":3,"wet":false},{"a b":null}],"it's":"one"}"#
        );
    }

    #[test]
    fn a_string_is_continued_only_if_it_was_announced() {
        let pieces =
            [json!({"jsonPath": "$.a", "stringValue": "one"}), json!({"jsonPath": "$.a", "stringValue": "two"})];
        assert_eq!(assemble(&pieces).unwrap(), r#"{"a":"two"}"#);
        assert_eq!(assemble(&[json!({"jsonPath": "$.a", "willContinue": true})]).unwrap(), r#"{"a":""}"#);
    }

    #[test]
    fn invalid_paths_are_errors() {
        let deep = format!("${}", ".a".repeat(MAX_STEPS + 1));
        for path in
            ["", "a", "$", "$.", "$..a", "$[0]", "$.a[9]", "$.a[-1]", "$.a[x]", "$.a[", "$['a", "$['a'x", "$.é[", &deep]
        {
            assemble(&[json!({"jsonPath": path, "numberValue": 1})]).unwrap_err();
        }
        assemble(&[json!({"numberValue": 1})]).unwrap_err();
        assemble(&[json!({"jsonPath": "$.a", "numberValue": 1}), json!({"jsonPath": "$.a.b", "numberValue": 1})])
            .unwrap_err();
    }
}
