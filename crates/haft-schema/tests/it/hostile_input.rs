//! Hostile input: made to bypass the schema, to keep the check busy, or to exhaust memory.

use haft_schema::{DecodeOptions, Limits, Schema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

fn decode(schema: &Schema, text: &str) -> Result<Value, Vec<(String, String)>> {
    schema
        .decode(text, &DecodeOptions::default())
        .map(|decoded| decoded.value)
        .map_err(|issues| issues.iter().map(|issue| (issue.pointer.clone(), issue.keyword.clone())).collect())
}

/// `serde_json` passes JSON text to its own types under private keys, and would read such an object as its content.
#[test]
fn private_keys_of_the_json_reader_do_not_smuggle_values_in() {
    let schema = Schema::json(json!({"type": "object", "properties": {"a": {"type": "integer"}}})).unwrap();
    for token in ["$serde_json::private::RawValue", "$serde_json::private::Else"] {
        let smuggled = json!({ token: r#"{"a": "not an integer", "__proto__": 1}"# }).to_string();
        let refused = decode(&schema, &smuggled).unwrap_err();
        assert_eq!(refused, [(format!("/{token}"), "forbiddenKey".to_owned())]);
        assert!(decode(&Schema::unknown(), &smuggled).is_err());
        assert!(haft_schema::secure_json::parse(&smuggled).is_err());
    }
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
struct Amount {
    #[serde(default, alias = "z")]
    #[schemars(range(max = 10))]
    n: u8,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only read into")]
enum TextOrAmount {
    Text(String),
    Amount(Amount),
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Inner {
    item: Amount,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Flat {
    #[serde(flatten)]
    inner: Inner,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Tagged {
    Amount(Amount),
}

/// The schema does not contain an alias, so no value may enter by it, however the type is read.
#[test]
fn an_alias_does_not_bypass_a_rule() {
    fn read<T: serde::de::DeserializeOwned + JsonSchema>(text: &str) -> Option<T> {
        Schema::of::<T>().unwrap().decode(text, &DecodeOptions::default()).ok().map(|decoded| decoded.value)
    }
    assert_eq!(read::<Amount>(r#"{"z": 200}"#).unwrap().n, 0);
    let Some(TextOrAmount::Amount(amount)) = read(r#"{"z": 200}"#) else { panic!("an amount with its default") };
    assert_eq!(amount.n, 0);
    assert_eq!(read::<Flat>(r#"{"item": {"z": 200}}"#).unwrap().inner.item.n, 0);
    let Tagged::Amount(amount) = read(r#"{"kind": "Amount", "z": 200}"#).unwrap();
    assert_eq!(amount.n, 0);
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "op")]
enum Expression {
    Not { arg: Box<Self> },
    Neg { arg: Box<Self> },
    Lit { v: i64 },
}

/// With the tag written last, every level has to be buffered before its variant is known; the work must not double
/// each time.
#[test]
fn alternatives_within_alternatives_are_each_tried_once() {
    let schema = Schema::of::<Expression>().unwrap();
    let nested = |inner: &str| format!("{}{inner}{}", r#"{"arg":"#.repeat(100), r#","op":"Not"}"#.repeat(100));
    assert!(schema.decode::<Expression>(&nested(r#"{"op":"Lit","v":1}"#), &DecodeOptions::default()).is_ok());
    assert!(schema.decode::<Expression>(&nested(r#"{"op":"Lit","v":"1"}"#), &DecodeOptions::default()).is_err());

    let form = |key: &str| json!({"type": "object", "required": ["x"], "properties": {"x": {"$ref": "#/$defs/e"}, key: {"type": "string"}}});
    let raw = json!({"$ref": "#/$defs/e", "$defs": {"e": {"anyOf": [form("a"), form("b"), {"type": "integer"}]}}});
    let schema = Schema::json(raw).unwrap();
    let nested = |inner: &str| format!("{}{inner}{}", r#"{"x":"#.repeat(100), "}".repeat(100));
    assert!(decode(&schema, &nested("1")).is_ok());
    assert!(decode(&schema, &nested("\"bad\"")).is_err());
}

/// A schema can consist of alternatives, or of parts, that all refer to the same subschema.
#[test]
fn a_subschema_with_many_references_is_checked_once() {
    for word in ["anyOf", "allOf"] {
        let mut definitions = Map::new();
        for level in 0..60 {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            definitions.insert(format!("d{level}"), json!({word: [next, next]}));
        }
        definitions.insert("d60".to_owned(), json!({"type": "string"}));
        let schema = Schema::json(json!({"$ref": "#/$defs/d0", "$defs": definitions})).unwrap();
        assert!(schema.check(&json!("fits")).is_ok(), "{word}");
        let issues = schema.check(&json!(1)).unwrap_err();
        assert!(issues.len() <= 1_001, "{word}: {}", issues.len());
    }
}

#[test]
fn a_long_chain_of_references_needs_no_stack() {
    let mut definitions = Map::new();
    for level in 0..2_000 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions.insert(format!("d{level}"), json!({"type": "object", "properties": {"a": next}}));
    }
    definitions.insert("d2000".to_owned(), json!({"type": "string"}));
    let raw = json!({"$ref": "#/$defs/d0", "$defs": definitions});
    let schema = std::thread::Builder::new().stack_size(2 << 20).spawn(move || Schema::json(raw)).unwrap().join();
    let schema = schema.unwrap().unwrap();
    assert!(schema.check(&json!({"a": {"a": {}}})).is_ok());
    assert!(schema.check(&json!({"a": {"a": 1}})).is_err());
}

/// Each such keyword is checked by the full validator; many of them must not each copy the whole schema.
#[test]
fn a_schema_with_many_rare_keywords_is_compiled_once() {
    let property = |at: usize| (format!("p{at}"), json!({"type": "array", "contains": {"const": at}}));
    let properties: Map<String, Value> = (0..400).map(property).collect();
    let schema = Schema::json(json!({"type": "object", "properties": properties})).unwrap();
    assert!(schema.check(&json!({"p7": [7], "p399": [399]})).is_ok());
    assert_eq!(schema.check(&json!({"p7": [8], "p399": []})).unwrap_err().len(), 2);
}

#[test]
fn the_list_of_issues_is_bounded_in_number_and_in_length() {
    let schema = Schema::of::<Vec<String>>().unwrap();
    let text = format!("[{}1]", "1,".repeat(50_000));
    let issues = schema.decode::<Vec<String>>(&text, &DecodeOptions::default()).unwrap_err();
    assert_eq!(issues.len(), 1_001);
    assert_eq!(issues.as_slice()[1_000].keyword, "maxIssues");

    let long = "k".repeat(1 << 20);
    let closed = Schema::empty();
    for text in [format!(r#"{{"{long}": 1}}"#), format!(r#"{{"{long}": 1, "{long}": 1}}"#)] {
        let issues = closed.decode::<Value>(&text, &DecodeOptions::default()).unwrap_err();
        for issue in &issues {
            assert!(issue.message.len() < 500 && issue.pointer.len() < 500, "{} bytes", issue.message.len());
        }
    }
}

/// No text overflows the stack of an ordinary thread, however high the limit is set.
#[test]
fn the_depth_limit_has_a_ceiling() {
    let on_a_thread = |levels: usize| {
        let read = move || {
            let limits = Limits::default().max_depth(usize::MAX);
            let text = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
            let options = DecodeOptions::default().limits(limits);
            Schema::unknown().decode::<Value>(&text, &options).map(|_| ()).map_err(|issues| issues.to_string())
        };
        std::thread::Builder::new().stack_size(2 << 20).spawn(read).unwrap().join().unwrap()
    };
    assert_eq!(on_a_thread(256), Ok(()));
    assert!(on_a_thread(257).unwrap_err().contains("256"));
    assert!(on_a_thread(100_000).is_err());
}

/// Two spellings of one key of a numeric map: one of the two would be lost.
#[test]
fn numeric_keys_have_one_spelling() {
    use std::collections::BTreeMap;
    let schema = Schema::of::<BTreeMap<u8, i32>>().unwrap();
    let read = |text: &str| schema.decode::<BTreeMap<u8, i32>>(text, &DecodeOptions::default());
    assert_eq!(read(r#"{"5": 1}"#).unwrap().value, BTreeMap::from([(5, 1)]));
    let issues = read(r#"{"5": 1, "05": 2}"#).unwrap_err();
    assert_eq!((issues.as_slice()[0].pointer.as_str(), issues.as_slice()[0].keyword.as_str()), ("/05", "decode"));
}

#[test]
fn an_integer_is_never_taken_for_its_neighbour() {
    let schema = Schema::of::<i64>().unwrap();
    let read = |text: &str| schema.decode::<i64>(text, &DecodeOptions::default()).ok().map(|decoded| decoded.value);
    for integer in [9_007_199_254_740_991, 9_007_199_254_740_992, 9_007_199_254_740_993, -9_007_199_254_740_993] {
        for text in [integer.to_string(), format!("{integer}.0"), format!("{integer}0e-1"), format!("{integer}.0E+0")] {
            assert_eq!(read(&text), Some(integer), "{text}");
        }
    }
    for text in
        ["9007199254740992.9", "4.99999999999999999999", "1e-400", "9223372036854775808.0", "9223372036854775807.5"]
    {
        assert_eq!(read(text), None, "{text}");
    }
}
