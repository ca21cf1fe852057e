//! Prints how real tools fare on every profile: `cargo xtask wires`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a command writes to its standard streams")]

#[path = "../tests/it/explanation.rs"]
mod explanation;
#[path = "../tests/it/parts/survey.rs"]
mod survey;

use haft_parts::corpus::{bfcl, mcp_tools};

fn main() {
    for (corpus, sets) in [("MCP servers", mcp_tools()), ("BFCL", bfcl())] {
        println!("{}", survey::survey(corpus, &sets, &mut |_, _| ()));
    }
}
