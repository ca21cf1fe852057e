//! The cost of haft compared with the minimum work of any tool layer, measured in one run.
//!
//! Each work prints one line of JSON: our median, the floor's median and their ratio. Ours and the floor alternate in
//! short batches, so that other load on the machine affects both. The floor is `serde_json::from_str`, the function,
//! and `serde_json::to_string`, without any checks.
//! `cargo xtask bench` runs this and compares the ratios with the bars; name works to run only those.

#![allow(clippy::unwrap_used, reason = "a benchmark that can't be set up should stop")]

mod meter;

use std::future::poll_fn;
use std::hint::black_box;
use std::pin::Pin;

use futures_core::Stream;
use haft_core::{ToolCall, ToolEvent};
use haft_executor::{Tool, Toolkit};
use haft_schema::{DecodeOptions, Schema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::meter::{Figures, Meter, Work};

/// The parameters of the workload.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Forecast {
    city: String,
    units: Units,
    #[schemars(range(min = 1, max = 14))]
    days: u8,
    tags: Vec<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Units {
    Celsius,
    Fahrenheit,
}

/// The result of the workload.
#[derive(Debug, Serialize, JsonSchema)]
struct Weather {
    city: String,
    temperature: f64,
    tags: Vec<String>,
}

/// Arguments of about 120 bytes, as a model sends them.
const ARGUMENTS: &str = r#"{"city":"Rio de Janeiro","units":"celsius","days":7,"tags":["weekend","surf","family","budget","outdoor","quiet"]}"#;
/// The same arguments with an unknown unit, too many days and a tag that is a number.
const REFUSED: &str =
    r#"{"city":"Rio de Janeiro","units":"kelvin","days":99,"tags":["weekend",7,"family","budget","outdoor","quiet"]}"#;
const TOOLS: usize = 100;
const BATCH: usize = 64;

const WORKS: [Work; 7] = [
    ("W0", 2000, decode),
    ("W1", 2000, |meter| one_call(meter, TOOLS)),
    ("W1-10000", 2000, |meter| one_call(meter, 100 * TOOLS)),
    ("W2", 40, batch),
    ("W3", 40, large_arguments),
    ("W4", 2000, refused_arguments),
    ("W6", 4000, dynamic_tool),
];

fn main() {
    meter::run(&WORKS);
}

/// W0: decodes arguments into their type with every check, compared with `serde_json::from_str` alone.
fn decode(meter: Meter) -> Figures {
    let schema = Schema::of_params::<Forecast>().unwrap();
    let options = DecodeOptions::default();
    meter.compare(
        || drop(black_box(schema.decode::<Forecast>(black_box(ARGUMENTS), &options).unwrap())),
        || drop(black_box(serde_json::from_str::<Forecast>(black_box(ARGUMENTS)).unwrap())),
    )
}

/// W1: runs one typed call, checked, out of this many tools.
fn one_call(meter: Meter, tools: usize) -> Figures {
    let kit = kit(tools);
    let call = ToolCall::new("call_1", format!("forecast_{}", tools / 2), ARGUMENTS);
    inside_a_runtime(|| meter.compare(|| ran(&kit, black_box(&call)), || floor(black_box(ARGUMENTS))))
}

/// W2: runs many calls in one batch through the event stream; figures are per call.
fn batch(meter: Meter) -> Figures {
    let kit = kit(TOOLS);
    let calls: Vec<_> =
        (0..BATCH).map(|n| ToolCall::new(format!("call_{n}"), format!("forecast_{n}"), ARGUMENTS)).collect();
    let ours = |calls: Vec<ToolCall>| {
        let mut run = kit.run(black_box(calls));
        now(async {
            while let Some(event) = poll_fn(|task| Pin::new(&mut run).poll_next(task)).await {
                let ToolEvent::Output { result, .. } = event else { continue };
                assert!(result.is_ok());
                black_box(result);
            }
        });
    };
    // A model's calls arrive owned: both sides receive the same calls, made outside of the measured time, and consume
    // them.
    let floors = |calls: Vec<ToolCall>| calls.into_iter().for_each(|call| floor(black_box(&call.arguments)));
    inside_a_runtime(|| meter.compare_with(|| calls.clone(), ours, floors)).per_run_of(BATCH)
}

/// W3: runs one typed call with 64 KiB of arguments.
fn large_arguments(meter: Meter) -> Figures {
    let kit = kit(TOOLS);
    let tags: Vec<_> = (0..2000).map(|n| format!("a tag of thirty characters{n:04}")).collect();
    let arguments = json!({"city": "Rio de Janeiro", "units": "celsius", "days": 7, "tags": tags}).to_string();
    assert!(arguments.len() > 64 * 1024);
    let call = ToolCall::new("call_1", "forecast_50", arguments.as_str());
    inside_a_runtime(|| meter.compare(|| ran(&kit, black_box(&call)), || floor(black_box(&arguments))))
}

/// W4: rejects one call with every issue, compared with the floor of a valid one.
fn refused_arguments(meter: Meter) -> Figures {
    let kit = kit(TOOLS);
    let call = ToolCall::new("call_1", "forecast_50", REFUSED);
    let refused = || {
        let result = now(kit.run_call(black_box(&call)));
        assert_eq!(result.failure().unwrap().issues.len(), 3);
        black_box(result);
    };
    inside_a_runtime(|| meter.compare(refused, || floor(black_box(ARGUMENTS))))
}

/// W6: runs one call of a tool whose schema is raw JSON Schema and whose values are trees.
fn dynamic_tool(meter: Meter) -> Figures {
    let parameters = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "units": {"type": "string", "enum": ["celsius", "fahrenheit"]},
            "days": {"type": "integer", "minimum": 1, "maximum": 14},
            "tags": {"type": "array", "items": {"type": "string"}}
        },
        "required": ["city", "units", "days", "tags"],
        "additionalProperties": false
    });
    let success = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "temperature": {"type": "number"},
            "tags": {"type": "array", "items": {"type": "string"}}
        },
        "required": ["city", "temperature", "tags"]
    });
    let tools = (0..TOOLS).map(|n| {
        let tool = Tool::dynamic(format!("forecast_{n}")).params_json(parameters.clone()).success_json(success.clone());
        tool.handler(|arguments: Value, _cx| async move {
            let Value::Object(mut weather) = arguments else { return arguments };
            weather.retain(|key, _| key == "city" || key == "tags");
            weather.insert("temperature".to_owned(), 21.5.into());
            Value::Object(weather)
        })
        .unwrap()
    });
    let kit: Toolkit = Toolkit::new().with_all(tools).unwrap();
    let call = ToolCall::new("call_1", "forecast_50", ARGUMENTS);
    inside_a_runtime(|| meter.compare(|| ran(&kit, black_box(&call)), || floor(black_box(ARGUMENTS))))
}

fn kit(tools: usize) -> Toolkit {
    let tools = (0..tools).map(|n| {
        Tool::new(format!("forecast_{n}")).handler(|forecast: Forecast, _cx| async move { weather(forecast) }).unwrap()
    });
    Toolkit::new().with_all(tools).unwrap()
}

fn weather(forecast: Forecast) -> Weather {
    black_box((forecast.units, forecast.days));
    Weather { city: forecast.city, temperature: 21.5, tags: forecast.tags }
}

fn ran(kit: &Toolkit, call: &ToolCall) {
    let result = now(kit.run_call(call));
    assert!(result.is_ok());
    black_box(result);
}

fn floor(arguments: &str) {
    let forecast: Forecast = serde_json::from_str(arguments).unwrap();
    black_box(serde_json::to_string(&weather(forecast)).unwrap());
}

/// Polls work that never waits to its end, as a runtime would.
fn now<T>(work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    match work.as_mut().poll(&mut task) {
        std::task::Poll::Ready(done) => done,
        std::task::Poll::Pending => panic!("the work waits"),
    }
}

/// Measures inside one `block_on` of a runtime with one thread.
fn inside_a_runtime(measure: impl FnOnce() -> Figures) -> Figures {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async { measure() })
}
