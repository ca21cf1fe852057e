//! Redacts values that their schema marks as secret.
//!
//! A schema marks a value with `"writeOnly": true`, `"format": "password"` or `"x-redact": true`. Redaction doesn't
//! decide which schema branch a value matches: it applies every branch that might, and hides the value where a
//! reference can't be resolved. It may hide too much, and must never show too much.

use haft_schema::{AppliesTo, Schema, Subschema};
use serde_json::{Map, Value};

/// The replacement for a secret.
pub(super) const REDACTED: &str = "[redacted]";

/// The secrets that one schema marks.
pub(super) struct Redaction<'a> {
    schema: &'a Schema,
}

/// All subschemas that may apply to one value.
#[derive(Default)]
struct ApplicableSchemas<'s> {
    subschemas: Vec<Subschema<'s>>,
    is_secret: bool,
}

impl<'a> Redaction<'a> {
    pub(super) fn of(schema: &'a Schema) -> Self {
        Self { schema }
    }

    /// Returns the value without its secrets.
    pub(super) fn apply(&self, value: &Value) -> Value {
        let subschemas = self.schema.subschemas();
        ApplicableSchemas::of([subschemas.root()]).redact(value)
    }

    /// Reports whether anything in the schema is marked, wherever it applies.
    pub(super) fn marks_any(&self) -> bool {
        any_object(self.schema.as_json(), &is_marked)
    }
}

impl<'s> ApplicableSchemas<'s> {
    /// Collects these subschemas and all that they apply to the same value.
    fn of(subschemas: impl IntoIterator<Item = Subschema<'s>>) -> Self {
        let mut applicable = Self::default();
        let mut open: Vec<Subschema<'s>> = subschemas.into_iter().collect();
        while let Some(subschema) = open.pop() {
            if applicable.subschemas.contains(&subschema) {
                continue;
            }
            applicable.subschemas.push(subschema);
            applicable.is_secret |= subschema.as_json().as_object().is_some_and(is_marked);
            applicable.is_secret |= subschema.has_unresolved_reference();
            open.extend(subschema.references().map(|(_, target)| target));
            let is_here = |part: &Subschema<'_>| matches!(part.applies_to(), AppliesTo::Value | AppliesTo::MemberNames);
            open.extend(subschema.parts().filter(is_here));
        }
        applicable
    }

    fn redact(&self, value: &Value) -> Value {
        if self.is_secret {
            return Value::from(REDACTED);
        }
        match value {
            Value::Object(members) => {
                members.iter().map(|(key, member)| (key.clone(), self.of_member(key).redact(member))).collect()
            }
            Value::Array(items) => {
                items.iter().enumerate().map(|(index, item)| self.of_item(index).redact(item)).collect()
            }
            other => other.clone(),
        }
    }

    /// Returns the subschemas for the member with this name. Patterns are not matched: all count.
    fn of_member(&self, key: &str) -> Self {
        let found = self.subschemas.iter().flat_map(|subschema| {
            let is_named = subschema.parts().any(|part| part.applies_to() == AppliesTo::Member(key));
            subschema.parts().filter(move |part| match part.applies_to() {
                AppliesTo::Member(name) => name == key,
                AppliesTo::MatchingMembers(_) => true,
                AppliesTo::OtherMembers => !is_named,
                _ => false,
            })
        });
        Self::of(found)
    }

    /// Returns the subschemas for the item at this index.
    fn of_item(&self, index: usize) -> Self {
        let parts = self.subschemas.iter().flat_map(|subschema| subschema.parts());
        Self::of(parts.filter(|part| match part.applies_to() {
            AppliesTo::Item(at) => at == index,
            AppliesTo::Items => true,
            _ => false,
        }))
    }
}

fn is_marked(node: &Map<String, Value>) -> bool {
    let is_true = |keyword: &str| node.get(keyword).and_then(Value::as_bool) == Some(true);
    is_true("writeOnly") || is_true("x-redact") || node.get("format").and_then(Value::as_str) == Some("password")
}

fn any_object(value: &Value, predicate: &impl Fn(&Map<String, Value>) -> bool) -> bool {
    match value {
        Value::Object(members) => predicate(members) || members.values().any(|member| any_object(member, predicate)),
        Value::Array(items) => items.iter().any(|item| any_object(item, predicate)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use haft_schema::Validation;
    use serde_json::json;

    use super::*;

    fn redacted(schema: Value, value: &Value) -> Value {
        let schema = Schema::json_with(schema, Validation::None).unwrap();
        Redaction::of(&schema).apply(value)
    }

    fn secret() -> Value {
        json!({"type": "string", "writeOnly": true})
    }

    #[test]
    fn each_mark_hides_the_value_and_only_when_it_is_set() {
        let table = [
            (json!({"writeOnly": true}), true),
            (json!({"format": "password"}), true),
            (json!({"x-redact": true}), true),
            (json!({"writeOnly": false, "x-redact": false}), false),
            (json!({"x-redact": "true"}), false),
            (json!({"readOnly": true, "format": "email"}), false),
            (json!({}), false),
            (json!(true), false),
        ];
        for (schema, hidden) in table {
            let expected = if hidden { json!(REDACTED) } else { json!(["x", {"y": 1}]) };
            assert_eq!(redacted(schema.clone(), &json!(["x", {"y": 1}])), expected, "{schema}");
        }
    }

    /// Each row is a schema, a value, and the redacted value.
    #[test]
    fn a_mark_is_found_wherever_it_may_apply() {
        let table = [
            (
                "a property",
                json!({"properties": {"s": secret()}}),
                json!({"s": "x", "t": 1}),
                json!({"s": REDACTED, "t": 1}),
            ),
            (
                "deep",
                json!({"properties": {"a": {"properties": {"s": secret()}}}}),
                json!({"a": {"s": 1, "t": 2}}),
                json!({"a": {"s": REDACTED, "t": 2}}),
            ),
            (
                "a map",
                json!({"properties": {"t": {}}, "additionalProperties": secret()}),
                json!({"s": 1, "t": 2}),
                json!({"s": REDACTED, "t": 2}),
            ),
            ("unevaluated", json!({"unevaluatedProperties": secret()}), json!({"s": 1}), json!({"s": REDACTED})),
            ("any pattern", json!({"patternProperties": {"^s": secret()}}), json!({"t": 1}), json!({"t": REDACTED})),
            ("names", json!({"propertyNames": secret()}), json!({"s": 1}), json!(REDACTED)),
            ("items", json!({"items": secret()}), json!(["x", 1]), json!([REDACTED, REDACTED])),
            ("positions", json!({"prefixItems": [{}, secret()]}), json!([1, 2, 3]), json!([1, REDACTED, 3])),
            ("rest", json!({"prefixItems": [{}], "items": secret()}), json!([1, 2]), json!([REDACTED, REDACTED])),
            ("contains", json!({"contains": secret()}), json!([1]), json!([REDACTED])),
            (
                "old positions",
                json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{}, secret()]}),
                json!([1, 2, 3]),
                json!([1, REDACTED, 3]),
            ),
            (
                "old rest",
                json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{}], "additionalItems": secret()}),
                json!([1, 2]),
                json!([REDACTED, REDACTED]),
            ),
            (
                "all of",
                json!({"allOf": [{}, {"properties": {"s": secret()}}]}),
                json!({"s": 1}),
                json!({"s": REDACTED}),
            ),
            ("any of", json!({"anyOf": [{"type": "null"}, secret()]}), json!(7), json!(REDACTED)),
            (
                "one of",
                json!({"oneOf": [{"properties": {"s": {}}}, {"properties": {"s": secret()}}]}),
                json!({"s": 1}),
                json!({"s": REDACTED}),
            ),
            ("if", json!({"if": {}, "then": {"properties": {"s": secret()}}}), json!({"s": 1}), json!({"s": REDACTED})),
            (
                "dependent",
                json!({"dependentSchemas": {"t": {"properties": {"s": secret()}}}}),
                json!({"s": 1}),
                json!({"s": REDACTED}),
            ),
            (
                "beside",
                json!({"properties": {"s": {"description": "a"}}, "allOf": [{"properties": {"s": secret()}}]}),
                json!({"s": 1}),
                json!({"s": REDACTED}),
            ),
        ];
        for (name, schema, value, expected) in table {
            assert_eq!(redacted(schema, &value), expected, "{name}");
        }
    }

    #[test]
    fn references_are_followed_even_in_circles() {
        let tree = json!({
            "$defs": {
                "a/b c": {"properties": {"secret": secret(), "next": {"$ref": "#/$defs/a~1b%20c"}}},
                "loop": {"allOf": [{"$ref": "#/$defs/loop"}]},
            },
            "allOf": [{"$ref": "#/$defs/loop"}],
            "properties": {"root": {"$ref": "#"}, "first": {"$ref": "#/$defs/a~1b%20c"}},
        });
        let value = json!({"root": {"first": {"secret": 1, "next": {"next": {"secret": 2, "open": 3}}}}});
        let expected =
            json!({"root": {"first": {"secret": REDACTED, "next": {"next": {"secret": REDACTED, "open": 3}}}}});
        assert_eq!(redacted(tree, &value), expected);
    }

    #[test]
    fn a_value_behind_an_unresolved_reference_is_hidden() {
        let references = ["#/$defs/nowhere", "#anchor", "other.json", "#/$defs/%zz", "#/$defs/%"];
        for reference in references {
            let schema = json!({"properties": {"a": {"$ref": reference}, "b": {}}});
            assert_eq!(redacted(schema, &json!({"a": 1, "b": 2})), json!({"a": REDACTED, "b": 2}), "{reference}");
        }
    }

    #[test]
    fn references_into_schemas_with_ids_of_their_own_are_followed() {
        let (new, old) = ("https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-04/schema#");
        for (draft, keyword) in [(new, "$id"), (old, "id")] {
            let embedded = json!({
                "$schema": draft,
                "definitions": {
                    "inner": {keyword: "https://example.com/inner", "definitions": {"t": secret()}},
                    "t": {},
                },
                "properties": {
                    "a": {"$ref": "#/definitions/t"},
                    "b": {"$ref": "https://example.com/inner#/definitions/t"},
                },
            });
            assert_eq!(redacted(embedded, &json!({"a": 1, "b": 2})), json!({"a": 1, "b": REDACTED}), "{draft}");
        }
    }

    #[test]
    fn marks_are_found_anywhere_in_a_schema() {
        let marks = |schema: Value| {
            let schema = Schema::json_with(schema, Validation::None).unwrap();
            Redaction::of(&schema).marks_any()
        };
        assert!(marks(json!({"$defs": {"never_used": {"oneOf": [{}, secret()]}}})));
        assert!(!marks(json!({"properties": {"password": {"type": "string"}}})));
        assert!(!marks(json!(true)));
    }
}
