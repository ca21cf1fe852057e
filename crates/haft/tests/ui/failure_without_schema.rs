//! A failure without serialization or a schema.

use haft::Failure;

#[derive(Failure)]
enum WeatherError {
    Unknown,
}

fn main() {}
