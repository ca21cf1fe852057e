//! Untrusted JSON into a free-form value: accepted text has the value that the plain parser reads, without the keys
//! that poison prototypes elsewhere.

use haft_schema::secure_json;
use serde_json::Value;

use super::{Outcome, Target, parse_plain, rejection};

pub(super) const TARGET: Target = Target {
    name: "secure_parse",
    seeds: &[
        "null",
        r#"{"a":[1,-0.0,1e300,"\u00e9"],"b":{"c":{}}}"#,
        r#"{"\u005f_proto__":1}"#,
        r#"{"constructor":{"prototype":{}}}"#,
        r#"{"constructor":1,"prototype":2}"#,
        r#"{"a":1,"a":2}"#,
        r#"{"$serde_json::private::RawValue":"[1]"}"#,
        "[[[[[[[[[[1]]]]]]]]]] ",
    ],
    run,
};

fn run(input: &[u8]) -> Outcome {
    let parsed = secure_json::parse(input);
    if let Ok(value) = &parsed {
        assert_eq!(*value, parse_plain(input), "the value was changed");
        assert!(!is_poisoned(value), "a forbidden key was accepted: {value}");
    }
    Outcome::of(&parsed.map(|value| shape(&value)).map_err(|issues| rejection(&issues)))
}

fn is_poisoned(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(is_poisoned),
        Value::Object(fields) => {
            let constructor = fields.get("constructor").and_then(Value::as_object);
            let poisoned = constructor.is_some_and(|constructor| constructor.contains_key("prototype"));
            let private = fields.keys().any(|key| key == "__proto__" || key.starts_with("$serde_json::private::"));
            poisoned || private || fields.values().any(is_poisoned)
        }
        _ => false,
    }
}

/// Returns the type and the size of a value.
fn shape(value: &Value) -> (u8, usize) {
    match value {
        Value::Null => (0, 0),
        Value::Bool(_) => (1, 0),
        Value::Number(number) => (2, usize::from(number.is_f64())),
        Value::String(text) => (3, text.len().min(4)),
        Value::Array(items) => (4, items.len().min(4)),
        Value::Object(fields) => (5, fields.len().min(4)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::is_poisoned;

    #[test]
    fn poison_is_seen_at_any_depth_and_its_pieces_alone_are_none() {
        assert!(is_poisoned(&json!([{ "a": { "__proto__": 1 } }])));
        assert!(is_poisoned(&json!({ "constructor": { "prototype": null } })));
        assert!(!is_poisoned(&json!({ "constructor": { "a": 1 }, "prototype": {}, "b": "__proto__" })));
    }
}
