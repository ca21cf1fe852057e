//! The functions of the Berkeley Function Calling Leaderboard.
//!
//! Their schemas use the type names of Python, Java or JavaScript. Such a schema is not a JSON Schema: it is rejected
//! with a pointer to the name, and accepted once the names are those of JSON Schema, as every runner of the leaderboard
//! translates them.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{Schema, files, parts};
use crate::issue::Issues;

/// The type names of the leaderboard and those of JSON Schema.
const NAMES: [(&str, &str); 11] = [
    ("dict", "object"),
    ("HashMap", "object"),
    ("float", "number"),
    ("double", "number"),
    ("long", "integer"),
    ("tuple", "array"),
    ("Array", "array"),
    ("ArrayList", "array"),
    ("String", "string"),
    ("char", "string"),
    ("Boolean", "boolean"),
];

/// The type names that accept every value.
const ANY: [&str; 2] = ["any", ""];

/// Returns every schema in the data, with the name of its function.
fn schemas() -> Vec<(String, Value)> {
    let mut schemas = Vec::new();
    for path in files(&parts("bfcl").join("data")) {
        let text = std::fs::read_to_string(&path).unwrap();
        // Some files are lists of other data, over several lines.
        for line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            let alone = std::slice::from_ref(&line);
            for function in line["function"].as_array().map_or(alone, Vec::as_slice) {
                for part in ["parameters", "response"] {
                    if let Some(schema) = function.get(part).filter(|_| function["name"].is_string()) {
                        schemas.push((format!("{} {} {part}", path.display(), function["name"]), schema.clone()));
                    }
                }
            }
        }
    }
    schemas
}

/// Renames the types of a schema and of its subschemas.
fn rename_types(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    if let Some(Value::String(name)) = map.get("type") {
        if ANY.contains(&name.as_str()) {
            map.shift_remove("type");
        } else if let Some((_, json)) = NAMES.iter().find(|(theirs, _)| theirs == name) {
            map.insert("type".to_owned(), json!(json));
        }
    }
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        properties.values_mut().for_each(rename_types);
    }
    for word in ["items", "additionalProperties"] {
        if let Some(schema) = map.get_mut(word) {
            rename_types(schema);
        }
    }
}

fn is_json_schema(schema: &Value) -> bool {
    jsonschema::draft202012::meta::is_valid(schema)
}

#[test]
fn every_schema_of_the_leaderboard_builds_or_is_rejected_with_a_pointer() {
    let schemas = schemas();
    let distinct: HashMap<String, (String, Value)> =
        schemas.iter().map(|(name, schema)| (schema.to_string(), (name.clone(), schema.clone()))).collect();
    let (mut renamed, mut invalid) = (0, Vec::new());
    for (text, (name, mut schema)) in distinct {
        match Schema::json(schema.clone()) {
            Ok(built) => {
                assert!(is_json_schema(&schema), "{name}: {schema}");
                assert_eq!(built.as_json().to_string(), text, "{name}: kept to the byte");
                continue;
            }
            Err(error) => assert_points_at_type_names(&name, &schema, error.issues()),
        }
        assert!(!is_json_schema(&schema), "{name}: {schema}");
        rename_types(&mut schema);
        match Schema::json(schema.clone()) {
            Ok(built) => assert_eq!(built.as_json().to_string(), schema.to_string(), "{name}: kept to the byte"),
            Err(error) => invalid.extend(error.issues().iter().map(|issue| format!("{name}{}", issue.pointer))),
        }
        renamed += 1;
    }
    assert!(schemas.len() >= 9_600, "only {} schemas were there", schemas.len());
    assert!(renamed >= 2_500, "only {renamed} schemas with other type names were there");
    // The result of one tool uses the tuple syntax of drafts before 2020-12, and does not name its draft.
    assert!(invalid.len() == 1 && invalid[0].ends_with("/items/items"), "{invalid:?}");
}

fn is_foreign(name: &str) -> bool {
    ANY.contains(&name) || NAMES.iter().any(|(theirs, _)| *theirs == name)
}

/// Asserts that each issue points at a name that JSON Schema does not define, or at a list where a schema is required.
fn assert_points_at_type_names(name: &str, schema: &Value, issues: &Issues) {
    for issue in issues {
        let place = schema.pointer(&issue.pointer);
        let is_wrong = match issue.keyword.as_ref() {
            "type" => place.and_then(Value::as_str).is_some_and(is_foreign),
            "schema" => place.is_some_and(Value::is_array),
            _ => false,
        };
        assert!(is_wrong, "{name}: {issue}");
    }
}
