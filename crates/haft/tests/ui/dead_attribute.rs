//! Attributes that would compile on a field, and never work for a parameter.

use haft::tool;

#[tool]
fn get_weather(
    #[serde(alias = "town")] city: String,
    #[serde(skip)] cached: bool,
    #[serde(skip_serializing, default)] days: u8,
    #[serde(rename(serialize = "a", deserialize = "b"))] units: String,
    #[schemars(rename = "language")] lang: String,
    #[serde(flatten)] rest: Vec<String>,
) -> String {
    format!("{city} {cached} {days} {units} {lang} {rest:?}")
}

fn main() {}
