//! A function whose type would shadow another.

use haft::tool;

#[derive(serde::Serialize, haft::JsonSchema)]
struct Weather;

#[tool]
fn weather() -> Weather {
    Weather
}

#[tool]
fn string() {}

fn main() {}
