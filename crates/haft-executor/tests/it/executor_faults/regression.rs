//! Scenarios that once failed and can't be expressed as a row of the table.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use futures_util::FutureExt;
use haft_core::{ApprovalRequest, FailureKind, ToolCall};
use haft_executor::{
    ApprovalPolicy, Cx, ExecutionLimits, Next, Permission, Permitting, Request, RunOptions, Services, Tool, Toolkit,
};
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::sleep;

use super::broken::Fragile;

fn calls(names: &[&str]) -> Vec<ToolCall> {
    names.iter().enumerate().map(|(n, name)| ToolCall::new(format!("c{n}"), *name, "{}")).collect()
}

/// A permit that keeps its waker and wakes the call repeatedly, even when it has long been queued.
#[tokio::test(start_paused = true)]
async fn a_stale_wake_takes_no_second_slot() {
    let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
    let kept = Arc::clone(&wakers);
    let permit = move |_: &Tool, _: &ToolCall, _: &Cx| {
        let kept = Arc::clone(&kept);
        let mut polls = 0;
        Permitting::later(std::future::poll_fn(move |task| {
            polls += 1;
            kept.lock().unwrap().push(task.waker().clone());
            if polls < 3 {
                task.waker().wake_by_ref();
                return Poll::Pending;
            }
            Poll::Ready(Ok::<_, std::io::Error>(Permission::Allowed))
        }))
    };
    let woken = Arc::clone(&wakers);
    let slow = Tool::new("slow")
        .handler(move |(), _cx| {
            let woken = Arc::clone(&woken);
            async move {
                for _ in 0..5 {
                    woken.lock().unwrap().iter().for_each(Waker::wake_by_ref);
                    sleep(Duration::from_millis(1)).await;
                }
            }
        })
        .unwrap();
    let kit: Toolkit = [slow].into_iter().collect();
    let run = kit.run_with(
        calls(&["slow"; 4]),
        RunOptions::new().permit(permit).concurrency(1).timeout(Duration::from_secs(60)),
    );
    assert!(run.collect_results().await.iter().all(haft_core::ToolResult::is_ok));
}

/// Checks that a call never begins if it is cancelled before the only blocking thread is free.
fn cancel_before_it_has_a_thread(wrap: fn(Tool) -> Tool, options: RunOptions) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let (ran, began, go) =
            (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()), Arc::new(std::sync::Barrier::new(2)));
        let (counted, notify, gate) = (Arc::clone(&ran), Arc::clone(&began), Arc::clone(&go));
        let block = Tool::new("block")
            .blocking_handler(move |(), _cx| {
                if counted.fetch_add(1, Ordering::SeqCst) == 0 {
                    notify.notify_one();
                    gate.wait();
                }
            })
            .unwrap();
        let kit: Toolkit = [wrap(block)].into_iter().collect();
        let mut run = kit.run_with(calls(&["block", "block"]), options);
        tokio::select! {
            _ = run.next() => panic!("nothing is done yet"),
            () = began.notified() => {}
        }
        run.cancel();
        let results = run.collect_results().await;
        let started: Vec<_> = results.iter().map(|result| result.failure().unwrap().started).collect();
        go.wait();
        // The only thread is free again once this has run on it.
        tokio::task::spawn_blocking(|| ()).await.unwrap();
        assert_eq!((started, ran.load(Ordering::SeqCst)), (vec![true, false], 1));
    });
}

#[test]
fn a_blocking_call_that_was_cancelled_never_begins() {
    cancel_before_it_has_a_thread(|tool| tool, RunOptions::new());
    cancel_before_it_has_a_thread(|tool| tool, RunOptions::new().spawned());
}

/// With arguments that were decoded before the middleware, and arguments that are decoded again.
#[test]
fn a_blocking_call_that_was_cancelled_behind_a_middleware_never_begins() {
    let through = |tool: Tool| tool.wrap(|request: Request, next: Next| next.run(request));
    let anew = |tool: Tool| tool.wrap(|request: Request, next: Next| next.run(request.again()));
    for wrap in [through, anew] {
        cancel_before_it_has_a_thread(wrap, RunOptions::new());
        cancel_before_it_has_a_thread(wrap, RunOptions::new().spawned());
    }
}

#[tokio::test(start_paused = true)]
async fn a_verdict_that_came_in_time_counts_however_late_it_is_read() {
    let gated = Tool::new("gated").needs_approval(ApprovalPolicy::always()).handler(|(), _cx| async {}).unwrap();
    let kit: Toolkit = [gated].into_iter().collect();
    let mut run = kit.run_with(
        calls(&["gated"]),
        RunOptions::new()
            .approvals(|request: ApprovalRequest, _cx: Cx| async move {
                sleep(Duration::from_millis(10)).await;
                request.approve()
            })
            .approval_timeout(Duration::from_millis(200)),
    );
    assert!(run.next().await.is_some(), "the question");
    sleep(Duration::from_millis(400)).await;
    assert!(run.collect_results().await[0].is_ok());
}

/// The approved arguments are those that run, or nothing runs.
#[tokio::test]
async fn arguments_that_were_changed_after_the_approval_are_denied() {
    let pay = |policy| Tool::new("pay").needs_approval(policy).handler(|cents: u32, _cx| async move { cents }).unwrap();
    let inflate = |by: u32| {
        move |request: Request, next: Next| async move {
            let cents = request.arguments().unwrap().as_u64().unwrap() + u64::from(by);
            next.run(request.with_arguments(&json!(cents))).await
        }
    };
    let yes = RunOptions::new().approvals(|request: ApprovalRequest, _cx: Cx| async move { request.approve() });
    let small = || ApprovalPolicy::when(|cents: u32, _| async move { cents > 100 });
    for (policy, by, expected) in [
        (ApprovalPolicy::always(), 1, None),
        (ApprovalPolicy::always(), 0, Some("5")),
        (small(), 1, None),
        (ApprovalPolicy::never(), 1, Some("6")),
    ] {
        let kit: Toolkit = [pay(policy)].into_iter().collect::<Toolkit>().wrap(inflate(by));
        let result = kit.run_call_with(&ToolCall::new("c1", "pay", "5"), &yes).await;
        match expected {
            Some(value) => assert_eq!(result.value().unwrap().as_str(), value),
            None => {
                let failure = result.failure().unwrap();
                assert!(failure.kind == FailureKind::Denied && !failure.started, "{failure}");
            }
        }
    }
}

/// Values that an approver emits while it decides precede its answer.
#[tokio::test]
async fn values_that_an_approver_emits_precede_its_answer() {
    let gated = Tool::new("gated").needs_approval(ApprovalPolicy::always()).handler(|(), _cx| async {}).unwrap();
    let kit: Toolkit = [gated].into_iter().collect();
    let run = kit.run_with(
        calls(&["gated"]),
        RunOptions::new().approvals(|request: ApprovalRequest, cx: Cx| async move {
            cx.emit("thinking").await.unwrap();
            request.approve()
        }),
    );
    let events: Vec<_> = futures_util::StreamExt::collect(run).await;
    let kinds: Vec<_> =
        events.iter().map(|event| serde_json::to_value(event).unwrap()["type"].as_str().unwrap().to_owned()).collect();
    assert_eq!(kinds, ["approval_requested", "progress", "approval_resolved", "output"]);
}

/// A run that provides missing services is not checked for each tool again.
#[tokio::test]
async fn services_of_the_run_are_sufficient_for_every_tool() {
    let needy = |name: &str| {
        let tool = Tool::new(name).handler(|(), cx: Cx| async move { *cx.service::<u8>().unwrap() }).unwrap();
        tool.add_dependency::<u8>().unwrap()
    };
    let kit: Toolkit = [needy("a"), needy("b")].into_iter().collect();
    let given = RunOptions::new().services(Services::new().with(7_u8));
    let other = RunOptions::new().services(Services::new().with(7_u16));
    for (options, is_ok) in [(given, true), (other, false), (RunOptions::new(), false)] {
        let results = kit.run_with(calls(&["a", "b"]), options).collect_results().await;
        assert!(results.iter().all(|result| result.is_ok() == is_ok), "{results:?}");
    }
}

/// A future that returns its value and panics when it is dropped.
struct Brittle(#[allow(dead_code, reason = "there to be dropped")] Fragile);

impl Future for Brittle {
    type Output = u8;

    fn poll(self: std::pin::Pin<&mut Self>, _: &mut std::task::Context<'_>) -> Poll<u8> {
        Poll::Ready(7)
    }
}

#[tokio::test]
async fn a_returned_value_survives_a_panicking_drop() {
    let plain: Toolkit = Toolkit::from_iter([Tool::new("brittle").handler(|(), _cx| Brittle(Fragile)).unwrap()]);
    let wrapped = plain.clone().wrap(|request: Request, next: Next| next.run(request));
    let call = ToolCall::new("c1", "brittle", "");
    for kit in [plain, wrapped] {
        let mut results = vec![kit.run_call(&call).await];
        results.extend(kit.run([&call]).collect_results().await);
        results.extend(kit.run_with([&call], RunOptions::new().spawned()).collect_results().await);
        let values: Vec<_> = results.iter().map(|result| result.value().map(ToString::to_string)).collect();
        assert_eq!(values, vec![Some("7".to_owned()); 3]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_finished_call_stays_finished_however_often_it_is_polled() {
    let waits =
        |name: &str, limits| Tool::new(name).limits(limits).handler(|(), _cx| tokio::task::yield_now()).unwrap();
    let (none, some) = (ExecutionLimits::new(), ExecutionLimits::new().timeout(Duration::from_secs(9)));
    let kit: Toolkit = Toolkit::from_iter([waits("short", none), waits("timed", some)]);
    for name in ["short", "timed", "unknown"] {
        let call = ToolCall::new("c1", name, "");
        let mut running = Box::pin(kit.run_call(&call));
        assert_eq!((&mut running).await.is_ok(), name != "unknown");
        assert!(running.now_or_never().is_none(), "{name}");
    }
}
