//! Tools from plain values, without a macro: a closure that may fail, one that blocks its thread, and a type with state.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use haft::prelude::*;
use haft::tool::{Handle, NoFailure, ToolType};
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Division {
    dividend: i64,
    /// Any number but zero.
    divisor: i64,
}

/// A tool with state: its greeting.
struct Greet {
    greeting: String,
}

impl ToolType for Greet {
    const NAME: &'static str = "greet";
    type Params = String;
    type Success = String;
    type Failure = NoFailure;
    type Services = ();
}

impl Handle for Greet {
    async fn handle(&self, name: String, _cx: &Cx) -> Result<String, HandlerError> {
        Ok(format!("{}, {name}!", self.greeting))
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let divide =
        Tool::new("divide").describe("Divides two integers.").try_handler(|division: Division, _cx| async move {
            division.dividend.checked_div(division.divisor).ok_or("division by zero")
        })?;
    // It runs on blocking threads, concurrently with the others.
    let count_files =
        Tool::new("count_files").annotate(Readonly(true)).try_blocking_handler_mixed(|folder: String, _cx| {
            let count = std::fs::read_dir(folder)?.count();
            Ok::<_, HandlerError>(count)
        })?;
    let kit: Toolkit =
        Toolkit::new().with_all([divide, count_files])?.tool_from(Greet { greeting: "Hello".to_owned() });

    let calls = [
        ToolCall::new("c1", "divide", r#"{"dividend": 84, "divisor": 2}"#),
        ToolCall::new("c2", "divide", r#"{"dividend": 84, "divisor": 0}"#),
        ToolCall::new("c3", "count_files", r#"".""#),
        ToolCall::new("c4", "count_files", r#""no such folder""#),
        ToolCall::new("c5", "greet", r#""Ana""#),
    ];
    let results = kit.run(&calls).collect_results().await;
    for (call, result) in calls.iter().zip(&results) {
        println!("{} {}\n  -> {}", call.name, call.arguments, result.to_call_output().output);
    }
    let kinds: Vec<_> = results.iter().map(|result| result.failure().map_or("ok", |f| f.kind.as_str())).collect();
    assert_eq!(kinds, ["ok", "tool_failed", "ok", "execution_error", "ok"]);
    assert_eq!(results[4].to_call_output().output.to_string(), "Hello, Ana!");
    Ok(())
}
