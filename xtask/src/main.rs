//! The tasks of this repository, as one command: `cargo xtask <command>`.
//!
//! A task is written here, in Rust, so that it runs the same on every machine and in CI. Nothing here is published,
//! and nothing here may be needed to build or use the crates.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command writes to its standard streams")]

mod argument;
mod artifact;
mod bench;
mod conformance;
mod fuzz;
mod growth;
mod invocation;
mod live;
mod openapi;
mod setup;
mod test;
mod tidy;
mod valgrind;
mod weigh;
mod wires;
mod workspace;

use std::process::ExitCode;

use anyhow::bail;

use self::argument::Arguments;
use self::workspace::Workspace;

const USAGE: &str = "\
usage: cargo xtask <command>

  test [--offline] [STEP...]           everything CI checks, or only these steps; --offline skips what needs downloads
  setup                                download the parts that some tests need into target/parts
  tidy                                 check the house rules that no lint checks
  bench [WORK...]                      measure, and compare with the bars
  bench --instructions [WORK...]       count instructions, and compare with the published ratios
  bench --instructions --save          publish the ratios of this checkout
  growth [WORK...]                     measure how cost grows with size, and compare with the bar
  weigh [--only SIDE] [--tools N]      measure the cost of building tools, and compare with rmcp and the bars
  conformance client|server            let the official conformance suite of MCP judge our client, or our server
  wires                                count how real tools and calls fare on the profiles of all wires
  openapi                              count the operations of real OpenAPI documents that are imported
  live                                 one conversation with each provider whose key is in the environment
  fuzz [--seconds N] [--seed S] [--trace] [TARGET...]
  fuzz --replay FILE TARGET            run one saved input";

fn main() -> ExitCode {
    let arguments = Arguments::from_env();
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut arguments: Arguments) -> anyhow::Result<()> {
    let workspace = Workspace::find();
    match arguments.next_word().as_deref() {
        Some("test") => test::run(&workspace, arguments),
        Some("setup") => setup::run(&workspace, arguments),
        Some("tidy") => tidy::run(&workspace, arguments),
        Some("bench") => bench::run(&workspace, arguments),
        Some("growth") => growth::run(&workspace, arguments),
        Some("weigh") => weigh::run(&workspace, arguments),
        Some("wires") => wires::run(&workspace, arguments),
        Some("openapi") => openapi::run(&workspace, arguments),
        Some("live") => live::run(&workspace, arguments),
        Some("conformance") => conformance::run(&workspace, arguments),
        Some("fuzz") => fuzz::run(&workspace, arguments),
        None | Some("help" | "--help" | "-h") => {
            println!("{USAGE}");
            Ok(())
        }
        Some(other) => bail!("unknown command `{other}`\n\n{USAGE}"),
    }
}
