//! Bad input, one case a test: each is rejected at its position, by its rule, with a sentence about the remedy.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use haft_schema::{DecodeOptions, Issue, Issues, Limits, Schema, secure_json};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    item: String,
    #[schemars(range(min = 1, max = 99))]
    count: u32,
    #[serde(default)]
    note: Value,
}

fn order(text: &str) -> Issues {
    let schema = Schema::of_params::<Order>().unwrap();
    schema.decode::<Order>(text, &DecodeOptions::default()).expect_err(text)
}

/// Reads the same text for a dynamic tool, which accepts any JSON.
fn dynamic(text: &str) -> Result<Value, Issues> {
    Schema::unknown().decode(text, &DecodeOptions::default()).map(|decoded| decoded.value)
}

/// Asserts that there is one issue: at this pointer, of this keyword, with these words in its sentence.
fn assert_only(issues: &Issues, pointer: &str, keyword: &str, words: &str) {
    let [Issue { pointer: at, keyword: rule, message, .. }] = issues.as_slice() else {
        panic!("not one issue: {issues:?}");
    };
    assert_eq!((at.as_str(), rule.as_str()), (pointer, keyword), "{message}");
    assert!(message.contains(words), "{words:?} is not in {message:?}");
}

/// Runs on a thread with the stack of a worker, so that an overflow would happen here.
fn on_a_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
    thread.spawn(work).unwrap().join().unwrap()
}

#[test]
fn an_invalid_schema_is_rejected_with_all_its_faults() {
    let error = Schema::json(json!({"type": "text", "properties": {"a": {"maxLength": "x"}}})).unwrap_err();
    let pointers: Vec<&str> = error.issues().as_slice().iter().map(|issue| issue.pointer.as_str()).collect();
    assert_eq!(pointers.len(), 2, "{pointers:?}");
    assert!(pointers.contains(&"/type") && pointers.contains(&"/properties/a/maxLength"), "{pointers:?}");
}

#[test]
fn a_reference_to_the_network_is_rejected() {
    let error = Schema::json(json!({"items": {"$ref": "https://example.com/item.json"}})).unwrap_err();
    assert_only(error.issues(), "/items/$ref", "$ref", "put it under $defs");
}

#[test]
fn ten_megabytes_are_too_many() {
    let text = format!(r#"{{"item": "{}", "count": 1}}"#, "a".repeat(10 << 20));
    assert_only(&order(&text), "", "maxBytes", "send less");
    assert_only(&dynamic(&text).unwrap_err(), "", "maxBytes", "send less");
    assert_only(&secure_json::parse(&text).unwrap_err(), "", "maxBytes", "send less");
}

#[test]
fn ten_thousand_levels_are_too_deep() {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(10_000), close.repeat(10_000));
    on_a_small_stack(move || {
        for text in [deep("[", "]"), deep(r#"{"a":"#, "}"), "[".repeat(10_000)] {
            let issues = dynamic(&text).unwrap_err();
            let issue = &issues.as_slice()[0];
            assert_eq!((issues.len(), issue.keyword.as_str()), (1, "maxDepth"));
            assert!(issue.message.contains("send a flatter value"), "{issue}");
            assert_eq!(issue.pointer.matches('/').count(), 128, "at the limit");
            let issues = order(&format!(r#"{{"item": "a", "count": 1, "note": {text}}}"#));
            assert!(issues.as_slice()[0].pointer.starts_with("/note/"), "{issues}");
        }
    });
}

#[test]
fn a_million_levels_do_not_overflow_the_stack() {
    on_a_small_stack(|| {
        for text in ["[".repeat(1_000_000), r#"{"a":"#.repeat(700_000), "[".repeat(1_000_000) + &"]".repeat(1_000_000)]
        {
            assert_eq!(dynamic(&text).unwrap_err().as_slice()[0].keyword, "maxDepth");
            assert_eq!(secure_json::parse(&text).unwrap_err().as_slice()[0].keyword, "maxDepth");
            let ignored = format!(r#"{{"item": {text}, "count": 1}}"#);
            assert_eq!(order(&ignored).as_slice()[0].keyword, "maxDepth");
        }
    });
}

#[test]
fn a_key_given_twice_is_ambiguous() {
    assert_only(&order(r#"{"item": "a", "count": 1, "count": 1}"#), "/count", "duplicateKey", "send it once");
}

#[test]
fn an_escaped_prototype_is_still_the_prototype() {
    let text = r#"{"item": "a", "count": 1, "note": {"\u005f\u005fproto__": {"admin": true}}}"#;
    assert_only(&order(text), "/note/__proto__", "forbiddenKey", "leave it out");
    let text = r#"{"item": "a", "count": 1, "note": {"constructor": {"prototype": {}}}}"#;
    assert_only(&order(text), "/note/constructor/prototype", "forbiddenKey", "leave it out");
}

#[test]
fn an_invalid_number_is_no_json() {
    for number in
        ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "0x1", "01", "+1", ".5", "1.", "1e", "--1", "1_000"]
    {
        let advice = if number.contains("999") { "send a smaller one" } else { "send one complete JSON value" };
        for (text, place) in [
            (format!(r#"{{"item": "a", "count": {number}}}"#), "/count"),
            (format!(r#"{{"item": "a", "count": 1, "note": [{number}]}}"#), "/note/0"),
        ] {
            // Text that is not JSON has no positions.
            let place = if number.contains("999") { place } else { "" };
            assert_only(&order(&text), place, "json", advice);
        }
        assert_only(&dynamic(number).unwrap_err(), "", "json", advice);
    }
}

#[test]
fn a_huge_integer_is_rejected_or_kept_but_never_changed() {
    assert_only(&order(r#"{"item": "a", "count": 18446744073709551616}"#), "/count", "maximum", "at most 99");
    let read =
        |schema: &Schema, text: &str| schema.decode::<u128>(text, &DecodeOptions::default()).map(|read| read.value);
    let schema = Schema::of::<u128>().unwrap();
    assert_eq!(read(&schema, "18446744073709551616").unwrap(), 1 << 64);
    assert_eq!(read(&schema, &u128::MAX.to_string()).unwrap(), u128::MAX);
    for text in ["340282366920938463463374607431768211456", &"9".repeat(400), "-1"] {
        assert!(read(&schema, text).is_err(), "{text}");
    }
    let schema = Schema::json(json!({"type": "integer"})).unwrap();
    let issues = schema.decode::<Value>("36893488147419103233", &DecodeOptions::default());
    match issues {
        Err(issues) => assert_only(&issues, "", "exact", "send a smaller one"),
        Ok(kept) => assert_eq!(kept.value.to_string(), "36893488147419103233"),
    }
}

#[test]
fn half_a_surrogate_pair_is_no_text() {
    for text in [r"\ud800", r"\udc00", r"\udc00\ud800", r"\ud800a", r"\ud800\u0041", r"\ud83d\ud83d", r"\uD8"] {
        let as_value = format!(r#"{{"item": "{text}", "count": 1}}"#);
        let as_key = format!(r#"{{"item": "a", "count": 1, "note": {{"{text}": 1}}}}"#);
        for text in [as_value, as_key] {
            assert_only(&order(&text), "", "json", "send one complete JSON value");
            assert_only(&dynamic(&text).unwrap_err(), "", "json", "send one complete JSON value");
        }
    }
    assert_eq!(dynamic(r#""\ud83e\udd80""#).unwrap(), json!("🦀"));
}

#[test]
fn half_a_surrogate_pair_is_no_bytes_either() {
    /// A type that reads bytes, from a string that need not be Unicode.
    #[derive(Debug)]
    struct Bytes(Vec<u8>);

    impl<'de> Deserialize<'de> for Bytes {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl serde::de::Visitor<'_> for Visitor {
                type Value = Bytes;

                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("bytes")
                }

                fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                    Ok(Bytes(bytes.to_vec()))
                }
            }
            deserializer.deserialize_bytes(Visitor)
        }
    }

    let schema = Schema::json(json!({"type": "string", "maxLength": 3})).unwrap();
    let read = |text: &str| schema.decode::<Bytes>(text, &DecodeOptions::default()).map(|decoded| decoded.value.0);
    assert_eq!(read(r#""ß\u0041""#).unwrap(), "ßA".as_bytes());
    assert_only(&read(r#""\ud800""#).unwrap_err(), "", "json", "send one complete JSON value");
    assert_only(&read(r#""abcd""#).unwrap_err(), "", "maxLength", "at most 3 characters");
}

#[test]
fn the_wrong_type_is_named_with_the_right_one() {
    assert_only(&order(r#"{"item": 7, "count": 1}"#), "/item", "type", "must be a string, not a number");
    assert_only(&order(r#"["a", 1]"#), "", "type", "must be an object, not an array");
    assert_only(&order(r#""{\"item\": \"a\", \"count\": 1}""#), "", "type", "must be an object, not a string");
    assert_only(&order("null"), "", "type", "must be an object, not null");
}

#[test]
fn a_missing_key_is_named() {
    assert_only(&order(r#"{"count": 1}"#), "", "required", r#"the key "item" (a string) is missing and must be given"#);
}

#[test]
fn an_extra_key_is_named_with_the_one_that_was_meant() {
    let text = r#"{"item": "a", "count": 1, "notte": "b"}"#;
    assert_only(&order(text), "/notte", "additionalProperties", r#"did you mean "note"?"#);
}

#[test]
fn a_broken_constraint_is_named_with_its_bound() {
    assert_only(&order(r#"{"item": "a", "count": 100}"#), "/count", "maximum", "must be at most 99, and is 100");
    assert_only(&order(r#"{"item": "a", "count": 0}"#), "/count", "minimum", "must be at least 1, and is 0");
}

#[test]
fn a_long_value_is_quoted_short() {
    let issues = order(&format!(r#"{{"item": "a", "count": "{}"}}"#, "ß".repeat(5_000)));
    let issue = &issues.as_slice()[0];
    assert!(issue.found.len() < 100 && issue.message.len() < 200, "{issue:?}");
    assert!(issue.found.ends_with('…'), "{issue:?}");
}

#[test]
fn text_that_breaks_off_is_no_json() {
    let whole = r#"{"item": "a\u00df", "count": 12, "note": [true, {"k": null}]}"#;
    for end in 1..whole.len() {
        assert_only(&order(&whole[..end]), "", "json", "send one complete JSON value");
    }
    assert_only(&order(&format!("{whole} x")), "", "json", "send one complete JSON value");
}

#[test]
fn limits_are_the_callers_to_set() {
    let schema = Schema::of_params::<Order>().unwrap();
    let options = DecodeOptions::default().limits(Limits::default().max_bytes(16 << 20));
    let text = format!(r#"{{"item": "{}", "count": 1}}"#, "a".repeat(10 << 20));
    assert_eq!(schema.decode::<Order>(&text, &options).unwrap().value.item.len(), 10 << 20);
}
