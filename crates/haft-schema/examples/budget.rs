//! Input that is made to be expensive ends in an ordinary issue: `cargo run -p haft-schema --example budget`.
#![allow(clippy::print_stdout, clippy::expect_used, reason = "an example shows what it finds, and that it finds it")]

use haft_schema::{DecodeOptions, Limits, Schema, SchemaError, secure_json};
use serde_json::{Value, json};

fn main() -> Result<(), SchemaError> {
    // Every level has two ways to be valid, so a naive check tries two to the power of the depth.
    let tree = Schema::json(json!({
        "$ref": "#/$defs/node",
        "$defs": { "node": { "anyOf": [
            { "type": "object", "properties": { "left": { "$ref": "#/$defs/node" } }, "required": ["left"] },
            { "type": "object", "properties": { "left": { "$ref": "#/$defs/node" } }, "required": ["left", "size"] }
        ] } }
    }))?;
    let deep = format!("{}1{}", r#"{"left":"#.repeat(120), "}".repeat(120));
    let issues = tree.decode::<Value>(&deep, &DecodeOptions::default()).expect_err("no leaf is a node");
    println!("{} issues, the first: {}", issues.len(), issues.as_slice()[0].message);

    // Many regular expression engines never return from this one.
    let pattern = Schema::json(json!({ "pattern": "^(a+)+$" }))?;
    let verdict = pattern.check(&json!(format!("{}!", "a".repeat(10_000))));
    println!("{}", verdict.expect_err("it ends in an exclamation mark"));

    // Your own limits on size and depth, for text that becomes a free-form value.
    let small = Limits::default().max_bytes(1_000).max_depth(8);
    for text in [&deep, r#"{"__proto__": {}}"#, r#"{"a": 1, "a": 2}"#] {
        println!("{}", secure_json::parse_with(text, &small).expect_err("deep, forbidden, ambiguous"));
    }
    Ok(())
}
