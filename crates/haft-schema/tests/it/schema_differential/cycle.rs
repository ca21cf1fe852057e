//! Schemas that may apply themselves to the same value again.
//!
//! Such a schema has no meaning: the specification forbids it, and haft rejects it when it is built. The oracle builds
//! some of them and then overflows the stack. They are detected here independently of haft, so that no other schema is
//! rejected for that reason.

use serde_json::Value;

use super::value::target;

/// Returns whether some subschema may apply itself to the same value. Dynamic references may lead to any resource.
pub(super) fn may_be_endless(root: &Value) -> bool {
    let mut subschemas = Vec::new();
    collect(root, &mut subschemas);
    subschemas.iter().any(|schema| reaches_itself(schema, root))
}

/// Collects every object that may be a schema.
fn collect<'a>(value: &'a Value, into: &mut Vec<&'a Value>) {
    match value {
        Value::Object(map) => {
            into.push(value);
            map.values().for_each(|value| collect(value, into));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(value, into)),
        _ => {}
    }
}

fn reaches_itself(start: &Value, root: &Value) -> bool {
    let mut seen: Vec<&Value> = Vec::new();
    let mut ahead = in_place(start, root);
    while let Some(schema) = ahead.pop() {
        if std::ptr::eq(schema, start) {
            return true;
        }
        if !seen.iter().any(|known| std::ptr::eq(*known, schema)) {
            seen.push(schema);
            ahead.extend(in_place(schema, root));
        }
    }
    false
}

/// Returns the subschemas that a schema applies to the same value.
fn in_place<'a>(schema: &'a Value, root: &'a Value) -> Vec<&'a Value> {
    let mut found = Vec::new();
    for (word, value) in schema.as_object().into_iter().flatten() {
        match word.as_str() {
            "allOf" | "anyOf" | "oneOf" => found.extend(value.as_array().into_iter().flatten()),
            "dependencies" | "dependentSchemas" => {
                found.extend(value.as_object().into_iter().flat_map(|map| map.values()));
            }
            "not" | "if" | "then" | "else" => found.push(value),
            "$ref" => match value.as_str() {
                // The resource depends on the position of the reference.
                Some("#") => found.extend(resources(root)),
                Some(reference) if reference.ends_with("/inner") => found.extend(inner(root)),
                Some(reference) => found.extend(target(reference, root)),
                None => {}
            },
            "$dynamicRef" | "$recursiveRef" => found.extend(resources(root).chain(inner(root))),
            _ => {}
        }
    }
    found
}

fn definitions(root: &Value) -> impl Iterator<Item = &Value> {
    ["$defs", "definitions"].into_iter().filter_map(|word| root.get(word)?.as_object()).flat_map(|map| map.values())
}

fn resources(root: &Value) -> impl Iterator<Item = &Value> {
    std::iter::once(root).chain(definitions(root))
}

fn inner(root: &Value) -> impl Iterator<Item = &Value> {
    definitions(root).flat_map(definitions)
}
