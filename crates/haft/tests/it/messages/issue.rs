//! Sentences about invalid arguments, one for each rule.

use haft::JsonSchema;
use haft::schema::{DecodeOptions, Issue, Issues, Limits, Schema, Validation, Validator, secure_json};
use haft::schemars::{self, SchemaGenerator};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::*;

/// Adds the issues of argument text under a raw schema.
fn raw(messages: &mut Messages, situation: &str, schema: Value, text: &str) {
    let schema = Schema::json(schema).unwrap();
    decoded::<Value>(messages, situation, &schema, text);
}

/// Adds the issues of argument text under the schema of a type.
fn typed<T: JsonSchema + for<'de> Deserialize<'de>>(messages: &mut Messages, situation: &str, text: &str) {
    decoded::<T>(messages, situation, &Schema::of_params::<T>().unwrap(), text);
}

fn decoded<T: for<'de> Deserialize<'de>>(messages: &mut Messages, situation: &str, schema: &Schema, text: &str) {
    let issues = schema.decode::<T>(text, &DecodeOptions::default()).map(|_| text).unwrap_err();
    messages.add(situation, issues);
}

pub(super) fn of_text(messages: &mut Messages) {
    messages.section("Argument text");
    let any = Schema::unknown();
    let limited = |limits: Limits| DecodeOptions::default().limits(limits);
    let read = |text: &str, options: DecodeOptions| any.decode::<Value>(text, &options).map(|_| ()).unwrap_err();
    let plain = DecodeOptions::default;
    messages.add("cut off", read(r#"{"city": "Os"#, plain()));
    messages.add("not JSON", read("Oslo", plain()));
    messages.add("two values", read("1 2", plain()));
    messages.add("half of a surrogate pair", read(r#""\ud800""#, plain()));
    messages.add("not UTF-8", secure_json::parse([b'"', 0xff, b'"']).unwrap_err());
    messages.add("too long", read("[1, 2, 3, 4]", limited(Limits::default().max_bytes(8))));
    messages.add("nested too deeply", read("[[[[1]]]]", limited(Limits::default().max_depth(3))));
    messages.add("a number out of range", read("[1e999]", plain()));
    messages.add("a key twice", read(r#"{"a": 1, "a": 2}"#, plain()));
    messages.add("a forbidden key", read(r#"{"__proto__": 1}"#, plain()));
    let schema = Schema::json(json!({"type": "array", "items": {"type": "integer"}})).unwrap();
    let text = json!(vec!["x"; 2_000]).to_string();
    let many = schema.decode::<Value>(&text, &plain()).map(|_| ()).unwrap_err();
    messages.add("more problems than are listed, the last", many.as_slice().last().unwrap());
    let hard = Schema::json(json!({"pattern": r"^(a*)*(a*)*\1\2b$"})).unwrap();
    for (situation, length) in [("a short value that is too costly", 2_000), ("a long value that is too costly", 9_000)]
    {
        let text = json!("a".repeat(length)).to_string();
        messages.add(situation, hard.decode::<Value>(&text, &plain()).map(|_| ()).unwrap_err());
    }
    let two = Issues::new(many.as_slice()[..6].to_vec());
    messages.add("more problems than the message holds", two.reason(90));
}

pub(super) fn of_values(messages: &mut Messages) {
    messages.section("Arguments: types, texts and lists");
    let mut raw = |situation: &str, schema: Value, text: &str| raw(messages, situation, schema, text);
    raw("type", json!({"type": "string"}), "3");
    raw("type, several", json!({"type": ["string", "null"]}), "3");
    raw("type, integer", json!({"type": "integer"}), "1.5");
    raw("false", json!({"properties": {"a": false}}), r#"{"a": 1}"#);
    raw("const", json!({"const": "yes"}), r#""no""#);
    raw("enum", json!({"enum": ["red", "green", 3]}), r#""blue""#);
    let many: Vec<String> = (1..=20).map(|number| format!("v{number}")).collect();
    raw("enum, many", json!({"enum": many}), r#""blue""#);
    raw("minLength", json!({"minLength": 2}), r#""x""#);
    raw("maxLength", json!({"maxLength": 1}), r#""long""#);
    raw("pattern", json!({"pattern": "^[a-z]+$"}), r#""No 5""#);
    raw("pattern, a long value", json!({"pattern": "^[a-z]+$"}), &json!("No ".repeat(50)).to_string());
    raw("minItems", json!({"minItems": 1}), "[]");
    raw("maxItems", json!({"maxItems": 1}), "[1, 2]");
    raw("uniqueItems", json!({"uniqueItems": true}), "[1, 1]");
    raw("contains", json!({"contains": {"const": 1}}), "[2]");
    raw("minContains", json!({"contains": {"const": 1}, "minContains": 2}), "[1]");
    raw("maxContains", json!({"contains": {"const": 1}, "maxContains": 1}), "[1, 1]");
    raw("unevaluatedItems", json!({"prefixItems": [true], "unevaluatedItems": false}), "[1, 2]");
}

pub(super) fn of_numbers(messages: &mut Messages) {
    messages.section("Arguments: numbers");
    let mut raw = |situation: &str, schema: Value, text: &str| raw(messages, situation, schema, text);
    raw("minimum", json!({"minimum": 1}), "0");
    raw("maximum", json!({"maximum": 14}), "99");
    raw("exclusiveMinimum", json!({"exclusiveMinimum": 0}), "0");
    raw("exclusiveMaximum", json!({"exclusiveMaximum": 1}), "1");
    raw("multipleOf", json!({"multipleOf": 0.5}), "0.7");
    messages.add("integer below the range of its type", issues_of::<u8>("-1"));
    messages.add("integer above the range of its type", issues_of::<u8>("256"));
    messages.add("integer above the range of 64 bits", issues_of::<u64>("18446744073709551616"));
    messages.add("fraction for an integer type", issues_of::<i64>("1.5"));
    messages.add("number above the range of its type", issues_of::<f32>("1e300"));
    let mint = Tool::signal("mint").params::<u128>().define().unwrap();
    let inexact = mint.argument_tree(&ToolCall::new("c1", "mint", "123456789012345678901234567890"));
    messages.failure("integer that a tree can't hold exactly", &inexact.unwrap_err());
}

fn issues_of<T: JsonSchema + for<'de> Deserialize<'de>>(text: &str) -> Issues {
    let schema = Schema::of_params::<T>().unwrap();
    schema.decode::<T>(text, &DecodeOptions::default()).map(|_| text).unwrap_err()
}

pub(super) fn of_objects(messages: &mut Messages) {
    messages.section("Arguments: objects");
    let mut raw = |situation: &str, schema: Value, text: &str| raw(messages, situation, schema, text);
    let closed = || json!({"properties": {"city": {"type": "string"}, "days": true}, "additionalProperties": false});
    raw("required", json!({"required": ["city"]}), "{}");
    raw("required, of a type", json!({"properties": {"city": {"type": "string"}}, "required": ["city"]}), "{}");
    raw("additionalProperties, a name is near", closed(), r#"{"cty": "Oslo"}"#);
    raw("additionalProperties, no name is near", closed(), r#"{"weather": 1}"#);
    raw("additionalProperties, no keys at all", json!({"additionalProperties": false}), r#"{"weather": 1}"#);
    let patterns = json!({"patternProperties": {"^x-": true, "^y-": true}, "additionalProperties": false});
    raw("additionalProperties beside patternProperties", patterns, r#"{"weather": 1}"#);
    raw("minProperties", json!({"minProperties": 1}), "{}");
    raw("maxProperties", json!({"maxProperties": 1}), r#"{"a": 1, "b": 2}"#);
    raw("propertyNames", json!({"propertyNames": {"maxLength": 3}}), r#"{"weather": 1}"#);
    raw("unevaluatedProperties", json!({"unevaluatedProperties": false}), r#"{"weather": 1}"#);
    raw("dependentRequired", json!({"dependentRequired": {"card": ["cvc"]}}), r#"{"card": 1}"#);
    raw("dependentSchemas", json!({"dependentSchemas": {"card": {"required": ["cvc"]}}}), r#"{"card": 1}"#);
    raw("if and then", json!({"if": {"required": ["card"]}, "then": {"required": ["cvc"]}}), r#"{"card": 1}"#);
    raw("two problems", json!({"required": ["city"], "properties": {"days": {"maximum": 14}}}), r#"{"days": 99}"#);
}

pub(super) fn of_forms(messages: &mut Messages) {
    messages.section("Arguments: alternatives");
    let mut raw = |situation: &str, schema: Value, text: &str| raw(messages, situation, schema, text);
    raw("anyOf, no form", json!({"anyOf": [{"minimum": 5}, {"multipleOf": 2}]}), "3");
    raw("anyOf, types", json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}), "[]");
    raw("oneOf, no form", json!({"oneOf": [{"minimum": 5}, {"multipleOf": 2}]}), "3");
    raw("oneOf, several forms", json!({"oneOf": [{"minimum": 5}, {"multipleOf": 2}]}), "6");
    raw("not", json!({"not": {"type": "string"}}), r#""text""#);
    let tagged = |tag: &str| json!({"type": "object", "properties": {"kind": {"const": tag}}, "required": ["kind"]});
    let shapes = || json!({"oneOf": [tagged("circle"), tagged("square")]});
    raw("a tag is missing", shapes(), "{}");
    raw("an unknown tag", shapes(), r#"{"kind": "line"}"#);
    let keyed = |key: &str| json!({"type": "object", "properties": {key: true}, "required": [key], "additionalProperties": false});
    raw("an unknown key for an alternative", json!({"oneOf": [keyed("circle"), keyed("square")]}), r#"{"line": 1}"#);
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only read as arguments")]
enum Shape {
    Point,
    Circle(f64),
    Square(f64),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only read as arguments")]
struct Trip {
    /// The city.
    city: String,
    days: u8,
}

/// A type whose own code rejects what its schema allows.
#[derive(Debug)]
struct Strict;

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?;
        Err(serde::de::Error::custom("secret"))
    }
}

impl JsonSchema for Strict {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Strict".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "format": "date"})
    }
}

pub(super) fn of_types(messages: &mut Messages) {
    messages.section("Arguments: types of Rust");
    typed::<Trip>(messages, "a struct: not an object", "[]");
    typed::<Trip>(messages, "a struct: a key is missing, another is misspelt", r#"{"ctiy": "Oslo", "days": 3}"#);
    typed::<Trip>(messages, "a struct: a field of another type", r#"{"city": 5, "days": 300}"#);
    typed::<Shape>(messages, "an enum: an unknown variant", r#""Line""#);
    typed::<Shape>(messages, "an enum: a variant lacks its value", r#""Circle""#);
    typed::<Shape>(messages, "an enum: a variant takes no value", r#"{"Point": 1}"#);
    typed::<(u8, u8)>(messages, "a tuple: too short", "[1]");
    typed::<Strict>(messages, "the type rejects what its schema allows", r#""2026-01-01""#);
    let silent = Validator::new(|_| Err(Issues::new(Vec::new())));
    let schema = Schema::json_with(json!({}), Validation::With(silent)).unwrap();
    decoded::<Value>(messages, "a validator without a reason", &schema, "1");
    let even = Validator::new(|_| Err(Issue::new("/count", "even", "must be an even number").into()));
    let schema = Schema::json_with(json!({}), Validation::FullThen(even)).unwrap();
    decoded::<Value>(messages, "a validator with a reason", &schema, r#"{"count": 3}"#);
}
