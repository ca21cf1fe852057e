//! A result without a schema.

use haft::tool;

#[derive(serde::Serialize)]
struct Weather;

#[tool]
fn get_weather() -> Weather {
    Weather
}

fn main() {}
