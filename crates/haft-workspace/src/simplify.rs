//! Simplifies generated schemas for people who write files: without `null`, which TOML lacks, and without the
//! description parts for Rust authors.

use serde_json::{Map, Value, json};

/// Removes `null` from what a generated schema allows. Types use it for an absent key, and a message that offers it
/// would mislead. Descriptions keep their first paragraph.
pub(crate) fn simplify(schema: &mut Value) {
    let Value::Object(keywords) = schema else { return };
    if let Some(Value::String(text)) = keywords.get_mut("description") {
        *text = text.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    }
    if keywords.get("default") == Some(&Value::Null) {
        keywords.remove("default");
    }
    remove_null(keywords);
    for (keyword, value) in keywords.iter_mut() {
        match (keyword.as_str(), value) {
            ("$defs" | "definitions" | "dependentSchemas" | "patternProperties" | "properties", Value::Object(map)) => {
                map.values_mut().for_each(simplify);
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(items)) => items.iter_mut().for_each(simplify),
            (
                "additionalProperties"
                | "contains"
                | "else"
                | "if"
                | "items"
                | "not"
                | "propertyNames"
                | "then"
                | "unevaluatedProperties",
                value,
            ) => simplify(value),
            _ => {}
        }
    }
}

fn remove_null(keywords: &mut Map<String, Value>) {
    for keyword in ["type", "enum", "anyOf", "oneOf"] {
        let Some(Value::Array(items)) = keywords.get_mut(keyword) else { continue };
        let is_null = |item: &Value| match keyword {
            "type" => item == "null",
            "enum" => item.is_null(),
            _ => *item == json!({"type": "null"}),
        };
        if items.iter().all(is_null) {
            continue;
        }
        items.retain(|item| !is_null(item));
        if items.len() > 1 || keyword == "enum" {
            continue;
        }
        let Some(only) = items.pop() else { continue };
        match only {
            // A single branch replaces the list, unless both have the same keyword.
            Value::Object(branch) if !branch.keys().any(|key| key != keyword && keywords.contains_key(key)) => {
                keywords.remove(keyword);
                keywords.extend(branch);
            }
            only if keyword == "type" => drop(keywords.insert(keyword.to_owned(), only)),
            only => drop(keywords.insert(keyword.to_owned(), Value::Array(vec![only]))),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::simplify;

    #[test]
    fn null_is_removed_from_schemas_and_not_from_data_in_them() {
        for (mut before, after) in [
            (json!({"type": ["string", "null"]}), json!({"type": "string"})),
            (json!({"type": ["string", "integer", "null"]}), json!({"type": ["string", "integer"]})),
            (json!({"type": "null"}), json!({"type": "null"})),
            (json!({"enum": ["a", null], "default": null}), json!({"enum": ["a"]})),
            (json!({"enum": [null]}), json!({"enum": [null]})),
            (json!({"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}), json!({"$ref": "#/$defs/a"})),
            (
                json!({"description": "x", "anyOf": [{"description": "y", "type": "string"}, {"type": "null"}]}),
                json!({"description": "x", "anyOf": [{"description": "y", "type": "string"}]}),
            ),
            (
                json!({"properties": {"type": {"type": ["null", "array"], "items": {"type": ["null", "number"]}}}}),
                json!({"properties": {"type": {"type": "array", "items": {"type": "number"}}}}),
            ),
            (json!({"description": "One\nline.\n\nMore."}), json!({"description": "One line."})),
            (json!({"const": {"type": ["null", "a"]}}), json!({"const": {"type": ["null", "a"]}})),
        ] {
            simplify(&mut before);
            assert_eq!(before, after);
        }
    }
}
