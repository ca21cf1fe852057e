//! The round trip: a model makes calls, they are run, and it reads their results in the next request. First by hand,
//! where every step is visible; then the same as a loop.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::io::Write;

use haft::conversation::{ContentPart, Delta, Turn};
use haft::model::{ScriptedTurn, TurnStream};
use haft::prelude::*;
use haft::run::Step;

/// The local time in a city.
#[tool(readonly)]
fn get_time(city: String) -> Result<String, String> {
    match city.as_str() {
        "Lisbon" => Ok("09:00".to_owned()),
        "Tokyo" => Ok("17:00".to_owned()),
        _ => Err(format!("nobody knows the time in {city}")),
    }
}

/// Creates a stand-in for a model: it answers by a script, and streams as a provider does.
fn scripted() -> ScriptedModel {
    ScriptedModel::new([
        ScriptedTurn::text("Let me look that up.")
            .call(ToolCall::new("c1", "get_time", r#"{"city": "Lisbon"}"#))
            .call(ToolCall::new("c2", "get_time", r#"{"city": "Tokyo"}"#))
            .call(ToolCall::new("c3", "get_time", r#"{"city": "Atlantis"}"#)),
        ScriptedTurn::text("It is 09:00 in Lisbon and 17:00 in Tokyo. Nobody knows about Atlantis."),
    ])
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let kit = toolkit![GetTime];
    let question = "What time is it in Lisbon, Tokyo and Atlantis?";
    let request = TurnRequest::new("some-model", vec![Item::user(question)]);

    println!("By hand:");
    let conversation = by_hand(&scripted(), &kit, request.clone()).await?;
    for item in &conversation {
        println!("  | {}", in_short(item));
    }

    println!("\nAs a loop:");
    let agent = TurnLoop::new(scripted(), kit);
    let outcome = agent.start(request).finish().await;
    assert!(outcome.end.is_stopped());
    println!("  {}", outcome.state.text());
    assert_eq!(outcome.state.history(), conversation, "the same conversation, item by item");
    Ok(())
}

/// Sends requests until the model makes no more calls, and returns the whole conversation.
async fn by_hand(model: &impl LanguageModel, kit: &Toolkit, request: TurnRequest) -> anyhow::Result<Vec<Item>> {
    let mut request = request.tools(kit);
    loop {
        let mut turn = listen(model.stream_turn(&request)).await?;
        anyhow::ensure!(!turn.is_cut_off(), "an answer that was cut off must run nothing");
        // Models reuse ids; in a history each call needs a unique one.
        request.history.fresh_ids(&mut turn);
        let calls = turn.tool_calls();
        if calls.is_empty() {
            turn.append_to_history(&mut request.history, [])?;
            return Ok(request.history.into());
        }
        // The calls run concurrently. When all are done, the turn is appended to the history with their results in the
        // order of the calls: a provider rejects a call without a result, and a result without its call.
        let mut steps = kit.run(calls).continue_with_results(|results| {
            assert_eq!(results.len(), 3, "one result per call, whatever happened");
            turn.append_to_history(&mut request.history, results)
        });
        while let Some(step) = steps.next().await {
            match step {
                Step::Event(event) => {
                    let output = event.result().map(ToolResult::to_model_text);
                    println!("  {} -> {}", event.call_id(), output.unwrap_or_default());
                }
                Step::Next(appended) => appended?,
                other => anyhow::bail!("unexpected: {other:?}"),
            }
        }
        assert!(request.history.is_reconciled());
    }
}

/// Prints an answer while it grows. Only the turn at its end is complete, so only that is used.
async fn listen(mut answer: TurnStream) -> anyhow::Result<Turn> {
    print!("  ");
    while let Some(delta) = answer.next().await {
        match delta? {
            Delta::TextDelta { text, .. } => print!("{text}"),
            Delta::ToolCallStart { name, .. } => print!(" [{name}"),
            Delta::ToolCallArgsDelta { arguments, .. } => print!(" {}", arguments.trim()),
            Delta::ToolCallEnd { .. } => print!("]"),
            Delta::TurnComplete(turn) => {
                println!();
                return Ok(*turn);
            }
            _ => {}
        }
        std::io::stdout().flush()?;
    }
    anyhow::bail!("the stream ended without a turn")
}

fn in_short(item: &Item) -> String {
    match item {
        Item::Message(message) => {
            let text: String = message.content.iter().filter_map(ContentPart::as_text).collect();
            format!("{:?}: {text}", message.role)
        }
        Item::ToolCall(call) => format!("call {} {} {}", call.call_id, call.name, call.arguments),
        Item::ToolOutput(output) => format!("output of {}: {}", output.call_id, output.output),
        other => format!("{other:?}"),
    }
}
