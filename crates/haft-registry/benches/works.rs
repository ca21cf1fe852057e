//! The cost of calls by name among many tools compared with few, measured in one run.
//!
//! `cargo xtask bench` runs this and compares the ratios with the bars; name works to run only those.

#![allow(clippy::unwrap_used, reason = "a benchmark that can't be set up should stop")]

#[path = "../../haft-executor/benches/meter.rs"]
mod meter;

use std::hint::black_box;

use futures_util::FutureExt;
use haft_executor::{Tool, Toolkit};
use haft_registry::{Executor, PermissionSettings, Registry, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use self::meter::{Figures, Meter, Work};

const MANY: usize = 10_000;
const FEW: usize = 100;
/// The number of calls in one run.
const CALLS: usize = 2;

const WORKS: &[Work] = &[("W7", 40, by_name)];

fn main() {
    meter::run(WORKS);
}

/// W7: a permitted call by its full and by a shorter name among ten thousand tools, compared with one among a hundred.
fn by_name(meter: Meter) -> Figures {
    let (many, few) = (executor(MANY), executor(FEW));
    meter.compare(|| call(&many, MANY), || call(&few, FEW)).per_run_of(CALLS)
}

fn call(executor: &Executor, count: usize) {
    let input = json!({"city": "Oslo", "days": 3});
    for name in [format!("acme/box/tool_{}", count / 2), format!("box/tool_{}", count / 3)] {
        // The tool never waits, so that no runtime is needed.
        let run = executor.run_as::<u8>(black_box(&name), black_box(&input)).now_or_never();
        assert_eq!(black_box(run.unwrap().unwrap()), 3);
    }
}

#[derive(Deserialize, JsonSchema)]
struct Forecast {
    #[allow(dead_code, reason = "only its check matters")]
    city: String,
    #[schemars(range(min = 1, max = 14))]
    days: u8,
}

fn executor(count: usize) -> Executor {
    let tool =
        |at: usize| Tool::new(format!("tool_{at}")).handler(|forecast: Forecast, _| async move { forecast.days });
    let tools: Toolkit = (0..count).map(|at| tool(at).unwrap()).collect();
    let acme = Workspace::org_builder("acme").toolbox("box").served_toolkit(tools).build().unwrap();
    let registry = Registry::builder().workspace(acme).build().unwrap();
    let permissions = PermissionSettings::new().allow("acme/**").deny("*/box/secret_*").build().unwrap();
    Executor::builder().permissions(permissions).build(registry)
}
