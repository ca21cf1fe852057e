//! Tools from plain values: a closure that may fail, one that answers in steps, and a type with state.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use futures_util::stream;
use haft::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

#[derive(Deserialize, JsonSchema)]
struct Division {
    dividend: i64,
    /// Not zero.
    divisor: i64,
}

#[derive(Clone, Serialize, JsonSchema)]
struct Found {
    pages: u32,
    done: bool,
}

/// A tool with state: it knows what to greet with.
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
    async fn run(&self, name: String, _cx: &Cx) -> Result<String, HandlerError> {
        Ok(format!("{}, {name}!", self.greeting))
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let divide =
        Tool::new("divide").describe("Divides two integers.").try_run(|division: Division, _cx| async move {
            division.dividend.checked_div(division.divisor).ok_or("division by zero")
        })?;
    let crawl = Tool::new("crawl").describe("Crawls a site.").run_stream(|pages: u32, _cx| {
        let steps = (1..=pages).map(move |page| Found { pages: page, done: page == pages });
        Outputs::<Found>::values(stream::iter(steps))
    })?;
    let greet = Tool::from_handler(Greet { greeting: "Hello".to_owned() })?;

    println!("{}", answer(&divide, r#"{"dividend": 84, "divisor": 2}"#).await);
    println!("{}", answer(&divide, r#"{"dividend": 84, "divisor": 0}"#).await);
    println!("{}", answer(&greet, r#""Ana""#).await);

    // Early values of a streaming handler go to whoever listens.
    let (queue, mut early) = mpsc::unbounded_channel();
    let call = ToolCall::new("c", "crawl", "3");
    let result = crawl.run_call(&call, &Cx::for_call(&call).with_emitter(queue)).await;
    while let Ok(emitted) = early.try_recv() {
        println!("early: {emitted:?}");
    }
    println!("final: {}", result.to_call_output().output);
    assert_eq!(result.value().map(JsonText::to_value), Some(serde_json::json!({"pages": 3, "done": true})));
    Ok(())
}

async fn answer(tool: &Tool, arguments: &str) -> String {
    let call = ToolCall::new("c", tool.name(), arguments);
    tool.run_call(&call, &Cx::for_call(&call)).await.to_call_output().output.to_string()
}
