//! Lanes: limits that hold across runs.

use std::error::Error;
use std::future::pending;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use haft_core::{Caller, FailureKind, ToolCall, ToolFailure, ToolResult};
use haft_executor::{Cx, ExecutionLimits, Lanes, Run, RunOptions, Tool, Toolkit};
use proptest::prelude::*;
use tokio::sync::{Barrier, Notify};
use tokio::task::yield_now;

use crate::seeded::for_all;

/// Counts the calls that run at the same time.
#[derive(Default)]
struct Meter {
    running: AtomicUsize,
    most: AtomicUsize,
    order: Mutex<Vec<String>>,
}

impl Meter {
    fn enter(&self, who: &str) {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        self.order.lock().unwrap().push(who.to_owned());
    }

    fn leave(&self) {
        self.running.fetch_sub(1, Ordering::SeqCst);
    }

    fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

/// A tool that yields a few times while it counts.
fn metered(meter: &Arc<Meter>) -> Tool {
    let meter = Arc::clone(meter);
    let handler = move |(key,): (String,), _cx| {
        let meter = Arc::clone(&meter);
        async move {
            meter.enter(&key);
            for _ in 0..3 {
                yield_now().await;
            }
            meter.leave();
        }
    };
    Tool::new("deploy").handler(handler).unwrap()
}

/// A tool that counts, and runs until it is notified.
fn held(meter: &Arc<Meter>, end: &Arc<Notify>) -> Tool {
    let (meter, end) = (Arc::clone(meter), Arc::clone(end));
    let handler = move |(who,): (String,), _cx| {
        let (meter, end) = (Arc::clone(&meter), Arc::clone(&end));
        async move {
            meter.enter(&who);
            end.notified().await;
            meter.leave();
        }
    };
    Tool::new("deploy").handler(handler).unwrap()
}

fn kit(tool: Tool) -> Toolkit {
    Toolkit::from_iter([tool])
}

fn call(argument: &str) -> ToolCall {
    ToolCall::new("c1", "deploy", format!("[{argument:?}]"))
}

fn failure_of(result: &ToolResult) -> ToolFailure {
    result.failure().cloned().unwrap()
}

fn poll_once(future: std::pin::Pin<&mut (impl Future + ?Sized)>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

/// Polls a run until it has to wait, and reports whether it has ended.
fn advance(run: &mut Run) -> bool {
    loop {
        let mut next = pin!(run.next());
        match next.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => return false,
            Poll::Ready(None) => return true,
            Poll::Ready(Some(_)) => {}
        }
    }
}

#[tokio::test]
async fn runs_that_share_a_lane_never_overlap() {
    for spawned in [false, true] {
        let meter = Arc::default();
        let lanes = Lanes::new("deployments");
        let options = if spawned { RunOptions::new().spawned() } else { RunOptions::new() };
        let kits = [(); 2].map(|()| kit(metered(&meter).in_lane(lanes.by_argument("/0")).unwrap()));
        let alone = call("web");
        let (first, second, third) = tokio::join!(
            kits[0].run_with([call("web")], &options).collect_results(),
            kits[1].run_with([call("web")], &options).collect_results(),
            kits[1].run_call_with(&alone, &options),
        );
        assert!(first[0].is_ok() && second[0].is_ok() && third.is_ok());
        assert_eq!((meter.most(), meter.order.lock().unwrap().len()), (1, 3));
    }
}

#[tokio::test]
async fn calls_with_different_keys_run_at_the_same_time() {
    let barrier = Arc::new(Barrier::new(2));
    let meet = move |_: (String,), _cx| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
        }
    };
    let tool = Tool::new("deploy").handler(meet).unwrap();
    let lanes = Lanes::new("deployments");
    let by_key = kit(tool.in_lane(lanes.by(|(key,): (String,), _: Option<&Caller>| key)).unwrap());
    let (web, mail) = (call("web"), call("mail"));
    let (one, other) = tokio::join!(by_key.run_call(&web), by_key.run_call(&mail));
    assert!(one.is_ok() && other.is_ok());

    let by_caller = kit(tool.in_lane(lanes.by_caller()).unwrap());
    let options = ["ana", "bo"].map(|caller| RunOptions::new().caller(caller));
    let (one, other) =
        tokio::join!(by_caller.run_call_with(&web, &options[0]), by_caller.run_call_with(&web, &options[1]));
    assert!(one.is_ok() && other.is_ok());

    let both = kit(tool.in_lane(Lanes::with_slots("two", NonZeroUsize::new(2).unwrap())).unwrap());
    let (one, other) = tokio::join!(both.run_call(&web), both.run_call(&web));
    assert!(one.is_ok() && other.is_ok());
}

#[tokio::test]
async fn a_lane_of_the_run_holds_for_all_its_tools_and_those_of_a_tenant_wait_for_each_other() {
    let meter = Arc::default();
    let kit = kit(metered(&meter));
    let lanes = Lanes::new("tenants");
    let options = RunOptions::new().caller("ana").lane(lanes.by_caller());
    let calls = || (0..4).map(|n| ToolCall::new(format!("c{n}"), "deploy", r#"["x"]"#));
    let (one, other) = tokio::join!(
        kit.run_with(calls(), &options).collect_results(),
        kit.run_with(calls(), RunOptions::new().merge(options.clone())).collect_results(),
    );
    assert_eq!(one.iter().chain(&other).filter(|result| result.is_ok()).count(), 8);
    assert_eq!(meter.most(), 1);
}

#[tokio::test]
async fn calls_enter_in_the_order_in_which_they_came() {
    let (meter, end) = (Arc::default(), Arc::new(Notify::new()));
    let kit = kit(held(&meter, &end).in_lane(Lanes::new("one")).unwrap());
    let mut runs: Vec<Run> = ["a", "b", "c", "d"].map(|who| kit.run([call(who)])).into();
    for run in &mut runs {
        assert!(!advance(run));
    }
    // The second one gives up while it waits, which frees its place.
    drop(runs.remove(1));
    for at in 0..3 {
        end.notify_one();
        assert!(advance(&mut runs[at]));
        runs.iter_mut().skip(at + 1).for_each(|run| assert!(!advance(run)));
    }
    assert_eq!(*meter.order.lock().unwrap(), ["a", "c", "d"]);
    assert_eq!(meter.most(), 1);
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_it_waits_has_not_started() {
    let (meter, end) = (Arc::default(), Arc::new(Notify::new()));
    let kit = kit(held(&meter, &end).in_lane(Lanes::new("one")).unwrap());
    let mut holder = kit.run([call("a")]);
    assert!(!advance(&mut holder));
    let mut waiting = kit.run([call("b")]);
    assert!(!advance(&mut waiting));
    waiting.cancel();
    let failure = failure_of(&waiting.collect_results().await[0]);
    assert_eq!((failure.kind, failure.started), (FailureKind::Cancelled, false));
    // So is a slot that was given to a call that is no longer polled.
    let (mut given, mut last) = (kit.run([call("c")]), kit.run([call("d")]));
    assert!(!advance(&mut given) && !advance(&mut last));
    holder.cancel();
    assert!(advance(&mut holder));
    drop(given);
    assert!(!advance(&mut last));
    assert_eq!(*meter.order.lock().unwrap(), ["a", "d"]);
}

#[tokio::test]
async fn a_panic_a_failure_and_a_dropped_run_free_the_slot() {
    let lanes = Lanes::new("one");
    let handler = |(how,): (String,), _cx| async move {
        match how.as_str() {
            "panic" => panic!("as it was told"),
            "fail" => Err("as it was told"),
            "hang" => pending().await,
            _ => Ok(()),
        }
    };
    let kit = kit(Tool::new("deploy").try_handler(handler).unwrap().in_lane(&lanes).unwrap());
    for spawned in [false, true] {
        let options = || if spawned { RunOptions::new().spawned() } else { RunOptions::new() };
        for how in ["panic", "fail", "hang"] {
            let mut run = kit.run_with([call(how)], options());
            assert!(!poll_once(pin!(run.next())) || how != "hang");
            if how == "hang" {
                drop(run);
            } else {
                run.collect_results().await;
            }
            assert!(kit.run_call_with(&call("work"), options()).await.is_ok(), "{how}");
        }
    }
}

/// A thread can't be stopped: what it works on is not free before it has ended.
#[tokio::test]
async fn a_blocking_handler_keeps_its_slot_until_its_thread_has_ended() {
    let lanes = Lanes::new("one");
    let (started, wait) = std::sync::mpsc::channel();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let ended = Mutex::new(ended);
    let meter: Arc<Meter> = Arc::default();
    let counted = Arc::clone(&meter);
    let block = Tool::new("deploy").blocking_handler(move |(who,): (String,), _cx| {
        counted.enter(&who);
        if who == "a" {
            started.send(()).unwrap();
            let _ = ended.lock().unwrap().recv();
        }
        counted.leave();
    });
    let kit = kit(block.unwrap().in_lane(&lanes).unwrap());
    let mut holder = kit.run([call("a")]);
    assert!(!poll_once(pin!(holder.next())));
    wait.recv().unwrap();
    drop(holder);
    let mut next = kit.run([call("b")]);
    assert!(!advance(&mut next), "the thread of the first call still runs");
    end.send(()).unwrap();
    assert!(next.collect_results().await[0].is_ok());
    assert_eq!(meter.most(), 1);
}

#[tokio::test(start_paused = true)]
async fn waiting_has_its_own_timeout_and_counts_for_no_other() {
    let (meter, end) = (Arc::default(), Arc::new(Notify::new()));
    let lanes = Lanes::new("one");
    let limits = ExecutionLimits::new().timeout(Duration::from_secs(1)).idle_timeout(Duration::from_secs(1));
    let patient = held(&meter, &end).with_limits(limits).unwrap();
    let impatient = patient.in_lane(lanes.clone().longest_wait(Duration::from_secs(3))).unwrap();
    let patient = kit(patient.in_lane(&lanes).unwrap());

    let slow = kit(held(&meter, &end).in_lane(&lanes).unwrap());
    let mut holder = slow.run([call("a")]);
    assert!(!advance(&mut holder));
    let mut waiting = patient.run([call("b")]);
    assert!(!advance(&mut waiting));
    let failure = failure_of(&kit(impatient).run_call(&call("c")).await);
    assert_eq!((failure.kind.clone(), failure.started, failure.retryable), (FailureKind::TimedOut, false, true));
    assert_eq!(failure.message, "the call waited 3s for other calls to finish, and has not started");
    // The other one has waited for three seconds as well, and has one of its own from now on.
    end.notify_one();
    assert!(holder.collect_results().await[0].is_ok());
    assert!(!advance(&mut waiting));
    end.notify_one();
    assert!(waiting.collect_results().await[0].is_ok());
}

#[tokio::test]
async fn a_call_that_would_wait_for_one_it_is_part_of_fails_at_once() {
    for spawned in [false, true] {
        let (lanes, others) = (Lanes::new("one"), Lanes::new("other"));
        let options = move || if spawned { RunOptions::new().spawned() } else { RunOptions::new() };
        let inner = Tool::new("deploy").handler(|_: (String,), _cx| async {}).unwrap();
        let nested = [inner.in_lane(&lanes).unwrap(), inner.in_lane(&others).unwrap()].map(kit);
        let outer = Tool::new("deploy").handler(move |_: (String,), _cx: Cx| {
            let nested = nested.clone();
            async move {
                let [same, other] = nested;
                let waits = same.run_call_with(&call("x"), options()).await;
                (failure_of(&waits).source().unwrap().to_string(), other.run_call(&call("x")).await.is_ok())
            }
        });
        let kit = kit(outer.unwrap().in_lane(&lanes).unwrap());
        let result = kit.run_call_with(&call("x"), options()).await;
        let (cause, other): (String, bool) = result.decode().unwrap();
        assert_eq!(cause, "the call would wait in the lane `` of `one` for a call that it is part of");
        assert!(other, "another lane is free");
    }
}

#[tokio::test]
async fn a_call_whose_key_is_unknown_does_not_start() {
    let tool = Tool::new("deploy").handler(|_: (String,), _cx| async {}).unwrap();
    let lanes = Lanes::new("one");
    let panics = lanes.by(|_: (String,), _: Option<&Caller>| -> String { panic!("no key") });
    let other_type = lanes.by(|n: u8, _: Option<&Caller>| n.to_string());
    for lane in [panics, other_type] {
        let failure = failure_of(&kit(tool.in_lane(lane).unwrap()).run_call(&call("x")).await);
        assert_eq!((failure.kind, failure.started), (FailureKind::ExecutionError, false));
    }
    assert!(kit(tool.in_lane(&lanes).unwrap()).run_call(&call("x")).await.is_ok());
}

#[tokio::test]
async fn two_lanes_are_entered_in_one_order() {
    let meter = Arc::default();
    let (a, b) = (Lanes::new("a"), Lanes::new("b"));
    let tool = metered(&meter);
    let one = kit(tool.in_lane(&a).unwrap().in_lane(&b).unwrap().in_lane(&a).unwrap());
    let other = kit(tool.in_lane(&b).unwrap());
    let options = RunOptions::new().lane(&a);
    let calls: Vec<ToolCall> = (0..8).map(|n| ToolCall::new(format!("c{n}"), "deploy", r#"["x"]"#)).collect();
    let (one, other) =
        tokio::join!(one.run(&calls).collect_results(), other.run_with(&calls, options).collect_results());
    assert_eq!(one.iter().chain(&other).filter(|result| result.is_ok()).count(), 16);
    assert_eq!(meter.most(), 1);
}

#[test]
fn a_tool_that_is_not_run_here_has_no_lane() {
    let signal = Tool::signal("wait").define().unwrap();
    let error = signal.in_lane(Lanes::new("one")).unwrap_err();
    assert!(error.to_string().contains("a lane"), "{error}");
}

/// One step of a random schedule of runs that share lanes.
#[derive(Clone, Debug)]
enum Deed {
    Start { key: u8, slots: usize },
    Poll(usize),
    Finish,
    Cancel(usize),
    Drop(usize),
}

/// Whatever is started, cancelled and dropped, in whatever order runs are polled: no lane holds more calls than it has
/// slots, and in the end no run waits for a lane that is free.
#[test]
fn no_schedule_overfills_a_lane_or_loses_a_slot() {
    let deed = prop_oneof![
        3 => (0..3_u8, 1..=2_usize).prop_map(|(key, slots)| Deed::Start { key, slots }),
        4 => (0..12_usize).prop_map(Deed::Poll),
        3 => Just(Deed::Finish),
        1 => (0..12_usize).prop_map(Deed::Cancel),
        1 => (0..12_usize).prop_map(Deed::Drop),
    ];
    for_all(300, prop::collection::vec(deed, 1..60), |deeds| {
        let end = Arc::new(Notify::new());
        let lanes = [1, 2].map(|slots| Lanes::with_slots("lanes", NonZeroUsize::new(slots).unwrap()));
        let meters: [[Arc<Meter>; 3]; 2] = Default::default();
        let mut runs: Vec<Run> = Vec::new();
        let pick = |runs: &[Run], at: usize| (!runs.is_empty()).then(|| at % runs.len());
        for deed in deeds {
            match deed {
                Deed::Start { key, slots } => {
                    let meter = &meters[slots - 1][usize::from(key)];
                    let meter = Arc::clone(meter);
                    let end = Arc::clone(&end);
                    let handler = move |(who,): (String,), _cx| {
                        let (meter, end) = (Arc::clone(&meter), Arc::clone(&end));
                        async move {
                            meter.enter(&who);
                            let _leaving = Leaving(meter);
                            end.notified().await;
                        }
                    };
                    let tool = Tool::new("deploy").handler(handler).unwrap();
                    let tool = tool.in_lane(lanes[slots - 1].by_argument("/0")).unwrap();
                    runs.push(kit(tool).run([call(&key.to_string())]));
                }
                Deed::Poll(at) => {
                    if let Some(at) = pick(&runs, at)
                        && advance(&mut runs[at])
                    {
                        drop(runs.remove(at));
                    }
                }
                Deed::Finish => end.notify_one(),
                Deed::Cancel(at) => {
                    if let Some(at) = pick(&runs, at) {
                        runs[at].cancel();
                        prop_assert!(advance(&mut runs[at]));
                        drop(runs.remove(at));
                    }
                }
                Deed::Drop(at) => {
                    if let Some(at) = pick(&runs, at) {
                        drop(runs.remove(at));
                    }
                }
            }
            for (most, meters) in (1..).zip(&meters) {
                prop_assert!(meters.iter().all(|meter| meter.running.load(Ordering::SeqCst) <= most));
            }
        }
        // All that is left gets through.
        for _ in 0..4 * runs.len() + 4 {
            runs.retain_mut(|run| !advance(run));
            end.notify_waiters();
            end.notify_one();
        }
        prop_assert!(runs.is_empty(), "{} runs wait for ever", runs.len());
        Ok(())
    });
}

/// Leaves when its handler is dropped.
struct Leaving(Arc<Meter>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.leave();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_on_many_threads_share_their_lanes() {
    let lanes = Lanes::new("one");
    let meters: [Arc<Meter>; 2] = Default::default();
    let by_key = meters.clone();
    let handler = move |(key,): (String,), _cx| {
        let meter = Arc::clone(&by_key[usize::from(key == "b")]);
        async move {
            meter.enter(&key);
            let _leaving = Leaving(meter);
            yield_now().await;
        }
    };
    let tool = Tool::new("deploy").handler(handler).unwrap().in_lane(lanes.by_argument("/0")).unwrap();
    let kit = kit(tool);
    let tasks: Vec<_> = (0..64)
        .map(|n| {
            let kit = kit.clone();
            tokio::spawn(async move {
                let options = if n % 2 == 0 { RunOptions::new().spawned() } else { RunOptions::new() };
                let calls = (0..8).map(|c| {
                    ToolCall::new(format!("c{c}"), "deploy", if (n + c) % 3 == 0 { r#"["b"]"# } else { r#"["a"]"# })
                });
                let mut run = kit.run_with(calls, options);
                if n % 5 == 0 {
                    // It gives up somewhere on its way.
                    for _ in 0..n % 4 {
                        run.next().await;
                    }
                    return 0;
                }
                run.collect_results().await.iter().filter(|result: &&ToolResult| result.is_ok()).count()
            })
        })
        .collect();
    for (n, task) in tasks.into_iter().enumerate() {
        assert_eq!(task.await.unwrap(), if n % 5 == 0 { 0 } else { 8 });
    }
    assert!(meters.iter().all(|meter| meter.most() == 1));
}
