//! A result that can be written down, but not described.

use haft::tool;

#[derive(serde::Serialize)]
struct Weather;

#[tool]
fn get_weather() -> Weather {
    Weather
}

fn main() {}
