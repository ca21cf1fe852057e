//! Prints how many operations of real OpenAPI documents are imported: `cargo xtask openapi`.
#![allow(clippy::print_stdout, clippy::cast_precision_loss, reason = "a command writes to its standard streams")]

#[path = "../tests/it/openapi/parts/survey.rs"]
mod survey;

use std::process::ExitCode;

use haft_parts::corpus::openapi;

/// The least share of operations that must be imported.
const BAR: f64 = 0.95;

fn main() -> ExitCode {
    let survey = survey::Survey::of(&openapi());
    println!("{survey}");
    let is_met = survey.share() >= BAR && survey.panics.is_empty() && survey.rejected.is_empty();
    if is_met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
