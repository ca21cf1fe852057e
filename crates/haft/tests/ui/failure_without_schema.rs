//! A failure without serialization or a schema.

use haft::tool::Failure;

#[derive(Failure)]
enum WeatherError {
    Unknown,
}

fn main() {}
