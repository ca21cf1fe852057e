//! A tool that runs other tools: it forwards the inner run's events as its own progress and folds them into its
//! answer. The reader of the outer run sees both levels as they happen.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::collections::BTreeMap;
use std::time::Duration;

use haft::prelude::*;
use serde_json::json;
use tokio::time::sleep;

/// Reads one source.
#[tool(readonly)]
async fn read_source(source: String, topic: String, cx: &Cx) -> Result<String, HandlerError> {
    cx.emit(format!("opening the {source}")).await?;
    sleep(Duration::from_millis(if source == "archive" { 60 } else { 20 })).await;
    if source == "diary" {
        return Err(HandlerError::opaque("the diary is locked"));
    }
    Ok(format!("the {source} praises {topic}"))
}

/// The tools that the sub-agent has and its caller has not.
struct Shelf(Toolkit);

#[derive(Services)]
struct App {
    shelf: Shelf,
}

/// Researches a topic in several sources at once.
#[tool(readonly)]
async fn research(topic: String, #[service] shelf: &Shelf, cx: &Cx) -> Result<String, HandlerError> {
    // A real sub-agent would have a model that chooses these calls.
    let calls = ["archive", "newspaper", "diary"].map(|source| {
        ToolCall::new(format!("read_{source}"), "read_source", json!({"source": source, "topic": topic}).to_string())
    });
    let mut found = BTreeMap::new();
    // The inner run is part of this call: when this call is cancelled, it is dropped with it.
    let mut run = shelf.0.run(calls);
    while let Some(event) = run.next().await {
        cx.emit(&event).await?;
        if let ToolEvent::Output { index, result } = event
            && result.is_ok()
        {
            found.insert(index, result.to_call_output().output.to_string());
        }
    }
    // In the order of the calls, whichever was the quickest.
    Ok(found.into_values().collect::<Vec<_>>().join("; "))
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let kit = toolkit![Research].provide(App { shelf: Shelf(toolkit![ReadSource]) });

    let mut run = kit.run([
        ToolCall::new("about_cats", "research", r#"{"topic": "cats"}"#),
        ToolCall::new("about_tea", "research", r#"{"topic": "tea"}"#),
    ]);
    let (mut inner_outputs, mut answers) = (0, Vec::new());
    while let Some(event) = run.next().await {
        match &event {
            // The values that the tool emitted are events, too.
            ToolEvent::Progress { data, .. } => {
                let inner: ToolEvent = data.decode()?;
                println!("{:<10} | {:<14} | {}", event.call_id().as_str(), inner.call_id().as_str(), said(&inner));
                inner_outputs += usize::from(inner.result().is_some());
            }
            _ => println!("{:<10} = {}", event.call_id().as_str(), said(&event)),
        }
        if let ToolEvent::Output { result, .. } = event {
            answers.push(result.to_call_output().output.to_string());
        }
    }
    assert_eq!(inner_outputs, 6, "every inner call has its one result as well");
    answers.sort();
    let about = |topic| format!("the archive praises {topic}; the newspaper praises {topic}");
    assert_eq!(answers, [about("cats"), about("tea")]);
    Ok(())
}

fn said(event: &ToolEvent) -> String {
    match event {
        ToolEvent::Progress { data, .. } => data.to_string(),
        ToolEvent::Output { result, .. } => result.to_call_output().output.to_string(),
        other => format!("{other:?}"),
    }
}
