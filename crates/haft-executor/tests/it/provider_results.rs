//! Results of calls that a provider executed: checked by their tool, and read like any other.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails should stop")]

use haft_core::{ContentPart, FailureKind, Item, Outcome, ProviderCall, ToolCall, ToolCallOutput, ToolResult};
use haft_executor::{Failure, ProviderTool, Tool, Toolkit};
use haft_schema::{Schema, Validation, Validator};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Hit {
    url: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SearchError {
    MaxUsesExceeded,
}

impl Failure for SearchError {
    fn message(&self) -> String {
        "no more searches".to_owned()
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct SearchArgs {
    #[schemars(range(max = 10))]
    max_uses: u8,
}

fn search() -> Tool {
    let factory = Tool::provider("vendor.web_search_2025")
        .custom_name("WebSearch")
        .provider_name("web_search")
        .args::<SearchArgs>()
        .params::<String>()
        .success::<Vec<Hit>>()
        .failure::<SearchError>();
    factory.with_args(SearchArgs { max_uses: 3 }).define().unwrap()
}

fn call() -> ToolCall {
    ToolCall::new("c1", "WebSearch", "\"rust\"").executed_by_provider()
}

fn kind(result: &ToolResult) -> &str {
    result.failure().map_or("ok", |failure| failure.kind.as_str())
}

fn text(output: &str) -> ToolResult {
    search().provider_result(&call(), &ToolCallOutput::new("c1", output))
}

fn error(output: &str) -> ToolResult {
    search().provider_result(&call(), &ToolCallOutput::new("c1", output).error())
}

#[test]
fn a_valid_result_is_decoded() {
    let result = text(r#"[{"url": "https://haft.dev"}]"#);
    assert_eq!(result.decode::<Vec<Hit>>().unwrap(), [Hit { url: "https://haft.dev".into() }]);
    assert_eq!((result.call_id.as_str(), result.tool.as_str()), ("c1", "WebSearch"));
}

#[test]
fn an_invalid_result_is_a_failure_that_has_started() {
    for wrong in [r#"{"hits": []}"#, r#"[{"url": 1}]"#, "[{}]", "no json", "", "null", "[", &"[".repeat(5_000)] {
        let result = text(wrong);
        let failure = result.failure().unwrap();
        assert_eq!(failure.kind, FailureKind::OutputValidationError, "{wrong}");
        assert!(failure.started && !failure.issues.is_empty(), "{wrong}");
    }
}

#[test]
fn a_declared_failure_keeps_its_value() {
    let result = error("\"max_uses_exceeded\"");
    let failure = result.failure().unwrap();
    assert_eq!((failure.kind.as_str(), failure.started), ("tool_failed", true));
    assert_eq!(failure.details.as_ref().unwrap().decode::<SearchError>().unwrap(), SearchError::MaxUsesExceeded);
    // A provider may write a string without quotes, as every result of a tool is written for a model.
    assert_eq!(error("max_uses_exceeded").failure().unwrap().details, failure.details);
}

#[test]
fn a_failure_of_another_form_violates_the_schema() {
    assert_eq!(kind(&error("\"too_busy\"")), "output_validation_error");
    assert_eq!(kind(&error("[]")), "output_validation_error");
}

#[test]
fn a_failure_that_is_not_declared_is_an_execution_error() {
    let plain = Tool::provider("v.plain").success::<String>().with_args(()).define().unwrap();
    let call = ToolCall::new("c1", "plain", "{}").executed_by_provider();
    let result = plain.provider_result(&call, &ToolCallOutput::new("c1", "503 from upstream").error());
    let failure = result.failure().unwrap();
    assert_eq!((failure.kind.as_str(), failure.message.as_str()), ("execution_error", "503 from upstream"));
    let long = plain.provider_result(&call, &ToolCallOutput::new("c1", "ä".repeat(10_000)).error());
    assert!(long.failure().unwrap().message.len() <= 2_000);
    let blank = plain.provider_result(&call, &ToolCallOutput::new("c1", "").error());
    assert!(!blank.failure().unwrap().message.is_empty());
}

#[test]
fn text_is_read_as_json_only_if_the_schema_allows_it() {
    let of = |tool: &ProviderTool<(), _, _>, output: &str| {
        let tool = tool.with_args(()).define().unwrap();
        tool.provider_result(&call(), &ToolCallOutput::new("c1", output)).value().unwrap().to_value()
    };
    let string = Tool::provider("v.s").success::<String>();
    assert_eq!(of(&string, "[1]"), json!("[1]"));
    assert_eq!(of(&string, ""), json!(""));
    assert_eq!(of(&string, "\"quoted\""), json!("quoted"));
    let free = Tool::provider("v.f").success::<Value>();
    let result = free.with_args(()).define().unwrap().provider_result(&call(), &ToolCallOutput::new("c1", "[1]"));
    assert_eq!(result.value().unwrap().to_value(), json!([1]));
}

#[test]
fn a_tool_without_a_result_returns_none() {
    let fire = Tool::provider("v.fire").with_args(()).define().unwrap();
    let of = |output: &str| fire.provider_result(&call(), &ToolCallOutput::new("c1", output));
    assert_eq!((kind(&of("")), kind(&of("null")), kind(&of("done"))), ("ok", "ok", "output_validation_error"));
}

#[test]
fn parts_are_kept_for_the_model() {
    let parts = vec![ContentPart::text(r#"[{"url": "a"}]"#), ContentPart::resource_link("file:///a", "a")];
    let result = search().provider_result(&call(), &ToolCallOutput::new("c1", parts.clone()));
    assert_eq!(result.decode::<Vec<Hit>>().unwrap().len(), 1);
    assert!(matches!(&result.outcome, Outcome::Ok(output) if output.content() == Some(&*parts)));
}

#[test]
fn a_validator_that_panics_costs_its_result_only() {
    let validator = Validator::new(|_: &Value| panic!("a validator of the application"));
    let schema = Schema::json_with(json!({}), Validation::With(validator)).unwrap();
    let tool = Tool::provider("v.t").success_schema(schema).with_args(()).define().unwrap();
    let result = tool.provider_result(&call(), &ToolCallOutput::new("c1", "1"));
    assert!(result.failure().is_some_and(|failure| failure.started), "{result:?}");
}

#[test]
fn all_results_of_a_conversation_are_checked_by_their_tools() {
    let local = Tool::new("local").handler(|(), _| async {}).unwrap();
    let kit: Toolkit = Toolkit::from_iter([search(), local]);
    let executed = |id: &str, name: &str| Item::from(ToolCall::new(id, name, "{}").executed_by_provider());
    let output = |id: &str, text: &str| Item::from(ToolCallOutput::new(id, text));
    let items = [
        executed("good", "WebSearch"),
        executed("bad", "WebSearch"),
        output("bad", "[1]"),
        output("good", "[]"),
        executed("open", "WebSearch"),
        // Neither of these is a tool of a provider here.
        executed("other", "unknown"),
        output("other", "1"),
        executed("mine", "local"),
        output("mine", "1"),
        // A call of this program, whatever its name.
        Item::from(ToolCall::new("own", "WebSearch", "{}")),
        output("own", "1"),
        Item::from(ProviderCall::new("vendor", "web_search", json!([{"url": "b"}])).call_id("whole")),
        Item::from(ProviderCall::new("vendor", "web_search", json!("max_uses_exceeded")).error()),
        Item::from(ProviderCall::new("rival", "web_search", json!([]))),
    ];
    let results = kit.provider_results(&items);
    let seen: Vec<_> = results.iter().map(|result| (result.call_id.as_str(), kind(result))).collect();
    assert_eq!(seen, [("bad", "output_validation_error"), ("good", "ok"), ("whole", "ok"), ("", "tool_failed")]);
}

#[test]
fn tools_of_the_same_name_are_told_apart_by_their_settings() {
    let server = |name: &str, server: &str| {
        let factory = Tool::provider("vendor.mcp").args_schema(Schema::unknown()).success::<Value>();
        factory.with_args(json!({"server": server})).define().unwrap().with_name(name).unwrap()
    };
    let kit: Toolkit = Toolkit::from_iter([server("one", "1"), server("two", "2")]);
    let call = |id: &str| ProviderCall::new("vendor", "mcp", json!({"result": 1})).call_id(id);
    let items = [
        call("a").setting("server", "2"),
        call("b").setting("server", "1"),
        call("c").setting("server", "3"),
        call("d").setting("other", "2"),
        // The call without its result, and the result that does not repeat the server.
        call("e").setting("server", "2").output_at("/none"),
        call("e"),
        // Neither the id nor the server is known: the first tool is as good as any.
        call("f"),
    ];
    let results = kit.provider_results(&items.map(Item::from));
    let seen: Vec<_> = results.iter().map(|result| (result.call_id.as_str(), result.tool.as_str())).collect();
    assert_eq!(seen, [("a", "two"), ("b", "one"), ("e", "two"), ("f", "one")]);
}

#[test]
fn the_input_of_a_call_is_read_from_its_place() {
    let call = |payload: Value| ProviderCall::new("vendor", "search", payload);
    assert_eq!(call(json!({"q": 1})).input::<Value>().unwrap(), json!({"q": 1}));
    let at = |payload: Value| call(payload).input_at("/input");
    assert_eq!(at(json!({"input": {"url": "a"}})).input::<Hit>().unwrap(), Hit { url: "a".into() });
    assert_eq!(at(json!({"input": r#"{"url": "a"}"#})).input::<Hit>().unwrap(), Hit { url: "a".into() });
    assert_eq!(at(json!({"input": "plain"})).input::<String>().unwrap(), "plain");
    for wrong in [json!({"input": {"url": 1}}), json!({"input": "{"}), json!({"input": null}), json!({}), json!([])] {
        assert!(at(wrong.clone()).input::<Hit>().is_err(), "{wrong}");
    }
    // What is not there is no `null` either.
    assert!(at(json!({})).input::<Option<Hit>>().is_err());
    let read: ProviderCall = serde_json::from_value(serde_json::to_value(at(json!({}))).unwrap()).unwrap();
    assert_eq!(read, at(json!({})));
}

#[test]
fn the_settings_keep_their_schema_and_their_type() {
    let tool = search().with_name("renamed").unwrap();
    let provider = tool.provider_definition().unwrap();
    assert_eq!(provider.args_schema().as_json()["properties"]["max_uses"]["maximum"], json!(10));
    assert_eq!(provider.decode_args::<SearchArgs>().unwrap(), SearchArgs { max_uses: 3 });
    assert!(provider.decode_args::<Vec<u8>>().is_err());
    let bare = Tool::provider("v.t").with_args(()).define().unwrap();
    assert_eq!(bare.provider_definition().unwrap().args_schema(), &Schema::unit());
    bare.provider_definition().unwrap().decode_args::<()>().unwrap();
}
