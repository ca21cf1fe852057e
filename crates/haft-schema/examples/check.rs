//! Checks JSON against a raw schema and prints every problem: `cargo run -p haft-schema --example check`.
#![allow(clippy::print_stdout, clippy::expect_used, reason = "an example shows what it finds, and that it finds it")]

use haft_schema::{Schema, SchemaError};
use serde_json::json;

fn main() -> Result<(), SchemaError> {
    let schema = Schema::json(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "email": { "type": "string", "pattern": "^[^@]+@[^@]+$" },
            "seats": { "type": "integer", "minimum": 1, "maximum": 8 },
            "meals": { "type": "array", "items": { "enum": ["fish", "vegetarian"] }, "maxItems": 8 }
        },
        "required": ["email", "seats"],
        "additionalProperties": false
    }))?;

    let order = json!({ "email": "ada", "seats": 12, "meals": ["fish", "beef"], "seat": "window" });
    let issues = schema.check(&order).expect_err("the order breaks four rules");
    for issue in &issues {
        println!("{:10} {:22} {}", issue.pointer, issue.keyword, issue.message);
    }

    // A schema that can't be enforced is an error before anything is checked by it.
    let broken = Schema::json(json!({ "$ref": "#/$defs/missing" })).expect_err("there is no such definition");
    println!("{broken}");
    Ok(())
}
