//! The forms of a parameter schema. Each is sent to the model and checks the arguments.

use haft_executor::Tool;
use haft_schema::{Issue, Schema, Validation, Validator};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::executing::{calls, kit, tell};

#[derive(Deserialize, JsonSchema)]
struct Query {
    #[schemars(length(min = 1))]
    query: String,
}

fn raw() -> Value {
    json!({"type": "object", "properties": {"query": {"type": "string", "minLength": 1}}, "required": ["query"]})
}

/// The same rule as a type, as a schema made by hand, as raw JSON, and as a function beside a raw schema.
#[tokio::test]
async fn one_rule_in_every_form_is_described_and_checked_alike() {
    let by_hand = Validator::new(|value| match value["query"].as_str() {
        Some(query) if !query.is_empty() => Ok(()),
        _ => Err(Issue::new("/query", "rule", "must be a text that is not empty").into()),
    });
    let query = |value: Value| value["query"].as_str().unwrap_or_default().to_owned();
    let kit = kit([
        Tool::new("typed").handler(|query: Query, _cx| async move { query.query }),
        Tool::new("made")
            .params_schema(Schema::of_params::<Query>().unwrap())
            .handler(move |value: Value, _cx| async move { query(value) }),
        Tool::new("raw").params_json(raw()).handler(|query: Query, _cx| async move { query.query }),
        Tool::dynamic("by_hand")
            .params_schema(Schema::json_with(raw(), Validation::With(by_hand)).unwrap())
            .handler(move |value: Value, _cx| async move { query(value) }),
    ]);
    for tool in &kit {
        assert_eq!(tool.descriptor().input_schema.as_json(), &raw(), "{}", tool.name());
        let run = kit.run(calls([
            (tool.name(), r#"{"query":"rust"}"#),
            (tool.name(), r#"{"query":""}"#),
            (tool.name(), r#"{"query":1}"#),
            (tool.name(), "{}"),
        ]));
        let refused = |n| format!("c{n} output input_validation_error");
        let expected = ["c1 output \"rust\"".to_owned(), refused(2), refused(3), refused(4)];
        assert_eq!(tell(run).await, expected, "{}", tool.name());
    }
}

/// A rejection names the position, so that the model can correct it.
#[tokio::test]
async fn a_rejection_names_every_position_and_reaches_the_model() {
    let kit = kit([Tool::new("move").handler(|(x, y): (u8, u8), _cx| async move { x.max(y) })]);
    let result = kit.run_call(&calls([("move", r#"["a",300]"#)])[0]).await;
    let failure = result.failure().unwrap();
    let places: Vec<_> = failure.issues.iter().map(|issue| issue.pointer.as_str()).collect();
    assert_eq!(places, ["/0", "/1"]);
    let output = result.to_call_output();
    assert!(output.is_error);
    let text = output.output.to_string();
    assert!(text.contains("/0: ") && text.contains("/1: "), "{text}");
}
