//! Tools that need services of the application.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_core::ToolResult;
use haft_executor::{
    Cx, DefinitionError, Handle, HandlerError, Needs, NoFailure, Provide, RunOptions, Services, Tool, ToolType, Toolkit,
};

use super::says;
use crate::executing::{calls, came, kit, tell};

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

struct LookupWeather;

impl ToolType for LookupWeather {
    const NAME: &'static str = "lookup_weather";
    type Params = String;
    type Success = String;
    type Failure = NoFailure;
    type Services = (Needs<WeatherApiKey>,);
}

impl Handle for LookupWeather {
    async fn handle(&self, city: String, cx: &Cx) -> Result<String, HandlerError> {
        Ok(format!("{city} by {}", cx.service::<WeatherApiKey>()?.0))
    }
}

struct GetCoords;

impl ToolType for GetCoords {
    const NAME: &'static str = "get_coords";
    type Params = String;
    type Success = String;
    type Failure = NoFailure;
    type Services = (Needs<GeoApiKey>,);
}

impl Handle for GetCoords {
    async fn handle(&self, place: String, cx: &Cx) -> Result<String, HandlerError> {
        Ok(format!("{place} by {}", cx.service::<GeoApiKey>()?.0))
    }
}

fn live() -> Live {
    Live { weather: WeatherApiKey("weather key"), geo: GeoApiKey("geo key") }
}

/// The state must provide the services of all tools together; each gets its own.
#[tokio::test]
async fn one_state_serves_the_union_and_each_tool_gets_its_own() {
    let kit = Toolkit::new().tool_from(LookupWeather).tool_from(GetCoords).provide(live());
    kit.ensure_runnable().unwrap();
    let run = kit.run(calls([("lookup_weather", r#""Oslo""#), ("get_coords", r#""Oslo""#)]));
    assert_eq!(tell(run).await, ["c1 output \"Oslo by weather key\"", "c2 output \"Oslo by geo key\""]);
    let needs = |name: &str| kit.get(name).unwrap().dependencies().len();
    assert_eq!((needs("lookup_weather"), needs("get_coords")), (1, 1));
}

#[tokio::test]
async fn tools_that_need_nothing_run_without_a_state() {
    let kit: Toolkit = Toolkit::new().with(says("plain", "fine").unwrap()).unwrap();
    assert_eq!(tell(kit.run(calls([("plain", "")]))).await, ["c1 output \"fine\""]);
}

/// Creates a tool that needs two services and counts how often it began.
fn needy(name: &str, began: &Arc<AtomicUsize>) -> Result<Tool, DefinitionError> {
    let began = Arc::clone(began);
    Tool::new(name).depends_on::<WeatherApiKey>().depends_on::<GeoApiKey>().try_handler_opaque(move |(), cx: Cx| {
        began.fetch_add(1, Ordering::Relaxed);
        async move { cx.service::<WeatherApiKey>().map(|key| key.0) }
    })
}

#[tokio::test]
async fn everything_missing_is_listed_before_anything_starts() {
    let began = Arc::default();
    let kit = kit([needy("one", &began), needy("two", &began), says("plain", "fine")])
        .with_services(Services::new().with(GeoApiKey("geo key")));
    let missing = kit.ensure_runnable().unwrap_err();
    let listed: Vec<_> = missing.missing_services.iter().map(|missing| missing.tool.as_str()).collect();
    assert_eq!(listed, ["one", "two"]);
    assert!(missing.missing_services.iter().all(|missing| missing.service.ends_with("WeatherApiKey")));

    // If it is run anyway, nothing starts, every call has a result, the model learns nothing, the operator everything.
    let calls = calls([("one", ""), ("plain", ""), ("two", "")]);
    let results = kit.run(&calls).collect_results().await;
    assert_eq!(results.iter().map(came).collect::<Vec<_>>(), ["execution_error"; 3]);
    for failure in results.iter().filter_map(ToolResult::failure) {
        assert!(!failure.started);
        assert!(!failure.to_model_text().contains("WeatherApiKey"));
        let cause = std::error::Error::source(failure).unwrap().to_string();
        assert!(cause.contains("`one` requires") && cause.contains("`two` requires"), "{cause}");
    }
    assert_eq!(began.load(Ordering::Relaxed), 0);
    let provided = Services::new().with(WeatherApiKey("key"));
    let results = kit.run_with(&calls, RunOptions::new().services(provided)).collect_results().await;
    assert_eq!(results.iter().map(came).collect::<Vec<_>>(), ["\"key\"", "\"fine\"", "\"key\""]);
}

#[tokio::test]
async fn services_of_the_run_take_precedence_and_fill_gaps() {
    let began = Arc::default();
    let kit = kit([needy("one", &began)]).with_services(Services::new().with(WeatherApiKey("the toolkit's")));
    let call = calls([("one", "")]);
    let fill_in = Services::new().with(GeoApiKey("geo"));
    let run = kit.run_with(&call, RunOptions::new().services(fill_in.clone()));
    assert_eq!(tell(run).await, ["c1 output \"the toolkit's\""]);
    let run = kit.run_with(&call, RunOptions::new().services(fill_in.with(WeatherApiKey("the run's"))));
    assert_eq!(tell(run).await, ["c1 output \"the run's\""]);
    assert_eq!(tell(kit.run(&call)).await, ["c1 output execution_error"], "a run leaves nothing behind");
}
