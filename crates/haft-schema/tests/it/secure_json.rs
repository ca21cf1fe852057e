//! Text from outside: nothing suspicious becomes a value, and no text makes the parser panic.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use haft_schema::{DuplicateKeys, Limits, secure_json};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Returns the pointers and keywords of a rejection.
fn refused(text: &str) -> Vec<(String, String)> {
    let issues = secure_json::parse(text).expect_err(text);
    issues.into_vec().into_iter().map(|issue| (issue.pointer, issue.keyword)).collect()
}

fn mark(pointer: &str, keyword: &str) -> (String, String) {
    (pointer.to_owned(), keyword.to_owned())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        // Everything it accepts is also accepted by the plain parser, with the same value.
        if let Ok(value) = secure_json::parse(&bytes) {
            prop_assert_eq!(value, serde_json::from_slice::<Value>(&bytes).unwrap());
        }
    }

    #[test]
    fn no_json_like_text_makes_it_panic(text in r#"[\[\]{}:,"\\a0-9.eE+\-_ nulltrefsu]{0,40}"#) {
        match secure_json::parse(&text) {
            Ok(value) => prop_assert_eq!(value, serde_json::from_str::<Value>(&text).unwrap()),
            Err(issues) => prop_assert!(!issues.is_empty()),
        }
    }
}

#[test]
fn the_prototype_is_out_of_reach_however_it_is_spelt() {
    for key in ["__proto__", r"\u005f_proto__", r"__pr\u006Fto__", r"\u005F\u005f\u0070roto\u005f_"] {
        let text = format!(r#"{{"a": [{{"{key}": {{"admin": true}}}}]}}"#);
        assert_eq!(refused(&text), [mark("/a/0/__proto__", "forbiddenKey")], "{text}");
    }
    for text in [r#"{"constructor": {"prototype": 1}}"#, r#"{"constructor": {"\u0070rototype": {}}}"#] {
        assert_eq!(refused(text), [mark("/constructor/prototype", "forbiddenKey")], "{text}");
    }
    let nested = r#"{"x": {"constructor": {"a": 1, "prototype": {"__proto__": null}}}}"#;
    let all =
        [mark("/x/constructor/prototype", "forbiddenKey"), mark("/x/constructor/prototype/__proto__", "forbiddenKey")];
    assert_eq!(refused(nested), all);
}

#[test]
fn similar_names_are_accepted() {
    for value in [
        json!({"constructor": null}),
        json!({"constructor": 1}),
        json!({"constructor": "prototype"}),
        json!({"constructor": ["prototype"]}),
        json!({"constructor": [{"prototype": 1}]}),
        json!({"constructor": {"a": {"prototype": 1}}}),
        json!({"prototype": {"constructor": 1}}),
        json!({"__proto": 1, "proto__": 2, "__PROTO__": 3, "__proto__ ": 4}),
        json!("__proto__"),
        json!(["__proto__"]),
    ] {
        assert_eq!(secure_json::parse(value.to_string()).unwrap(), value);
    }
}

#[test]
fn everything_suspicious_is_named_at_once() {
    let text = r#"{"a": 1, "a": 2, "__proto__": 0, "b": [{"c": 1, "c": 1, "c": 1}]}"#;
    assert_eq!(
        refused(text),
        [
            mark("/a", "duplicateKey"),
            mark("/__proto__", "forbiddenKey"),
            mark("/b/0/c", "duplicateKey"),
            mark("/b/0/c", "duplicateKey"),
        ]
    );
}

#[test]
fn invalid_json_is_no_value() {
    for text in ["", " ", "{", "[1,]", "{a: 1}", "'a'", "nul", "1 2", "\u{feff}1", "[1]]", "// a\n1", "\"\t\"", "tru e"]
    {
        assert_eq!(refused(text), [mark("", "json")], "{text:?}");
    }
    assert_eq!(secure_json::parse(b"\"\xff\"").unwrap_err().as_slice()[0].keyword, "json");
}

#[test]
fn custom_limits_loosen_everything_but_the_keys() {
    let limits = Limits::default().max_bytes(30).max_depth(2).duplicate_keys(DuplicateKeys::LastWins);
    let parse = |text: &str| secure_json::parse_with(text, &limits);
    assert_eq!(parse(r#"{"a": 1, "a": [2]}"#).unwrap(), json!({"a": [2]}));
    assert_eq!(parse(r#"{"a": [[]]}"#).unwrap_err().as_slice()[0].keyword, "maxDepth");
    assert_eq!(parse(&" ".repeat(31)).unwrap_err().as_slice()[0].keyword, "maxBytes");
    assert_eq!(parse(r#"{"__proto__": 1}"#).unwrap_err().as_slice()[0].keyword, "forbiddenKey");
}

#[test]
fn order_and_digits_are_kept() {
    let text = r#"{"z":1,"a":[18446744073709551615,-9223372036854775808,0.1],"m":{"b":null,"a":""}}"#;
    assert_eq!(secure_json::parse(text).unwrap().to_string(), text);
}
