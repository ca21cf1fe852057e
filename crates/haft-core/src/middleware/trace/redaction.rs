//! Values without what their schema marks as secret.
//!
//! A schema marks a value with `"writeOnly": true`, `"format": "password"` or `"x-redact": true`. Redaction doesn't
//! decide which branch of a schema a value took: it applies every branch that might hold, and where it can't tell what a
//! reference leads to, it hides the value. It may hide too much, and must never show too much.

use std::cell::OnceCell;

use serde_json::{Map, Value};

use crate::schema::Schema;

/// What stands in place of a secret.
pub(super) const REDACTED: &str = "[redacted]";

/// Keywords whose subschemas are about the value itself: one schema, a list of schemas, or schemas by name.
const HERE_ONE: [&str; 5] = ["not", "if", "then", "else", "propertyNames"];
const HERE_LIST: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const HERE_NAMED: [&str; 2] = ["dependentSchemas", "dependencies"];

/// Keywords whose subschema is about any member or item that others don't name.
const OTHER_MEMBERS: [&str; 2] = ["additionalProperties", "unevaluatedProperties"];
const ANY_ITEM: [&str; 4] = ["items", "additionalItems", "unevaluatedItems", "contains"];

/// What one schema marks as secret.
pub(super) struct Redaction<'a> {
    root: &'a Value,
    /// Whether a part of the schema has an id of its own, so that references may not mean what they seem to.
    has_ids: OnceCell<bool>,
}

/// All schemas that may be about one value.
#[derive(Default)]
struct Nodes<'a> {
    nodes: Vec<&'a Map<String, Value>>,
    is_secret: bool,
}

impl<'a> Redaction<'a> {
    pub(super) fn of(schema: &'a Schema) -> Self {
        Self { root: schema.as_json(), has_ids: OnceCell::new() }
    }

    /// The value without its secrets.
    pub(super) fn apply(&self, value: &Value) -> Value {
        self.redact(&self.nodes([self.root]), value)
    }

    /// Whether anything in the schema is marked, wherever it applies.
    pub(super) fn marks_any(&self) -> bool {
        any_object(self.root, &is_marked)
    }

    fn redact(&self, here: &Nodes<'a>, value: &Value) -> Value {
        if here.is_secret {
            return Value::from(REDACTED);
        }
        match value {
            Value::Object(members) => members
                .iter()
                .map(|(key, member)| (key.clone(), self.redact(&self.nodes(here.of_member(key)), member)))
                .collect(),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(index, item)| self.redact(&self.nodes(here.of_item(index)), item))
                .collect(),
            other => other.clone(),
        }
    }

    /// These schemas and all that they apply to the same value.
    fn nodes(&self, schemas: impl IntoIterator<Item = &'a Value>) -> Nodes<'a> {
        let mut found = Nodes::default();
        let mut open: Vec<&'a Value> = schemas.into_iter().collect();
        while let Some(schema) = open.pop() {
            let Some(node) = schema.as_object() else { continue };
            if found.nodes.iter().any(|known| std::ptr::eq(*known, node)) {
                continue;
            }
            found.nodes.push(node);
            found.is_secret |= is_marked(node);
            open.extend(HERE_ONE.iter().filter_map(|keyword| node.get(*keyword)));
            open.extend(HERE_LIST.iter().filter_map(|keyword| node.get(*keyword)?.as_array()).flatten());
            open.extend(HERE_NAMED.iter().filter_map(|keyword| node.get(*keyword)?.as_object()).flat_map(Map::values));
            for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
                let Some(reference) = node.get(keyword) else { continue };
                match self.resolve(reference) {
                    Some(target) => open.push(target),
                    None => found.is_secret = true,
                }
            }
        }
        found
    }

    /// What a reference leads to, if that is certain.
    fn resolve(&self, reference: &Value) -> Option<&'a Value> {
        let pointer = reference.as_str()?.strip_prefix('#')?;
        if *self.has_ids.get_or_init(|| self.root.as_object().is_some_and(has_inner_ids)) {
            return None;
        }
        self.root.pointer(&percent_decoded(pointer)?)
    }
}

impl<'a> Nodes<'a> {
    /// The schemas of the member of this name. Patterns are not matched: all of them count.
    fn of_member(&self, key: &str) -> Vec<&'a Value> {
        let mut found = Vec::new();
        for node in &self.nodes {
            let named = node.get("properties").and_then(|properties| properties.get(key));
            found.extend(named);
            found.extend(node.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::values));
            if named.is_none() {
                found.extend(OTHER_MEMBERS.iter().filter_map(|keyword| node.get(*keyword)));
            }
        }
        found
    }

    /// The schemas of the item at this place.
    fn of_item(&self, index: usize) -> Vec<&'a Value> {
        let mut found = Vec::new();
        for node in &self.nodes {
            found.extend(node.get("prefixItems").and_then(|places| places.get(index)));
            for schema in ANY_ITEM.iter().filter_map(|keyword| node.get(*keyword)) {
                // Before draft 2020-12, a list under `items` was what `prefixItems` is now.
                found.extend(if schema.is_array() { schema.get(index) } else { Some(schema) });
            }
        }
        found
    }
}

fn is_marked(node: &Map<String, Value>) -> bool {
    let says = |keyword: &str| node.get(keyword).and_then(Value::as_bool) == Some(true);
    says("writeOnly") || says("x-redact") || node.get("format").and_then(Value::as_str) == Some("password")
}

fn has_inner_ids(root: &Map<String, Value>) -> bool {
    let is_draft_4 = root.get("$schema").and_then(Value::as_str).is_some_and(|draft| draft.contains("draft-04"));
    let keyword = if is_draft_4 { "id" } else { "$id" };
    let has_id = |node: &Map<String, Value>| node.get(keyword).is_some_and(Value::is_string);
    root.values().any(|value| any_object(value, &has_id))
}

fn any_object(value: &Value, is_it: &impl Fn(&Map<String, Value>) -> bool) -> bool {
    match value {
        Value::Object(members) => is_it(members) || members.values().any(|member| any_object(member, is_it)),
        Value::Array(items) => items.iter().any(|item| any_object(item, is_it)),
        _ => false,
    }
}

/// A JSON Pointer out of a URI fragment; `None` if it isn't text.
fn percent_decoded(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::Validation;

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

    /// A schema, a value, and what is shown of it.
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
            ("places", json!({"prefixItems": [{}, secret()]}), json!([1, 2, 3]), json!([1, REDACTED, 3])),
            ("rest", json!({"prefixItems": [{}], "items": secret()}), json!([1, 2]), json!([REDACTED, REDACTED])),
            ("contains", json!({"contains": secret()}), json!([1]), json!([REDACTED])),
            (
                "old places",
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
    fn what_a_doubtful_reference_leads_to_is_hidden() {
        let references = ["#/$defs/nowhere", "#anchor", "other.json", "#/$defs/%zz", "#/$defs/%"];
        for reference in references {
            let schema = json!({"properties": {"a": {"$ref": reference}, "b": {}}});
            assert_eq!(redacted(schema, &json!({"a": 1, "b": 2})), json!({"a": REDACTED, "b": 2}), "{reference}");
        }
        // A schema inside of the schema, by draft and keyword, and whether references are still certain.
        let (new, old) = ("https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-04/schema#");
        for (draft, keyword, certain) in [(new, "$id", false), (new, "id", true), (old, "id", false)] {
            let embedded = json!({
                "$schema": draft,
                "definitions": {"inner": {keyword: "https://example.com/inner", "definitions": {"t": {}}}, "t": {}},
                "properties": {"a": {"$ref": "#/definitions/t"}},
            });
            let expected = if certain { json!({"a": 1}) } else { json!({"a": REDACTED}) };
            assert_eq!(redacted(embedded, &json!({"a": 1})), expected, "{keyword} in {draft}");
        }
    }

    #[test]
    fn a_schema_knows_whether_it_marks_anything() {
        let marks = |schema: Value| Redaction { root: &schema, has_ids: OnceCell::new() }.marks_any();
        assert!(marks(json!({"$defs": {"never_used": {"oneOf": [{}, secret()]}}})));
        assert!(!marks(json!({"properties": {"password": {"type": "string"}}})));
        assert!(!marks(json!(true)));
    }
}
