//! A failure without serialization or a schema.

use haft::tool::Failure;

#[derive(Debug, Failure)]
enum WeatherError {
    Unknown,
}

fn main() {}
