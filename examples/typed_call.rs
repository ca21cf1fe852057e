//! Calls that the program makes itself, with the types of its tools: the same checks as for a model, and Rust values
//! instead of text. Then `try_run_call`, where a tool decides whether its failure is an error to the calling code.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use haft::prelude::*;
use haft::run::CallError;
use haft::run::FailureOrigin;
use haft::tool::FailureMode;
use haft::tool::StaticTool;
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Weather {
    celsius: i8,
    sky: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema, Failure)]
enum WeatherError {
    #[failure(message = "there is no city called {city}")]
    UnknownCity { city: String },
}

/// Current weather for a city.
#[tool(readonly)]
fn get_weather(city: String, #[schemars(range(min = 1, max = 14))] days: u8) -> Result<Vec<Weather>, WeatherError> {
    match city.as_str() {
        "Atlantis" => Err(WeatherError::UnknownCity { city }),
        _ => Ok((0..days).map(|_| Weather { celsius: 21, sky: "clear".to_owned() }).collect()),
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let kit = toolkit![GetWeather];

    // The generated type has the parameters, so the value alone identifies the tool.
    let weather = kit.call(GetWeather { city: "Oslo".to_owned(), days: 2 }).await?;
    println!("a value:            {weather:?}");
    assert_eq!(weather.len(), 2);

    // The failure that the tool declares is returned as its own type, to match on.
    let unknown = kit.call(GetWeather { city: "Atlantis".to_owned(), days: 1 }).await;
    println!("a declared failure: {unknown:?}");
    let city = "Atlantis".to_owned();
    assert_eq!(unknown, Err(CallError::Declared(WeatherError::UnknownCity { city })));

    // A constraint applies to the program as to a model, and nothing ran.
    match kit.call(GetWeather { city: "Oslo".to_owned(), days: 99 }).await {
        Err(CallError::Fault(failure)) => {
            println!("a constraint:       {failure}");
            assert_eq!((failure.kind, failure.started), (FailureKind::InputValidationError, false));
        }
        other => anyhow::bail!("99 days were accepted: {other:?}"),
    }

    // `try_run_call` takes a call as a model wrote it. By default a failure is an error, to be handled with `?` …
    let call = ToolCall::new("c1", "get_weather", r#"{"city": "Atlantis", "days": 1}"#);
    let Err(failure) = kit.try_run_call(&call, RunOptions::new()).await else { anyhow::bail!("Atlantis was found") };
    println!("\nmode error:         Err({failure})");
    assert_eq!(failure.kind, FailureKind::ToolFailed);

    // … and a tool in mode `return` returns it as a value, encoded as it was declared.
    let mild: Toolkit = Toolkit::new().with(GetWeather::tool()?.set_failure_mode(FailureMode::Return)?)?;
    let handled = mild.try_run_call(&call, RunOptions::new()).await?;
    println!("mode return:        Ok, is_failure {}, encoded {}", handled.is_failure, handled.encoded);
    assert_eq!(handled.failure_origin, Some(FailureOrigin::Handler));
    assert_eq!(handled.encoded.as_str(), r#"{"UnknownCity":{"city":"Atlantis"}}"#);
    Ok(())
}
