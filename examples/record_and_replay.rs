//! A cassette: what a model answered once is recorded, and a test plays it again without model, network and key. When
//! the program asks something else than was recorded, it is told where.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::fs;

use haft::prelude::*;
use haft::{Cassette, LoopError};

/// The stock of a shelf.
#[tool(readonly)]
fn count_stock(shelf: String) -> usize {
    shelf.len() * 10
}

/// The program under test: it asks about one shelf.
async fn ask(model: impl LanguageModel + 'static, shelf: &str) -> (LoopEnd, String) {
    let request = TurnRequest::new("some-model", vec![Item::user(format!("What is left on {shelf}?"))]);
    let outcome = TurnLoop::new(model, toolkit![CountStock]).start(request).finish().await;
    let text = outcome.state.text();
    (outcome.end, text)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let file = std::env::temp_dir().join(format!("haft-record-and-replay-{}.jsonl", std::process::id()));
    // Stands for a real model here. It has two answers, and can't give them twice.
    let real = ScriptedModel::new([
        ScriptedTurn::calls([ToolCall::new("c1", "count_stock", r#"{"shelf": "A12"}"#)]),
        ScriptedTurn::text("There are 30 left."),
    ]);

    // The file is not there yet, so the model is asked and every exchange is written.
    let cassette = Cassette::auto(&file, real.clone())?;
    let (_, recorded) = ask(cassette.clone(), "A12").await;
    cassette.finish()?;
    println!("recorded: {recorded}");
    for line in fs::read_to_string(&file)?.lines() {
        println!("  {}…", line.chars().take(100).collect::<String>());
    }

    // Now it is, so the model is left alone. The tools are run again: they are what is tested.
    let cassette = Cassette::auto(&file, real.clone())?;
    let (end, replayed) = ask(cassette.clone(), "A12").await;
    println!("replayed: {replayed}");
    assert!(cassette.is_replaying() && end.is_stopped());
    assert_eq!(replayed, recorded);
    cassette.finish()?;
    assert_eq!(real.requests().len(), 2, "both were asked while it was recorded");

    // A program that asks something else is told what, where, and what it was before.
    let cassette = Cassette::replay(&file)?;
    let (end, _) = ask(cassette.clone(), "B7").await;
    let LoopEnd::Failed(error @ LoopError::Model(_)) = end else { anyhow::bail!("it was answered: {end:?}") };
    println!("changed:  {error}");
    assert!(error.to_string().contains(r#"at /history/0/content/0/text expected "What is left on A12?", found "What"#));
    let Err(faults) = cassette.finish() else { anyhow::bail!("a test would not notice") };
    println!("          {} faults at the end of the test", faults.faults().len());

    // What may differ can be left out of the comparison.
    let cassette = Cassette::replay(&file)?.ignore(["/history/0"]);
    let (end, lenient) = ask(cassette.clone(), "B7").await;
    assert!(end.is_stopped() && lenient == recorded);
    cassette.finish()?;

    fs::remove_file(&file)?;
    Ok(())
}
