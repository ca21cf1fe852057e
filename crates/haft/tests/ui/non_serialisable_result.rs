//! A result that can't be written down.

use haft::tool;

struct Weather;

#[tool]
fn get_weather() -> Weather {
    Weather
}

fn main() {}
