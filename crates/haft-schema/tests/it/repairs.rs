//! Repairs of the small mistakes of a model: only those the caller allows, recorded, and never partial.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use haft_schema::{DecodeOptions, Decoded, Issues, Limits, RepairKind, Repairs, Schema};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Search {
    text: String,
    #[schemars(range(max = 50))]
    limit: u8,
    ratio: f64,
    exact: bool,
    tags: Vec<String>,
    maybe: Option<i32>,
    filter: Filter,
}

#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Filter {
    years: Vec<u16>,
    name: String,
}

fn only(set: impl FnOnce(&mut Repairs)) -> Repairs {
    let mut repairs = Repairs::none();
    set(&mut repairs);
    repairs
}

fn read(text: &str, repairs: Repairs) -> Result<Decoded<Search>, Issues> {
    Schema::of_params::<Search>().unwrap().decode(text, &DecodeOptions::default().repairs(repairs))
}

/// Returns the repairs, as pointers and kinds.
fn made(decoded: &Decoded<Search>) -> Vec<(&str, RepairKind)> {
    decoded.repairs.iter().map(|repair| (repair.pointer.as_str(), repair.kind)).collect()
}

const NESTED: &str = r#"{"filter": "{\"years\": [1999], \"name\": \"x\"}"}"#;
const QUOTED: &str = r#"{"limit": "3", "ratio": "0.5", "exact": "true", "maybe": "-7"}"#;
const SINGLE: &str = r#"{"tags": "one"}"#;

#[test]
fn nothing_is_repaired_unless_enabled() {
    assert_eq!(DecodeOptions::default().repairs, Repairs::none());
    for text in [NESTED, QUOTED, SINGLE] {
        let issues = read(text, Repairs::none()).unwrap_err();
        assert!(issues.as_slice().iter().all(|issue| issue.keyword == "type"), "{issues}");
    }
}

#[test]
fn each_repair_fixes_its_own_mistake_and_no_other() {
    let nested = only(|repairs| repairs.nested_json = true);
    let quoted = only(|repairs| repairs.quoted_scalars = true);
    let single = only(|repairs| repairs.single_item_arrays = true);
    for (own, text) in [(0, NESTED), (1, QUOTED), (2, SINGLE)] {
        for (at, repairs) in [nested, quoted, single].into_iter().enumerate() {
            assert_eq!(read(text, repairs).is_ok(), at == own, "{text} with {repairs:?}");
        }
    }
    let decoded = read(NESTED, nested).unwrap();
    assert_eq!(made(&decoded), [("/filter", RepairKind::NestedJson)]);
    assert_eq!(decoded.value.filter, Filter { years: vec![1999], name: "x".into() });
    let decoded = read(QUOTED, quoted).unwrap();
    let every = ["/limit", "/ratio", "/exact", "/maybe"].map(|pointer| (pointer, RepairKind::QuotedScalar));
    assert_eq!(made(&decoded), every);
    assert_eq!((decoded.value.limit, decoded.value.exact, decoded.value.maybe), (3, true, Some(-7)));
    assert_eq!(decoded.value.ratio.to_string(), "0.5");
    let decoded = read(SINGLE, single).unwrap();
    assert_eq!(made(&decoded), [("/tags", RepairKind::SingleItemArray)]);
    assert_eq!(decoded.value.tags, ["one"]);
}

#[test]
fn valid_arguments_are_unchanged() {
    let text = r#"{"text": "3", "tags": ["true", "{}"], "filter": {"name": "[1]"}}"#;
    let decoded = read(text, Repairs::all()).unwrap();
    assert_eq!(made(&decoded), []);
    assert_eq!(decoded.value.text, "3");
    assert_eq!(decoded.value.tags, ["true", "{}"]);
    assert_eq!(decoded.value.filter.name, "[1]");
}

#[test]
fn the_whole_of_the_arguments_may_be_json_in_a_string() {
    let inner = json!({"limit": 3, "tags": ["a"]}).to_string();
    let decoded = read(&json!(inner).to_string(), Repairs::all()).unwrap();
    assert_eq!(made(&decoded), [("", RepairKind::NestedJson)]);
    assert_eq!(decoded.value.limit, 3);
}

#[test]
fn json_in_a_string_may_contain_further_mistakes() {
    let text = json!({"filter": json!({"years": "1999"}).to_string(), "limit": "7"}).to_string();
    let decoded = read(&text, Repairs::all()).unwrap();
    assert_eq!(decoded.value.filter.years, [1999]);
    let made = made(&decoded);
    assert!(made.starts_with(&[("/filter", RepairKind::NestedJson), ("/limit", RepairKind::QuotedScalar)]), "{made:?}");
    assert!(made.contains(&("/filter/years", RepairKind::SingleItemArray)), "{made:?}");
    assert!(made.contains(&("/filter/years/0", RepairKind::QuotedScalar)), "{made:?}");
}

#[test]
fn a_call_is_never_partially_repaired() {
    for text in [
        r#"{"limit": "3", "unknown": 1}"#,
        r#"{"limit": "51"}"#,
        r#"{"limit": "3", "ratio": "much"}"#,
        r#"{"limit": "3.5"}"#,
        r#"{"exact": "yes"}"#,
        r#"{"limit": true}"#,
        r#"{"limit": null}"#,
        r#"{"tags": null}"#,
        r#"{"tags": 7}"#,
        r#"{"filter": "not json"}"#,
        r#"{"filter": "[]"}"#,
        r#"{"filter": ["years"]}"#,
    ] {
        let refused = read(text, Repairs::none()).unwrap_err();
        assert_eq!(read(text, Repairs::all()).unwrap_err(), refused, "{text}: the issues are those of what was sent");
    }
}

#[test]
fn a_repaired_value_must_satisfy_every_rule() {
    let decoded = read(r#"{"limit": "50"}"#, Repairs::all()).unwrap();
    assert_eq!(decoded.value.limit, 50);
    assert!(read(r#"{"limit": "51"}"#, Repairs::all()).is_err());
    assert!(read(r#"{"limit": "-1"}"#, Repairs::all()).is_err());
    assert!(read(r#"{"limit": "1e400"}"#, Repairs::all()).is_err());
    assert!(read(r#"{"maybe": "99999999999"}"#, Repairs::all()).is_err());
}

#[test]
fn json_in_a_string_is_checked_like_any_other() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for hostile in [
        r#"{"years": [1], "years": [2]}"#.to_owned(),
        r#"{"__proto__": {}, "years": [1]}"#.to_owned(),
        r#"{"\u005f_proto__": {}, "years": [1]}"#.to_owned(),
        format!(r#"{{"years": {deep}}}"#),
        r#"{"years": [1]} {}"#.to_owned(),
        "[".repeat(100_000),
    ] {
        let text = json!({ "filter": hostile }).to_string();
        assert!(read(&text, Repairs::all()).is_err(), "{}", &text[..60]);
    }
}

#[test]
fn nesting_by_strings_does_not_bypass_the_depth_limit() {
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Deep {
        a: Vec<Value>,
    }
    let schema = Schema::of_params::<Deep>().unwrap();
    let options = DecodeOptions::default().repairs(Repairs::all()).limits(Limits::default().max_depth(4));
    let inner = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let decoded = schema.decode::<Deep>(&json!({"a": inner(3)}).to_string(), &options).unwrap();
    assert_eq!(decoded.value.a, [json!([[]])]);
    assert!(schema.decode::<Deep>(&json!({"a": inner(4)}).to_string(), &options).is_err());
}

#[test]
fn repairs_are_written_in_plain_words() {
    let decoded = read(SINGLE, Repairs::all()).unwrap();
    let written = serde_json::to_value(&decoded.repairs).unwrap();
    assert_eq!(written, json!([{"pointer": "/tags", "kind": "single_item_array"}]));
}
