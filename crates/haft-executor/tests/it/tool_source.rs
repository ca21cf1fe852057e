//! Live sources of tools: snapshots, generations, and everything that is made of them.

mod approval;
mod combinator;
mod concurrent;
mod handwritten;
mod hostile;
mod runnable;
mod shared;
mod wait;

use haft_executor::{Snapshot, Tool, ToolSource};

/// Creates a tool that returns a number.
fn tool(name: &str, answer: u32) -> Tool {
    Tool::new(name).handler(move |(), _cx| async move { answer }).unwrap()
}

/// Creates a tool with a name of this length.
fn long(length: usize) -> Tool {
    tool(&"n".repeat(length), 0)
}

fn names(source: &impl ToolSource) -> Vec<String> {
    named(&source.snapshot())
}

fn named(snapshot: &Snapshot) -> Vec<String> {
    snapshot.toolkit().names().map(str::to_owned).collect()
}

fn generation(source: &impl ToolSource) -> u64 {
    source.snapshot().generation()
}

/// Returns the tools that were left out.
fn left_out(source: &impl ToolSource) -> Vec<String> {
    source.snapshot().faults().iter().map(|fault| fault.tool.clone()).collect()
}
