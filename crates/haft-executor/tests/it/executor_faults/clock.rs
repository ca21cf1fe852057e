//! Handlers that keep a thread busy, and time as slow readers and other executors see it.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_core::Stream;
use futures_util::StreamExt;
use haft_core::{FailureKind, ToolCall, ToolFailure, ToolResult};
use haft_executor::{Concurrency, Cx, Next, Request, Run, RunOptions, Tool, Toolkit};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{advance, sleep};

use super::broken::{limits, ms, room};
use super::way::{healthy_call, healthy_tool, paused};

/// The timeout of a blocking handler, on a clock that advances only once the handler has begun.
const ENOUGH: Duration = Duration::from_millis(300);

/// A handler that keeps its thread busy until it is cancelled; it reports when it begins and when it was cancelled.
#[derive(Clone)]
struct Burner {
    began: UnboundedSender<()>,
    told: mpsc::Sender<()>,
}

impl Burner {
    fn new() -> (Self, UnboundedReceiver<()>, mpsc::Receiver<()>) {
        let ((began, has_begun), (told, was_told)) = (unbounded_channel(), mpsc::channel());
        (Self { began, told }, has_begun, was_told)
    }

    fn burn(&self, cx: &Cx) {
        self.began.send(()).unwrap();
        while !cx.is_cancelled() {
            std::thread::yield_now();
        }
        let _ = self.told.send(());
    }

    /// Creates a tool that is busy in its task.
    fn in_task(self, timeout: Duration) -> Tool {
        let run = move |(), cx: Cx| {
            let burner = self.clone();
            async move { burner.burn(&cx) }
        };
        Tool::new("burning").limits(limits().timeout(timeout)).handler(run).unwrap()
    }

    /// Creates a tool that is busy on a blocking thread.
    fn blocking(self) -> Tool {
        Tool::new("burning").blocking_handler(move |(), cx: Cx| self.burn(&cx)).unwrap()
    }
}

/// Collects the results of a run on a paused clock that advances once this many handlers have begun: a handler that
/// has not begun when it times out never begins.
async fn collect_once_begun(run: Run, began: &mut UnboundedReceiver<()>, handlers: usize) -> Vec<ToolResult> {
    let results = tokio::spawn(run.collect_results());
    for _ in 0..handlers {
        began.recv().await.unwrap();
    }
    while !results.is_finished() {
        advance(ms(1)).await;
    }
    results.await.unwrap()
}

/// Retries with longer times until a handler began in time. The clock of a multi-threaded runtime can't be paused, and
/// the scheduling of threads is up to the machine.
async fn with_enough_time<T>(attempt: impl AsyncFn(Duration) -> Option<T>) -> T {
    let mut time = ms(20);
    loop {
        match attempt(time).await {
            Some(done) => return done,
            None => time *= 2,
        }
    }
}

/// A handler that ignores cancellation: it is busy until the test ends it.
#[derive(Clone)]
struct Stubborn {
    began: UnboundedSender<()>,
    is_dismissed: Arc<AtomicBool>,
}

/// A guard that ends the handler at the end of a test, however that comes, so that no runtime waits for it.
struct Dismissal(Stubborn);

impl Stubborn {
    fn new() -> (Self, UnboundedReceiver<()>) {
        let (began, has_begun) = unbounded_channel();
        (Self { began, is_dismissed: Arc::default() }, has_begun)
    }

    fn work(&self) {
        self.began.send(()).unwrap();
        while !self.is_dismissed.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    }

    fn in_task(&self, timeout: Duration) -> Tool {
        let stubborn = self.clone();
        let run = move |(), _: Cx| {
            let stubborn = stubborn.clone();
            async move { stubborn.work() }
        };
        Tool::new("stubborn").limits(limits().timeout(timeout)).handler(run).unwrap()
    }

    fn blocking(&self) -> Tool {
        let stubborn = self.clone();
        Tool::new("stubborn")
            .limits(limits().timeout(ENOUGH))
            .blocking_handler(move |(), _: Cx| stubborn.work())
            .unwrap()
    }
}

impl Drop for Dismissal {
    fn drop(&mut self) {
        self.0.is_dismissed.store(true, Ordering::SeqCst);
    }
}

/// A stubborn call alone, and in the middle of healthy siblings.
const COMPANY: [(u32, u32); 2] = [(0, 0), (32, 64)];

fn stubborn_calls((before, all): (u32, u32)) -> Vec<ToolCall> {
    let stubborn = ToolCall::new("stubborn", "stubborn", "{}");
    (0..before).map(healthy_call).chain([stubborn]).chain((before..all).map(healthy_call)).collect()
}

fn stubborn_run(tool: &Tool, company: (u32, u32), options: RunOptions) -> Run {
    let kit: Toolkit = [tool.clone(), healthy_tool()].into_iter().collect();
    kit.run_with(stubborn_calls(company), options)
}

/// Checks that the stubborn call timed out, and that its siblings are unaffected.
fn check_stubborn(results: &[ToolResult], (before, all): (u32, u32)) {
    let calls = stubborn_calls((before, all));
    let order = results.iter().map(|result| &result.call_id);
    assert!(order.eq(calls.iter().map(|call| &call.call_id)), "not in call order: {results:?}");
    let failure = failure_of(&results[before as usize]);
    assert_eq!((&failure.kind, failure.started), (&FailureKind::TimedOut, true), "{failure:?}");
    let around = results.iter().filter(|result| result.call_id != "stubborn");
    for (n, result) in (0..all).zip(around) {
        assert_eq!(result.value().unwrap().to_value(), 2 * n);
    }
}

/// The stubborn handler blocks a thread; the siblings need one more.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_spawned_handler_that_ignores_cancellation_times_out_and_affects_no_sibling() {
    for company in COMPANY {
        let results = with_enough_time(async |time| {
            let (stubborn, mut began) = Stubborn::new();
            let _dismissal = Dismissal(stubborn.clone());
            let run = stubborn_run(&stubborn.in_task(time), company, RunOptions::new().spawned());
            let results = run.collect_results().await;
            began.try_recv().is_ok().then_some(results)
        });
        check_stubborn(&results.await, company);
    }
}

async fn hold_blocking(options: RunOptions) {
    for company in COMPANY {
        let (stubborn, mut began) = Stubborn::new();
        let _dismissal = Dismissal(stubborn.clone());
        let run = stubborn_run(&stubborn.blocking(), company, options.clone());
        check_stubborn(&collect_once_begun(run, &mut began, 1).await, company);
    }
}

#[tokio::test(start_paused = true)]
async fn a_blocking_handler_that_ignores_cancellation_times_out_and_affects_no_sibling() {
    hold_blocking(RunOptions::new()).await;
}

#[tokio::test(start_paused = true)]
async fn a_spawned_and_blocking_handler_that_ignores_cancellation_times_out_and_affects_no_sibling() {
    hold_blocking(RunOptions::new().spawned()).await;
}

fn run(tool: &Tool, count: usize) -> Run {
    run_with(tool, count, RunOptions::new())
}

fn run_with(tool: &Tool, count: usize, options: RunOptions) -> Run {
    let kit: Toolkit = [tool.clone()].into_iter().collect();
    kit.run_with((0..count).map(|n| ToolCall::new(format!("c{n}"), tool.name(), "{}")), options)
}

/// Polls a run once: it starts, and has no event yet.
async fn start(run: &mut Run) {
    let polled = poll_fn(|task| Poll::Ready(run.poll_next_unpin(task))).await;
    assert!(polled.is_pending(), "{polled:?}");
}

/// Checks that they timed out and were cancelled, though they would never have ended otherwise.
fn check_burnt(results: &[ToolResult], was_told: &mpsc::Receiver<()>) {
    for result in results {
        let failure = failure_of(result);
        assert_eq!((&failure.kind, failure.started), (&FailureKind::TimedOut, true), "{failure:?}");
        was_told.recv().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_handler_times_out_when_it_is_spawned() {
    let (results, was_told) = with_enough_time(async |time| {
        let (burner, mut began, was_told) = Burner::new();
        // The reader has a separate thread, as in a program that waits in `main`.
        let run = run_with(&burner.in_task(time), 1, RunOptions::new().spawned());
        let results = tokio::spawn(run.collect_results()).await.unwrap();
        began.try_recv().is_ok().then_some((results, was_told))
    })
    .await;
    check_burnt(&results, &was_told);
}

#[tokio::test(start_paused = true)]
async fn a_busy_handler_times_out_when_it_is_blocking() {
    let (burner, mut began, was_told) = Burner::new();
    let tool = burner.blocking().with_limits(limits().timeout(ENOUGH)).unwrap();
    check_burnt(&collect_once_begun(run(&tool, 3), &mut began, 3).await, &was_told);
    check_burnt(&collect_once_begun(run_with(&tool, 3, RunOptions::new().spawned()), &mut began, 3).await, &was_told);
}

#[tokio::test(start_paused = true)]
async fn a_busy_handler_is_cancelled_when_the_run_is_cancelled_or_dropped() {
    let (burner, mut began, was_told) = Burner::new();
    let tool = burner.blocking();
    let mut called_off = run(&tool, 1);
    start(&mut called_off).await;
    began.recv().await.unwrap();
    called_off.cancel();
    let event = called_off.next().await.unwrap();
    assert_eq!(event.result().unwrap().failure().unwrap().kind, FailureKind::Cancelled);
    was_told.recv().unwrap();

    let mut dropped = run(&tool, 1);
    start(&mut dropped).await;
    began.recv().await.unwrap();
    drop(dropped);
    was_told.recv().unwrap();
}

/// A handler that has timed out and still runs holds its slot: the next one may not run beside it.
#[tokio::test(start_paused = true)]
async fn a_busy_handler_holds_its_slot_until_it_ends() {
    let (stubborn, mut began) = Stubborn::new();
    let _dismissal = Dismissal(stubborn.clone());
    let entered = Arc::new(AtomicUsize::new(0));
    let counting = {
        let entered = Arc::clone(&entered);
        move |request: Request, next: Next| {
            entered.fetch_add(1, Ordering::SeqCst);
            next.run(request)
        }
    };
    let limits = limits().timeout(ENOUGH).concurrency(Concurrency::Exclusive);
    let tool = stubborn.blocking().with_limits(limits).unwrap().wrap(counting);
    let mut run = run(&tool, 2);
    start(&mut run).await;
    began.recv().await.unwrap();
    advance(ENOUGH).await;
    let event = run.next().await.unwrap();
    assert_eq!(failure_of(event.result().unwrap()).kind, FailureKind::TimedOut);

    // The second call does not start, however much time passes.
    for _ in 0..3 {
        advance(ENOUGH).await;
        start(&mut run).await;
    }
    assert_eq!(entered.load(Ordering::SeqCst), 1, "two exclusive handlers ran at a time");

    stubborn.is_dismissed.store(true, Ordering::SeqCst);
    let results = run.collect_results().await;
    assert!(matches!(results.as_slice(), [second] if second.is_ok()), "{results:?}");
    assert_eq!(entered.load(Ordering::SeqCst), 2);
}

/// Some libraries yield by waking themselves at once. Other tasks must still be scheduled.
#[test]
fn a_handler_that_wakes_itself_lets_other_tasks_run() {
    paused().block_on(async {
        let flag = Arc::new(AtomicBool::new(false));
        let (raised, seen) = (Arc::clone(&flag), flag);
        let handler = move |(), _: Cx| {
            let (seen, mut polls) = (Arc::clone(&seen), 0);
            poll_fn(move |task| {
                if seen.load(Ordering::SeqCst) {
                    return Poll::Ready(());
                }
                polls += 1;
                assert!(polls < 100_000, "it goes round in circles");
                task.waker().wake_by_ref();
                Poll::Pending
            })
        };
        tokio::spawn(async move { raised.store(true, Ordering::SeqCst) });
        let results = run(&Tool::new("t").handler(handler).unwrap(), 1).collect_results().await;
        assert!(results[0].is_ok());
    });
}

#[tokio::test(start_paused = true)]
async fn a_run_with_an_idle_timeout_of_zero_ends() {
    let handler = |(), cx: Cx| async move {
        for n in 0..3 {
            cx.emit(n).await.unwrap();
        }
    };
    let tool = Tool::new("t").limits(limits().emit_buffer(room(1))).handler(handler).unwrap();
    let results = run_with(&tool, 1, RunOptions::new().call_idle_timeout(Duration::ZERO)).collect_results().await;
    assert_eq!(results.len(), 1);
}

/// Returns the result of a spawned handler that ended in time, for a reader that polls again after the deadline.
async fn read_late(options: RunOptions) -> ToolResult {
    let quick = Tool::new("quick").limits(limits().timeout(ms(50))).handler(|(), cx: Cx| async move {
        cx.emit("begun").await.unwrap();
        sleep(ms(10)).await;
        "done"
    });
    let mut run = run_with(&quick.unwrap(), 1, options.spawned());
    assert!(run.next().await.unwrap().result().is_none());
    sleep(ms(1000)).await;
    run.collect_results().await.remove(0)
}

#[tokio::test(start_paused = true)]
async fn a_spawned_call_that_ended_in_time_does_not_time_out_because_of_its_reader() {
    let result = read_late(RunOptions::new()).await;
    assert!(result.is_ok(), "{result:?}");
}

#[tokio::test(start_paused = true)]
async fn a_spawned_call_that_ended_before_the_deadline_does_not_time_out_because_of_its_reader() {
    let result = read_late(RunOptions::new().timeout(ms(100))).await;
    assert!(result.is_ok(), "{result:?}");
}

#[tokio::test(start_paused = true)]
async fn a_spawned_call_that_has_ended_can_no_longer_be_cancelled() {
    let mut run =
        run_with(&Tool::new("quick").handler(|(), _| async { "done" }).unwrap(), 1, RunOptions::new().spawned());
    start(&mut run).await;
    sleep(ms(10)).await;
    run.cancel();
    let result = run.collect_results().await.remove(0);
    assert!(result.is_ok(), "{result:?}");
}

/// Returns the result of a run that is polled without a runtime.
fn without_a_runtime(mut run: Run) -> ToolResult {
    match Pin::new(&mut run).poll_next(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Some(event)) => event.result().unwrap().clone(),
        other => panic!("no result: {other:?}"),
    }
}

#[test]
fn without_a_runtime_there_are_no_tasks_and_no_timeouts() {
    let tool = Tool::new("t").handler(|(), _| std::future::pending::<()>()).unwrap();
    let spawned = without_a_runtime(run_with(&tool, 1, RunOptions::new().spawned()));
    let failure = failure_of(&spawned);
    assert_eq!((&failure.kind, failure.started), (&FailureKind::ExecutionError, false), "{failure:?}");
    let timed = without_a_runtime(run_with(&tool, 1, RunOptions::new().timeout(ms(5))));
    let failure = failure_of(&timed);
    assert_eq!((&failure.kind, failure.started), (&FailureKind::ExecutionError, true), "{failure:?}");
}

fn failure_of(result: &ToolResult) -> &ToolFailure {
    result.failure().unwrap_or_else(|| panic!("no failure: {result:?}"))
}
