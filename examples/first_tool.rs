//! A first tool: its descriptor, and the results of three calls. An `async fn` works the same.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use haft::prelude::*;
use haft::tool::StaticTool;

/// Current weather for a city.
#[tool(readonly)]
fn get_weather(
    /// City name, e.g. "Paris"
    city: String,
    /// Number of days ahead
    #[schemars(range(min = 1, max = 14))]
    days: u8,
) -> Result<String, String> {
    match city.as_str() {
        "Atlantis" => Err(format!("no weather station in {city}")),
        _ => Ok(format!("{city}: sunny for {days} days")),
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let tool = GetWeather::tool()?;
    println!("The model sees:\n{}\n", serde_json::to_string_pretty(&*tool.descriptor())?);

    let kit = toolkit![GetWeather];
    for (id, arguments) in [
        ("good", r#"{"city": "Paris", "days": 3}"#),
        ("bad", r#"{"city": 75001, "days": 30, "unit": "C"}"#),
        ("failing", r#"{"city": "Atlantis", "days": 1}"#),
    ] {
        let result = kit.run_call(&ToolCall::new(id, "get_weather", arguments)).await;
        println!("{id}: {arguments}\n  -> {}", result.to_call_output().output);
        assert_eq!(result.is_ok(), id == "good");
    }

    // The function is still a function.
    assert_eq!(get_weather("Oslo".to_owned(), 2), Ok("Oslo: sunny for 2 days".to_owned()));
    Ok(())
}
