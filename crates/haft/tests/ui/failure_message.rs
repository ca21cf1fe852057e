//! Messages with unknown fields.

use haft::JsonSchema;
use haft::tool::Failure;

#[derive(Debug, serde::Serialize, JsonSchema, Failure)]
enum WeatherError {
    #[failure(message = "no city {nam}")]
    UnknownCity { name: String },
    #[failure(message = "{1}")]
    Closed(u8),
    #[failure(mesage = "x", retry_after = 5)]
    Silent,
}

#[derive(Debug, serde::Serialize, JsonSchema, Failure)]
#[failure(message = "x")]
enum Other {
    One,
}

fn main() {}
