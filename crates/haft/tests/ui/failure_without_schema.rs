//! A failure that can't be written down or described.

use haft::Failure;

#[derive(Failure)]
enum WeatherError {
    Unknown,
}

fn main() {}
