//! Run ids, idempotency keys, and the events of attempts that reach their handler.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use haft_core::{ApprovalRequest, FailureKind, Outcome, RunId, ToolCall, ToolEvent, ToolFailure};
use haft_executor::{
    ApprovalPolicy, Cancellation, Cx, HandlerError, Next, Permission, Request, RunOptions, Suspend, Suspended, Tool,
    Toolkit,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::executing::calls;
use crate::seeded::for_all;

/// The run id, the call id and the idempotency key that a handler saw.
type Seen = (String, String, String);

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Seen>>>);

impl Log {
    fn add(&self, cx: &Cx) {
        let seen = (cx.run_id().to_string(), cx.call_id().to_string(), cx.idempotency_key());
        // A clone, and a context with values of its own, belong to the same call.
        let (clone, changed) = (cx.clone(), cx.clone().with_extension(1_u8).with_attempt(7));
        for other in [clone, changed] {
            assert_eq!((other.run_id().as_str(), other.idempotency_key()), (seen.0.as_str(), seen.2.clone()));
        }
        self.0.lock().unwrap().push(seen);
    }

    fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// A kit as a new process would build it: a plain tool, one that is tried twice, and both with approval.
fn kit(log: &Log) -> Toolkit {
    let tool = |name: &str, log: &Log| {
        let log = log.clone();
        Tool::new(name).handler(move |(), cx: Cx| {
            log.add(&cx);
            async {}
        })
    };
    let twice = |request: Request, next: Next| async move {
        let again = request.again();
        next.run(request).await;
        next.run(again).await
    };
    let plain = tool("plain", log).unwrap();
    let twice = tool("twice", log).unwrap().wrap(twice);
    let gated = ["plain", "twice"].map(|name| {
        let tool = if name == "plain" { &plain } else { &twice };
        tool.with_name(format!("gated_{name}")).unwrap().set_needs_approval(ApprovalPolicy::always()).unwrap()
    });
    [plain, twice].into_iter().chain(gated).collect()
}

fn is_header_safe(key: &str) -> bool {
    !key.is_empty() && key.len() <= 64 && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// One call of each tool, under the given ids.
fn batch(ids: &BTreeSet<String>) -> Vec<ToolCall> {
    let tools = ["plain", "twice", "gated_plain", "gated_twice"];
    ids.iter().zip(tools.into_iter().cycle()).map(|(id, tool)| ToolCall::new(id.as_str(), tool, "")).collect()
}

#[test]
fn keys_are_equal_over_attempts_and_resumes_and_differ_between_all_other_calls() {
    let ids = prop::collection::btree_set("\\PC{0,6}|c[0-9]|[a-z:]{0,90}", 1..7);
    let runs = prop::collection::vec((ids, any::<bool>(), 1..3_usize), 1..5);
    for_all(64, runs, |runs| {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut keys = HashSet::new();
        for (number, (ids, is_named, resumes)) in runs.into_iter().enumerate() {
            let options = RunOptions::new().approvals(Suspend);
            let options = if is_named { options.run_id(format!("run {number}")) } else { options };
            let seen = runtime.block_on(seen_over_resumes(batch(&ids), options, resumes));
            let run_ids: HashSet<&String> = seen.iter().map(|(run_id, ..)| run_id).collect();
            prop_assert_eq!(run_ids.len(), 1, "one run, whoever goes on with it");
            let mut own: Vec<(&String, &String)> = seen.iter().map(|(_, call_id, key)| (call_id, key)).collect();
            prop_assert!(own.len() >= ids.len());
            own.sort();
            own.dedup();
            prop_assert_eq!(own.len(), ids.len(), "a call has one key");
            for (_, key) in own {
                prop_assert!(is_header_safe(key), "{}", key);
                prop_assert!(keys.insert(key.clone()), "another call has the key {}", key);
            }
        }
        Ok(())
    });
}

/// Runs calls, and resumes what is suspended `resumes` times from the same stored text, each in a new kit.
async fn seen_over_resumes(calls: Vec<ToolCall>, options: RunOptions, resumes: usize) -> Vec<Seen> {
    let log = Log::default();
    let mut run = kit(&log).run_with(calls, options);
    while run.next().await.is_some() {}
    let id = run.run_id().to_string();
    if let Some(suspended) = run.suspended() {
        assert_eq!(suspended.run_id().unwrap(), id.as_str());
        let stored = serde_json::to_string(&suspended).unwrap();
        for _ in 0..resumes {
            let suspended: Suspended = serde_json::from_str(&stored).unwrap();
            let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
            kit(&log).resume(suspended, verdicts).collect_or_suspend().await.unwrap();
        }
    }
    let seen = log.take();
    assert!(seen.iter().all(|(run_id, ..)| *run_id == id));
    seen
}

#[tokio::test]
async fn single_calls_are_runs_of_one_on_every_path() {
    let log = Log::default();
    let (kit, call) = (kit(&log), ToolCall::new("c1", "plain", ""));
    let timed = RunOptions::new().timeout(Duration::from_secs(1));
    kit.run_call(&call).await;
    kit.run_call(&call).await;
    kit.run_call_with(&call, RunOptions::new().caller("ana")).await;
    kit.run_call_with(&call, &timed).await;
    kit.try_run_call(&call, RunOptions::new()).await.unwrap();
    kit.run_call(&ToolCall::new("c1", "twice", "")).await;
    let seen = log.take();
    assert_eq!(seen.len(), 7);
    assert_eq!(seen[5], seen[6], "two attempts");
    let run_ids: HashSet<&String> = seen.iter().map(|(run_id, ..)| run_id).collect();
    assert_eq!(run_ids.len(), 6);
    assert!(run_ids.iter().all(|id| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())));

    for options in [RunOptions::new().run_id("job"), timed.run_id("job")] {
        kit.run_call_with(&call, &options).await;
    }
    let named = log.take();
    assert_eq!(named[0], named[1]);
    assert_eq!(named[0].0, "job");
}

#[tokio::test]
async fn the_id_of_a_run_is_the_same_before_during_and_after_it() {
    let log = Log::default();
    let asked_early = kit(&log).run([ToolCall::new("c1", "plain", "")]);
    let id = asked_early.run_id().clone();
    asked_early.collect_results().await;
    assert_eq!(log.take()[0].0, id.as_str());

    let mut asked_late = kit(&log).run([ToolCall::new("c1", "plain", ""), ToolCall::new("c2", "twice", "")]);
    while asked_late.next().await.is_some() {}
    assert!(log.take().iter().all(|(run_id, ..)| run_id == asked_late.run_id().as_str()));
}

#[tokio::test]
async fn a_plan_and_its_run_have_one_id() {
    let log = Log::default();
    let kit = kit(&log);
    let permit_log = log.clone();
    let options = RunOptions::new().permit(move |_: &Tool, _: &ToolCall, cx: &Cx| {
        permit_log.add(cx);
        Permission::Allowed
    });
    let plan = kit.plan_from_map(options, [], [ToolCall::new("c1", "plain", "")]).await;
    kit.run(plan).collect_results().await;
    let seen = log.take();
    assert!(seen.len() == 3 && seen.iter().all(|one| *one == seen[0]), "{seen:?}");
}

/// A suspended run of the version before run ids.
#[tokio::test]
async fn a_suspended_run_without_an_id_gets_one_when_it_is_resumed() {
    let log = Log::default();
    let run = kit(&log).run_with([ToolCall::new("c1", "gated_plain", "")], RunOptions::new().approvals(Suspend));
    let suspended = run.collect_or_suspend().await.unwrap_err();
    let mut written = serde_json::to_value(&suspended).unwrap();
    assert!(written.as_object_mut().unwrap().shift_remove("run_id").is_some());
    let old: Suspended = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(old.run_id(), None);
    assert_eq!(serde_json::to_value(&old).unwrap(), written, "written as it was read");

    let verdicts: Vec<_> = old.pending().map(ApprovalRequest::approve).collect();
    for options in [RunOptions::new(), RunOptions::new().run_id("mine")] {
        kit(&log).resume_with(old.clone(), verdicts.clone(), options).collect_results().await;
    }
    let seen = log.take();
    assert_eq!((seen[0].0.len(), seen[1].0.as_str()), (32, "mine"));

    // The id of the options is preferred to that of the suspended run.
    kit(&log).resume_with(*suspended, verdicts, RunOptions::new().run_id("mine")).collect_results().await;
    assert_eq!(log.take()[0], seen[1]);
}

#[test]
fn a_run_id_is_written_as_text() {
    assert_eq!(serde_json::to_value(RunId::from("r1")).unwrap(), json!("r1"));
    assert_eq!(serde_json::from_value::<RunId>(json!("r1")).unwrap(), "r1");
    serde_json::from_value::<RunId>(Value::Null).unwrap_err();
}

/// Describes events in a word each.
fn told(events: &[ToolEvent]) -> Vec<String> {
    let word = |event: &ToolEvent| match event {
        ToolEvent::Started { attempt, .. } => format!("started {attempt}"),
        ToolEvent::Progress { data, .. } => format!("progress {data}"),
        ToolEvent::Output { result, .. } => match result.failure() {
            None => "ok".to_owned(),
            Some(failure) => format!("{} {}", failure.kind, if failure.started { "begun" } else { "unbegun" }),
        },
        other => serde_json::to_value(other).unwrap()["type"].as_str().unwrap().to_owned(),
    };
    events.iter().map(|event| format!("{} {}", event.call_id(), word(event))).collect()
}

/// Tools that reach their handlers in every way.
fn ways() -> Toolkit {
    let emit = |fails: u32, cx: Cx| async move {
        cx.emit(cx.attempt()).await?;
        if cx.attempt() <= fails { Err::<(), HandlerError>(HandlerError::opaque("again")) } else { Ok(()) }
    };
    let direct = Tool::new("direct").try_handler_mixed(emit).unwrap();
    let retried = direct.with_name("retried").unwrap().wrap(|request: Request, next: Next| async move {
        let again = request.again();
        match next.run(request).await {
            Outcome::Failed(_) => next.run(again).await,
            outcome @ Outcome::Ok(_) => outcome,
        }
    });
    let answered = direct
        .with_name("answered")
        .unwrap()
        .wrap(|_: Request, _: Next| async { Outcome::from(ToolFailure::new(FailureKind::ExecutionError, "not now")) });
    let blocking = Tool::new("blocking").blocking_handler(|n: u32, cx: Cx| drop(cx.emit_blocking(n))).unwrap();
    let gated = direct.with_name("gated").unwrap().set_needs_approval(ApprovalPolicy::always()).unwrap();
    Toolkit::from_iter([direct, retried, answered, blocking, gated])
}

#[tokio::test]
async fn an_attempt_that_reaches_its_handler_is_reported_before_all_its_other_events() {
    let options = RunOptions::new().started_events();
    let table: [(&str, &str, &[&str]); 9] = [
        ("direct", "0", &["c1 started 1", "c1 progress 1", "c1 ok"]),
        ("direct", "1", &["c1 started 1", "c1 progress 1", "c1 execution_error begun"]),
        ("direct", "\"\"", &["c1 input_validation_error unbegun"]),
        ("ghost", "0", &["c1 unknown_tool unbegun"]),
        ("gated", "0", &["c1 denied unbegun"]),
        ("answered", "0", &["c1 execution_error unbegun"]),
        ("retried", "0", &["c1 started 1", "c1 progress 1", "c1 ok"]),
        ("retried", "1", &["c1 started 1", "c1 progress 1", "c1 started 2", "c1 progress 2", "c1 ok"]),
        ("blocking", "4", &["c1 started 1", "c1 progress 4", "c1 ok"]),
    ];
    for (tool, arguments, expected) in table {
        for options in [options.clone(), options.clone().spawned(), options.clone().timeout(Duration::from_secs(60))] {
            let observed = Arc::new(Mutex::new(Vec::new()));
            let log = Arc::clone(&observed);
            let options = options.observe(move |event| log.lock().unwrap().push(event.clone()));
            let run = ways().run_with([ToolCall::new("c1", tool, arguments)], options);
            let events: Vec<_> = run.collect().await;
            assert_eq!(told(&events), expected, "{tool} {arguments}");
            assert_eq!(*observed.lock().unwrap(), events, "the observer receives the same");
        }
        let plain: Vec<_> = ways().run([ToolCall::new("c1", tool, arguments)]).collect().await;
        let expected: Vec<_> = expected.iter().filter(|word| !word.contains("started")).collect();
        assert_eq!(told(&plain).iter().collect::<Vec<_>>(), expected, "only on request");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_its_slot_has_not_started() {
    let slow = Tool::new("slow").handler(|takes: u64, _cx| sleep(Duration::from_secs(takes))).unwrap();
    let kit: Toolkit = Toolkit::from_iter([slow]);
    let cancellation = Cancellation::new();
    let options = RunOptions::new().started_events().concurrency(1).cancellation(cancellation.clone());
    let mut run = kit.run_with(calls([("slow", "1"), ("slow", "9"), ("slow", "9")]), options);
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(event);
        if events.len() == 3 {
            cancellation.cancel();
        }
    }
    let told: Vec<_> =
        events.iter().map(|event| (event.index(), event.result().map(haft_core::ToolResult::is_ok))).collect();
    assert_eq!(told[..3], [(0, None), (0, Some(true)), (1, None)]);
    assert_eq!(told[3..].iter().collect::<BTreeSet<_>>(), BTreeSet::from([&(1, Some(false)), &(2, Some(false))]));
}

#[tokio::test]
async fn a_resumed_call_starts_after_its_verdict() {
    let options = RunOptions::new().started_events();
    let run = ways().run_with([ToolCall::new("c1", "gated", "0")], options.clone().approvals(Suspend));
    let suspended = run.collect_or_suspend().await.unwrap_err();
    let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
    let events: Vec<_> = ways().resume_with(*suspended, verdicts, options).collect().await;
    assert_eq!(told(&events), ["c1 approval_resolved", "c1 started 1", "c1 progress 1", "c1 ok"]);
}

/// The event must not change how long a call may be idle.
#[tokio::test(start_paused = true)]
async fn a_started_event_is_no_activity() {
    let stuck = Tool::new("stuck").handler(|(), _cx| std::future::pending::<()>()).unwrap();
    let restarted = stuck.wrap(|request: Request, next: Next| async move {
        let again = request.again();
        drop(tokio::time::timeout(Duration::from_secs(2), next.run(request)).await);
        next.run(again).await
    });
    let kit: Toolkit = Toolkit::from_iter([restarted]);
    for options in [RunOptions::new(), RunOptions::new().started_events()] {
        let begun = tokio::time::Instant::now();
        let options = options.call_idle_timeout(Duration::from_secs(3));
        let results = kit.run_with([ToolCall::new("c1", "stuck", "")], options).collect_results().await;
        assert_eq!(results[0].failure().unwrap().kind, FailureKind::TimedOut);
        assert_eq!(begun.elapsed().as_secs(), 3);
    }
}
