//! Many runs at a time on several threads: the promises do not depend on a single thread.
//!
//! A run that never ends, or a handler that is left running, makes its test hang: nextest ends it and names it.

use std::future::pending;
use std::sync::{Arc, Mutex};

use haft_core::{FailureKind, ToolCall, ToolEvent};
use haft_executor::{Cx, Next, Request, RunOptions, Tool, Toolkit};
use tokio::sync::watch;
use tokio::task::{JoinSet, yield_now};

use super::broken::{limits, plain, room};
use super::case::Ran;
use super::record;

const RUNS: usize = 40;
const CALLS: usize = 64;

/// The number of values that a handler emits. More than its queue holds, so that it waits for its reader.
const SHOWS: u64 = 5;

/// A count of handlers that run.
#[derive(Clone)]
struct Live(Arc<watch::Sender<usize>>);

/// A handler that runs, until it is dropped.
struct Running(Live);

/// The way in which a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    ByItself,
    /// Cancelled after this many events.
    Cancelled(usize),
    /// Dropped after this many events.
    Dropped(usize),
}

impl Live {
    fn new() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }

    fn enter(&self) -> Running {
        self.0.send_modify(|count| *count += 1);
        Running(self.clone())
    }

    /// Waits until nothing runs any more.
    async fn none(&self) {
        self.0.subscribe().wait_for(|count| *count == 0).await.unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}

impl Ending {
    /// Chooses the ending of a run: half of the runs complete; of the others most are cancelled, early and late, and
    /// some dropped.
    fn of(run: usize) -> Self {
        match run % 8 {
            1 | 3 => Self::Cancelled(1 + run * 7),
            5 => Self::Cancelled(0),
            7 => Self::Dropped(1 + run * 5),
            _ => Self::ByItself,
        }
    }
}

/// Creates two tools that emit and return the same, one in a task and one on a blocking thread, and one that never
/// ends.
fn kit(live: &Live) -> Toolkit {
    let limits = || limits().emit_buffer(room(2));
    let (in_task, on_thread, endless) = (live.clone(), live.clone(), live.clone());
    let task = Tool::new("task").limits(limits()).handler(move |n: u64, cx: Cx| {
        let running = in_task.enter();
        async move {
            for step in 0..SHOWS {
                cx.emit(record::mark(&cx, step)).await.unwrap();
                yield_now().await;
            }
            drop(running);
            n
        }
    });
    let thread = Tool::new("thread").limits(limits()).blocking_handler(move |n: u64, cx: Cx| {
        let _running = on_thread.enter();
        for step in 0..SHOWS {
            cx.emit_blocking(record::mark(&cx, step)).unwrap();
        }
        n
    });
    let endless = Tool::new("endless").limits(limits()).handler(move |_: u64, cx: Cx| {
        let running = endless.enter();
        async move {
            cx.emit(record::mark(&cx, 0_u64)).await.unwrap();
            pending::<()>().await;
            drop(running);
        }
    });
    [task, thread, endless].map(Result::unwrap).into_iter().collect()
}

/// Creates the calls of a run. Only runs that are cancelled include calls that never end.
fn calls(ending: Ending) -> Vec<ToolCall> {
    let name = |n: usize| match n % 4 {
        0 if ending != Ending::ByItself => "endless",
        1 => "thread",
        _ => "task",
    };
    (0..CALLS).map(|n| ToolCall::new(format!("c{n}"), name(n), n.to_string())).collect()
}

/// Runs a batch and checks its events.
async fn hold(kit: Toolkit, options: RunOptions, ending: Ending) {
    let (calls, told) = (calls(ending), Arc::new(Mutex::new(Vec::new())));
    let telling = Arc::clone(&told);
    let mut run = kit.run_with(&calls, options.observe(move |event| telling.lock().unwrap().push(event.clone())));
    let mut read = Vec::new();
    loop {
        match ending {
            Ending::Cancelled(at) if at == read.len() => run.cancel(),
            Ending::Dropped(at) if at == read.len() => break,
            _ => {}
        }
        let Some(event) = run.next().await else { break };
        read.push(event);
    }
    drop(run);

    let told = told.lock().unwrap();
    record::check(&calls, &told).unwrap();
    assert_eq!(told[..read.len()], read, "the observer was told something else");
    assert!(told.len() == read.len() || matches!(ending, Ending::Dropped(_)), "the reader missed something");
    for event in told.iter() {
        let Some(result) = event.result() else { continue };
        match result.failure() {
            None => {
                assert_eq!(result.value().unwrap().to_value(), event.index(), "the value of another call");
                let is_shown = |other: &&ToolEvent| other.index() == event.index() && other.result().is_none();
                assert_eq!(told.iter().filter(is_shown).count() as u64, SHOWS, "something is lost: {event:?}");
            }
            Some(failure) => {
                assert_eq!(failure.kind, FailureKind::Cancelled, "{failure:?}");
                assert_ne!(ending, Ending::ByItself, "{failure:?}");
            }
        }
    }
}

async fn hold_all(options: fn(usize) -> RunOptions) {
    let live = Live::new();
    let kit = kit(&live);
    let mut runs = JoinSet::new();
    for run in 0..RUNS {
        runs.spawn(hold(kit.clone(), options(run), Ending::of(run)));
    }
    while runs.join_next().await.transpose().unwrap().is_some() {}
    live.none().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_spawned_runs_on_several_threads_keep_every_promise() {
    hold_all(|_| RunOptions::new().spawned()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_runs_in_tasks_on_several_threads_keep_every_promise() {
    hold_all(|_| RunOptions::new()).await;
}

/// A few slots for many calls: they move between threads.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_runs_with_few_slots_on_several_threads_keep_every_promise() {
    hold_all(|run| {
        let options = RunOptions::new().concurrency(20 + run % 5);
        if run % 2 == 0 { options.spawned() } else { options }
    })
    .await;
}

/// A middleware of a spawned call holds its thread while the call is cancelled, and continues afterwards.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_spawned_handler_does_not_start_after_its_call_was_reported_as_not_started() {
    let (reached, mut is_reached) = tokio::sync::mpsc::unbounded_channel();
    let (proceed, may_proceed) = std::sync::mpsc::channel();
    let (may_proceed, live, ran) = (Arc::new(Mutex::new(may_proceed)), Live::new(), Ran::default());
    let held = live.clone();
    let holding = move |request: Request, next: Next| {
        let (reached, may_proceed, running) = (reached.clone(), Arc::clone(&may_proceed), held.enter());
        async move {
            let _running = running;
            reached.send(()).unwrap();
            may_proceed.lock().unwrap().recv().unwrap();
            next.run(request).await
        }
    };
    let kit: Toolkit = Toolkit::from_iter([plain(&ran).wrap(holding)]);
    let mut run = kit.run_with([ToolCall::new("c1", "plain", "{}")], RunOptions::new().spawned());
    tokio::select! {
        event = run.next() => panic!("the call is held: {event:?}"),
        reached = is_reached.recv() => reached.unwrap(),
    }
    run.cancel();
    let results = run.collect_results().await;
    let failure = results[0].failure().unwrap();
    assert_eq!((&failure.kind, failure.started), (&FailureKind::Cancelled, false));
    proceed.send(()).unwrap();
    live.none().await;
    assert_eq!(ran.times(), 0);
}
