//! The difference between two definitions, field by field.

use std::collections::HashSet;

use haft_schema::canonical_text;
use serde_json::Value;

use super::words::{self, TextPiece};
use crate::document::member;

/// A field that differs between two definitions of a tool.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FieldDifference {
    /// The JSON Pointer to the field, such as `/inputSchema/properties/query/description`.
    pub pointer: String,
    /// The difference.
    pub change: FieldChange,
}

/// A field's difference.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldChange {
    /// Only the new definition has the field.
    Added(Value),
    /// Only the old definition has the field.
    Removed(Value),
    /// The field has another value.
    Replaced {
        /// The old value.
        old: Value,
        /// The new value.
        new: Value,
    },
    /// The field is another text, of these pieces.
    Text(Vec<TextPiece>),
    /// The field is a list of texts and numbers, such as `required`, with other items. Their order may differ too.
    Items {
        /// The items that only the old list has.
        removed: Vec<Value>,
        /// The items that only the new list has.
        added: Vec<Value>,
    },
}

/// Returns the differences between two values, in the order of the new one's members.
pub(super) fn differences(old: &Value, new: &Value) -> Vec<FieldDifference> {
    let mut found = Vec::new();
    compare("", old, new, &mut found);
    found
}

fn compare(pointer: &str, old: &Value, new: &Value, found: &mut Vec<FieldDifference>) {
    let change = match (old, new) {
        (Value::Object(before), Value::Object(after)) => {
            for (key, value) in after {
                compare_option(member(pointer, key), before.get(key), Some(value), found);
            }
            for (key, value) in before.iter().filter(|(key, _)| !after.contains_key(*key)) {
                compare_option(member(pointer, key), Some(value), None, found);
            }
            return;
        }
        (Value::Array(before), Value::Array(after)) if !before.iter().chain(after).all(is_scalar) => {
            for at in 0..before.len().max(after.len()) {
                compare_option(format!("{pointer}/{at}"), before.get(at), after.get(at), found);
            }
            return;
        }
        _ if is_same(old, new) => return,
        (Value::Array(before), Value::Array(after)) => {
            let (removed, added) = (missing_from(before, after), missing_from(after, before));
            if removed.is_empty() && added.is_empty() {
                FieldChange::Replaced { old: old.clone(), new: new.clone() }
            } else {
                FieldChange::Items { removed, added }
            }
        }
        (Value::String(old), Value::String(new)) => FieldChange::Text(words::pieces(old, new)),
        _ => FieldChange::Replaced { old: old.clone(), new: new.clone() },
    };
    found.push(FieldDifference { pointer: pointer.to_owned(), change });
}

fn compare_option(pointer: String, old: Option<&Value>, new: Option<&Value>, found: &mut Vec<FieldDifference>) {
    let change = match (old, new) {
        (Some(old), Some(new)) => return compare(&pointer, old, new, found),
        (Some(old), None) => FieldChange::Removed(old.clone()),
        (None, Some(new)) => FieldChange::Added(new.clone()),
        (None, None) => return,
    };
    found.push(FieldDifference { pointer, change });
}

fn is_scalar(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

/// Returns the scalars in a list that another list lacks.
fn missing_from(items: &[Value], other: &[Value]) -> Vec<Value> {
    let known: HashSet<String> = other.iter().map(canonical_text).collect();
    items.iter().filter(|item| !known.contains(&canonical_text(item))).cloned().collect()
}

/// Reports whether two values have the same digest.
fn is_same(old: &Value, new: &Value) -> bool {
    canonical_text(old) == canonical_text(new)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_field_is_reported_at_its_place() {
        let old = json!({
            "name": "search", "description": "Searches the docs.", "title": "S",
            "inputSchema": {
                "type": "object", "required": ["a", "b"], "enum": [1, 2], "maximum": 1,
                "properties": {"a/b": {"type": "string"}, "gone": {}},
                "anyOf": [{"x": 1}, {"y": 2}],
            },
        });
        let new = json!({
            "name": "search", "description": "Searches all docs.",
            "inputSchema": {
                "type": ["object"], "required": ["b", "c"], "enum": [2, 1], "maximum": 1.0,
                "properties": {"a/b": {"type": "number"}, "new": {}},
                "anyOf": [{"x": 1, "z": null}],
            },
            "_meta": {"k": 1},
        });
        let shown: Vec<String> =
            differences(&old, &new).iter().map(|field| format!("{} {:?}", field.pointer, field.change)).collect();
        insta::assert_snapshot!(shown.join("\n"));
    }

    #[test]
    fn equal_values_have_no_difference() {
        let value = json!({"a": [1, {"b": "x"}], "c": null});
        assert!(differences(&value, &value).is_empty());
        assert!(differences(&json!({"a": 1, "b": 2}), &json!({"b": 2.0, "a": 1})).is_empty());
    }
}
