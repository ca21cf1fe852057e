//! A result without serialization.

use haft::tool;

struct Weather;

#[tool]
fn get_weather() -> Weather {
    Weather
}

fn main() {}
