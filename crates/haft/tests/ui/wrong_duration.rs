//! Durations without a unit.

use haft::tool;

#[tool(timeout = 5, idle_timeout)]
fn get_weather() {}

#[tool(timeout = "5")]
fn get_time() {}

fn main() {}
