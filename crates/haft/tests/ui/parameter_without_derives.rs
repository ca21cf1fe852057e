//! Parameters of a type that can be deserialized and not serialized.

use haft::{JsonSchema, tool};
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Readable {
    city: String,
}

#[tool]
fn get_weather(place: Readable) -> String {
    place.city
}

#[tool]
fn get_time(place: Option<Readable>) -> bool {
    place.is_some()
}

fn main() {}
