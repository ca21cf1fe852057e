//! Tools that need something from the application. The toolkit can't run until it is provided, and the compiler says so.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use haft::prelude::*;

trait Clock: Send + Sync {
    fn hour(&self) -> u8;
}

struct Noon;

impl Clock for Noon {
    fn hour(&self) -> u8 {
        12
    }
}

struct Name(String);

#[derive(Services)]
struct App {
    name: Name,
    clock: Arc<dyn Clock>,
}

/// What time it is.
#[tool(readonly, idempotent)]
fn get_hour(#[service] clock: &dyn Clock) -> u8 {
    clock.hour()
}

/// Greets by the time of day.
#[tool]
fn greet(
    /// Whom to greet
    whom: String,
    #[service] clock: &dyn Clock,
    #[service] name: &Name,
) -> String {
    let time = if clock.hour() < 12 { "morning" } else { "afternoon" };
    format!("Good {time}, {whom}; {} here.", name.0)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let kit = toolkit![GetHour, Greet];
    let kit = kit.provide(App { name: Name("haft".to_owned()), clock: Arc::new(Noon) });
    kit.ensure_runnable()?;

    let call = ToolCall::new("c1", "greet", r#"{"whom": "Ana"}"#);
    let result = kit.run_call(&call).await;
    println!("{}", result.to_call_output().output);
    assert_eq!(result.to_call_output().output.to_string(), "Good afternoon, Ana; haft here.");
    Ok(())
}
