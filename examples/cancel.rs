//! Four ways a run ends early: its timeout, its cancellation, a cancellation flag that is set elsewhere, or a drop. In
//! each of them every call has its one result.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft::prelude::*;
use haft::tool::Cancellation;
use tokio::time::{Instant, sleep};

/// Answers at once.
#[tool(readonly)]
fn ping() -> String {
    "pong".to_owned()
}

/// Reports that it began, and doesn't end.
#[tool]
async fn wait(cx: &Cx) -> Result<String, HandlerError> {
    cx.emit("waiting").await?;
    sleep(Duration::from_secs(3600)).await;
    Ok("waited".to_owned())
}

const A_MOMENT: Duration = Duration::from_millis(200);

// The clock is paused: it advances to the next timer when every task waits, so nothing here takes time.
#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    let kit = toolkit![Ping, Wait];
    // One at a time, so that the last call has not begun when the end comes.
    let options = RunOptions::new().concurrency(1);
    let run = |options: RunOptions| {
        let calls = [("quick", "ping"), ("begun", "wait"), ("queued", "wait")];
        kit.run_with(calls.map(|(id, tool)| ToolCall::new(id, tool, "{}")), options)
    };

    println!("A deadline passes:");
    let results = run(options.clone().deadline(Instant::now() + A_MOMENT)).collect_results().await;
    check(&results, "timed_out");

    println!("\n`cancel` is called once the second call has begun, and the stream is read to its end:");
    let (mut cancelled, mut results) = (run(options.clone()), Vec::new());
    while let Some(event) = cancelled.next().await {
        match event {
            ToolEvent::Progress { .. } => cancelled.cancel(),
            ToolEvent::Output { result, .. } => results.push(result),
            _ => {}
        }
    }
    check(&results, "cancelled");

    println!("\nA flag is raised elsewhere, while the run is waited for:");
    let stop = Cancellation::new();
    let button = stop.clone();
    tokio::spawn(async move {
        sleep(A_MOMENT).await;
        button.cancel();
    });
    let results = run(options.clone().cancellation(stop)).collect_results().await;
    check(&results, "cancelled");

    println!("\nThe stream is dropped, and only the observer learns how it ended:");
    let observed = Arc::new(Mutex::new(Vec::new()));
    let results = Arc::clone(&observed);
    let mut dropped = run(options.observe(move |event| {
        results.lock().unwrap_or_else(PoisonError::into_inner).extend(event.result().cloned());
    }));
    let first = dropped.next().await;
    assert_eq!(first.as_ref().map(ToolEvent::tool), Some("ping"));
    drop(dropped);
    check(&observed.lock().unwrap_or_else(PoisonError::into_inner), "cancelled");
}

/// Checks three results of three calls: the first has finished, the others report why not, and whether they may have
/// had effects.
fn check(results: &[ToolResult], kind: &str) {
    for result in results {
        let began = result.failure().map_or("", |failure| if failure.started { "(had begun)" } else { "(not begun)" });
        println!("  {:<7} {} {began}", result.call_id.as_str(), result.to_call_output().output);
    }
    let ids: Vec<_> = results.iter().map(|result| result.call_id.as_str()).collect();
    assert_eq!(ids, ["quick", "begun", "queued"]);
    assert!(results[0].is_ok());
    let ends: Vec<_> = results.iter().filter_map(ToolResult::failure).map(|f| (f.kind.as_str(), f.started)).collect();
    assert_eq!(ends, [(kind, true), (kind, false)]);
}
