//! Reads text into a type that describes its own schema, and writes it back: `cargo run -p haft-schema --example read`.
#![allow(clippy::print_stdout, clippy::expect_used, reason = "an example shows what it finds, and that it finds it")]

use haft_schema::{DecodeOptions, Repairs, Schema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A booking.
#[derive(Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct Booking {
    /// The city to fly to.
    city: String,
    #[schemars(range(min = 1, max = 8))]
    seats: u8,
    #[serde(default)]
    notes: Vec<String>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = Schema::of::<Booking>()?;
    println!("{:#}", schema.as_json());

    let options = DecodeOptions::default();
    let booking: Booking = schema.decode(r#"{"city": "Oslo", "seats": 2.0}"#, &options)?.value;
    println!("{booking:?}");

    let rejected = schema.decode::<Booking>(r#"{"city": "Oslo", "seats": 9, "window": true}"#, &options);
    for issue in &rejected.expect_err("nine seats and an unknown key") {
        println!("{}: {}", issue.pointer, issue.message);
    }

    // Small mistakes can be repaired; what was changed is reported.
    let repairing = DecodeOptions::default().repairs(Repairs::all());
    let repaired = schema.decode::<Booking>(r#"{"city": "Oslo", "seats": "2", "notes": "late"}"#, &repairing)?;
    println!("{:?} after {} repairs", repaired.value, repaired.repairs.len());

    println!("{}", schema.encode(&booking)?);
    Ok(())
}
