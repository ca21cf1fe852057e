//! Parameters of a type that has no schema, and typed calls of one that can't be serialized.

use haft::toolkit::Toolkit;
use haft::{JsonSchema, tool};
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Readable {
    city: String,
}

struct Opaque;

#[tool]
fn get_weather(place: Readable) -> String {
    place.city
}

#[tool]
fn get_time(place: Option<Opaque>, city: Option<String>) -> bool {
    place.is_some() || city.is_some()
}

async fn call(kit: &Toolkit, place: Readable) {
    let _ = kit.call(GetWeather { place }).await;
}

fn main() {}
