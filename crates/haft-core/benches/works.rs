//! How much haft costs beside the least that any tool layer must do, measured in one run.
//!
//! Each work prints one line of JSON: our median, the floor's median and their ratio. Ours and the floor take turns
//! in short batches, so that whatever else the machine does falls on both.
//! `cargo xtask bench` runs this and compares the ratios with the bars; name works to run only those.

#![allow(clippy::print_stdout, reason = "printing is what a benchmark is for")]
#![allow(clippy::unwrap_used, reason = "a benchmark that can't be set up should stop")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use haft_core::{DecodeOptions, Schema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// About 120 bytes, as a model sends them.
const ARGUMENTS: &str = r#"{"city":"Rio de Janeiro","units":"celsius","days":7,"tags":["weekend","surf","family","budget","outdoor","quiet"]}"#;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let works: [(&str, Work); 1] = [("W0", decode)];
    for (name, work) in &works {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            let Figures { ns, floor_ns } = work();
            println!(r#"{{"work":"{name}","ns":{ns:.1},"floor_ns":{floor_ns:.1},"ratio":{:.3}}}"#, ns / floor_ns);
        }
    }
}

type Work = fn() -> Figures;

/// W0: arguments into their type with every check, beside `serde_json::from_str` alone.
fn decode() -> Figures {
    let schema = Schema::of_params::<Forecast>().unwrap();
    let options = DecodeOptions::default();
    compare(
        || drop(black_box(schema.decode::<Forecast>(black_box(ARGUMENTS), &options).unwrap())),
        || drop(black_box(serde_json::from_str::<Forecast>(black_box(ARGUMENTS)).unwrap())),
    )
}

/// Medians per run.
struct Figures {
    ns: f64,
    floor_ns: f64,
}

/// Lets two pieces of work take turns until the medians are steady.
fn compare(mut ours: impl FnMut(), mut floor: impl FnMut()) -> Figures {
    const BATCHES: usize = 401;
    let size = batch_size(&mut floor);
    let (mut our_times, mut floor_times) = (Vec::with_capacity(BATCHES), Vec::with_capacity(BATCHES));
    for _ in 0..BATCHES {
        floor_times.push(time(size, &mut floor));
        our_times.push(time(size, &mut ours));
    }
    Figures { ns: median(our_times), floor_ns: median(floor_times) }
}

/// How many runs make a batch long enough for the clock.
fn batch_size(work: &mut impl FnMut()) -> usize {
    const BATCH: Duration = Duration::from_micros(300);
    let mut size = 1;
    loop {
        let start = Instant::now();
        (0..size).for_each(|_| work());
        if start.elapsed() >= BATCH {
            return size;
        }
        size *= 2;
    }
}

#[expect(clippy::cast_precision_loss, reason = "batches and times are far below 2^52")]
fn time(size: usize, work: &mut impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..size).for_each(|_| work());
    start.elapsed().as_nanos() as f64 / size as f64
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
