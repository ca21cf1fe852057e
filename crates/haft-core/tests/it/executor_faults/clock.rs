//! Handlers that keep a thread busy, and time as slow readers and other executors see it.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use futures_core::Stream;
use futures_util::StreamExt;
use haft_core::{Concurrency, Cx, FailureKind, Run, RunOptions, Tool, ToolCall, ToolFailure, ToolResult, Toolkit};
use tokio::time::sleep;

use super::broken::{limits, ms, room};
use super::way::{healthy_call, healthy_tool, paused};

/// The longest that anything may keep a thread busy here.
const TOO_LONG: Duration = Duration::from_secs(2);

/// Long enough for a thread to begin on a busy machine: a handler that has not begun is not told, it never begins.
const ENOUGH: Duration = Duration::from_millis(300);

/// Keeps its thread busy until it is told that nobody wants it any more; says whether it was.
fn burn(cx: &Cx, burnt: &mpsc::Sender<bool>) {
    let start = Instant::now();
    while !cx.is_cancelled() && start.elapsed() < TOO_LONG {
        std::hint::spin_loop();
    }
    let _ = burnt.send(cx.is_cancelled());
}

/// A tool that burns, in its task.
fn burning(burnt: mpsc::Sender<bool>) -> Tool {
    let run = move |(), cx: Cx| {
        let burnt = burnt.clone();
        async move { burn(&cx, &burnt) }
    };
    Tool::new("burning").run(run).unwrap()
}

/// A tool that burns, on a thread for such.
fn burning_and_blocking(burnt: mpsc::Sender<bool>) -> Tool {
    Tool::new("burning").run_blocking(move |(), cx: Cx| burn(&cx, &burnt)).unwrap()
}

/// A handler that heeds nothing: it is busy until the test is done with it, or too long.
#[derive(Clone, Default)]
struct Stubborn(Arc<State>);

#[derive(Default)]
struct State {
    is_busy: AtomicBool,
    is_dismissed: AtomicBool,
}

/// Dismisses the handler at the end of a test, however that comes, so that no runtime waits for it.
struct Dismissal(Stubborn);

impl Stubborn {
    fn work(&self) {
        self.0.is_busy.store(true, Ordering::SeqCst);
        let start = Instant::now();
        while !self.0.is_dismissed.load(Ordering::SeqCst) && start.elapsed() < TOO_LONG {
            std::hint::spin_loop();
        }
    }

    fn spawned(&self) -> Tool {
        let stubborn = self.clone();
        let run = move |(), _: Cx| {
            let stubborn = stubborn.clone();
            async move { stubborn.work() }
        };
        Tool::new("stubborn").limits(limits().timeout(ENOUGH)).run(run).unwrap()
    }

    fn blocking(&self) -> Tool {
        let stubborn = self.clone();
        Tool::new("stubborn").limits(limits().timeout(ENOUGH)).run_blocking(move |(), _: Cx| stubborn.work()).unwrap()
    }

    /// Runs it alone and in the middle of healthy siblings.
    async fn hold(&self, tool: &Tool, options: &RunOptions) {
        let _dismissal = Dismissal(self.clone());
        for (before, all) in [(0, 0), (32, 64)] {
            let kit: Toolkit = [tool.clone(), healthy_tool()].into_iter().collect();
            let stubborn = ToolCall::new("stubborn", "stubborn", "{}");
            let calls: Vec<_> =
                (0..before).map(healthy_call).chain([stubborn]).chain((before..all).map(healthy_call)).collect();
            self.0.is_busy.store(false, Ordering::SeqCst);
            let began = Instant::now();
            let results = kit.run(&calls).with(options.clone()).collect_results().await;
            assert!(began.elapsed() < TOO_LONG, "the run waited for a handler that does not end");
            assert!(self.0.is_busy.load(Ordering::SeqCst), "the handler never began");

            let order = results.iter().map(|result| &result.call_id);
            assert!(order.eq(calls.iter().map(|call| &call.call_id)), "not in call order: {results:?}");
            let failure = failure_of(&results[before as usize]);
            assert_eq!((&failure.kind, failure.started), (&FailureKind::TimedOut, true), "{failure:?}");
            let around = results.iter().filter(|result| result.call_id != "stubborn");
            for (n, result) in (0..all).zip(around) {
                assert_eq!(result.value().unwrap().to_value(), 2 * n);
            }
        }
    }
}

impl Drop for Dismissal {
    fn drop(&mut self) {
        self.0.0.is_dismissed.store(true, Ordering::SeqCst);
    }
}

/// Two of them keep a thread each; the siblings need one more.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_spawned_handler_that_heeds_nothing_times_out_and_harms_no_sibling() {
    let stubborn = Stubborn::default();
    stubborn.hold(&stubborn.spawned(), &RunOptions::new().spawned()).await;
}

#[tokio::test]
async fn a_blocking_handler_that_heeds_nothing_times_out_and_harms_no_sibling() {
    let stubborn = Stubborn::default();
    stubborn.hold(&stubborn.blocking(), &RunOptions::new()).await;
}

#[tokio::test]
async fn a_spawned_and_blocking_handler_that_heeds_nothing_times_out_and_harms_no_sibling() {
    let stubborn = Stubborn::default();
    stubborn.hold(&stubborn.blocking(), &RunOptions::new().spawned()).await;
}

fn run(tool: &Tool, count: usize) -> Run {
    let kit: Toolkit = [tool.clone()].into_iter().collect();
    kit.run((0..count).map(|n| ToolCall::new(format!("c{n}"), tool.name(), "{}")))
}

/// Polls a run once: it starts, and has nothing to say yet.
async fn start(run: &mut Run) {
    let polled = poll_fn(|task| Poll::Ready(run.poll_next_unpin(task))).await;
    assert!(polled.is_pending(), "{polled:?}");
}

/// It has timed out long before it would have ended by itself, and was told.
fn check_burnt(results: &[ToolResult], told: &mpsc::Receiver<bool>) {
    for result in results {
        let failure = result.failure().unwrap();
        assert_eq!((&failure.kind, failure.started), (&FailureKind::TimedOut, true), "{failure:?}");
        assert_eq!(told.recv_timeout(TOO_LONG), Ok(true), "the handler was not told");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_handler_times_out_when_it_is_spawned() {
    let (burnt, told) = mpsc::channel();
    let tool = burning(burnt).with_limits(limits().timeout(ms(20))).unwrap();
    // The reader has a thread of its own, as it has in a program that waits in `main`.
    let results = tokio::spawn(run(&tool, 1).spawned().collect_results()).await.unwrap();
    check_burnt(&results, &told);
}

#[tokio::test]
async fn a_busy_handler_times_out_when_it_is_blocking() {
    let (burnt, told) = mpsc::channel();
    let tool = burning_and_blocking(burnt).with_limits(limits().timeout(ENOUGH)).unwrap();
    check_burnt(&run(&tool, 3).collect_results().await, &told);
    check_burnt(&run(&tool, 3).spawned().collect_results().await, &told);
}

#[tokio::test]
async fn a_busy_handler_is_told_when_the_run_is_called_off_or_dropped() {
    let (burnt, told) = mpsc::channel();
    let (begin, began) = mpsc::channel();
    let tool = Tool::new("burning").run_blocking(move |(), cx: Cx| {
        begin.send(()).unwrap();
        burn(&cx, &burnt);
    });
    let tool = tool.unwrap();
    let mut called_off = run(&tool, 1);
    start(&mut called_off).await;
    began.recv_timeout(TOO_LONG).unwrap();
    called_off.cancel();
    let event = called_off.next().await.unwrap();
    assert_eq!(event.result().unwrap().failure().unwrap().kind, FailureKind::Cancelled);
    assert_eq!(told.recv_timeout(TOO_LONG), Ok(true), "called off");

    let mut dropped = run(&tool, 1);
    start(&mut dropped).await;
    began.recv_timeout(TOO_LONG).unwrap();
    drop(dropped);
    assert_eq!(told.recv_timeout(TOO_LONG), Ok(true), "dropped");
}

/// A handler that has timed out and still runs keeps its place: the next one may not run beside it.
#[tokio::test]
async fn a_busy_handler_keeps_its_place_until_it_ends() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counted = (Arc::clone(&now), Arc::clone(&most));
    let handler = move |(), cx: Cx| {
        let (now, most) = &counted;
        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        // It notices that it was given up, and takes a while to stop.
        let (start, mut noticed) = (Instant::now(), None);
        while noticed.is_none_or(|at: Instant| at.elapsed() < ms(30)) && start.elapsed() < TOO_LONG {
            if noticed.is_none() && cx.is_cancelled() {
                noticed = Some(Instant::now());
            }
            std::hint::spin_loop();
        }
        now.fetch_sub(1, Ordering::SeqCst);
    };
    let limits = limits().timeout(ms(20)).concurrency(Concurrency::Exclusive);
    let tool = Tool::new("t").limits(limits).run_blocking(handler).unwrap();
    let results = run(&tool, 2).collect_results().await;
    assert!(results.iter().all(|result| failure_of(result).kind == FailureKind::TimedOut), "{results:?}");
    assert_eq!(most.load(Ordering::SeqCst), 1, "two exclusive handlers ran at a time");
}

/// Runs a test that must not take for ever on a thread that may.
fn soon(test: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        test();
        let _ = done.send(());
    });
    match is_done.recv_timeout(TOO_LONG) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("it goes round in circles"),
        _ => thread.join().unwrap(),
    }
}

/// Some libraries yield by waking themselves at once. Other tasks must get their turn all the same.
#[test]
fn a_handler_that_wakes_itself_leaves_room_for_other_tasks() {
    soon(|| {
        paused().block_on(async {
            let flag = Arc::new(AtomicBool::new(false));
            let (raised, seen) = (Arc::clone(&flag), flag);
            let handler = move |(), _: Cx| {
                let seen = Arc::clone(&seen);
                poll_fn(move |task| {
                    if seen.load(Ordering::SeqCst) {
                        return Poll::Ready(());
                    }
                    task.waker().wake_by_ref();
                    Poll::Pending
                })
            };
            tokio::spawn(async move { raised.store(true, Ordering::SeqCst) });
            let results = run(&Tool::new("t").run(handler).unwrap(), 1).collect_results().await;
            assert!(results[0].is_ok());
        });
    });
}

#[test]
fn a_run_that_tolerates_no_silence_at_all_ends() {
    soon(|| {
        paused().block_on(async {
            let handler = |(), cx: Cx| async move {
                for n in 0..3 {
                    cx.emit(n).await.unwrap();
                }
            };
            let tool = Tool::new("t").limits(limits().emit_buffer(room(1))).run(handler).unwrap();
            let results = run(&tool, 1).call_idle_timeout(Duration::ZERO).collect_results().await;
            assert_eq!(results.len(), 1);
        });
    });
}

/// A reader that comes back late finds the results of spawned handlers that ended in time.
async fn read_late(options: RunOptions) -> ToolResult {
    let quick = Tool::new("quick").limits(limits().timeout(ms(50))).run(|(), cx: Cx| async move {
        cx.emit("begun").await.unwrap();
        sleep(ms(10)).await;
        "done"
    });
    let mut run = run(&quick.unwrap(), 1).with(options.spawned());
    assert!(run.next().await.unwrap().result().is_none());
    sleep(ms(1000)).await;
    run.collect_results().await.remove(0)
}

#[tokio::test(start_paused = true)]
async fn a_spawned_call_that_ended_in_time_is_not_late_because_its_reader_is() {
    let result = read_late(RunOptions::new()).await;
    assert!(result.is_ok(), "{result:?}");
}

#[tokio::test(start_paused = true)]
async fn a_spawned_call_that_ended_before_the_deadline_is_not_late_because_its_reader_is() {
    let result = read_late(RunOptions::new().timeout(ms(100))).await;
    assert!(result.is_ok(), "{result:?}");
}

#[tokio::test(start_paused = true)]
async fn a_spawned_call_that_has_ended_can_no_longer_be_called_off() {
    let mut run = run(&Tool::new("quick").run(|(), _| async { "done" }).unwrap(), 1).spawned();
    start(&mut run).await;
    sleep(ms(10)).await;
    run.cancel();
    let result = run.collect_results().await.remove(0);
    assert!(result.is_ok(), "{result:?}");
}

/// The result of a run that is polled where there is no runtime.
fn without_a_runtime(mut run: Run) -> ToolResult {
    match Pin::new(&mut run).poll_next(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Some(event)) => event.result().unwrap().clone(),
        other => panic!("no result: {other:?}"),
    }
}

#[test]
fn without_a_runtime_nothing_is_spawned_and_no_time_is_kept() {
    let tool = Tool::new("t").run(|(), _| std::future::pending::<()>()).unwrap();
    let spawned = without_a_runtime(run(&tool, 1).spawned());
    let failure = failure_of(&spawned);
    assert_eq!((&failure.kind, failure.started), (&FailureKind::ExecutionError, false), "{failure:?}");
    let timed = without_a_runtime(run(&tool, 1).timeout(ms(5)));
    let failure = failure_of(&timed);
    assert_eq!((&failure.kind, failure.started), (&FailureKind::ExecutionError, true), "{failure:?}");
}

fn failure_of(result: &ToolResult) -> &ToolFailure {
    result.failure().unwrap_or_else(|| panic!("no failure: {result:?}"))
}
