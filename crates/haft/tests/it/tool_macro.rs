//! `#[tool]`: the tool that a function becomes.

use std::borrow::Cow;

use futures_util::stream;
use haft::tool::{Cx, Failure, HandlerError, HandlerOutput, Outputs, StaticTool, ToolType};
use haft::toolkit::{Provide, Toolkit};
use haft::{JsonSchema, tool, toolkit};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::running::{failure, run, run_in, value};

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Weather {
    celsius: f64,
    by: String,
}

#[derive(Debug, Serialize, JsonSchema, Failure)]
enum WeatherError {
    #[failure(message = "there is no city called {0}")]
    UnknownCity(String),
}

/// An alias of a result, which must be recognised as one.
type Answer<T, E = WeatherError> = Result<T, E>;

struct ApiKey(&'static str);

trait Clock: Send + Sync {
    fn hour(&self) -> u8;
}

struct Noon;

impl Clock for Noon {
    fn hour(&self) -> u8 {
        12
    }
}

struct App {
    key: ApiKey,
    clock: Noon,
}

impl Provide<ApiKey> for App {
    fn provide(&self) -> &ApiKey {
        &self.key
    }
}

impl Provide<dyn Clock> for App {
    fn provide(&self) -> &(dyn Clock + 'static) {
        &self.clock
    }
}

fn app() -> App {
    App { key: ApiKey("key-1"), clock: Noon }
}

/// Current weather for a city.
///
/// Second paragraph.
#[tool]
async fn get_weather(
    /// City name, e.g. "Paris"
    city: String,
    /// Number of days ahead
    #[schemars(range(min = 1, max = 14))]
    days: u8,
    units: Option<String>,
    #[service] key: &ApiKey,
    #[service] clock: &dyn Clock,
    cx: &Cx,
) -> Answer<Weather> {
    tokio::task::yield_now().await;
    if city == "Atlantis" {
        return Err(WeatherError::UnknownCity(city));
    }
    let by = format!("{} {} {} {}", key.0, clock.hour(), cx.call_id(), units.unwrap_or_default());
    Ok(Weather { celsius: f64::from(days), by })
}

#[test]
fn the_documentation_and_the_constraints_reach_the_schema() {
    let tool = GetWeather::tool().unwrap();
    assert_eq!(GetWeather::NAME, "get_weather");
    assert_eq!(tool.description(), Some("Current weather for a city.\n\nSecond paragraph."));
    assert_eq!(
        tool.json_schema(),
        &json!({
            "type": "object",
            "properties": {
                "city": {"description": "City name, e.g. \"Paris\"", "type": "string"},
                "days": {
                    "description": "Number of days ahead",
                    "type": "integer", "format": "uint8", "minimum": 1, "maximum": 14
                },
                "units": {"type": ["string", "null"]},
            },
            "required": ["city", "days"],
            "additionalProperties": false,
        })
    );
}

#[test]
fn the_services_are_declared() {
    let names: Vec<_> = GetWeather::tool().unwrap().dependencies().iter().map(|d| d.name().to_owned()).collect();
    assert_eq!(names.len(), 2);
    assert!(names[0].ends_with("ApiKey") && names[1].starts_with("dyn") && names[1].ends_with("Clock"), "{names:?}");
}

#[tokio::test]
async fn a_call_gets_its_parameters_services_and_context() {
    let kit = toolkit![GetWeather].provide(app());
    let result = run_in(&kit, "get_weather", json!({"city": "Paris", "days": 3, "units": "C"})).await;
    assert_eq!(value(&result), json!({"celsius": 3.0, "by": "key-1 12 c1 C"}));
}

#[tokio::test]
async fn a_declared_failure_behind_an_alias_reaches_the_model() {
    let kit = toolkit![GetWeather].provide(app());
    let result = run_in(&kit, "get_weather", json!({"city": "Atlantis", "days": 3})).await;
    assert_eq!(failure(&result), ("tool_failed", "there is no city called Atlantis"));
    assert_eq!(result.failure().unwrap().details.as_ref().unwrap().to_value(), json!({"UnknownCity": "Atlantis"}));
}

#[tokio::test]
async fn parameters_are_closed_and_checked() {
    let kit = toolkit![GetWeather].provide(app());
    let result = run_in(&kit, "get_weather", json!({"city": "Paris", "days": 30, "planet": "Mars"})).await;
    assert_eq!(result.failure().unwrap().issues.len(), 2, "{result:?}");
}

#[tokio::test]
async fn the_function_stays_callable_and_the_type_is_a_value() {
    let cx = Cx::for_call(&haft::run::ToolCall::new("c7", "get_weather", "{}"));
    let weather = get_weather("Paris".to_owned(), 1, None, &ApiKey("k"), &Noon, &cx).await.unwrap();
    assert_eq!(weather, Weather { celsius: 1.0, by: "k 12 c7 ".to_owned() });
    let arguments = GetWeather { city: "Paris".to_owned(), days: 2, units: None };
    assert_eq!(serde_json::to_value(&arguments).unwrap(), json!({"city": "Paris", "days": 2, "units": null}));
    assert_eq!(format!("{arguments:?}"), "GetWeather { .. }");
}

/// A tool without parameters and without a result.
#[tool]
fn tick() {}

#[tokio::test]
async fn no_parameters_is_the_closed_empty_object_and_no_result_is_null() {
    let tool = Tick::tool().unwrap();
    let empty = json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    assert_eq!(tool.json_schema(), &empty);
    assert_eq!(value(&run::<Tick>(json!({})).await), Value::Null);
    assert!(run::<Tick>(json!({"x": 1})).await.failure().is_some());
    tick();
    let _ = Tick {};
}

#[tool]
fn undocumented(value: u8) -> u8 {
    value
}

#[test]
fn without_a_comment_there_is_no_description() {
    let tool = Undocumented::tool().unwrap();
    assert_eq!(tool.description(), None);
    assert_eq!(tool.json_schema()["properties"]["value"].get("description"), None);
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Search {
    /// The text to search for.
    full_text: String,
    #[serde(default)]
    page: u32,
}

/// Searches.
#[tool(type = SearchTool)]
async fn search(#[params] Search { full_text, page }: Search, cx: &Cx) -> String {
    tokio::task::yield_now().await;
    format!("{full_text}#{page} for {}", cx.call_id())
}

#[tokio::test]
async fn an_own_struct_follows_its_own_attributes() {
    let result = run::<SearchTool>(json!({"fullText": "rust", "other": 1})).await;
    assert_eq!(value(&result), json!("rust#0 for c1"));
    assert_eq!(SearchTool::NAME, "search");
}

/// Reads a number.
#[tool(blocking)]
fn read_number(text: String) -> Result<u8, std::num::ParseIntError> {
    text.parse()
}

#[tokio::test]
async fn an_error_that_is_not_declared_stays_opaque_and_blocking_runs_elsewhere() {
    assert_eq!(value(&run::<ReadNumber>(json!({"text": "7"})).await), json!(7));
    let result = run::<ReadNumber>(json!({"text": "secret-x"})).await;
    assert_eq!(
        failure(&result),
        ("execution_error", "the tool failed with an internal error; only its operator can see the cause")
    );
}

#[tool(blocking)]
fn thread_name(#[service] key: &ApiKey, cx: &Cx) -> String {
    format!("{:?} {} {}", std::thread::current().id(), key.0, cx.call_id())
}

#[tokio::test]
async fn a_blocking_function_has_services_and_its_own_thread() {
    let kit = toolkit![ThreadName].provide(app());
    let here = format!("{:?}", std::thread::current().id());
    let there = value(&run_in(&kit, "thread_name", json!({})).await);
    let there = there.as_str().unwrap();
    assert!(there.ends_with("key-1 c1") && !there.starts_with(&here), "{here} {there}");
}

#[tool]
fn mixed(fail: bool) -> Result<u8, HandlerError<String>> {
    if fail {
        let number: u8 = "x".parse()?;
        return Ok(number);
    }
    Err(HandlerError::Declared("on purpose".to_owned()))
}

#[tokio::test]
async fn a_handler_error_has_both_kinds() {
    assert_eq!(failure(&run::<Mixed>(json!({"fail": true})).await).0, "execution_error");
    assert_eq!(failure(&run::<Mixed>(json!({"fail": false})).await), ("tool_failed", "on purpose"));
}

#[tool]
fn count(up_to: u8) -> Outputs<u8> {
    Outputs::new(stream::iter(
        (1..=up_to).map(move |n| if n == up_to { HandlerOutput::Final(n) } else { HandlerOutput::Preliminary(n) }),
    ))
}

#[tool]
async fn count_later(up_to: u8) -> Outputs<u8, String> {
    tokio::task::yield_now().await;
    Outputs::try_values(stream::iter((1..=up_to).map(|n| if n < 3 { Ok(n) } else { Err("too far".to_owned()) })))
}

#[tokio::test]
async fn a_stream_ends_in_one_value() {
    assert_eq!(value(&run::<Count>(json!({"up_to": 3})).await), json!(3));
    assert_eq!(value(&run::<CountLater>(json!({"up_to": 2})).await), json!(2));
    assert_eq!(failure(&run::<CountLater>(json!({"up_to": 3})).await), ("tool_failed", "too far"));
}

#[tool]
fn names(
    r#type: String,
    mut params: Vec<String>,
    #[serde(rename = "from", default)] cx: Option<String>,
    builder: Cow<'static, str>,
    #[allow(non_snake_case, reason = "the wire's own spelling")] maxCount: usize,
) -> Vec<String> {
    params.extend([r#type, cx.unwrap_or_default(), builder.into_owned()]);
    params.truncate(maxCount);
    params
}

#[tokio::test]
async fn no_parameter_name_collides_with_generated_names() {
    let arguments = json!({"type": "t", "params": ["p"], "from": "f", "builder": "b", "maxCount": 9});
    assert_eq!(value(&run::<Names>(arguments).await), json!(["p", "t", "f", "b"]));
    assert_eq!(names("t".into(), vec![], None, "b".into(), 1), ["t"]);
}

/// A tool can be defined where it is used.
#[tokio::test]
async fn a_tool_inside_a_function_works() {
    #[derive(Serialize, Deserialize, JsonSchema)]
    enum Unit {
        Celsius,
        Kelvin,
    }

    /// Converts.
    #[tool]
    fn convert(degrees: f64, to: Unit) -> f64 {
        match to {
            Unit::Celsius => degrees,
            Unit::Kelvin => degrees + 273.15,
        }
    }

    let kit: Toolkit = toolkit![Convert];
    let result = run_in(&kit, "convert", json!({"degrees": 0, "to": "Kelvin"})).await;
    assert_eq!(value(&result), json!(273.15));
    assert!(run::<Convert>(json!({"degrees": 0, "to": "Celsius"})).await.value().is_some());
}

/// A type that serde knows only through functions in user code.
struct Seconds(u64);

mod seconds {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Seconds;

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn serialize<S: Serializer>(seconds: &Seconds, serializer: S) -> Result<S::Ok, S::Error> {
        seconds.0.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Seconds, D::Error> {
        u64::deserialize(deserializer).map(Seconds)
    }
}

#[tool]
fn wait(
    #[serde(with = "seconds")]
    #[schemars(with = "u64")]
    time: Seconds,
) -> u64 {
    time.0
}

#[tokio::test]
async fn an_attribute_may_replace_the_traits_of_a_type() {
    assert_eq!(value(&run::<Wait>(json!({"time": 5})).await), json!(5));
    assert_eq!(serde_json::to_value(Wait { time: Seconds(7) }).unwrap(), json!({"time": 7}));
}

/// One.
#[doc = concat!("Two", " and a half.")]
#[deprecated]
#[tool]
fn composed() {}

#[test]
fn a_comment_may_be_composed() {
    assert_eq!(Composed::tool().unwrap().description(), Some("One.\nTwo and a half."));
}

/// The usage without the facade.
mod core_only {
    #[haft_macros::tool(crate = haft_executor, timeout = "1s", meta = {"a": 1}, concurrency = 2, approval = "never")]
    pub(super) fn of_core(value: u8) -> Result<u8, Odd> {
        if value % 2 == 1 { Err(Odd) } else { Ok(value) }
    }

    #[derive(Debug, serde::Serialize, schemars::JsonSchema, haft_macros::Failure)]
    #[failure(crate = haft_executor)]
    pub(super) struct Odd;
}

/// A place that can be read and not written.
#[derive(serde::Deserialize, JsonSchema)]
struct OnlyRead {
    city: String,
}

#[tool]
fn locate(place: OnlyRead, others: Option<Vec<OnlyRead>>) -> usize {
    place.city.len() + others.map_or(0, |others| others.len())
}

#[tokio::test]
async fn parameters_need_no_serialize_for_calls_of_a_model() {
    let arguments = json!({"place": {"city": "Oslo"}, "others": [{"city": "Rome"}]});
    assert_eq!(value(&run::<Locate>(arguments).await), json!(5));
    assert_eq!(failure(&run::<Locate>(json!({"place": {}})).await).0, "input_validation_error");
}

#[tokio::test]
async fn the_core_alone_is_sufficient() {
    assert_eq!(value(&run::<core_only::OfCore>(json!({"value": 2})).await), json!(2));
    assert_eq!(failure(&run::<core_only::OfCore>(json!({"value": 3})).await), ("tool_failed", "odd"));
}

mod renamed {
    /// The usage with a renamed crate.
    pub(super) mod tools {
        pub(crate) use haft::*;
    }

    #[tools::tool(crate = self::tools)]
    pub(super) fn elsewhere(value: u8) -> u8 {
        value
    }

    #[derive(tools::Services)]
    #[service(crate = self::tools)]
    pub(super) struct State(pub(super) u8);
}

#[tokio::test]
async fn the_crate_can_have_another_name() {
    let kit = toolkit![crate = self::renamed::tools; renamed::Elsewhere].provide(renamed::State(1));
    assert_eq!(value(&run_in(&kit, "elsewhere", json!({"value": 3})).await), json!(3));
    assert_eq!(Provide::<u8>::provide(&renamed::State(7)), &7);
}
