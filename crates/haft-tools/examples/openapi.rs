//! Prints how many operations of real OpenAPI documents are imported, and with `--requests` how many requests of large
//! ones are correct: `cargo xtask openapi`.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_precision_loss,
    reason = "a command writes to its standard streams"
)]

#[path = "../tests/it/openapi/parts/acceptance.rs"]
mod acceptance;
#[path = "../tests/it/openapi/parts/example.rs"]
mod example;
#[path = "../tests/it/openapi/parts/survey.rs"]
mod survey;

use std::process::ExitCode;

use haft_parts::corpus::{large_openapi, openapi};

/// The least share of operations that must be imported.
const BAR: f64 = 0.95;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("--requests") {
        let acceptance = acceptance::Acceptance::of(&large_openapi()).await;
        println!("{acceptance}");
        return if acceptance.is_met() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let survey = survey::Survey::of(&openapi());
    println!("{survey}");
    let is_met = survey.share() >= BAR && survey.panics.is_empty() && survey.rejected.is_empty();
    if is_met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
