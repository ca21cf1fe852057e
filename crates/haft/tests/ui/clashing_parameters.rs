//! Two parameters that the model would see under one name, and parameters beside `#[params]`.

use haft::tool;

#[tool]
fn first(city: String, #[serde(rename = "city")] town: String) -> String {
    city + &town
}

#[tool]
fn second(#[params] city: String, days: u8) -> String {
    format!("{city}{days}")
}

fn main() {}
