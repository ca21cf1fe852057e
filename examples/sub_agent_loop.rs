//! A sub-agent as a tool: the handler runs a separate loop, with another model and other tools. Its output and the
//! events of its tools are emitted as they happen; the outer model reads one answer.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use haft::conversation::Delta;
use haft::model::{LoopEvent, ScriptedTurn};
use haft::prelude::*;

/// Looks a word up in the archive.
#[tool(readonly)]
fn look_up(word: String) -> Result<String, String> {
    match word.as_str() {
        "haft" => Ok("the handle of a tool".to_owned()),
        _ => Err(format!("there is no entry for {word}")),
    }
}

/// The sub-agent: a value that can be started any number of times, also concurrently.
struct Scholar(TurnLoop);

#[derive(Services)]
struct App {
    scholar: Scholar,
}

/// Asks a scholar, who has an archive.
#[tool(readonly)]
async fn ask_scholar(question: String, #[service] scholar: &Scholar, cx: &Cx) -> Result<String, HandlerError> {
    // The inner loop is part of this call: it is polled with the call, and dropped with it.
    let mut run = scholar.0.start(TurnRequest::new("scholar", vec![Item::user(question)]));
    let mut answer = String::new();
    while let Some(event) = run.next().await {
        match &event {
            // Text before a call, or before an interrupted answer, is not the answer.
            LoopEvent::TurnStarted { .. } | LoopEvent::Retrying { .. } => answer.clear(),
            LoopEvent::Delta(Delta::TextDelta { text, .. }) => answer += text,
            LoopEvent::Tool(_) => {}
            LoopEvent::Ended { end, .. } if !end.is_stopped() => {
                return Err(HandlerError::opaque(format!("the scholar gave up: {end:?}")));
            }
            _ => continue,
        }
        cx.emit(&event).await?;
    }
    Ok(answer)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let inner = ScriptedModel::new([
        ScriptedTurn::text("The archive will know.")
            .call(ToolCall::new("l1", "look_up", r#"{"word": "haft"}"#))
            .call(ToolCall::new("l2", "look_up", r#"{"word": "hafts"}"#)),
        ScriptedTurn::text("It is the handle of a tool."),
    ]);
    let outer = ScriptedModel::new([
        ScriptedTurn::calls([ToolCall::new("c1", "ask_scholar", r#"{"question": "What is a haft?"}"#)]),
        ScriptedTurn::text("A haft is a handle."),
    ]);
    let kit = toolkit![AskScholar].provide(App { scholar: Scholar(TurnLoop::new(inner, toolkit![LookUp])) });

    let mut run = TurnLoop::new(outer, kit).start(TurnRequest::new("any", vec![Item::user("What is a haft?")]));
    let (mut inner_tools, mut answers) = (Vec::new(), Vec::new());
    while let Some(event) = run.next().await {
        match &event {
            // The values that the tool emitted are events of a loop, too.
            LoopEvent::Tool(ToolEvent::Progress { data, .. }) => {
                let inner: LoopEvent = data.decode()?;
                show("    scholar |", &inner);
                if let LoopEvent::Tool(event) = inner {
                    inner_tools.extend(event.result().map(|result| (event.call_id().to_string(), result.is_ok())));
                }
            }
            _ => show("agent |", &event),
        }
        if let LoopEvent::Tool(ToolEvent::Output { result, .. }) = event {
            answers.push(result.to_model_text());
        }
    }
    assert_eq!(inner_tools, [("l1".to_owned(), true), ("l2".to_owned(), false)]);
    assert_eq!(answers, ["It is the handle of a tool."], "the last words alone, and none of what led to them");
    assert_eq!(run.finish().await.state.text(), "A haft is a handle.");
    Ok(())
}

/// Prints the relevant part of an event.
fn show(who: &str, event: &LoopEvent) {
    match event {
        LoopEvent::TurnStarted { number, .. } => println!("{who} turn {number}"),
        LoopEvent::Delta(Delta::TextDelta { text, .. }) => println!("{who}   … {text}"),
        LoopEvent::Delta(Delta::ToolCallStart { name, .. }) => println!("{who}   calls {name}"),
        LoopEvent::Tool(event) => {
            let output = event.result().map(ToolResult::to_model_text).unwrap_or_default();
            println!("{who}   {} -> {output}", event.call_id());
        }
        _ => {}
    }
}
