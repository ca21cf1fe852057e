//! Tools that need services from the application. The toolkit can't run until they are provided, which the compiler
//! checks; a single run can bring its own instead.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use haft::prelude::*;
use haft::tool::StaticTool;

trait Clock: Send + Sync {
    fn hour(&self) -> u8;
}

struct At(u8);

impl Clock for At {
    fn hour(&self) -> u8 {
        self.0
    }
}

struct Name(&'static str);

/// The application's state, given when the toolkit is built.
#[derive(Services)]
struct App {
    name: Name,
    clock: Arc<dyn Clock>,
}

/// The current hour.
#[tool(readonly, idempotent)]
fn get_hour(#[service] clock: &dyn Clock) -> u8 {
    clock.hour()
}

/// Greets by the time of day.
#[tool]
fn greet(
    /// The name to greet
    whom: String,
    #[service] clock: &dyn Clock,
    #[service] name: &Name,
) -> String {
    let time = if clock.hour() < 12 { "morning" } else { "afternoon" };
    format!("Good {time}, {whom}; {} here.", name.0)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // Without `provide` there is no `run`: leave it out, and the compiler names the missing service.
    let kit = toolkit![GetHour, Greet].provide(App { name: Name("haft"), clock: Arc::new(At(15)) });
    kit.ensure_runnable()?;

    let calls = [ToolCall::new("c1", "get_hour", ""), ToolCall::new("c2", "greet", r#"{"whom": "Ana"}"#)];

    let built = texts(&kit.run(&calls).collect_results().await);
    println!("as built:     {built:?}");
    assert_eq!(built, ["15", "Good afternoon, Ana; haft here."]);

    // Services of one run override those of the toolkit. The others are the toolkit's.
    let early = Services::new().with_shared::<dyn Clock>(Arc::new(At(6)));
    let one_run = texts(&kit.run_with(&calls, RunOptions::new().services(early)).collect_results().await);
    println!("for one run:  {one_run:?}");
    assert_eq!(one_run, ["6", "Good morning, Ana; haft here."]);

    let again = texts(&kit.run(&calls).collect_results().await);
    println!("and after it: {again:?}");
    assert_eq!(again, built);

    // A toolkit that is built at run time has no state type for the compiler to check: it reports the same before it
    // runs.
    let loose: Toolkit = Toolkit::new().with(Greet::tool()?)?;
    let missing = loose.ensure_runnable().map_err(|problems| problems.to_string());
    println!("not runnable: {missing:?}");
    assert!(missing.is_err_and(|problems| problems.contains("Clock") && problems.contains("Name")));
    Ok(())
}

fn texts(results: &[ToolResult]) -> Vec<String> {
    results.iter().map(|result| result.to_call_output().output.to_string()).collect()
}
