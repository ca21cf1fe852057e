//! Problems of a result are reported to the model without the result, and messages of user code only to the operator.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Display;

use haft_core::{ApprovalRequest, ContentPart, ToolCall, ToolEvent, ToolFailure, ToolOutput, ToolResult};
use haft_executor::{
    ApprovalPolicy, Cx, EmitError, Failure, HandlerOutput, Next, NoFailure, Outputs, Request, RunOptions, Tool, Toolkit,
};
use haft_schema::{DecodeOptions, Issue, JsonText, Schema, Validation, Validator};
use schemars::{JsonSchema, Schema as Described, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

/// Text that must never reach the model.
const SECRET: &str = "hunter2";

/// Returns all texts that must contain neither results nor causes.
fn everything_shown(result: &ToolResult) -> String {
    let failure = result.failure().unwrap();
    [
        result.to_model_text(),
        serde_json::to_string(result).unwrap(),
        serde_json::to_string(&result.to_call_output()).unwrap(),
        failure.to_string(),
        failure.issues.to_string(),
        format!("{:?}", failure.issues.as_slice()),
    ]
    .join("\n")
}

/// Returns all texts that the operator reads.
fn chain(error: &dyn Error) -> String {
    let causes = std::iter::successors(error.source(), |&error| error.source());
    causes.map(|cause| format!("{cause} {cause:?}")).collect::<Vec<_>>().join(": ")
}

/// Asserts that no text contains the secret, and that the cause contains all of it.
fn assert_kept(result: &ToolResult, case: &dyn Display) {
    let shown = everything_shown(result);
    assert!(!shown.contains(SECRET), "{case}: {shown}");
    let failure = result.failure().unwrap();
    assert!(chain(failure).contains(SECRET), "{case}: {}", chain(failure));
}

async fn run(tool: Tool, arguments: &str) -> ToolResult {
    let kit: Toolkit = Toolkit::from_iter([tool]);
    let results = kit.run([ToolCall::new("c1", "t", arguments)]).collect_results().await;
    results.into_iter().next().unwrap()
}

/// A value that its own type fails to serialize.
#[derive(JsonSchema)]
#[schemars(with = "String")]
struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom(format!("no form for {SECRET}")))
    }
}

#[derive(Debug, JsonSchema)]
struct Picky(#[allow(dead_code, reason = "only read")] String);

impl<'de> Deserialize<'de> for Picky {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?;
        Err(serde::de::Error::custom(format!("not in the list of {SECRET}")))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only read")]
struct Order {
    #[schemars(with = "String", extend("format" = "city"))]
    city: Picky,
}

#[tokio::test]
async fn a_serialization_error_is_for_the_operator() {
    let tool = Tool::new("t").handler(|(), _cx| async { vec![("a", Unwritable)] }).unwrap();
    let result = run(tool, "{}").await;
    assert_kept(&result, &"serialize");
    let failure = result.failure().unwrap();
    assert_eq!(failure.kind.as_str(), "output_validation_error");
    assert!(failure.message.contains("could not be written as JSON"), "{}", failure.message);
}

#[tokio::test]
async fn a_deserialization_error_is_for_the_operator() {
    let tool = Tool::new("t").handler(|order: Order, _cx| async move { format!("{order:?}") }).unwrap();
    let result = run(tool.clone(), r#"{"city":"Rome"}"#).await;
    assert_kept(&result, &"deserialize");
    let failure = result.failure().unwrap();
    let expected = "/city: the tool does not accept this value; send another that is a string in the format city";
    assert_eq!((failure.kind.as_str(), failure.message.as_str()), ("input_validation_error", expected));
    let call = ToolCall::new("c1", "t", r#"{"city":"Rome"}"#);
    let refused = tool.decode_args::<Order>(&call).unwrap_err();
    assert!(!refused.to_string().contains(SECRET) && chain(&refused).contains(SECRET));
    let issues = Schema::of::<Order>().unwrap().decode::<Order>(&call.arguments, &DecodeOptions::default());
    assert!(!issues.unwrap_err().to_string().contains(SECRET));
}

#[derive(Serialize)]
struct Report {
    rows: String,
    notes: BTreeMap<String, i64>,
}

fn report() -> Schema {
    let notes = json!({"type": "object", "additionalProperties": {"type": "integer", "maximum": 9}});
    Schema::json(json!({
        "type": "object",
        "properties": {"rows": {"type": "string", "maxLength": 3}, "notes": notes},
        "additionalProperties": false,
    }))
    .unwrap()
}

/// Returns results that break their schema by the secret itself, in a value, in a key or around it.
fn broken() -> Vec<(Value, &'static str)> {
    vec![
        (json!(SECRET), "type"),
        (json!({"rows": SECRET}), "/rows maxLength"),
        (json!({SECRET: 1}), "/* additionalProperties"),
        (json!({"notes": {SECRET: "x"}}), "/notes/* type"),
        (json!({"notes": {"7": 10, SECRET: 10}}), "/notes/* maximum"),
    ]
}

fn places(result: &ToolResult) -> Vec<String> {
    let issues = result.failure().unwrap().issues.as_slice();
    issues.iter().map(|issue| format!("{} {}", issue.pointer, issue.keyword).trim().to_owned()).collect()
}

#[tokio::test]
async fn values_of_a_result_that_breaks_its_schema_are_for_the_operator() {
    for (value, place) in broken() {
        let given = value.clone();
        let tool = Tool::dynamic("t").handler(move |_: Value, _cx| {
            let given = given.clone();
            async move { given }
        });
        let hidden = tool.unwrap().set_success(report());
        let result = run(hidden.clone(), "{}").await;
        assert_kept(&result, &value);
        assert!(places(&result).iter().all(|shown| shown == place), "{value}: {:?}", places(&result));
        assert_eq!(result.failure().unwrap().kind.as_str(), "output_validation_error");
        let again: ToolResult = serde_json::from_str(&serde_json::to_string(&result).unwrap()).unwrap();
        assert_eq!(again, result, "what is stored is what is shown");
    }
}

#[tokio::test]
async fn a_result_made_by_hand_is_private_as_well() {
    for (value, _) in broken() {
        let given = value.clone();
        let tool = Tool::dynamic("t").handler(move |_: Value, _cx| {
            let output = ToolOutput::from(given.clone()).for_model(vec![ContentPart::text("all is well")]);
            async move { output }
        });
        assert_kept(&run(tool.unwrap().set_success(report()), "{}").await, &value);
    }
}

#[tokio::test]
async fn an_answer_in_place_of_the_tool_is_private_as_well() {
    for (value, _) in broken() {
        let tool = Tool::dynamic("t").handler(|_: Value, _cx| async { json!({}) }).unwrap().set_success(report());
        let given = value.clone();
        let answered = tool.clone().wrap(move |request: Request, _next: Next| {
            let outcome = request.answer(&given);
            async move { outcome }
        });
        assert_kept(&run(answered, "{}").await, &value);

        let kit: Toolkit = Toolkit::from_iter([tool]);
        let given = value.clone();
        let options =
            RunOptions::new().policy(ApprovalPolicy::always()).approvals(move |request: ApprovalRequest, _: Cx| {
                let verdict = request.answer(given.clone());
                async move { verdict }
            });
        let results = kit.run_with([ToolCall::new("c1", "t", "{}")], options).collect_results().await;
        assert_kept(&results[0], &value);
    }
}

#[tokio::test]
async fn a_preliminary_result_is_private_as_well() {
    let wrong = || Report { rows: SECRET.to_owned(), notes: BTreeMap::from([(SECRET.to_owned(), 10)]) };
    let tool = Tool::new("t").success_schema(report());
    let streaming = tool.stream_handler(move |(), _cx| {
        let values = [HandlerOutput::Preliminary(wrong()), HandlerOutput::Final(wrong())];
        Outputs::<_, NoFailure>::new(futures_util::stream::iter(values))
    });
    let kit: Toolkit = Toolkit::from_iter([streaming.unwrap()]);
    let mut run = kit.run([ToolCall::new("c1", "t", "{}")]);
    while let Some(event) = run.next().await {
        assert!(!serde_json::to_string(&event).unwrap().contains(SECRET), "{event:?}");
        if let ToolEvent::Output { result, .. } = event {
            assert_kept(&result, &"preliminary");
        }
    }
    let call = ToolCall::new("c1", "t", "{}");
    let error = Cx::for_call(&call).emit(Unwritable).await;
    assert!(error.is_ok(), "nobody listens");
    let issues = report().encode(&wrong()).unwrap_err();
    let emitted = EmitError::Preliminary(issues);
    assert!(!emitted.to_string().contains(SECRET) && chain(&emitted).contains(SECRET));
}

#[derive(Debug, Serialize)]
struct Leaky {
    code: String,
}

impl JsonSchema for Leaky {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Leaky".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Described {
        schemars::json_schema!({"type": "object", "properties": {"code": {"type": "integer"}}})
    }
}

impl Failure for Leaky {
    fn message(&self) -> String {
        "it failed".to_owned()
    }
}

#[tokio::test]
async fn a_declared_failure_that_breaks_its_schema_is_private_as_well() {
    let tool = Tool::new("t").try_handler(|(), _cx| async { Err::<(), _>(Leaky { code: SECRET.to_owned() }) }).unwrap();
    let result = run(tool, "{}").await;
    assert_kept(&result, &"failure");
    assert_eq!(places(&result), ["/code type"]);
}

#[tokio::test]
async fn the_message_of_a_custom_check_is_for_the_operator() {
    let check = Validator::new(|value| Err(Issue::new("/x", "own", format!("{value} is not nice")).into()));
    let schema = Schema::json_with(json!({"type": "string"}), Validation::FullThen(check)).unwrap();
    let tool = Tool::dynamic("t").handler(|_: Value, _cx| async { json!(SECRET) }).unwrap().set_success(schema);
    let result = run(tool, "{}").await;
    assert_kept(&result, &"validator");
    assert_eq!(places(&result), ["validator"]);
}

/// The full validator decides here.
#[tokio::test]
async fn issues_of_the_full_validator_omit_the_value() {
    for schema in [
        json!({"not": {"type": "string"}}),
        json!({"type": "string", "if": true, "then": {"const": "x"}}),
        json!({"type": "string", "contains": {}, "not": {"minLength": 1}}),
        json!({"anyOf": [{"const": 1}, {"type": "string", "pattern": "^(?!h)"}]}),
    ] {
        let tool = Tool::dynamic("t").handler(|_: Value, _cx| async { json!(SECRET) }).unwrap();
        let result = run(tool.set_success(Schema::json(schema.clone()).unwrap()), "{}").await;
        assert!(!everything_shown(&result).contains(SECRET), "{schema}: {}", everything_shown(&result));
    }
}

#[test]
fn arguments_are_quoted_to_the_model_that_wrote_them() {
    let issues = report().decode::<Value>(r#"{"rows":"far too long"}"#, &DecodeOptions::default()).unwrap_err();
    assert_eq!(issues.as_slice()[0].found, r#""far too long""#);
}

#[test]
fn a_failure_takes_the_cause_of_its_issues_and_keeps_its_own() {
    let issues = || Schema::of_output::<String>().unwrap().encode(&7).unwrap_err();
    assert!(issues().source().is_some());
    let failure = ToolFailure::with_issues("output_validation_error", issues());
    assert!(failure.source().is_some() && failure.issues.source().is_none());
    let own = ToolFailure::new("broken", "x").cause("mine").issues(issues());
    assert_eq!(own.source().unwrap().to_string(), "mine");
    assert_eq!(JsonText::encode(&issues()).unwrap().as_str(), serde_json::to_string(&issues()).unwrap());
}
