//! Three ways to emit values before the result: pieces of a text, a list that grows, and the progress.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::Duration;

use futures_util::{StreamExt, stream};
use haft::prelude::*;
use haft::tool::Outputs;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

/// The state of a table after the import.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Imported {
    rows: u32,
    skipped: u32,
}

/// Tells a story. Emits every piece of it; the result is all of them joined.
#[tool]
async fn tell_story(hero: String, cx: &Cx) -> Result<String, HandlerError> {
    let pieces = ["There once was ", &hero, ", who lived ", "happily ever after."];
    for piece in pieces {
        tick().await;
        cx.emit(piece).await?;
    }
    Ok(pieces.concat())
}

/// Finds files. Every value of the stream is the whole list so far, and the last one is the result: the earlier ones are
/// preliminary, and are checked against the same schema.
#[tool(readonly)]
fn find_files(pattern: String) -> Outputs<Vec<String>> {
    let names = ["main", "lib", "tests"].map(|name| pattern.replace('*', name));
    Outputs::values(stream::iter(1..=names.len()).then(move |found| {
        let so_far = names[..found].to_vec();
        async move {
            tick().await;
            so_far
        }
    }))
}

/// Imports a table. Emits its progress; the result is of another type.
#[tool]
async fn import_table(rows: u32, cx: &Cx) -> Result<Imported, HandlerError> {
    for row in 1..=rows {
        tick().await;
        cx.progress(f64::from(row), f64::from(rows), "rows").await?;
    }
    Ok(Imported { rows, skipped: 0 })
}

async fn tick() {
    sleep(Duration::from_millis(20)).await;
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let kit = toolkit![TellStory, FindFiles, ImportTable];
    let mut run = kit.run([
        ToolCall::new("story", "tell_story", r#"{"hero": "a crab"}"#),
        ToolCall::new("files", "find_files", r#"{"pattern": "src/*.rs"}"#),
        ToolCall::new("table", "import_table", r#"{"rows": 4}"#),
    ]);

    // The view that a screen would have of each: the text grows, the list is replaced, the bar moves.
    let (mut text, mut list, mut bar) = (String::new(), Vec::<String>::new(), 0.0);
    while let Some(event) = run.next().await {
        match (event.call_id().as_str(), &event) {
            ("story", ToolEvent::Progress { data, .. }) => {
                text += &data.decode::<String>()?;
                println!("story  {text}");
            }
            ("files", ToolEvent::Preliminary { value, .. }) => {
                list = value.decode()?;
                println!("files  {list:?}");
            }
            ("table", ToolEvent::Progress { data, .. }) => {
                bar = data.to_value()["done"].as_f64().unwrap_or_default();
                println!("table  {data}");
            }
            ("story", ToolEvent::Output { result, .. }) => assert_eq!(value::<String>(result)?, text),
            ("files", ToolEvent::Output { result, .. }) => {
                let all: Vec<String> = value(result)?;
                assert!(all.starts_with(&list) && all.len() == list.len() + 1);
            }
            ("table", ToolEvent::Output { result, .. }) => {
                assert_eq!(value::<Imported>(result)?, Imported { rows: 4, skipped: 0 });
            }
            other => anyhow::bail!("unexpected: {other:?}"),
        }
        if let Some(result) = event.result() {
            println!("{}  done: {}", event.call_id(), result.to_call_output().output);
        }
    }
    assert_eq!((text.as_str(), list.len(), bar), ("There once was a crab, who lived happily ever after.", 2, 4.0));
    Ok(())
}

/// Reads the value of a result, as its type.
fn value<T: serde::de::DeserializeOwned>(result: &ToolResult) -> anyhow::Result<T> {
    let text = result.value().ok_or_else(|| anyhow::anyhow!("{:?}", result.failure()))?;
    Ok(text.decode()?)
}
