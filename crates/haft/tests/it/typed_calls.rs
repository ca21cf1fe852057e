//! Calls that the program makes itself, with the types of its tools.

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft::approval::ApprovalPolicy;
use haft::middleware::{Next, Request};
use haft::run::{CallError, FailureKind, Outcome, Permission, RunOptions, ToolCall, ToolFailure};
use haft::tool::{Cx, Failure, HandlerError, NoFailure, Tool, ToolType};
use haft::toolkit::{Services, Toolkit};
use haft::{JsonSchema, tool, toolkit};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Weather {
    celsius: i32,
    by: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema, Failure)]
enum WeatherError {
    #[failure(message = "there is no city called {0}")]
    UnknownCity(String),
    /// The service is down.
    Down,
}

struct ApiKey(&'static str);

#[derive(haft::toolkit::Services)]
struct App {
    key: ApiKey,
    asked: AtomicUsize,
}

fn app() -> App {
    App { key: ApiKey("key-1"), asked: AtomicUsize::new(0) }
}

/// Current weather for a city.
#[tool]
async fn get_weather(
    city: String,
    #[schemars(range(min = 1, max = 14))] days: u8,
    #[service] key: &ApiKey,
    #[service] asked: &AtomicUsize,
    cx: &Cx,
) -> Result<Weather, WeatherError> {
    asked.fetch_add(1, Ordering::Relaxed);
    tokio::task::yield_now().await;
    match city.as_str() {
        "Atlantis" => Err(WeatherError::UnknownCity(city)),
        "Nowhere" => Err(WeatherError::Down),
        _ => Ok(Weather { celsius: i32::from(days), by: format!("{} {}", key.0, cx.tool_name()) }),
    }
}

fn weather(city: &str, days: u8) -> GetWeather {
    GetWeather { city: city.to_owned(), days }
}

fn fault<T: std::fmt::Debug, F: std::fmt::Debug>(answer: Result<T, CallError<F>>) -> ToolFailure {
    match answer {
        Err(CallError::Fault(failure)) => failure,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_success_is_a_value_of_the_tools_type() {
    let kit = toolkit![GetWeather].provide(app());
    let weather = kit.call(weather("Oslo", 3)).await.unwrap();
    assert_eq!(weather, Weather { celsius: 3, by: "key-1 get_weather".to_owned() });
}

#[tokio::test]
async fn a_declared_failure_is_returned_as_its_type() {
    let kit = toolkit![GetWeather].provide(app());
    let unknown = kit.call(weather("Atlantis", 1)).await;
    assert_eq!(unknown, Err(CallError::Declared(WeatherError::UnknownCity("Atlantis".to_owned()))));
    assert_eq!(kit.call(weather("Nowhere", 1)).await, Err(CallError::Declared(WeatherError::Down)));
}

/// The program's own calls are checked like the model's, and a rejected one starts nothing.
#[tokio::test]
async fn a_constraint_is_enforced_before_the_function_runs() {
    let kit = toolkit![GetWeather].provide(app());
    for days in [0, 15, 255] {
        let failure = fault(kit.call(weather("Oslo", days)).await);
        assert_eq!((failure.kind, failure.started), (FailureKind::InputValidationError, false));
        assert_eq!(failure.issues.as_slice()[0].pointer, "/days");
    }
    let asked = || kit.services_of("get_weather").unwrap().get::<AtomicUsize>().unwrap().load(Ordering::Relaxed);
    assert_eq!(asked(), 0);
    kit.call(weather("Oslo", 14)).await.unwrap();
    assert_eq!(asked(), 1);
}

#[tokio::test]
async fn an_unknown_tool_is_a_fault() {
    let kit = toolkit![GetWeather].provide(app());
    let without = kit.filter(|tool| !tool.is_type::<GetWeather>());
    let failure = fault(without.call(weather("Oslo", 3)).await);
    assert_eq!(failure.kind, FailureKind::UnknownTool);
    assert!(failure.message.contains("'get_weather'"), "{}", failure.message);
    let failure = fault(Toolkit::new().call(weather("Oslo", 99)).await);
    assert_eq!(failure.kind, FailureKind::UnknownTool);
}

/// A toolkit that was built at run time may lack a service that its type would have required.
#[tokio::test]
async fn a_service_that_is_missing_is_a_fault_and_one_of_the_call_fills_in() {
    let kit: Toolkit = Toolkit::from_iter([<GetWeather as tool::StaticTool>::tool().unwrap()]);
    let failure = fault(kit.call(weather("Oslo", 3)).await);
    assert_eq!((&failure.kind, failure.started), (&FailureKind::ExecutionError, false));
    let cause = failure.source().unwrap().to_string();
    assert!(cause.contains("ApiKey") && cause.contains("AtomicUsize"), "{cause}");

    let services = Services::new().with(ApiKey("the call's")).with(AtomicUsize::new(0));
    let options = RunOptions::new().services(services);
    let weather = kit.call_with(weather("Oslo", 3), &options).await.unwrap();
    assert_eq!(weather.by, "the call's get_weather");
}

#[tokio::test]
async fn services_of_the_call_win() {
    let kit = toolkit![GetWeather].provide(app());
    let options = RunOptions::new().services(Services::new().with(ApiKey("key-2")));
    let oslo = || weather("Oslo", 3);
    assert_eq!(kit.call_with(oslo(), options).await.unwrap().by, "key-2 get_weather");
    assert_eq!(kit.call(oslo()).await.unwrap().by, "key-1 get_weather");
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Search {
    query: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limit: Option<u8>,
}

/// Finds things.
#[tool]
fn find(#[params] search: Search) -> Vec<String> {
    vec![search.query; usize::from(search.limit.unwrap_or(1))]
}

#[tokio::test]
async fn a_tool_with_parameters_of_its_own_type_is_called_by_name_of_its_type() {
    let kit: Toolkit = toolkit![Find];
    let search = |limit| Search { query: "rust".to_owned(), limit };
    assert_eq!(kit.call_of::<Find>(search(None), RunOptions::new()).await.unwrap(), ["rust"]);
    assert_eq!(kit.call_of::<Find>(search(Some(2)), RunOptions::new()).await.unwrap(), ["rust", "rust"]);
}

/// Divides.
#[tool]
fn divide(a: i32, b: i32) -> Result<i32, String> {
    a.checked_div(b).ok_or_else(|| format!("{a} can't be divided by {b}"))
}

#[tool]
fn forget(name: String) {
    drop(name);
}

#[tool]
fn nothing() {}

#[tool]
fn read(path: String) -> std::io::Result<String> {
    Err(std::io::Error::other(format!("{path} is on /dev/secret")))
}

#[tool]
fn mixed(way: u8) -> Result<u8, HandlerError<String>> {
    match way {
        0 => Err(HandlerError::Declared("as declared".to_owned())),
        1 => Err(HandlerError::opaque(ToolFailure::new("busy", "come back later"))),
        2 => Err(HandlerError::opaque(ToolFailure::new(FailureKind::ToolFailed, "without details"))),
        way => Ok(way),
    }
}

#[tokio::test]
async fn text_is_a_failure_like_any_other() {
    let kit: Toolkit = toolkit![Divide];
    assert_eq!(kit.call(Divide { a: 7, b: 2 }).await, Ok(3));
    let failed = kit.call(Divide { a: 7, b: 0 }).await;
    assert_eq!(failed, Err(CallError::Declared("7 can't be divided by 0".to_owned())));
}

#[tokio::test]
async fn nothing_goes_in_and_comes_out_as_unit() {
    let kit: Toolkit = toolkit![Forget, Nothing];
    let (): () = kit.call(Forget { name: "x".to_owned() }).await.unwrap();
    let (): () = kit.call(Nothing {}).await.unwrap();
}

/// The caller is the operator: it gets the cause, which is not in the message.
#[tokio::test]
async fn an_error_that_is_not_declared_is_a_fault_with_its_cause() {
    let kit: Toolkit = toolkit![Read];
    let error = kit.call(Read { path: "a.txt".to_owned() }).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "execution_error: the tool failed with an internal error; only its operator can see the cause"
    );
    assert_eq!(error.source().unwrap().to_string(), "a.txt is on /dev/secret");
}

#[tokio::test]
async fn failures_of_a_handler_are_distinguished() {
    let kit: Toolkit = toolkit![Mixed];
    assert_eq!(kit.call(Mixed { way: 9 }).await, Ok(9));
    assert_eq!(kit.call(Mixed { way: 0 }).await, Err(CallError::Declared("as declared".to_owned())));
    assert_eq!(fault(kit.call(Mixed { way: 1 }).await).kind.as_str(), "busy");
    assert_eq!(fault(kit.call(Mixed { way: 2 }).await).message, "without details");
}

async fn with_question_mark(kit: &Toolkit) -> Result<i32, Box<dyn Error + Send + Sync>> {
    Ok(kit.call(Divide { a: 1, b: 0 }).await?)
}

#[tokio::test]
async fn an_error_of_a_call_describes_itself() {
    let declared = CallError::Declared(WeatherError::UnknownCity("Atlantis".to_owned()));
    assert_eq!(
        declared.to_string(),
        format!("the tool failed: {}", WeatherError::UnknownCity("Atlantis".to_owned()).message())
    );
    assert!(declared.source().is_none());
    let fault = CallError::<NoFailure>::Fault(ToolFailure::new("busy", "come back later"));
    assert_eq!(fault.to_string(), "busy: come back later");

    let error = with_question_mark(&toolkit![Divide]).await.unwrap_err();
    assert!(error.to_string().contains("1 can't be divided by 0"), "{error}");
}

/// A permit, an approval and a middleware apply to the program's own calls too.
#[tokio::test]
async fn the_programs_own_calls_pass_every_gate() {
    let kit: Toolkit = toolkit![Divide];
    let params = || Divide { a: 7, b: 2 };
    let no = |_: &Tool, _: &ToolCall, _: &Cx| Permission::denied("not today");
    let failure = fault(kit.call_with(params(), RunOptions::new().permit(no)).await);
    assert_eq!((failure.kind.as_str(), failure.message.as_str()), ("permission_denied", "not today"));
    let gated = RunOptions::new().policy(ApprovalPolicy::always());
    assert_eq!(fault(kit.call_with(params(), gated).await).kind, FailureKind::Denied);

    let ten = |request: Request, next: Next| async move {
        let mut arguments = request.arguments().unwrap().clone();
        arguments["a"] = json!(10);
        let outcome: Outcome = next.run(request.with_arguments(&arguments)).await;
        outcome
    };
    assert_eq!(kit.wrap(ten).call(params()).await, Ok(5));
}

/// Another tool under the same name, whose results are not of the expected type.
#[tokio::test]
async fn a_result_of_another_type_is_a_fault() {
    let other = Tool::new(Divide::NAME).params::<Divide>().handler(|_, _cx| async { "text" }).unwrap();
    let failure = fault(Toolkit::from_iter([other]).call(Divide { a: 7, b: 2 }).await);
    assert_eq!(failure.kind, FailureKind::OutputValidationError);
}

#[tokio::test]
async fn a_function_stays_a_function() {
    assert_eq!(divide(7, 2), Ok(3));
    let cx = Cx::for_call(&ToolCall::new("c1", "get_weather", ""));
    let state = app();
    let direct = get_weather("Oslo".to_owned(), 99, &state.key, &state.asked, &cx).await;
    assert_eq!(direct.unwrap().celsius, 99, "called as a function, nothing stands before it");
}
