//! `#[tool]` with a service of each run, a refine function, content as a result, and content made from a result.

#![allow(clippy::unused_async, reason = "asynchronous functions are one of the forms")]

use std::sync::Arc;

use haft::conversation::{CallOutputBody, ContentPart, MediaData};
use haft::prelude::*;
use haft::run::ToolOutput;
use haft::schema::Issue;
use haft::tool::{RefineError, StaticTool};
use haft::toolkit::ServiceSource;
use serde_json::json;

struct Tenant(&'static str);

struct Greeting(&'static str);

trait Clock: Send + Sync {
    fn hour(&self) -> u8;
}

struct At(u8);

impl Clock for At {
    fn hour(&self) -> u8 {
        self.0
    }
}

#[derive(Services)]
struct App {
    greeting: Greeting,
}

/// Greets.
#[tool]
async fn greet(
    #[service(run)] tenant: &Tenant,
    #[service] greeting: &Greeting,
    #[service(run)] clock: &dyn Clock,
) -> String {
    format!("{} {} at {}", greeting.0, tenant.0, clock.hour())
}

#[tokio::test]
async fn a_service_of_the_run_is_not_the_states() {
    let kit = toolkit![Greet].provide(App { greeting: Greeting("hello") });
    kit.ensure_runnable().unwrap();
    let missing = kit.ensure_runnable_with(RunOptions::new()).unwrap_err().missing_services;
    assert_eq!(missing.len(), 2);
    assert!(missing.iter().all(|missing| missing.tool == "greet" && missing.provided_by == ServiceSource::RunOnly));
    let call = ToolCall::new("c1", "greet", "");
    let result = kit.run_call(&call).await;
    assert_eq!(result.failure().unwrap().kind, FailureKind::ExecutionError);
    let options = RunOptions::new().service(Tenant("ana")).shared_service::<dyn Clock>(Arc::new(At(7)));
    assert_eq!(kit.run_call_with(&call, &options).await.to_model_text(), "hello ana at 7");
}

async fn known_city(mut weather: GetWeather, cx: Cx) -> Result<GetWeather, RefineError> {
    if weather.city == "lost" {
        return Err(RefineError::opaque("the map is gone"));
    }
    let prefix = cx.service::<Tenant>()?.0;
    if weather.city.len() < 3 {
        return Err(Issue::new("/city", "refine", "is too short").into());
    }
    weather.city = format!("{prefix}/{}", weather.city.to_lowercase());
    Ok(weather)
}

/// Returns the weather.
#[tool(refine = known_city)]
fn get_weather(city: String) -> String {
    city
}

/// Doubles a number.
#[tool(refine = |double: Double, _cx| async move { Ok::<_, Issue>(Double { number: double.number + 1 }) }, approval = "always")]
fn double(number: u32) -> u32 {
    number * 2
}

#[tokio::test]
async fn a_function_refines_the_parameters() {
    let kit: Toolkit = toolkit![GetWeather, Double];
    let options = RunOptions::new().service(Tenant("ana")).approvals(|request: ApprovalRequest, _: Cx| async move {
        assert_eq!(request.arguments, r#"{"number":4}"#);
        request.approve()
    });
    let run = |tool: &'static str, arguments: &'static str| {
        let (kit, options) = (&kit, &options);
        async move { kit.run_call_with(&ToolCall::new("c1", tool, arguments), options).await }
    };
    assert_eq!(run("get_weather", r#"{"city": "MUC"}"#).await.to_model_text(), "ana/muc");
    let rejected = run("get_weather", r#"{"city": "X"}"#).await;
    let failure = rejected.failure().unwrap();
    assert_eq!((&failure.kind, failure.started), (&FailureKind::InputValidationError, false));
    assert_eq!(run("get_weather", r#"{"city": "lost"}"#).await.failure().unwrap().kind, FailureKind::ExecutionError);
    assert_eq!(run("double", r#"{"number": 3}"#).await.to_model_text(), "8");
}

fn icon() -> ContentPart {
    ContentPart::image("image/png", MediaData::Base64("aWNvbg==".to_owned()))
}

/// One part.
#[tool]
async fn one_part() -> ContentPart {
    icon()
}

/// Several parts, or a failure.
#[tool]
fn parts(fail: bool) -> Result<Vec<ContentPart>, String> {
    if fail { Err("no picture".to_owned()) } else { Ok(vec![ContentPart::text("an icon"), icon()]) }
}

/// A value, and content of this result.
#[tool]
fn output() -> ToolOutput {
    ToolOutput::from(json!({"rows": 3})).for_model(vec![icon()])
}

/// A number, and content made from it.
#[tool(to_model = |rows: &u32| vec![ContentPart::text(format!("{rows} rows")), icon()])]
fn rendered() -> u32 {
    3
}

/// A failure, or content made from the value.
#[tool(to_model = shown)]
async fn tried(rows: u32) -> Result<u32, String> {
    if rows == 0 { Err("none".to_owned()) } else { Ok(rows) }
}

fn shown(rows: &impl std::fmt::Display) -> [ContentPart; 1] {
    [ContentPart::text(format!("{rows} rows"))]
}

#[tokio::test]
async fn a_tool_returns_content() {
    let kit: Toolkit = toolkit![OnePart, Parts, Output, Rendered, Tried];
    let run = |tool: &'static str, arguments: &'static str| {
        let kit = &kit;
        async move { kit.run_call(&ToolCall::new("c1", tool, arguments)).await }
    };
    let text = |text: &str| ContentPart::text(text);
    for (tool, arguments, value, parts) in [
        ("one_part", "", json!(icon()), vec![icon()]),
        ("parts", r#"{"fail": false}"#, json!([text("an icon"), icon()]), vec![text("an icon"), icon()]),
        ("output", "", json!({"rows": 3}), vec![icon()]),
        ("rendered", "", json!(3), vec![text("3 rows"), icon()]),
        ("tried", r#"{"rows": 2}"#, json!(2), vec![text("2 rows")]),
    ] {
        let result = run(tool, arguments).await;
        assert_eq!(result.decode::<serde_json::Value>().unwrap(), value, "{tool}");
        let CallOutputBody::Parts(read) = result.to_call_output().output else { panic!("{tool}: {result:?}") };
        assert_eq!(read, parts, "{tool}");
    }
    assert_eq!(run("parts", r#"{"fail": true}"#).await.failure().unwrap().message, "no picture");
    assert_eq!(run("tried", r#"{"rows": 0}"#).await.failure().unwrap().message, "none");
    let decoded: Vec<ContentPart> = run("parts", r#"{"fail": false}"#).await.decode().unwrap();
    assert_eq!(decoded.len(), 2);
}

#[test]
fn content_has_a_schema() {
    assert!(OnePart::tool().unwrap().descriptor().output_schema.is_some());
    assert!(Output::tool().unwrap().descriptor().output_schema.is_none(), "an output may have any value");
}
