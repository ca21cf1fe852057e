//! Running a toolkit whose services were not provided.

use haft::{tool, toolkit};

struct ApiKey;

#[tool]
fn get_weather(#[service] _key: &ApiKey) {}

fn main() {
    let _ = toolkit![GetWeather].ensure_runnable();
}
