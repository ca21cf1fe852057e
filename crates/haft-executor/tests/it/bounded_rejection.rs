//! Rejections whose issues could be as large as an attacker likes: the whole result of a call stays bounded.

use haft_core::{FailureKind, ToolCall, ToolResult};
use haft_executor::Tool;
use haft_schema::{ISSUES_CAP, REASON_CAP, Schema};
use serde_json::{Map, Value, json};

use crate::running::run;

/// The length of most texts: far more than a result may contain.
const LARGE: usize = 400_000;

/// Nearly the largest text of arguments that is read by default.
const LARGEST: usize = 3_900_000;

/// The size of a result without its issues: the message, in which every byte may need an escape, and the names of
/// fields.
const BESIDE: usize = 6 * REASON_CAP + 1_000;

/// Asserts that the result of a rejection stays within its bounds, in every form.
#[track_caller]
fn assert_bounded(result: &ToolResult) {
    let failure = result.failure().unwrap();
    assert!(failure.issues.len() <= 1_001, "{} issues", failure.issues.len());
    let issues = serde_json::to_string(&failure.issues).unwrap().len();
    assert!(issues <= ISSUES_CAP, "{issues} bytes of issues");
    let whole = serde_json::to_string(result).unwrap().len();
    assert!(whole <= ISSUES_CAP + BESIDE, "{whole} bytes of result");
    let shown = result.to_model_text().len();
    assert!(shown <= BESIDE, "{shown} bytes for the model");
}

async fn assert_bounded_rejection(schema: Value, text: &str) {
    assert!(text.len() < 4 << 20, "{} bytes", text.len());
    let schema = Schema::json(schema).unwrap();
    let tool = Tool::dynamic("t").params_schema(schema.clone()).handler(|_: Value, _| async { json!(1) }).unwrap();
    assert_bounded(&run(&tool, text).await);
    // Some keys are allowed in results, and duplicate keys can't be written.
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    let tool = Tool::dynamic("t").success_schema(schema).handler(move |_: Value, _| {
        let value = value.clone();
        async move { value }
    });
    let result = run(&tool.unwrap(), "{}").await;
    if result.failure().is_some() {
        assert_bounded(&result);
    }
}

fn repeated(item: &str) -> String {
    let count = LARGE / (item.len() + 1);
    format!("[{}]", vec![item; count].join(","))
}

fn object(key: impl Fn(usize) -> String, length: usize, value: &Value) -> String {
    let members: Map<String, Value> = (0..LARGE / length).map(|at| (key(at), value.clone())).collect();
    Value::Object(members).to_string()
}

#[tokio::test]
async fn many_wrong_items_and_keys() {
    assert_bounded_rejection(json!({"items": {"type": "string"}}), &repeated("1")).await;
    assert_bounded_rejection(
        json!({"additionalProperties": {"type": "string"}}),
        &object(|at| format!("k{at}"), 12, &json!(1)),
    )
    .await;
    assert_bounded_rejection(json!({"additionalProperties": false}), &object(|at| format!("k{at}"), 12, &json!(1)))
        .await;
    assert_bounded_rejection(json!({"propertyNames": {"maxLength": 1}}), &object(|at| format!("k{at}"), 12, &json!(1)))
        .await;
}

#[tokio::test]
async fn long_keys_at_every_level() {
    let schema = json!({"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "additionalProperties": {"anyOf": [
        {"type": "string"}, {"$ref": "#/$defs/n"}]}}}});
    let nested = |key: &str, length: usize| {
        let open = format!(r#"{{"{}":"#, key.repeat(length / 120 / key.len()));
        let inner: Vec<String> = (0..2_000).map(|at| format!(r#""{at}":{at}"#)).collect();
        format!("{}{{{}}}{}", open.repeat(120), inner.join(","), "}".repeat(120))
    };
    for key in ["\\u0000", "\\\"", "😀", "/"] {
        assert_bounded_rejection(schema.clone(), &nested(key, LARGE)).await;
    }
    assert_bounded_rejection(schema, &nested("k", LARGEST - 40_000)).await;
}

#[tokio::test]
async fn long_strings_and_numbers_that_are_quoted() {
    let control = format!("\"{}\"", "\\u0001".repeat(1_000));
    assert_bounded_rejection(json!({"items": {"type": "integer"}}), &repeated(&control)).await;
    assert_bounded_rejection(json!({"items": {"type": "string"}}), &repeated(&"7".repeat(250))).await;
    assert_bounded_rejection(json!({"items": {"enum": ["a"]}}), &repeated(&format!("\"{}\"", "x".repeat(4_000)))).await;
}

#[tokio::test]
async fn long_names_literals_and_patterns_of_the_schema() {
    let names: Vec<String> = (0..1_000).map(|at| format!("{at}{}", "\u{1}".repeat(100))).collect();
    assert_bounded_rejection(json!({"items": {"required": names}}), "[{},{},{}]").await;
    assert_bounded_rejection(json!({"items": {"enum": names}}), "[1,2,3]").await;
    assert_bounded_rejection(json!({"items": {"const": names}}), &repeated("1")).await;
    assert_bounded_rejection(json!({"items": {"type": "string", "pattern": "a".repeat(2_000)}}), &repeated("\"b\""))
        .await;
    let properties: Map<String, Value> = names.iter().map(|name| (name.clone(), json!({"type": "string"}))).collect();
    assert_bounded_rejection(json!({"properties": properties.clone(), "additionalProperties": false}), r#"{"a":1}"#)
        .await;
    let wrong: Map<String, Value> = names.iter().map(|name| (name.clone(), json!(1))).collect();
    assert_bounded_rejection(json!({"properties": properties}), &Value::Object(wrong).to_string()).await;
    let needs = json!({"a": names});
    assert_bounded_rejection(json!({"items": {"dependentRequired": needs}}), &repeated(r#"{"a":1}"#)).await;
}

#[tokio::test]
async fn keys_that_are_always_rejected() {
    let key = "k".repeat(250);
    let nested = |inner: &str| format!("{}{inner}{}", format!(r#"{{"{key}":"#).repeat(100), "}".repeat(100));
    let twice = vec![r#""a":1"#; 60_000].join(",");
    assert_bounded_rejection(json!({}), &nested(&format!("{{{twice}}}"))).await;
    let forbidden = repeated(r#"{"__proto__":1}"#);
    assert_bounded_rejection(json!({}), &nested(&forbidden)).await;
    // The keys before them must not be searched again for each.
    let keys: Vec<String> = (0..40_000).map(|at| format!(r#""{at:x}":1"#)).collect();
    let late = format!("{{{},{}}}", keys.join(","), vec![r#""0":1"#; 1_000].join(","));
    assert_bounded_rejection(json!({}), &late).await;
    let late = format!("[{},{}]", vec!["1"; 100_000].join(","), vec![r#"{"__proto__":1}"#; 1_000].join(","));
    assert_bounded_rejection(json!({}), &late).await;
}

#[tokio::test]
async fn results_of_a_tool_are_checked_within_the_same_bounds() {
    let depth = 60;
    let result = format!("{}true{}", r#"{"not":"#.repeat(depth), "}".repeat(depth));
    let joined = |word: &str| {
        json!({
            "type": "object", "required": [word], "unevaluatedProperties": false,
            "properties": {word: {"type": "array", "items": {"$ref": "#/definitions/filter"}}},
        })
    };
    let schema = Schema::json(json!({
        "$schema": "https://json-schema.org/draft/2019-09/schema",
        "$ref": "#/definitions/filter",
        "definitions": {
            "filter": {"anyOf": [joined("and"), joined("or"), {"$ref": "#/definitions/not"}], "title": "a filter"},
            "not": {"type": "object", "required": ["not"], "properties": {"not": {"$ref": "#/definitions/filter"}}},
        },
    }))
    .unwrap();
    let value: Value = serde_json::from_str(&result).unwrap();
    let tool = Tool::dynamic("t").success_schema(schema).handler(move |_: Value, _| {
        let value = value.clone();
        async move { value }
    });
    let result = run(&tool.unwrap(), "{}").await;
    assert_eq!(result.failure().unwrap().kind, FailureKind::OutputValidationError);
    assert!(!result.failure().unwrap().issues.is_empty());
}

#[test]
fn the_issue_that_replaces_others_counts_them() {
    let schema = Schema::json(json!({"items": {"type": "integer"}})).unwrap();
    let value: Value = (0..2_000).map(|_| json!("\u{1}".repeat(60))).collect();
    let tool = Tool::new("t").handler(|_: Value, _cx| async {}).unwrap().set_parameters(schema);
    let call = ToolCall::new("c1", "t", value.to_string());
    let failure = tool.argument_tree(&call).unwrap_err();
    let issues = failure.issues.as_slice();
    let (last, listed) = issues.split_last().unwrap();
    assert_eq!(last.message, format!("there are more problems than the {} that are listed", listed.len()));
}
