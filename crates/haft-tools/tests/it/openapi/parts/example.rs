//! Examples of values, made from schemas.

use haft_executor::Tool;
use haft_schema::Schema;
use proptest::strategy::{Strategy, ValueTree};
use proptest::string::string_regex;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

/// The nesting up to which optional properties are part of an example: as much as is valid and not too long.
const FULL: [usize; 4] = [6, 3, 2, 0];
/// The longest example.
const LONGEST: usize = 100_000;
/// The value of what has no schema.
const ANY: &str = "x";

/// Returns arguments that are valid for a tool; `None` if the simple ones made here are not.
pub(super) fn example(tool: &Tool) -> Option<Value> {
    let schema = tool.json_schema();
    let examples = FULL.iter().map(|full| value(schema, schema, 0, *full));
    examples.filter(|value| value.to_string().len() <= LONGEST).find(|value| tool.parameters().check(value).is_ok())
}

fn value(root: &Value, schema: &Value, depth: usize, full: usize) -> Value {
    if depth > 12 {
        return Value::Null;
    }
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.strip_prefix('#').unwrap()).unwrap();
        return value(root, target, depth, full);
    }
    for known in [&schema["const"], &schema["enum"][0], &schema["examples"][0], &schema["default"]] {
        if !known.is_null() {
            return known.clone();
        }
    }
    for keyword in ["oneOf", "anyOf"] {
        if let Some(first) = schema[keyword].get(0) {
            return merged(value(root, first, depth, full), object(root, schema, depth, full));
        }
    }
    if let Some(all) = schema["allOf"].as_array() {
        let of_all = all.iter().map(|part| value(root, part, depth, full));
        return of_all.reduce(merged).map_or(Value::Null, |value| merged(value, object(root, schema, depth, full)));
    }
    match schema["type"].as_str().or_else(|| schema["type"][0].as_str()) {
        Some("string") => text(schema),
        #[allow(clippy::cast_possible_truncation, reason = "bounds of schemas are small")]
        Some("integer") => json!(number(schema).ceil() as i64),
        Some("number") => json!(number(schema)),
        Some("boolean") => json!(true),
        Some("array") => {
            let count = schema["minItems"].as_u64().unwrap_or(1).clamp(1, 5);
            (0..count).map(|_| value(root, &schema["items"], depth + 1, full)).collect()
        }
        Some("null") => Value::Null,
        Some("object") => object(root, schema, depth, full),
        _ if schema.get("properties").is_some() => object(root, schema, depth, full),
        _ => json!(ANY),
    }
}

fn object(root: &Value, schema: &Value, depth: usize, full: usize) -> Value {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let mut members = Map::new();
    for (name, property) in &properties {
        if depth < full || required.contains(&name.as_str()) {
            members.insert(name.clone(), value(root, property, depth + 1, full));
        }
    }
    for name in required.iter().filter(|name| !properties.contains_key(**name)) {
        members.insert((*name).to_owned(), json!(ANY));
    }
    members.into()
}

fn merged(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Object(mut one), Value::Object(other)) => {
            for (name, value) in other {
                // A part of a schema may require what only another part describes.
                if value != ANY || !one.contains_key(&name) {
                    one.insert(name, value);
                }
            }
            one.into()
        }
        (one, _) => one,
    }
}

fn text(schema: &Value) -> Value {
    let text = match schema["format"].as_str() {
        Some("date-time") => "2026-01-02T03:04:05Z",
        Some("date") => "2026-01-02",
        Some("time") => "03:04:05Z",
        Some("uuid") => "123e4567-e89b-42d3-a456-426614174000",
        Some("email") => "a@example.com",
        Some("uri" | "url") => "https://example.com/",
        Some("hostname") => "example.com",
        Some("ipv4") => "192.0.2.1",
        Some("ipv6") => "2001:db8::1",
        Some("byte") => "YWJj",
        _ => "abc",
    };
    if let Some(text) = schema["pattern"].as_str().and_then(|pattern| matching(pattern, schema)) {
        return text.into();
    }
    let least = usize::try_from(schema["minLength"].as_u64().unwrap_or(0)).unwrap();
    let most = usize::try_from(schema["maxLength"].as_u64().unwrap_or(u64::from(u32::MAX))).unwrap();
    let mut text = text.to_owned();
    while text.len() < least {
        text.push('a');
    }
    text.truncate(most);
    text.into()
}

/// Returns a text that matches a pattern, the same each time, if one is found.
fn matching(pattern: &str, schema: &Value) -> Option<String> {
    let mut runner = TestRunner::deterministic();
    // The generator knows no anchors.
    let pattern = pattern.strip_prefix('^').unwrap_or(pattern);
    let texts = string_regex(pattern.strip_suffix('$').unwrap_or(pattern)).ok()?;
    let check = Schema::json(schema.clone()).ok()?;
    (0..50).find_map(|_| {
        let text = texts.new_tree(&mut runner).ok()?.current();
        check.check(&json!(text)).is_ok().then_some(text)
    })
}

fn number(schema: &Value) -> f64 {
    let least = schema["minimum"].as_f64().or_else(|| schema["exclusiveMinimum"].as_f64().map(|bound| bound + 1.0));
    let most = schema["maximum"].as_f64().or_else(|| schema["exclusiveMaximum"].as_f64().map(|bound| bound - 1.0));
    least.unwrap_or(1.0_f64.min(most.unwrap_or(1.0)))
}
