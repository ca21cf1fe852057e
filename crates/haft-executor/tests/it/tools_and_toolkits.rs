//! Tools as typed functions that a loop decides to run, from the definition of one to its result in the history.
//!
//! Two schema libraries with a shared interface have no counterpart: there is schemars, and raw JSON. Requirements are
//! types of the application's state instead of an effect's environment. Running many calls at once, middleware,
//! composing and namespacing belong to the executor and the toolkit and are tested with them.

use haft_core::{FailureKind, Finish, Item, Strict, ToolCall, ToolResult, Turn, TurnRequest};
use haft_executor::{Cx, Emitted, HandlerError, Needs, Provide, Services, Tool, Toolkit};
use haft_schema::JsonText;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::running::{alone, failure, run, value, watch};

#[derive(Deserialize, JsonSchema)]
struct GetCurrentTime {
    timezone: String,
}

#[derive(Serialize, JsonSchema)]
struct Time {
    timezone: String,
    iso: &'static str,
}

fn get_current_time() -> Tool {
    Tool::new("get_current_time")
        .describe("Look up the current local time for an IANA timezone.")
        .annotate(Strict(true))
        .handler(
            |input: GetCurrentTime, _cx| async move { Time { timezone: input.timezone, iso: "2026-01-01T00:00:00Z" } },
        )
        .unwrap()
}

#[tokio::test]
async fn a_tool_is_a_name_a_description_a_schema_and_a_function() {
    let tool = get_current_time();
    assert_eq!(tool.name(), "get_current_time");
    assert_eq!(tool.description(), Some("Look up the current local time for an IANA timezone."));
    assert_eq!(tool.strict(), Some(true));
    assert_eq!(
        value(&tool, r#"{"timezone": "Europe/Oslo"}"#).await,
        json!({"timezone": "Europe/Oslo", "iso": "2026-01-01T00:00:00Z"})
    );
}

/// The schema is never rewritten for strict mode, and the flag is present only when it was set.
#[test]
fn strict_is_sent_only_when_set_and_does_not_change_the_schema() {
    let strict = get_current_time().descriptor();
    let plain = Tool::new("get_current_time").params::<GetCurrentTime>().define().unwrap().descriptor();
    assert_eq!(strict.strict, Some(true));
    assert_eq!(plain.strict, None);
    assert!(serde_json::to_value(&*plain).unwrap().get("strict").is_none());
    assert_eq!(strict.input_schema, plain.input_schema);
}

#[derive(Debug, Deserialize, PartialEq, JsonSchema)]
struct Escalation {
    reason: String,
}

#[tokio::test]
async fn every_kind_is_described_and_only_local_ones_run() {
    let provider = Tool::provider("openai.web_search").custom_name("search").provider_name("web_search");
    let others = [
        provider.with_args(()).define().unwrap(),
        Tool::signal("escalate").params::<Escalation>().define().unwrap(),
        Tool::interaction("choose_account").define().unwrap(),
    ];
    for (tool, arguments) in others.iter().zip(["{}", r#"{"reason":"too hard"}"#, "{}"]) {
        assert_eq!(tool.descriptor().name, tool.name());
        let failure = failure(tool, arguments).await;
        assert_eq!(failure.kind, FailureKind::NonLocalTool);
        assert!(!failure.started);
        assert!(failure.message.contains(tool.name()), "{}", failure.message);
    }
}

#[test]
fn signals_and_interactions_are_decoded_and_acted_on() {
    let escalate = Tool::signal("escalate").params::<Escalation>().define().unwrap();
    let call = ToolCall::new("c1", "escalate", r#"{"reason": "too hard"}"#);
    assert_eq!(escalate.decode_args::<Escalation>(&call).unwrap(), Escalation { reason: "too hard".into() });

    let malformed = ToolCall::new("c1", "escalate", r#"{"reason": "#);
    let failure = escalate.decode_args::<Escalation>(&malformed).unwrap_err();
    assert_eq!(failure.kind, FailureKind::InputValidationError);
    assert_eq!(failure.issues.as_slice()[0].keyword, "json");

    let other = ToolCall::new("c1", "pause", r#"{"reason": "too hard"}"#);
    assert_eq!(escalate.decode_args::<Escalation>(&other).unwrap_err().kind, FailureKind::UnknownTool);
}

/// Inner events are forwarded as they arrive, and folded into the one output in the same pass.
#[tokio::test]
async fn a_tool_streams_what_it_does_and_returns_one_output() {
    let ask = Tool::new("ask_subagent")
        .try_handler_mixed(|question: String, cx: Cx| async move {
            let mut answer = String::new();
            for word in question.split(' ') {
                cx.emit(json!({"delta": word})).await?;
                answer.push_str(word);
            }
            Ok::<_, HandlerError>(answer)
        })
        .unwrap();
    let (emitted, result) = watch(&ask, r#""who are you""#).await;
    let delta = |word: &str| Emitted::Progress(JsonText::from(json!({"delta": word})));
    assert_eq!(emitted, [delta("who"), delta("are"), delta("you")]);
    assert_eq!(result.value().unwrap().as_str(), r#""whoareyou""#);
    // A plain tool ignores it.
    assert!(watch(&get_current_time(), r#"{"timezone": "UTC"}"#).await.0.is_empty());
}

#[tokio::test]
async fn one_schema_describes_and_checks_the_arguments() {
    let tool = get_current_time();
    assert_eq!(
        *tool.json_schema(),
        json!({"type": "object", "properties": {"timezone": {"type": "string"}}, "required": ["timezone"]})
    );
    let refused = failure(&tool, r#"{"timezone": 1}"#).await;
    assert_eq!(refused.kind, FailureKind::InputValidationError);
    assert_eq!(refused.message, "/timezone: must be a string, not a number");
}

#[test]
fn tools_are_grouped_and_added_to_a_request() {
    let other = Tool::new("other").define().unwrap();
    let kit = Toolkit::<()>::new().with(get_current_time()).unwrap().with(other).unwrap();
    let request = TurnRequest::new("some-model", vec![]).tools(&kit);
    let names: Vec<&str> = request.tools.iter().map(|descriptor| descriptor.name.as_str()).collect();
    assert_eq!(names, ["get_current_time", "other"]);

    let twice = Toolkit::<()>::new().with(get_current_time()).unwrap().with(get_current_time());
    assert!(twice.unwrap_err().to_string().contains("get_current_time"));
}

/// Replacing one function, for a dry run say, changes nothing that the model sees.
#[tokio::test]
async fn one_tools_function_is_replaced_without_changing_its_descriptor() {
    let tool = get_current_time();
    let dry = tool.with_handler(|_: GetCurrentTime, _cx| async { json!({"timezone": "UTC", "iso": "never"}) }).unwrap();
    let face = |tool: &Tool| serde_json::to_string(&*tool.descriptor()).unwrap();
    assert_eq!(face(&tool), face(&dry));
    assert_eq!(value(&dry, r#"{"timezone": "UTC"}"#).await["iso"], "never");
}

struct WeatherApiKey(&'static str);
struct GeoApiKey(&'static str);
struct Live {
    weather: WeatherApiKey,
    geo: GeoApiKey,
}

impl Provide<WeatherApiKey> for Live {
    fn provide(&self) -> &WeatherApiKey {
        &self.weather
    }
}

impl Provide<GeoApiKey> for Live {
    fn provide(&self) -> &GeoApiKey {
        &self.geo
    }
}

#[tokio::test]
async fn each_tool_gets_the_services_it_needs() {
    let weather = Tool::new("weather")
        .depends_on::<WeatherApiKey>()
        .try_handler_opaque(|(), cx: Cx| async move { cx.service::<WeatherApiKey>().map(|key| key.0.to_owned()) })
        .unwrap();
    let coordinates = Tool::new("coordinates")
        .depends_on::<GeoApiKey>()
        .try_handler_opaque(|(), cx: Cx| async move { cx.service::<GeoApiKey>().map(|key| key.0.to_owned()) })
        .unwrap();
    let live = Live { weather: WeatherApiKey("w"), geo: GeoApiKey("g") };
    let services = Services::of::<(Needs<WeatherApiKey>, Needs<GeoApiKey>), Live>(live);
    for (tool, expected) in [(&weather, "w"), (&coordinates, "g")] {
        let call = ToolCall::new("c", tool.name(), "");
        let result = alone(tool).with_services(services.clone()).run_call(&call).await;
        assert_eq!(result.value().unwrap().to_value(), expected);
        assert_eq!(run(tool, "").await.failure().unwrap().kind, FailureKind::ExecutionError);
    }
}

#[test]
fn results_are_created_for_calls_that_never_ran() {
    let call = ToolCall::new("c7", "send_email", "{}");
    for (result, kind) in [
        (ToolResult::denied(&call, "not today"), "denied"),
        (ToolResult::cancelled(&call, "user moved on"), "cancelled"),
        (ToolResult::execution_error(&call, "it broke"), "execution_error"),
        (ToolResult::non_local_tool(&call), "non_local_tool"),
        (ToolResult::failed(&call, "over_budget", "no money left"), "over_budget"),
    ] {
        assert_eq!(result.call_id.as_str(), "c7");
        assert_eq!(result.tool, "send_email");
        let failure = result.failure().unwrap();
        assert_eq!(failure.kind.as_str(), kind);
        assert!(!failure.message.is_empty());
    }
}

/// Values are structured until they enter the history; there, they are the model's text.
#[tokio::test]
async fn results_join_the_calls_in_the_history() {
    let call = ToolCall::new("c1", "get_current_time", r#"{"timezone": "UTC"}"#);
    let turn = Turn::new(vec![Item::ToolCall(call.clone())], Finish::ToolCalls);
    let mut history = vec![];
    let calls = turn.tool_calls();
    assert_eq!(calls, [call]);
    let tool = get_current_time();
    let mut outputs = Vec::new();
    for call in &calls {
        outputs.push(alone(&tool).run_call(call).await.to_call_output());
    }
    history.extend(turn.items);
    history.extend(outputs.into_iter().map(Item::ToolOutput));
    let stored = serde_json::to_value(&history).unwrap();
    assert_eq!(stored[0]["type"], "tool_call");
    assert_eq!(stored[1]["call_id"], "c1");
    assert_eq!(stored[1]["output"], r#"{"timezone":"UTC","iso":"2026-01-01T00:00:00Z"}"#);
    assert_eq!(serde_json::from_value::<Vec<Item>>(stored).unwrap(), history);
}
