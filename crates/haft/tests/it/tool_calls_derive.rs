//! `#[derive(ToolCalls)]`, and reading calls and results by the types of their tools.

use std::error::Error;

use haft::conversation::{Finish, Item, Turn};
use haft::run::{
    CallDecodeError, CallError, CallId, FailureKind, RunOptions, ToolCall, ToolCalls, ToolFailure, ToolResult, Typed,
};
use haft::schema::{DecodeOptions, Limits, Repairs};
use haft::tool::{Cx, Emits, Failure, Handle, HandlerError, NoFailure, ToolType};
use haft::toolkit::Toolkit;
use haft::{JsonSchema, tool, toolkit};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema, Failure)]
enum WeatherError {
    #[failure(message = "there is no city called {0}")]
    UnknownCity(String),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Weather {
    celsius: i32,
}

/// Current weather for a city.
#[tool]
fn get_weather(city: String, #[schemars(range(min = 1, max = 14))] days: u8) -> Result<Weather, WeatherError> {
    match city.as_str() {
        "Atlantis" => Err(WeatherError::UnknownCity(city)),
        _ => Ok(Weather { celsius: i32::from(days) }),
    }
}

struct Zone(i8);

/// The time.
#[tool]
fn get_time(#[service] zone: &Zone) -> i8 {
    zone.0
}

struct Multiply<const BY: i32> {
    plus: i32,
}

impl<const BY: i32> ToolType for Multiply<BY> {
    const NAME: &'static str = "multiply";
    type Params = i32;
    type Success = i32;
    type Failure = NoFailure;
    type Services = ();
}

impl<const BY: i32> Handle for Multiply<BY> {
    async fn handle(&self, number: i32, _cx: &Cx) -> Result<i32, HandlerError> {
        Ok(number.saturating_mul(BY).saturating_add(self.plus))
    }
}

#[derive(Debug, ToolCalls)]
enum AppCall {
    Weather(Typed<GetWeather>),
    Time(Typed<GetTime>),
    #[value]
    Multiply(Typed<Multiply<3>>),
    #[other]
    Other(ToolCall),
}

#[derive(Debug, ToolCalls)]
enum ClosedCall {
    Weather(Typed<GetWeather>),
}

#[derive(haft::toolkit::Services)]
struct App {
    zone: Zone,
}

fn weather(arguments: &str) -> ToolCall {
    ToolCall::new("c1", "get_weather", arguments)
}

fn described(call: &AppCall) -> String {
    match call {
        AppCall::Weather(typed) => format!("{} {} {}", typed.call_id(), typed.params.city, typed.params.days),
        AppCall::Time(typed) => format!("{} time", typed.call_id()),
        AppCall::Multiply(typed) => format!("{} multiply {}", typed.call_id(), typed.params),
        AppCall::Other(call) => format!("{} other {}", call.call_id, call.name),
    }
}

#[test]
fn a_turn_is_matched_whole() {
    let calls = [
        ToolCall::new("a", "get_weather", r#"{"city": "Oslo", "days": 3}"#),
        ToolCall::new("b", "get_time", ""),
        ToolCall::new("c", "multiply", "3.0"),
        ToolCall::new("d", "search", "not JSON"),
    ];
    let turn = Turn::new(calls.map(Item::ToolCall).to_vec(), Finish::ToolCalls);
    let decoded: Result<Vec<AppCall>, CallDecodeError> = turn.tool_calls().into_iter().map(AppCall::decode).collect();
    let calls: Vec<String> = decoded.unwrap().iter().map(described).collect();
    assert_eq!(calls, ["a Oslo 3", "b time", "c multiply 3", "d other search"]);
}

#[tokio::test]
async fn the_toolkit_has_every_variant_in_order_and_its_state_is_checked() {
    let kit = AppCall::toolkit(Multiply { plus: 1 }).provide(App { zone: Zone(2) });
    assert_eq!(kit.names().collect::<Vec<_>>(), ["get_weather", "get_time", "multiply"]);
    let names: Vec<_> = AppCall::VARIANTS.iter().map(|variant| variant.name).collect();
    assert_eq!(kit.names().collect::<Vec<_>>(), names);
    kit.ensure_runnable().unwrap();
    let result = kit.run_call(&ToolCall::new("c1", "multiply", "5")).await;
    assert_eq!(Multiply::<3>::read(&result), Ok(16));
    assert_eq!(GetTime::read(&kit.run_call(&ToolCall::new("c2", "get_time", "")).await), Ok(2));
}

#[test]
fn the_call_is_kept_whole() {
    let call = weather(r#"{"city": "Oslo", "days": 3}"#).metadata("trace", "t-1").executed_by_provider();
    let decoded = AppCall::decode(&call).unwrap();
    assert_eq!(decoded.call(), &call);
    let AppCall::Weather(typed) = decoded else { panic!("{decoded:?}") };
    assert_eq!(typed.call.metadata["trace"], "t-1");
    assert!(typed.repairs.is_empty());
    assert_eq!(ToolCall::from(typed), call);
    let other = ToolCall::new("c2", "search", "");
    assert_eq!(AppCall::decode(other.clone()).unwrap().call(), &other);
}

/// Arguments of a model, and whatever secrets they contain, are in no log by accident.
#[test]
fn the_debug_form_omits_the_arguments() {
    let decoded = AppCall::decode(weather(r#"{"city": "Oslo", "days": 3}"#)).unwrap();
    assert_eq!(format!("{decoded:?}"), r#"Weather(Typed { call_id: "c1", tool: "get_weather", .. })"#);
}

/// The error is the answer that a run would give.
#[tokio::test]
async fn invalid_arguments_are_an_error_with_the_result_of_a_run() {
    let kit: Toolkit = ClosedCall::toolkit();
    for arguments in [
        "",
        "{",
        "[]",
        r#"{"city": "Oslo"}"#,
        r#"{"city": "Oslo", "days": 15}"#,
        r#"{"city": "Oslo", "days": 3, "x": 1}"#,
        r#"{"city": "Oslo", "days": 3, "days": 4}"#,
        r#"["Oslo", 3]"#,
    ] {
        let call = weather(arguments);
        let error = ClosedCall::decode(&call).unwrap_err();
        let result = kit.run_call(&call).await;
        assert_eq!(error.to_result(), result, "{arguments}");
        assert_eq!((error.call_id(), error.call()), (&CallId::from("c1"), &call));
        assert_eq!(GetWeather::decode(&call).unwrap_err(), error);
        assert_eq!(Typed::<GetWeather>::decode(&call).unwrap_err(), error);
        assert_eq!(ToolFailure::from(error.clone()), *result.failure().unwrap());
        assert_eq!(ToolCall::from(error.clone()), call);
        assert_eq!(ToolResult::from(error), result);
    }
}

#[test]
fn an_error_describes_its_call() {
    let error = ClosedCall::decode(weather(r#"{"city": "Oslo", "days": 15}"#)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the call 'c1' of the tool 'get_weather' can't be decoded: input_validation_error: /days: must be at most 14, and is 15"
    );
    assert!(error.source().is_none());
}

#[test]
fn without_a_variant_for_other_tools_they_are_an_error() {
    let error = ClosedCall::decode(ToolCall::new("c1", "get_wether", "{}")).unwrap_err();
    assert_eq!(error.failure().kind, FailureKind::UnknownTool);
    assert_eq!(error.failure().message, "there is no tool called 'get_wether'; the nearest is 'get_weather'");
    assert!(!error.failure().started);
}

#[test]
fn a_type_decodes_its_own_calls_only() {
    let error = GetWeather::decode(&ToolCall::new("c1", "get_time", "")).unwrap_err();
    assert_eq!(error.failure().message, "the call is of the tool 'get_time', not of 'get_weather'");
    let long = "x".repeat(10_000);
    let error = GetWeather::decode(&ToolCall::new("c1", long, "")).unwrap_err();
    assert!(error.to_string().len() < 500, "{error}");
}

#[test]
fn a_namespace_is_given_explicitly() {
    let call = ToolCall::new("c1", "met__get_weather", r#"{"city": "Oslo", "days": 3}"#);
    let options = DecodeOptions::default();
    let in_met = AppCall::decode_in("met", &call, &options).unwrap();
    assert_eq!(described(&in_met), "c1 Oslo 3");
    assert_eq!(in_met.call(), &call, "the call keeps its full name");
    assert_eq!(GetWeather::decode_as("met__get_weather", &call, &options).unwrap().city, "Oslo");

    // Another server may have a tool of this name, so a suffix never decides.
    assert_eq!(described(&AppCall::decode(&call).unwrap()), "c1 other met__get_weather");
    assert!(GetWeather::decode(&call).is_err());
    for namespace in ["", "m", "met__", "other"] {
        let decoded = AppCall::decode_in(namespace, &call, &options).unwrap();
        assert_eq!(described(&decoded), "c1 other met__get_weather", "{namespace}");
    }
    let error = ClosedCall::decode_in("met", weather("{}"), &options).unwrap_err();
    assert_eq!(error.failure().message, "there is no tool called 'get_weather'; the nearest is 'met__get_weather'");
}

#[test]
fn options_apply_and_repairs_are_kept() {
    let call = weather(r#"{"city": "Oslo", "days": "3"}"#);
    assert!(Typed::<GetWeather>::decode(&call).is_err());
    let repaired = DecodeOptions::default().repairs(Repairs::all());
    let typed = Typed::<GetWeather>::decode_as(GetWeather::NAME, &call, &repaired).unwrap();
    assert_eq!((typed.params.days, typed.repairs.len()), (3, 1));

    let small = DecodeOptions::default().limits(Limits::default().max_bytes(8));
    let call = weather(r#"{"city": "Oslo", "days": 3}"#);
    let error = GetWeather::decode_as(GetWeather::NAME, &call, &small).unwrap_err();
    assert_eq!(error.failure().kind, FailureKind::InputValidationError);
}

#[tokio::test]
async fn results_are_read_by_type_and_not_by_name() {
    let kit = AppCall::toolkit(Multiply { plus: 0 }).provide(App { zone: Zone(2) }).namespace("met").unwrap();
    let call = |city: &str, days: u8| ToolCall::json("c1", "met__get_weather", &json!({"city": city, "days": days}));
    assert_eq!(GetWeather::read(&kit.run_call(&call("Oslo", 3)).await), Ok(Weather { celsius: 3 }));
    let declared = GetWeather::read(&kit.run_call(&call("Atlantis", 3)).await);
    assert_eq!(declared, Err(CallError::Declared(WeatherError::UnknownCity("Atlantis".to_owned()))));
    match GetWeather::read(&kit.run_call(&call("Oslo", 99)).await) {
        Err(CallError::Fault(failure)) => assert_eq!(failure.kind, FailureKind::InputValidationError),
        other => panic!("{other:?}"),
    }
}

/// A result that was stored, or that another version of the tool made.
#[test]
fn a_result_of_another_type_is_a_fault() {
    let call = weather("{}");
    let fault = |result: &ToolResult| match GetWeather::read(result) {
        Err(CallError::Fault(failure)) => failure,
        other => panic!("{other:?}"),
    };
    let read = fault(&ToolResult::ok(&call, json!({"fahrenheit": 70})));
    assert_eq!(read.kind, FailureKind::OutputValidationError);
    assert!(!read.message.contains("fahrenheit") && read.source().is_some());

    let declared = ToolFailure::new(FailureKind::ToolFailed, "no").details(json!({"Moved": 1}));
    assert_eq!(fault(&ToolResult::from_failure(&call, declared.clone())), declared);
    // Only a declared failure is one, whatever its details look like.
    let busy = ToolFailure::new("busy", "no").details(json!({"UnknownCity": "Oslo"}));
    assert_eq!(fault(&ToolResult::from_failure(&call, busy.clone())), busy);
    let stored = serde_json::to_string(&ToolResult::ok(&call, json!({"celsius": 7}))).unwrap();
    assert_eq!(GetWeather::read(&serde_json::from_str(&stored).unwrap()), Ok(Weather { celsius: 7 }));
}

#[tokio::test]
async fn a_handled_result_has_its_typed_form_beside_the_encoded_one() {
    let kit: Toolkit = ClosedCall::toolkit();
    let handled = kit.try_run_call(weather(r#"{"city": "Oslo", "days": 3}"#), RunOptions::new()).await.unwrap();
    assert_eq!(handled.encoded.as_str(), r#"{"celsius":3}"#);
    assert_eq!(handled.typed::<GetWeather>(), Ok(Weather { celsius: 3 }));
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "step")]
enum Step {
    Found { hits: u32 },
    Read { title: String },
}

/// Searches.
#[tool(emits = Step)]
async fn search(query: String, cx: &Cx) -> Result<u32, HandlerError> {
    cx.emit(Step::Found { hits: 1 }).await?;
    cx.emit(Step::Read { title: query }).await?;
    Ok(1)
}

#[tokio::test]
async fn emitted_values_are_described_and_read_as_their_type() {
    let kit: Toolkit = toolkit![Search];
    assert!(kit.descriptors()[0].emits.as_ref().unwrap().as_json()["oneOf"].is_array());
    let mut run = kit.run([ToolCall::json("c1", "search", &json!({"query": "Rust"}))]);
    let mut steps = Vec::new();
    while let Some(event) = run.next().await {
        steps.extend(Search::read_event(&event).transpose().unwrap());
    }
    assert_eq!(steps, [Step::Found { hits: 1 }, Step::Read { title: "Rust".to_owned() }]);
}

#[test]
fn a_typed_call_is_cloned_and_compared_if_its_parameters_are() {
    let typed = Typed::<Multiply<3>>::decode(ToolCall::new("c1", "multiply", "4")).unwrap();
    assert_eq!(typed, typed.clone());
    assert_ne!(typed, Typed::decode(ToolCall::new("c2", "multiply", "4")).unwrap());
}

/// A program of its own methods beside those of the trait.
struct Own;

impl Own {
    fn decode(text: &str) -> usize {
        text.len()
    }
}

impl ToolType for Own {
    const NAME: &'static str = "own";
    type Params = u8;
    type Success = ();
    type Failure = NoFailure;
    type Services = ();
}

#[test]
fn methods_of_the_type_itself_come_first() {
    assert_eq!(Own::decode("four"), 4);
    assert_eq!(<Own as ToolType>::decode(&ToolCall::new("c1", "own", "4")).unwrap(), 4);
}

mod elsewhere {
    //! The macro in a crate that depends on the core only, and in a function.

    #[test]
    fn an_enum_may_be_local_and_the_crate_elsewhere() {
        use haft::run::{ToolCalls, Typed};

        #[haft::tool]
        fn ping() {}

        #[derive(ToolCalls)]
        #[tool_calls(crate = ::haft)]
        enum LocalCall {
            #[allow(dead_code, reason = "only the names are compared")]
            Ping(Typed<Ping>),
        }
        assert_eq!(LocalCall::VARIANTS.len(), 1);
        let kit: haft::toolkit::Toolkit = LocalCall::toolkit();
        assert_eq!(kit.len(), 1);
    }
}

fn is_error<E: Error + Send + Sync + 'static>(_: &E) {}

#[test]
fn an_error_fits_into_a_small_result() {
    assert!(size_of::<CallDecodeError>() <= size_of::<usize>());
    is_error(&ClosedCall::decode(weather("{}")).unwrap_err());
}
