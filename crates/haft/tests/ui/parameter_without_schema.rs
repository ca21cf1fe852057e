//! A parameter without a schema.

use haft::tool;

#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct City(String);

#[tool]
fn get_weather(city: City) -> String {
    city.0
}

fn main() {}
