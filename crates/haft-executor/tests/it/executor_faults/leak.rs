//! Runs that are dropped midway: nothing is leaked, and every call still has a result.

use std::future::pending;
use std::sync::{Arc, Mutex};

use haft_core::{FailureKind, ToolCall, ToolEvent};
use haft_executor::{Cx, RunOptions, Tool, Toolkit};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::broken::{limits, ms, never_ending_and_fragile};
use super::record;

/// A reference that a handler holds. All of them must be dropped in the end.
type Token = Arc<()>;

/// Creates a tool whose handlers emit a value and wait for ever, while a task they started holds their context.
fn clinging(token: &Token, freed: mpsc::UnboundedSender<bool>) -> Tool {
    let token = Arc::clone(token);
    let run = move |(), cx: Cx| {
        let (held, escaped, freed) = (Arc::clone(&token), cx.clone(), freed.clone());
        tokio::spawn(async move {
            escaped.cancelled().await;
            let _ = freed.send(escaped.is_cancelled());
        });
        async move {
            cx.emit(record::mark(&cx, 0_u64)).await.unwrap();
            pending::<()>().await;
            drop(held);
        }
    };
    Tool::new("clinging").handler(run).unwrap()
}

fn calls(count: usize) -> Vec<ToolCall> {
    (0..count).map(|n| ToolCall::new(format!("c{n}"), "clinging", "{}")).collect()
}

/// Drops a run of this many calls, of which this many may run at a time, after this many events.
async fn drop_midway(options: RunOptions, asked: usize, running: usize, read: usize) {
    let token = Token::default();
    let (freed, mut is_free) = mpsc::unbounded_channel();
    let told = Arc::new(Mutex::new(Vec::new()));
    let (telling, calls) = (Arc::clone(&told), calls(asked));
    let kit: Toolkit = [clinging(&token, freed)].into_iter().collect();
    let options = options.concurrency(running).extension(Arc::clone(&token));
    let mut run = kit.run_with(&calls, options.observe(move |event| telling.lock().unwrap().push(event.clone())));
    let mut seen = Vec::new();
    for _ in 0..read {
        let event = timeout(ms(10), run.next()).await.unwrap_or_else(|_| panic!("nothing is shown"));
        seen.push(event.unwrap());
    }

    drop(run);
    drop(kit);

    // Aborted tasks are dropped when the runtime schedules them; handlers in the reading task already are.
    sleep(ms(1)).await;
    assert_eq!(Arc::strong_count(&token), 1, "somebody still holds what a handler held");
    for _ in 0..running {
        assert_eq!(is_free.try_recv(), Ok(true), "an escaped context has not noticed");
    }
    assert!(is_free.recv().await.is_none(), "more handlers ran than should");

    let told = told.lock().unwrap();
    record::check(&calls, &told).unwrap();
    assert_eq!(told[..read], seen, "the observer is told what the reader was");
    let failures = told.iter().filter_map(ToolEvent::result).map(|result| result.failure().unwrap());
    let started = failures.clone().filter(|failure| failure.started).count();
    assert!(failures.clone().all(|failure| failure.kind == FailureKind::Cancelled), "{told:?}");
    assert_eq!((started, failures.count() - started), (running, asked - running));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_left_of_a_dropped_run() {
    drop_midway(RunOptions::new(), 1, 1, 1).await;
    drop_midway(RunOptions::new(), 64, 64, 10).await;
    drop_midway(RunOptions::new(), 64, 5, 3).await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_left_of_a_dropped_run_that_was_spawned() {
    drop_midway(RunOptions::new().spawned(), 1, 1, 1).await;
    drop_midway(RunOptions::new().spawned(), 64, 64, 64).await;
    drop_midway(RunOptions::new().spawned(), 64, 5, 5).await;
}

/// Drops a run of handlers that panic when they are dropped, with others before, between and behind them.
async fn drop_fragile(options: RunOptions) {
    let token = Token::default();
    let (freed, mut is_free) = mpsc::unbounded_channel();
    let told = Arc::new(Mutex::new(Vec::new()));
    let telling = Arc::clone(&told);
    let kit: Toolkit = [clinging(&token, freed), never_ending_and_fragile()].into_iter().collect();
    let names = ["clinging", "fragile", "clinging", "fragile", "clinging"];
    let calls: Vec<_> = (0..).zip(names).map(|(n, name)| ToolCall::new(format!("c{n}"), name, "{}")).collect();
    let mut run = kit.run_with(&calls, options.observe(move |event| telling.lock().unwrap().push(event.clone())));
    for _ in 0..3 {
        assert!(run.next().await.unwrap().result().is_none());
    }
    // The fragile ones, which emit nothing, have begun as well.
    assert!(timeout(ms(10), run.next()).await.is_err());

    drop(run);
    drop(kit);

    sleep(ms(1)).await;
    assert_eq!(Arc::strong_count(&token), 1, "somebody still holds what a handler held");
    for _ in 0..3 {
        assert_eq!(is_free.try_recv(), Ok(true), "an escaped context has not noticed");
    }
    let told = told.lock().unwrap();
    record::check(&calls, &told).unwrap();
    for result in told.iter().filter_map(ToolEvent::result) {
        let failure = result.failure().unwrap();
        assert_eq!((&failure.kind, failure.started), (&FailureKind::Cancelled, true), "{result:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_when_a_run_is_dropped_affects_no_other_call() {
    drop_fragile(RunOptions::new()).await;
}

#[tokio::test(start_paused = true)]
async fn a_spawned_handler_that_panics_when_a_run_is_dropped_affects_no_other_call() {
    drop_fragile(RunOptions::new().spawned()).await;
}

/// A reader that panics drops its run while it unwinds: a second panic out of the drop would abort the process.
#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_when_its_reader_does_affects_no_other_call() {
    for options in [RunOptions::new(), RunOptions::new().spawned()] {
        let kit: Toolkit = [never_ending_and_fragile()].into_iter().collect();
        let told = Arc::new(Mutex::new(Vec::new()));
        let telling = Arc::clone(&told);
        let calls = [ToolCall::new("c0", "fragile", "{}")];
        let mut run = kit.run_with(&calls, options.observe(move |event| telling.lock().unwrap().push(event.clone())));
        let reader = tokio::spawn(async move {
            let read = timeout(ms(10), run.next()).await;
            assert!(read.is_ok(), "the reader has no patience");
        });
        assert!(reader.await.unwrap_err().is_panic());
        record::check(&calls, &told.lock().unwrap()).unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn handlers_in_the_reading_task_are_gone_when_the_drop_returns() {
    let token = Token::default();
    let kit: Toolkit = [clinging(&token, mpsc::unbounded_channel().0)].into_iter().collect();
    let mut run = kit.run(calls(8));
    run.next().await.unwrap();
    assert_eq!(Arc::strong_count(&token), 10);
    drop(run);
    assert_eq!(Arc::strong_count(&token), 2, "only the kit and this test");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_dropped_before_its_first_poll_answers_its_calls_too() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let (telling, calls) = (Arc::clone(&told), calls(3));
    let kit: Toolkit = [clinging(&Token::default(), mpsc::unbounded_channel().0)].into_iter().collect();
    drop(kit.run_with(&calls, RunOptions::new().observe(move |event| telling.lock().unwrap().push(event.clone()))));
    record::check(&calls, &told.lock().unwrap()).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_read_to_its_end_emits_nothing_when_it_is_dropped() {
    let told = Arc::new(Mutex::new(0));
    let telling = Arc::clone(&told);
    let kit: Toolkit = [Tool::new("t").handler(|(), _| async {}).unwrap()].into_iter().collect();
    let mut run = kit
        .run_with([ToolCall::new("c", "t", "{}")], RunOptions::new().observe(move |_| *telling.lock().unwrap() += 1));
    while run.next().await.is_some() {}
    drop(run);
    assert_eq!(*told.lock().unwrap(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_finished_call_holds_nothing_while_its_siblings_run() {
    let token = Token::default();
    let (freed, mut is_free) = mpsc::unbounded_channel();
    let late = clinging(&token, freed).with_limits(limits().timeout(ms(5))).unwrap();
    let endless = Tool::new("endless").handler(|(), _| pending::<()>()).unwrap();
    let kit: Toolkit = [late, endless].into_iter().collect();
    let mut run = kit.run([ToolCall::new("c0", "clinging", "{}"), ToolCall::new("c1", "endless", "{}")]);
    while run.next().await.unwrap().result().is_none() {}
    tokio::task::yield_now().await;
    assert_eq!(is_free.try_recv(), Ok(true));
    assert_eq!(Arc::strong_count(&token), 2, "only the kit and this test");
}

/// A value that reports, when it is dropped, whether its call is cancelled by then.
struct LastLook {
    cx: Cx,
    seen: Arc<Mutex<Vec<bool>>>,
}

impl Drop for LastLook {
    fn drop(&mut self) {
        self.seen.lock().unwrap().push(self.cx.is_cancelled());
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_handler_finds_its_context_cancelled() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let looking = Arc::clone(&seen);
    let handler = move |(), cx: Cx| {
        let look = LastLook { cx, seen: Arc::clone(&looking) };
        async move {
            pending::<()>().await;
            drop(look);
        }
    };
    let kit: Toolkit = [Tool::new("looking").handler(handler).unwrap()].into_iter().collect();
    let run = |options: RunOptions| kit.run_with([ToolCall::new("c", "looking", "{}")], options);
    run(RunOptions::new().timeout(ms(5))).collect_results().await;
    let mut called_off = run(RunOptions::new());
    assert!(timeout(ms(5), called_off.next()).await.is_err());
    called_off.cancel();
    called_off.collect_results().await;
    let mut dropped = run(RunOptions::new());
    assert!(timeout(ms(5), dropped.next()).await.is_err());
    drop(dropped);
    assert_eq!(*seen.lock().unwrap(), [true; 3], "after a timeout, when called off, when dropped");
}
