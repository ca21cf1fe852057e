//! One conversation with each real provider whose key is in the environment: `cargo xtask live`.
//!
//! It costs a few cents and needs the network, so no test runs it. The variables of the clients (`OPENAI_BASE_URL` and so on)
//! redirect it, and `HAFT_LIVE_OPENAI`, `HAFT_LIVE_ANTHROPIC` and `HAFT_LIVE_GEMINI` name other models.
#![allow(clippy::print_stdout, reason = "the program prints what it found")]

mod check;

use std::env;
use std::process::ExitCode;

use haft_executor::BoxError;
use haft_http::SecretError;
use haft_model::{Anthropic, Gemini, LanguageModel, OpenAi};
use serde_json::{Value, json};

/// A client of a provider, created from the environment.
struct LiveProvider {
    title: &'static str,
    /// The name under which its options are given.
    name: &'static str,
    /// The variable that names another model.
    variable: &'static str,
    model: &'static str,
    /// The options that make the model reason.
    options: fn() -> Value,
    client: fn(String) -> Result<Box<dyn LanguageModel>, SecretError>,
}

const PROVIDERS: [LiveProvider; 4] = [
    LiveProvider {
        title: "OpenAI, Responses",
        name: "openai",
        variable: "HAFT_LIVE_OPENAI",
        model: "gpt-6-luna",
        options: || json!({"reasoning": {"effort": "low"}}),
        client: |model| Ok(Box::new(OpenAi::from_env()?.model(model))),
    },
    LiveProvider {
        title: "OpenAI, Chat Completions",
        name: "openai",
        variable: "HAFT_LIVE_OPENAI",
        model: "gpt-6-luna",
        options: || json!({"reasoning_effort": "low"}),
        client: |model| Ok(Box::new(OpenAi::from_env()?.chat().model(model))),
    },
    LiveProvider {
        title: "Anthropic",
        name: "anthropic",
        variable: "HAFT_LIVE_ANTHROPIC",
        model: "claude-haiku-5-5",
        options: || json!({"thinking": {"type": "adaptive", "display": "summarized"}}),
        client: |model| Ok(Box::new(Anthropic::from_env()?.model(model))),
    },
    LiveProvider {
        title: "Gemini",
        name: "google",
        variable: "HAFT_LIVE_GEMINI",
        model: "gemini-3.8-flash",
        options: || json!({"generationConfig": {"thinkingConfig": {"includeThoughts": true}}}),
        client: |model| Ok(Box::new(Gemini::from_env()?.model(model))),
    },
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for provider in PROVIDERS {
        let LiveProvider { title, name, variable, model, options, client } = provider;
        let model = env::var(variable).ok().filter(|name| !name.is_empty()).unwrap_or_else(|| model.to_owned());
        let client = match client(model.clone()) {
            Ok(client) => client,
            Err(missing @ (SecretError::Missing { .. } | SecretError::NoneSet { .. })) => {
                println!("{title}: skipped: {missing}");
                continue;
            }
            Err(error) => {
                println!("{title}: {error}");
                code = ExitCode::FAILURE;
                continue;
            }
        };
        let seen: Result<check::SeenFeatures, BoxError> = check::check(client, name, options()).await;
        match seen {
            Ok(seen) => {
                let missing: Vec<&str> = seen.named().iter().filter(|(_, seen)| !seen).map(|(name, _)| *name).collect();
                if missing.is_empty() {
                    println!("{title}, {model}: reasoning, parallel calls, an image, structured output: ok");
                } else {
                    println!("{title}, {model}: not seen: {}", missing.join(", "));
                    code = ExitCode::FAILURE;
                }
            }
            Err(error) => {
                println!("{title}, {model}: {error}");
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}
