//! Slow readers, and observers that panic.

use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures_util::StreamExt;
use haft_core::{FailureKind, ToolCall, ToolEvent, ToolResult};
use haft_executor::{Cancellation, Cx, EmitBuffer, RunOptions, Tool, Toolkit};
use tokio::time::sleep;

use super::broken::{limits, ms, room};
use super::record;

/// The number of values that have been sent and read. On one thread the difference is the length of the queue.
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

/// Creates a tool that emits the numbers up to a hundred as fast as it can.
fn counting(queue: &Queue, buffer: EmitBuffer) -> Tool {
    let queue = queue.clone();
    let run = move |(), cx: Cx| {
        let queue = queue.clone();
        async move {
            for n in 0..100_u64 {
                match n % 2 {
                    0 => cx.emit(record::mark(&cx, n)).await.unwrap(),
                    _ => cx.preliminary(n).await.unwrap(),
                }
                queue.note_sent();
            }
            100
        }
    };
    Tool::new("counting").limits(limits().emit_buffer(buffer)).handler(run).unwrap()
}

/// Reads one call's hundred numbers slowly, and returns the greatest length of the queue.
async fn read_slowly(buffer: EmitBuffer, options: RunOptions) -> usize {
    let queue = Queue::default();
    let kit: Toolkit = [counting(&queue, buffer)].into_iter().collect();
    let calls = [ToolCall::new("c", "counting", "{}")];
    let mut run = kit.run_with(&calls, options);
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        queue.read.fetch_add(1, Ordering::SeqCst);
        events.push(event);
        sleep(ms(10)).await;
    }
    record::check(&calls, &events).unwrap();
    assert_eq!(events.len(), 101, "something is lost: {events:?}");
    let is_progress = events.iter().map(|event| matches!(event, ToolEvent::Progress { .. }));
    assert!(is_progress.take(100).eq((0..100).map(|n| n % 2 == 0)), "not as it was shown: {events:?}");
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
async fn an_unbounded_queue_makes_no_handler_wait() {
    assert_eq!(read_slowly(EmitBuffer::Unbounded, RunOptions::new()).await, 100);
    assert_eq!(read_slowly(EmitBuffer::Unbounded, RunOptions::new().spawned()).await, 100, "spawned");
}

/// Creates calls of which later ones end sooner, and every third never. The argument of each is its duration.
fn backwards(count: u64) -> (Toolkit, Vec<ToolCall>) {
    let run = |wait: Option<u64>, cx: Cx| async move {
        cx.emit(record::mark(&cx, 0_u64)).await.unwrap();
        match wait {
            Some(millis) => sleep(ms(millis)).await,
            None => pending().await,
        }
        wait
    };
    let tool = Tool::new("backwards").limits(limits().emit_buffer(room(1))).handler(run).unwrap();
    let wait = |n: u64| if n.is_multiple_of(3) { "null".to_owned() } else { (count - n).to_string() };
    let calls = (0..count).map(|n| ToolCall::new(format!("c{n}"), "backwards", wait(n))).collect();
    ([tool].into_iter().collect(), calls)
}

/// Checks that the results are in call order, and that the endless calls failed with this kind.
fn check_backwards(calls: &[ToolCall], results: &[ToolResult], failure: &FailureKind) {
    assert_eq!(results.len(), calls.len());
    for (index, (result, call)) in results.iter().zip(calls).enumerate() {
        assert_eq!(result.call_id, call.call_id, "results are not in the order of the calls");
        let kind = result.failure().map(|failure| &failure.kind);
        assert_eq!(kind, (index % 3 == 0).then_some(failure), "{result:?}");
        assert!(result.value().is_none_or(|value| value.as_str() == call.arguments), "{result:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn results_are_in_call_order_when_the_run_is_cancelled_while_they_are_collected() {
    for options in [RunOptions::new(), RunOptions::new().spawned()] {
        let (kit, calls) = backwards(64);
        let flag = Cancellation::new();
        let run = kit.run_with(&calls, options.cancellation(flag.clone()));
        tokio::spawn(async move {
            sleep(ms(100)).await;
            flag.cancel();
        });
        check_backwards(&calls, &run.collect_results().await, &FailureKind::Cancelled);
    }
}

/// The remaining results of a run are in call order too, however slowly the beginning was read.
#[tokio::test(start_paused = true)]
async fn results_are_in_call_order_for_a_slow_reader_that_cancels_the_run() {
    for options in [RunOptions::new(), RunOptions::new().spawned()] {
        for pause in [0, 1, 7] {
            let (kit, calls) = backwards(64);
            let mut run = kit.run_with(&calls, options.clone());
            let mut read = Vec::new();
            while read.len() < 10 {
                let event = run.next().await.unwrap();
                read.extend(event.result().map(|_| event.index()));
                sleep(ms(pause)).await;
            }
            assert!(!read.is_sorted(), "they end in call order anyway: {read:?}");
            // Calls that have not ended by then are cancelled, including one that could still end.
            run.cancel();
            let results = run.collect_results().await;
            let left: Vec<_> = (0..64).filter(|index| !read.contains(index)).map(|n| format!("c{n}")).collect();
            assert_eq!(results.iter().map(|result| result.call_id.as_str()).collect::<Vec<_>>(), left);
        }
    }
}

/// Polls a future only at intervals.
async fn slowly<T>(future: impl Future<Output = T>, pause: Duration) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = poll_fn(|task| Poll::Ready(future.as_mut().poll(task))).await {
            return output;
        }
        sleep(pause).await;
    }
}

#[tokio::test(start_paused = true)]
async fn results_are_in_call_order_when_they_are_collected_slowly() {
    for options in [RunOptions::new(), RunOptions::new().spawned()] {
        let (kit, calls) = backwards(64);
        let run = kit.run_with(&calls, options.timeout(ms(1000)));
        let results = slowly(run.collect_results(), ms(9)).await;
        check_backwards(&calls, &results, &FailureKind::TimedOut);
    }
}

#[tokio::test]
async fn an_observer_that_panics_changes_nothing() {
    let kit: Toolkit = [Tool::new("t").handler(|n: u8, _| async move { n }).unwrap()].into_iter().collect();
    let calls: Vec<_> = (0..3).map(|n| ToolCall::new(format!("c{n}"), "t", n.to_string())).collect();
    let results = kit.run_with(&calls, RunOptions::new().observe(|_| panic!("not today"))).collect_results().await;
    assert!(results.iter().zip(0..).all(|(result, n)| result.value().unwrap().to_value() == n), "{results:?}");
}

#[tokio::test]
async fn results_that_wait_to_be_read_are_not_cancelled() {
    let kit: Toolkit = [Tool::new("t").handler(|n: u8, _| async move { n }).unwrap()].into_iter().collect();
    let mut run = kit.run((0..3).map(|n| ToolCall::new(format!("c{n}"), "t", n.to_string())));
    assert!(run.next().await.unwrap().result().unwrap().is_ok());
    run.cancel();
    let rest: Vec<_> = run.collect().await;
    assert!(rest.len() == 2 && rest.iter().all(|event| event.result().unwrap().is_ok()), "{rest:?}");
}
