//! Untrusted raw schemas: building and checking any of them ends without a panic.
//!
//! The first line of an input is the schema, the rest is the value.

use haft_schema::{DecodeOptions, Schema};
use serde_json::Value;

use super::{Outcome, Target, rejection};

pub(super) const TARGET: Target = Target {
    name: "raw_schema",
    seeds: &[
        "{}\n1",
        "true\n{}",
        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\",\"minimum\":1}},\"required\":[\"a\"]}\n{\"a\":0}",
        "{\"$ref\":\"#/$defs/n\",\"$defs\":{\"n\":{\"anyOf\":[{\"type\":\"null\"},{\"$ref\":\"#/$defs/n\"}]}}}\n[null]",
        "{\"oneOf\":[{\"const\":1},{\"enum\":[1,\"a\"]}],\"not\":{\"type\":\"string\"}}\n\"a\"",
        "{\"type\":\"array\",\"prefixItems\":[{\"type\":\"string\",\"pattern\":\"^a\"}],\"items\":false,\"uniqueItems\":true}\n[\"a\"]",
        "{\"patternProperties\":{\"^x\":{\"multipleOf\":0.1}},\"additionalProperties\":false}\n{\"x\":0.3}",
        "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"dependencies\":{\"a\":[\"b\"]}}\n{\"a\":1}",
        "{\"if\":{\"minLength\":2},\"then\":{\"format\":\"date\"},\"unevaluatedProperties\":false}\n\"2024-02-30\"",
    ],
    run,
};

fn run(input: &[u8]) -> Outcome {
    let Ok(text) = std::str::from_utf8(input) else { return Outcome::of(&"no text") };
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let Ok(written) = serde_json::from_str::<Value>(first) else { return Outcome::of(&"no schema") };
    let schema = match Schema::json(written.clone()) {
        Ok(schema) => schema,
        Err(error) => return Outcome::of(&("bad schema", rejection(error.issues()))),
    };
    assert_eq!(*schema.as_json(), written, "the schema was changed");

    let decoded = schema.decode::<Value>(rest, &DecodeOptions::default());
    let Ok(value) = serde_json::from_str::<Value>(rest) else { return Outcome::of(&("no value", decoded.is_ok())) };
    let checked = schema.check(&value);
    match (decoded, &checked) {
        (Ok(_), Err(issues)) => panic!("{written} accepts the text of {value} and rejects the value: {issues}"),
        (Ok(decoded), Ok(())) => assert!(is_same(&decoded.value, &value), "{value} became {}", decoded.value),
        (Err(_), _) => {}
    }
    Outcome::of(&checked.map_err(|issues| rejection(&issues)))
}

/// Returns whether two values are equal. Where a schema requires an integer, `1.0` may become `1`.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || (left.is_f64() != right.is_f64() && left.as_f64() == right.as_f64())
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let same = |(name, left): (&String, &Value)| right.get(name).is_some_and(|right| is_same(left, right));
            left.len() == right.len() && left.iter().all(same)
        }
        _ => left == right,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::is_same;

    #[test]
    fn an_integral_float_equals_its_integer_and_nothing_else_differs() {
        assert!(is_same(&json!({ "a": [1, null], "b": 2 }), &json!({ "b": 2.0, "a": [1.0, null] })));
        assert!(!is_same(&json!([1]), &json!([1.5])));
        assert!(!is_same(&json!(9_007_199_254_740_993_u64), &json!(9_007_199_254_740_992_u64)));
        assert!(!is_same(&json!([1]), &json!([1, 1])));
        assert!(!is_same(&json!({ "a": 1 }), &json!({ "b": 1 })));
        assert!(!is_same(&json!("1"), &json!(1)));
    }
}
