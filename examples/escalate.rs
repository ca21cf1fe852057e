//! A signal: a call that has no handler and is read by the loop. Here a small model hands the question to a stronger
//! one, which has other tools, in the same conversation.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use haft::model::Expect;
use haft::model::{LoopEvent, ScriptedTurn};
use haft::prelude::*;
use serde_json::json;

/// Hand the question to a stronger model.
#[tool(signal)]
struct Escalate {
    /// The reason why it is hard.
    reason: String,
}

/// The sum of two numbers.
#[tool(readonly)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// The number of ways to choose some of a number of things.
#[tool(readonly)]
fn choose(things: u64, some: u64) -> Result<u64, String> {
    if some > things {
        return Err(format!("there are only {things}"));
    }
    Ok((1..=some).fold(1, |ways, taken| ways * (things - some + taken) / taken))
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let everyday = toolkit![Add, Escalate];
    let expert = toolkit![Add, Choose];

    let small = ScriptedModel::new([
        // The arguments of a signal are checked like any others: this one never reaches the loop.
        ScriptedTurn::calls([ToolCall::new("c1", "escalate", "{}")]),
        ScriptedTurn::calls([ToolCall::new("c2", "escalate", r#"{"reason": "this is combinatorics"}"#)]),
    ]);
    let handed_over = Expect::new().tools(["choose"]).without_tools(["escalate"]).last(json!({"output": "noted"}));
    let large = ScriptedModel::new([
        ScriptedTurn::calls([ToolCall::new("c3", "choose", r#"{"things": 49, "some": 6}"#)]).expect(handed_over),
        ScriptedTurn::text("There are 13983816 ways."),
    ]);

    let stronger = (large.clone(), expert);
    let agent = TurnLoop::new(small.clone(), everyday).decide(move |mut between| {
        let (model, tools) = stronger.clone();
        async move {
            let Some(signal) = between.signals_mut().first_mut() else { return between.as_usual() };
            let reason = match signal.decode_as::<Escalate>() {
                Some(Ok(escalate)) => escalate.reason,
                Some(Err(error)) => return between.fail(error),
                None => return between.as_usual(),
            };
            println!("the loop takes the large model from here: {reason}");
            // The model reads this as the result of its call; here that is the next model.
            signal.answer("noted");
            between.set_model(model);
            between.set_tools(tools);
            between.request_mut().model = "large".into();
            between.next()
        }
    });

    let question = "How many ways are there to choose 6 of 49?";
    let mut run = agent.start(TurnRequest::new("small", vec![Item::user(question)]));
    let (mut signals, mut outputs) = (Vec::new(), Vec::new());
    while let Some(event) = run.next().await {
        match event {
            LoopEvent::TurnStarted { number, .. } => println!("turn {number}"),
            LoopEvent::Signal(signal) => {
                println!("  signal {}: {}", signal.name(), signal.arguments);
                signals.push(signal.call_id().to_string());
            }
            LoopEvent::Tool(event) => {
                let output = event.result().map(ToolResult::to_model_text).unwrap_or_default();
                println!("  {} -> {output}", event.tool());
                outputs.push(event.call_id().to_string());
            }
            _ => {}
        }
    }
    assert_eq!(signals, ["c2"]);
    assert_eq!(outputs, ["c1", "c2", "c3"], "every call has its one result, the signal its answer");

    let outcome = run.finish().await;
    println!("{}", outcome.state.text());
    assert!(outcome.end.is_stopped());
    assert_eq!(outcome.state.request().model, "large");
    // Both models received the requests that their scripts expect, and no others.
    small.finish()?;
    large.finish()?;
    Ok(())
}
