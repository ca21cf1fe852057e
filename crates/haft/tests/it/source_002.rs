//! Document 002: the reference of a tool module, name by name.
//!
//! Most statements are shown by `tool_api` in the core; what follows shows the rest through the facade. `statement`
//! lists all of them, and `name` every exported name with its counterpart, which must compile.

mod name;
mod statement;

use std::sync::{Arc, Mutex};

use haft::approval::ApprovalPolicy;
use haft::conversation::{Item, TurnRequest};
use haft::run::{CallError, FailureKind, RunOptions, ToolCall, ToolResult};
use haft::schema::{JsonText, Schema, secure_json};
use haft::tool::{
    Annotations, Cx, Destructive, EmptyParams, Failure, FailureMode, HandlerError, Idempotent, Meta, OpenWorld,
    Readonly, StaticTool, Strict, Title, Tool, ToolType,
};
use haft::toolkit::{Needs, Services, Toolkit};
use haft::wire::{Delivery, KnownWire, Profile};
use haft::{JsonSchema, tool, toolkit};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::running::{failure, run_tool, value};
use crate::source::Document;

#[test]
fn every_statement_is_shown_or_has_a_reason() {
    Document { number: "002", sections: statement::SECTIONS, statements: statement::STATEMENTS }.check();
}

async fn run(tool: &Tool, arguments: Value) -> ToolResult {
    run_tool(tool, arguments, Services::new()).await
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Units {
    Celsius,
    Fahrenheit,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Weather {
    temperature: f64,
    condition: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema, Failure)]
enum WeatherError {
    #[failure(message = "there is no place called {0}")]
    Unknown(String),
}

struct ApiKey(&'static str);

#[derive(haft::toolkit::Services)]
struct App {
    key: ApiKey,
}

/// Current weather for a location.
#[tool]
fn get_weather(location: String, units: Units, #[service] key: &ApiKey) -> Result<Weather, WeatherError> {
    match location.as_str() {
        "Atlantis" => Err(WeatherError::Unknown(location)),
        _ => {
            Ok(Weather { temperature: if units == Units::Celsius { 20.0 } else { 68.0 }, condition: key.0.to_owned() })
        }
    }
}

// Annotations.

/// The examples of the document, each written as an attribute and as a combinator.
#[test]
fn every_annotation_is_an_argument_of_the_macro_and_a_combinator() {
    /// Calculates a tip.
    #[tool(
        title = "Tip Calculator",
        readonly,
        destructive = false,
        idempotent,
        open_world = false,
        strict = false,
        meta = {"ui": {"resourceUri": "ui://example/tip"}}
    )]
    fn calculate_tip(cents: u32) -> u32 {
        cents / 10
    }
    let meta = json!({"ui": {"resourceUri": "ui://example/tip"}}).as_object().cloned().unwrap();
    let by_macro = CalculateTip::tool().unwrap();
    let by_hand = Tool::new("calculate_tip")
        .define()
        .unwrap()
        .annotate(Title("Tip Calculator".to_owned()))
        .annotate(Readonly(true))
        .annotate(Destructive(false))
        .annotate(Idempotent(true))
        .annotate(OpenWorld(false))
        .annotate(Strict(false))
        .annotate(Meta(meta.clone()));
    for tool in [&by_macro, &by_hand] {
        let shown = tool.descriptor();
        assert_eq!(shown.title.as_deref(), Some("Tip Calculator"));
        assert!(shown.hints.readonly && !shown.hints.destructive);
        assert!(shown.hints.idempotent && !shown.hints.open_world);
        assert_eq!((tool.strict(), shown.strict), (Some(false), Some(false)));
        assert_eq!(shown.meta.as_ref(), Some(&meta));
    }
}

// Constructors.

/// The arguments of a provider-defined tool are given in encoded form and checked by their schema.
#[test]
fn the_arguments_of_a_provider_defined_tool_are_checked() {
    #[derive(Serialize, JsonSchema)]
    struct Options {
        #[serde(rename = "maxUses")]
        max_uses: u8,
    }
    let search = Tool::provider("vendor.web_search").custom_name("VendorSearch").args::<Options>();
    let tool = search.with_args(Options { max_uses: 3 }).define().unwrap();
    assert_eq!(tool.provider_definition().unwrap().args(), &json!({"maxUses": 3}));
    let untyped = search.args_schema(Schema::of::<Options>().unwrap());
    let same = untyped.with_args(json!({"maxUses": 3})).define().unwrap();
    assert_eq!(same.provider_definition().unwrap().args(), tool.provider_definition().unwrap().args());
    for wrong in [json!({"max_uses": 3}), json!({"maxUses": 300}), json!({})] {
        assert!(untyped.with_args(wrong).define().is_err());
    }
}

/// A provider-defined tool that needs a handler is not complete without one.
#[tokio::test]
async fn a_handler_processes_what_the_provider_generated() {
    let shell = Tool::provider("vendor.shell").params::<Vec<String>>().success::<String>().requires_handler();
    let bare: Toolkit = Toolkit::from_iter([shell.with_args(()).define().unwrap()]);
    assert_eq!(bare.ensure_runnable().unwrap_err().missing_handlers, ["shell"]);
    let tool = shell.with_args(()).handler(|line: Vec<String>, _cx| async move { line.join(" ") }).unwrap();
    assert!(tool.is_provider_defined() && tool.requires_handler());
    assert_eq!(value(&run(&tool, json!(["ls", "-l"])).await), json!("ls -l"));
}

// Converting.

/// The schema of a type is converted without a tool.
#[test]
fn a_schema_is_converted_to_json_without_a_tool() {
    let params = Schema::of_params::<Vec<Units>>().unwrap();
    assert_eq!(params.as_json()["type"], "array");
    assert!(params.as_json().to_string().contains(r#"["celsius","fahrenheit"]"#));
    let tool = Tool::new("t").params::<Vec<Units>>().define().unwrap();
    assert_eq!(tool.json_schema(), params.as_json());
}

// Getters.

#[test]
fn the_schema_of_the_weather_tool_is_that_of_the_document() {
    #[derive(Deserialize, JsonSchema)]
    #[schemars(inline)]
    #[serde(rename_all = "lowercase")]
    #[allow(dead_code, reason = "only its schema is read")]
    enum Inline {
        Celsius,
        Fahrenheit,
    }
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only its schema is read")]
    struct Params {
        location: String,
        units: Inline,
    }
    let tool = Tool::new("get_weather").params::<Params>().define().unwrap();
    assert_eq!(
        tool.json_schema(),
        &json!({
            "type": "object",
            "properties": {
                "location": {"type": "string"},
                "units": {"type": "string", "enum": ["celsius", "fahrenheit"]}
            },
            "required": ["location", "units"]
        })
    );
}

// Models.

/// Both modes of a declared failure, through the same call.
#[tokio::test]
async fn the_failure_mode_decides_between_an_error_and_a_value() {
    let tool = |mode| {
        let fails = Tool::new("t").failure_mode(mode).try_handler(|(), _cx| async { Err::<(), _>("sold out") });
        Toolkit::from_iter([fails.unwrap()])
    };
    let call = ToolCall::new("c1", "t", "{}");
    let raised = tool(FailureMode::Error).try_run_call(&call, RunOptions::new()).await.unwrap_err();
    assert_eq!(raised.message, "sold out");
    let returned = tool(FailureMode::Return).try_run_call(&call, RunOptions::new()).await.unwrap();
    assert!(returned.is_failure && !returned.preliminary);
    assert_eq!(returned.result.failure().unwrap().message, "sold out");
    assert_eq!(returned.encoded.as_str(), "\"sold out\"");
    // A run of many calls absorbs both.
    for mode in [FailureMode::Error, FailureMode::Return] {
        let results = tool(mode).run([&call]).collect_results().await;
        assert_eq!(failure(&results[0]), ("tool_failed", "sold out"));
    }
}

/// The encoded result can be sent to the model in the next request.
#[tokio::test]
async fn an_encoded_result_enters_the_next_request() {
    let kit = toolkit![GetWeather].provide(App { key: ApiKey("sunny") });
    let call = ToolCall::new("c1", "get_weather", r#"{"location":"Oslo","units":"celsius"}"#);
    let done = kit.try_run_call(&call, RunOptions::new()).await.unwrap();
    assert_eq!(done.encoded.to_value(), json!({"temperature": 20.0, "condition": "sunny"}));
    let item = Item::from(&done.result);
    let written = serde_json::to_value(&item).unwrap();
    assert_eq!((written["type"].as_str(), written["call_id"].as_str()), (Some("tool_output"), Some("c1")));
    assert_eq!(serde_json::from_str::<Value>(written["output"].as_str().unwrap()).unwrap(), done.encoded.to_value());
    let next = TurnRequest::new("any", vec![Item::user("And in Oslo?"), Item::from(call), item]).tools(&kit);
    for wire in KnownWire::ALL {
        let sent = wire.wire().request(&next, Delivery::Whole).unwrap();
        assert!(sent.body.contains("sunny") && sent.dropped.is_empty(), "{wire:?}: {}", sent.body);
    }
}

/// A policy reads the parameters, the id of the call and the conversation.
#[tokio::test]
async fn an_approval_function_gets_parameters_call_and_conversation() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&seen);
    let policy = ApprovalPolicy::when(move |cents: u32, cx: haft::approval::ApprovalCx| {
        notes.lock().unwrap().push((cents, cx.call_id.to_string(), cx.messages.len()));
        async move { cents > 10 }
    });
    let pay = Tool::new("pay").needs_approval(policy).handler(|cents: u32, _cx| async move { cents }).unwrap();
    let kit: Toolkit = Toolkit::from_iter([pay]);
    let options = RunOptions::new().messages(vec![Item::user("pay them")]);
    let calls = [ToolCall::new("c1", "pay", "10"), ToolCall::new("c2", "pay", "11")];
    let results = kit.run_with(&calls, options).collect_results().await;
    assert_eq!(value(&results[0]), json!(10));
    assert_eq!(failure(&results[1]).0, "denied");
    assert_eq!(*seen.lock().unwrap(), [(10, "c1".to_owned(), 1), (11, "c2".to_owned(), 1)]);
}

/// A service that only a request can provide is required of every run; the toolkit's own does not count.
#[tokio::test]
async fn an_added_dependency_is_required_of_each_run() {
    struct Tenant(&'static str);
    let tool = Tool::new("whoami")
        .try_handler_mixed(|(), cx: Cx| async move { Ok::<_, HandlerError>(cx.service::<Tenant>()?.0) })
        .unwrap();
    let asking = tool.add_run_dependency::<Tenant>().unwrap();
    assert!(tool.dependencies().is_empty(), "the original is unchanged");
    let kit: Toolkit = Toolkit::from_iter([asking]).with_services(Services::new().with(Tenant("everybody")));
    let call = [ToolCall::new("c1", "whoami", "")];
    let without = kit.run(&call).collect_results().await;
    assert!(
        matches!(without[0].failure(), Some(failure) if failure.kind == FailureKind::ExecutionError && !failure.started)
    );
    for tenant in ["ana", "bob"] {
        let options = RunOptions::new().service(Tenant(tenant));
        kit.ensure_runnable_with(&options).unwrap();
        assert_eq!(value(&kit.run_with(&call, options).collect_results().await[0]), json!(tenant));
    }
}

#[test]
fn many_annotations_are_merged_and_the_later_ones_win() {
    let tool = Tool::new("t").annotate(Readonly(false)).annotate(Strict(true)).define().unwrap();
    let more = Annotations::new().with(Readonly(true)).with(Title("T".to_owned()));
    let merged = tool.annotate_merge(more);
    assert_eq!((merged.annotations().readonly(), merged.title(), merged.strict()), (true, Some("T"), Some(true)));
    assert_eq!((tool.annotations().readonly(), tool.title()), (false, None), "the original is unchanged");
}

// Schemas.

#[tokio::test]
async fn empty_parameters_are_explicit_or_omitted_and_accept_no_key() {
    let explicit = Tool::new("t").handler(|_: EmptyParams, _cx| async { 1 }).unwrap();
    let omitted = Tool::new("t").handler(|(), _cx| async { 1 }).unwrap();
    assert_eq!(explicit.json_schema(), omitted.json_schema());
    assert_eq!(explicit.json_schema()["additionalProperties"], false);
    for tool in [explicit, omitted] {
        assert_eq!(value(&run(&tool, json!({})).await), json!(1));
        assert_eq!(failure(&run(&tool, json!({"x": 1})).await).0, "input_validation_error");
    }
}

// Unsafe.

/// Nothing panics: invalid and dangerous text is an error with a location.
#[test]
fn untrusted_json_is_parsed_or_rejected() {
    assert_eq!(secure_json::parse(r#"{"a": [1, {"b": null}]}"#).unwrap(), json!({"a": [1, {"b": null}]}));
    for text in ["", "{", "nope", r#"{"a": 1,}"#] {
        assert!(secure_json::parse(text).is_err(), "{text}");
    }
    for text in [r#"{"__proto__": {}}"#, r#"{"\u005f_proto__": 1}"#, r#"{"a": {"constructor": {"prototype": {}}}}"#] {
        let issues = secure_json::parse(text).unwrap_err();
        assert_eq!(issues.as_slice()[0].keyword, "forbiddenKey", "{text}");
    }
    assert_eq!(secure_json::parse(r#"{"constructor": 1}"#).unwrap(), json!({"constructor": 1}));
}

// Utility types.

// The mapping of names.

#[test]
fn a_wire_knows_the_names_of_a_providers_tools_both_ways() {
    let search = |id: &str, custom: &str| Tool::provider(id).custom_name(custom).provider_name("web_search");
    let tools = [
        search("openai.web_search", "OpenAiWebSearch").with_args(()).define().unwrap(),
        search("anthropic.web_search_20250305", "AnthropicWebSearch").with_args(()).define().unwrap(),
        Tool::new("lookup").define().unwrap(),
    ]
    .map(|tool| tool.descriptor());
    for (profile, custom) in [(Profile::openai(), "OpenAiWebSearch"), (Profile::anthropic(), "AnthropicWebSearch")] {
        let names = profile.render(&tools);
        assert_eq!((names.tool_name("web_search"), names.wire_name(custom)), (custom.into(), "web_search".into()));
        assert_eq!((names.tool_name("lookup"), names.wire_name("lookup")), ("lookup".into(), "lookup".into()));
        assert_eq!((names.tool_name("other"), names.wire_name("other")), ("other".into(), "other".into()));
    }
}

/// Returns a tool's name, and the result of its call as a value of its own types.
async fn called<T>(kit: &Toolkit, params: T::Params) -> (&'static str, Result<T::Success, CallError<T::Failure>>)
where
    T: ToolType,
    T::Params: Serialize,
    T::Success: serde::de::DeserializeOwned,
    T::Failure: serde::de::DeserializeOwned,
{
    (T::NAME, kit.call_of::<T>(params, RunOptions::new()).await)
}

fn needs<T: ToolType<Services = (Needs<ApiKey>,)>>() {}

#[tokio::test]
async fn the_type_of_a_tool_names_all_its_types() {
    needs::<GetWeather>();
    let kit = toolkit![GetWeather].provide(App { key: ApiKey("sunny") });
    let params = |location: &str| GetWeather { location: location.to_owned(), units: Units::Celsius };
    let (name, found) = called::<GetWeather>(&kit, params("Oslo")).await;
    assert_eq!(name, "get_weather");
    assert_eq!(found, Ok(Weather { temperature: 20.0, condition: "sunny".to_owned() }));
    let (_, unknown) = called::<GetWeather>(&kit, params("Atlantis")).await;
    assert_eq!(unknown, Err(CallError::Declared(WeatherError::Unknown("Atlantis".to_owned()))));
    let lacking: Toolkit = Toolkit::from_iter([GetWeather::tool().unwrap()]);
    let (_, fault) = called::<GetWeather>(&lacking, params("Oslo")).await;
    assert!(matches!(fault, Err(CallError::Fault(failure)) if failure.kind == FailureKind::ExecutionError));
}

/// The encoded forms have one type each, whatever the tool: text for arguments, JSON for results.
#[tokio::test]
async fn encoded_forms_are_text() {
    let kit = toolkit![GetWeather].provide(App { key: ApiKey("sunny") });
    let arguments: String =
        serde_json::to_string(&GetWeather { location: "Atlantis".to_owned(), units: Units::Celsius }).unwrap();
    let result = kit.run_call(&ToolCall::new("c1", "get_weather", arguments)).await;
    let details: &JsonText = result.failure().unwrap().details.as_ref().unwrap();
    assert_eq!(details.as_str(), r#"{"Unknown":"Atlantis"}"#);
}

/// The handlers that a set of tools requires are those of its local, dynamic and handled provider-defined tools.
#[test]
fn a_toolkit_lists_the_handlers_it_requires() {
    let kit: Toolkit = Toolkit::from_iter([
        Tool::new("local").define().unwrap(),
        Tool::dynamic("dynamic").define().unwrap(),
        Tool::provider("v.hosted").with_args(()).define().unwrap(),
        Tool::provider("v.handled").requires_handler().with_args(()).define().unwrap(),
        Tool::signal("signal").define().unwrap(),
        Tool::interaction("interaction").define().unwrap(),
    ]);
    let required: Vec<bool> = kit.iter().map(Tool::requires_handler).collect();
    assert_eq!(required, [true, true, false, true, false, false]);
    assert_eq!(kit.ensure_runnable().unwrap_err().missing_handlers, ["local", "dynamic", "handled"]);
}
