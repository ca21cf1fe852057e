//! The cost of haft compared with the minimum work of any tool layer, measured in one run.
//!
//! Each work prints one line of JSON: our median, the floor's median and their ratio. Ours and the floor alternate in
//! short batches, so that other load on the machine affects both. The floor is `serde_json::from_str`, the function,
//! and `serde_json::to_string`, without any checks.
//! `cargo xtask bench` runs this and compares the ratios with the bars; name works to run only those.
//!
//! With `--instructions` nothing is timed: the floor and then ours run inside [`counted`], a fixed number of times, for
//! `cargo xtask bench --instructions`, which runs this under callgrind and counts each call of that function.

#![allow(clippy::print_stdout, reason = "printing is what a benchmark is for")]
#![allow(clippy::unwrap_used, reason = "a benchmark that can't be set up should stop")]

use std::future::poll_fn;
use std::hint::black_box;
use std::pin::Pin;
use std::time::{Duration, Instant};

use futures_core::Stream;
use haft_core::{DecodeOptions, Schema, Tool, ToolCall, ToolEvent, Toolkit, TurnRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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

/// A name, the number of runs when instructions are counted, and the work itself.
///
/// A short work is run more often: every map of JSON has a new seed, and only the average over many of them is stable.
type Work = (&'static str, usize, fn(Meter) -> Figures);

const WORKS: [Work; 8] = [
    ("W0", 2000, decode),
    ("W1", 2000, |meter| one_call(meter, TOOLS)),
    ("W1-10000", 2000, |meter| one_call(meter, 100 * TOOLS)),
    ("W2", 40, batch),
    ("W3", 40, large_arguments),
    ("W4", 2000, refused_arguments),
    ("W5", 40, request_body),
    ("W6", 4000, dynamic_tool),
];

fn main() {
    let (flags, wanted): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with('-'));
    let counts = flags.iter().any(|flag| flag == "--instructions");
    for (name, runs, work) in WORKS {
        if !wanted.is_empty() && wanted.iter().all(|wanted| wanted != name) {
            continue;
        }
        match work(if counts { Meter::Instructions { runs } } else { Meter::Clock }) {
            Figures::Times { ns, floor_ns } => {
                println!(r#"{{"work":"{name}","ns":{ns:.1},"floor_ns":{floor_ns:.1},"ratio":{:.3}}}"#, ns / floor_ns);
            }
            Figures::Counted { operations } => println!(r#"{{"work":"{name}","operations":{operations}}}"#),
        }
    }
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

/// W5: writes the body of a request with these tools, described before, compared with writing the same trees of JSON
/// again.
fn request_body(meter: Meter) -> Figures {
    let kit = kit(TOOLS);
    let trees = serde_json::to_value(kit.descriptors()).unwrap();
    let ours = || {
        let request = TurnRequest::new("model", Vec::new()).tools(black_box(&kit));
        black_box(serde_json::to_string(&request).unwrap());
    };
    meter.compare(ours, || drop(black_box(serde_json::to_string(black_box(&trees)).unwrap())))
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

/// The figures of one work.
enum Figures {
    /// Medians per operation.
    Times { ns: f64, floor_ns: f64 },
    /// The operations that each of the two calls of [`counted`] did.
    Counted { operations: usize },
}

impl Figures {
    /// Returns the figures per operation of runs that do several.
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    fn per_run_of(self, operations: usize) -> Self {
        match self {
            Self::Times { ns, floor_ns } => {
                Self::Times { ns: ns / operations as f64, floor_ns: floor_ns / operations as f64 }
            }
            Self::Counted { operations: runs } => Self::Counted { operations: runs * operations },
        }
    }
}

/// The way work is measured.
#[derive(Clone, Copy)]
enum Meter {
    Clock,
    Instructions { runs: usize },
}

impl Meter {
    /// Measures two pieces of work.
    fn compare(self, mut ours: impl FnMut(), mut floor: impl FnMut()) -> Figures {
        self.compare_with(|| (), |()| ours(), |()| floor())
    }

    /// Measures two pieces of work that consume an input made beforehand, outside of the measured part.
    fn compare_with<T>(self, make: impl FnMut() -> T, ours: impl FnMut(T), floor: impl FnMut(T)) -> Figures {
        match self {
            Self::Clock => time_both(make, ours, floor),
            Self::Instructions { runs } => count_both(runs, make, ours, floor),
        }
    }
}

/// Runs both this many times inside [`counted`]: first the floor, then ours.
fn count_both<T>(runs: usize, mut make: impl FnMut() -> T, ours: impl FnMut(T), floor: impl FnMut(T)) -> Figures {
    count(runs, &mut make, floor);
    count(runs, &mut make, ours);
    Figures::Counted { operations: runs }
}

fn count<T>(runs: usize, make: &mut impl FnMut() -> T, mut work: impl FnMut(T)) {
    const WARM_UP: usize = 4;
    (0..WARM_UP).for_each(|_| work(make()));
    let mut inputs = (0..runs).map(|_| make()).collect::<Vec<_>>().into_iter();
    counted(&mut || inputs.by_ref().for_each(&mut work));
}

/// Runs the work. Callgrind counts the instructions between entering and leaving this function, by its name.
#[inline(never)]
fn counted(work: &mut dyn FnMut()) {
    work();
}

/// Alternates both until the medians are steady.
fn time_both<T>(mut make: impl FnMut() -> T, mut ours: impl FnMut(T), mut floor: impl FnMut(T)) -> Figures {
    const BATCHES: usize = 401;
    let size = batch_size(&mut || floor(make()));
    let (mut our_times, mut floor_times) = (Vec::with_capacity(BATCHES), Vec::with_capacity(BATCHES));
    for _ in 0..BATCHES {
        floor_times.push(time((0..size).map(|_| make()).collect(), &mut floor));
        our_times.push(time((0..size).map(|_| make()).collect(), &mut ours));
    }
    Figures::Times { ns: median(our_times), floor_ns: median(floor_times) }
}

/// Returns the number of runs that make a batch long enough for the clock.
fn batch_size(work: &mut impl FnMut()) -> usize {
    const BATCH_TIME: Duration = Duration::from_micros(300);
    let mut size = 1;
    loop {
        let start = Instant::now();
        (0..size).for_each(|_| work());
        if start.elapsed() >= BATCH_TIME {
            return size;
        }
        size *= 2;
    }
}

#[expect(clippy::cast_precision_loss, reason = "batches and times are far below 2^52")]
fn time<T>(inputs: Vec<T>, work: impl FnMut(T)) -> f64 {
    let size = inputs.len();
    let start = Instant::now();
    inputs.into_iter().for_each(work);
    start.elapsed().as_nanos() as f64 / size as f64
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
