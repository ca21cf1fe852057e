//! A cassette: the answers of a model are recorded once, and a test replays them without model, network and key. When
//! the program makes a request other than the recorded one, the error contains the difference.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::fs;

use haft::model::{Cassette, LoopError};
use haft::model::{LoopEnd, ScriptedTurn};
use haft::prelude::*;

/// The stock of a shelf.
#[tool(readonly)]
fn count_stock(shelf: String) -> usize {
    shelf.len() * 10
}

/// Runs the program under test, which asks about one shelf.
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

    // The file does not exist yet, so the model is called and every exchange is recorded.
    let cassette = Cassette::auto(&file, real.clone())?;
    let (_, recorded) = ask(cassette.clone(), "A12").await;
    cassette.finish()?;
    println!("recorded: {recorded}");
    for line in fs::read_to_string(&file)?.lines() {
        println!("  {}…", line.chars().take(100).collect::<String>());
    }

    // Now it does, so the model is not called. The tools are run again: they are under test.
    let cassette = Cassette::auto(&file, real.clone())?;
    let (end, replayed) = ask(cassette.clone(), "A12").await;
    println!("replayed: {replayed}");
    assert!(cassette.is_replaying() && end.is_stopped());
    assert_eq!(replayed, recorded);
    cassette.finish()?;
    assert_eq!(real.requests().len(), 2, "both were asked while it was recorded");

    // The error of another request contains the position, the new value and the recorded one.
    let cassette = Cassette::replay(&file)?;
    let (end, _) = ask(cassette.clone(), "B7").await;
    let LoopEnd::Failed(error @ LoopError::Model { .. }) = end else {
        anyhow::bail!("the request was answered: {end:?}")
    };
    println!("changed:  {error}");
    assert!(error.to_string().contains(r#"at /history/0/content/0/text expected "What is left on A12?", found "What"#));
    let Err(faults) = cassette.finish() else { anyhow::bail!("the test did not fail") };
    println!("          {} faults at the end of the test", faults.faults().len());

    // Parts that may differ can be excluded from the comparison.
    let cassette = Cassette::replay(&file)?.ignore(["/history/0"]);
    let (end, lenient) = ask(cassette.clone(), "B7").await;
    assert!(end.is_stopped() && lenient == recorded);
    cassette.finish()?;

    fs::remove_file(&file)?;
    Ok(())
}
