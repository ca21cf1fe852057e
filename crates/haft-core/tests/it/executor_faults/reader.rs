//! Readers: slow ones, and observers that break.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::StreamExt;
use haft_core::{Cx, EmitBuffer, RunOptions, Tool, ToolCall, ToolEvent, Toolkit};
use serde_json::Value;
use tokio::time::sleep;

use super::broken::{limits, ms, room};
use super::record;

/// How many values have been sent and read. On one thread the difference is what waits.
#[derive(Clone, Default)]
struct Queue {
    sent: Arc<AtomicUsize>,
    read: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl Queue {
    fn note_sent(&self) {
        let waiting = self.sent.fetch_add(1, Ordering::SeqCst) + 1 - self.read.load(Ordering::SeqCst);
        self.most.fetch_max(waiting, Ordering::SeqCst);
    }
}

/// A tool that says the numbers up to a hundred as fast as it can.
fn counting(queue: &Queue, buffer: EmitBuffer) -> Tool {
    let queue = queue.clone();
    let run = move |(), cx: Cx| {
        let queue = queue.clone();
        async move {
            for n in 0..100 {
                match n % 2 {
                    0 => cx.emit(n).await.unwrap(),
                    _ => cx.preliminary(n).await.unwrap(),
                }
                queue.note_sent();
            }
            100
        }
    };
    Tool::new("counting").limits(limits().emit_buffer(buffer)).run(run).unwrap()
}

/// Reads one call's hundred numbers slowly, and gives how many waited at most.
async fn read_slowly(buffer: EmitBuffer, options: RunOptions) -> usize {
    let queue = Queue::default();
    let kit: Toolkit = [counting(&queue, buffer)].into_iter().collect();
    let calls = [ToolCall::new("c", "counting", "{}")];
    let mut run = kit.run(&calls).with(options);
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        queue.read.fetch_add(1, Ordering::SeqCst);
        events.push(event);
        sleep(ms(10)).await;
    }
    record::check(&calls, &events).unwrap();
    let numbers = events.iter().map(|event| match event {
        ToolEvent::Progress { data: value, .. } | ToolEvent::Preliminary { value, .. } => value.to_value(),
        event => event.result().unwrap().value().unwrap().to_value(),
    });
    assert!(numbers.eq((0..=100).map(Value::from)), "lost or out of order: {events:?}");
    queue.most.load(Ordering::SeqCst)
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_makes_handlers_wait_and_misses_nothing() {
    for size in [1, 3, 64] {
        assert_eq!(read_slowly(room(size), RunOptions::new()).await, size);
        assert_eq!(read_slowly(room(size), RunOptions::new().spawned()).await, size, "spawned");
    }
}

#[tokio::test(start_paused = true)]
async fn an_unbounded_queue_makes_nobody_wait() {
    assert_eq!(read_slowly(EmitBuffer::Unbounded, RunOptions::new()).await, 100);
    assert_eq!(read_slowly(EmitBuffer::Unbounded, RunOptions::new().spawned()).await, 100, "spawned");
}

#[tokio::test]
async fn an_observer_that_panics_changes_nothing() {
    let kit: Toolkit = [Tool::new("t").run(|n: u8, _| async move { n }).unwrap()].into_iter().collect();
    let calls: Vec<_> = (0..3).map(|n| ToolCall::new(format!("c{n}"), "t", n.to_string())).collect();
    let results = kit.run(&calls).observe(|_| panic!("not today")).collect_results().await;
    assert!(results.iter().zip(0..).all(|(result, n)| result.value().unwrap().to_value() == n), "{results:?}");
}

#[tokio::test]
async fn results_that_wait_to_be_read_are_not_called_off() {
    let kit: Toolkit = [Tool::new("t").run(|n: u8, _| async move { n }).unwrap()].into_iter().collect();
    let mut run = kit.run((0..3).map(|n| ToolCall::new(format!("c{n}"), "t", n.to_string())));
    assert!(run.next().await.unwrap().result().unwrap().is_ok());
    run.cancel();
    let rest: Vec<_> = run.collect().await;
    assert!(rest.len() == 2 && rest.iter().all(|event| event.result().unwrap().is_ok()), "{rest:?}");
}
