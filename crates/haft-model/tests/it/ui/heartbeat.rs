//! Silence, slow readers and readers that go away.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::*;

#[tokio::test(start_paused = true)]
async fn a_comment_is_sent_while_nothing_happens() {
    let turn = ScriptedTurn::text("Hello!").delay(Duration::from_secs(50));
    let mut stream = UiStream::events(agent(ScriptedModel::default().then(turn)).start(request()));
    let start = Instant::now();
    let mut comments = Vec::new();
    while let Some(text) = stream.next().await {
        if text == ": keep-alive\n\n" {
            comments.push(start.elapsed().as_secs());
        }
    }
    assert_eq!(comments, [15, 30, 45]);

    let turn = ScriptedTurn::text("Hello!").delay(Duration::from_secs(5));
    let stream = UiStream::ai_sdk(agent(ScriptedModel::default().then(turn)).start(request()));
    assert_eq!(body(stream.heartbeat(Duration::from_secs(2))).await.matches(": keep-alive").count(), 2);
}

/// Calls a tool without end, and counts.
fn endless(count: &Arc<AtomicUsize>) -> LoopRun {
    let calls = Arc::clone(count);
    let tick = Tool::new("tick").handler(move |_: u64, _cx| {
        let calls = Arc::clone(&calls);
        async move { calls.fetch_add(1, Ordering::SeqCst) }
    });
    let turns = (0..100_u32).map(|n| [call(&format!("c{n}"), "tick", &n.to_string())]);
    let model = turns.fold(ScriptedModel::default(), ScriptedModel::then);
    TurnLoop::new(model, Toolkit::from_iter([tick.unwrap()])).max_turns(100).start(request())
}

#[tokio::test(start_paused = true)]
async fn the_loop_does_not_run_ahead_of_a_reader() {
    let count = Arc::default();
    let mut stream = UiStream::events(endless(&count));
    while count.load(Ordering::SeqCst) < 3 {
        stream.next().await.unwrap();
    }
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(count.load(Ordering::SeqCst), 3);
    drop(stream);
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(count.load(Ordering::SeqCst), 3, "dropping the stream drops the run");
}
