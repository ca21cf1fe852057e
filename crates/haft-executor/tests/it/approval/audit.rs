//! The audit records of approvals.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_core::{ApprovalRequest, ApprovalRule, ApprovalScope, Timestamp, ToolCall, ToolEvent, Verdict};
use haft_executor::{
    ApprovalAnswer, ApprovalMemory, ApprovalOutcome, ApprovalPolicy, AuditRecord, Cx, Permission, RunOptions, Suspend,
    Tool,
};
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::approval::bench::{Decide, Journal, Way, all_came, bench, gated, never_asked, noting, suspend};
use crate::executing::{calls, kit};

/// The records of a run.
#[derive(Clone, Default)]
struct Book(Arc<Mutex<Vec<AuditRecord>>>);

impl Book {
    /// Returns options that record into it, with a fixed clock.
    fn open(&self) -> RunOptions {
        let Self(records) = self.clone();
        let options = RunOptions::new().caller("ana").approval_clock(|| Timestamp::from_unix_millis(1_000));
        options.audit(move |record| {
            records.lock().unwrap().extend(Some(record.clone()).filter(|record| record.request_id.is_some()));
        })
    }

    /// Returns the records since the last call of this function.
    fn records(&self) -> Vec<AuditRecord> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    fn outcomes(&self) -> Vec<&'static str> {
        self.records().iter().map(|record| record.outcome.as_str()).collect()
    }
}

fn bob(response: Verdict) -> Verdict {
    response.decided("bob", Timestamp::from_unix_millis(77))
}

/// A verdict, the recorded outcome and reason, and the arguments that ran instead.
type Case = (Decide, ApprovalOutcome, Option<&'static str>, Option<u16>);

const CASES: [Case; 4] = [
    (|request| bob(request.approve()), ApprovalOutcome::Approved, None, None),
    (|request| bob(request.deny("no")), ApprovalOutcome::Denied, Some("no"), None),
    (|request| bob(request.edit(json!(6))).reason("less"), ApprovalOutcome::Edited, Some("less"), Some(6)),
    (|request| bob(request.answer(json!(7))), ApprovalOutcome::Answered, None, None),
];

#[tokio::test]
async fn every_verdict_is_recorded_once_in_every_way() {
    for (decide, outcome, reason, edited) in CASES {
        for way in Way::ALL {
            let ((kit, _), book) = (bench(), Book::default());
            let calls = calls([("pay", "5"), ("look", "1")]);
            way.results(&kit, &book.open(), &calls, decide).await;
            let mut records = book.records();
            // If the request leaves the process, its suspension is recorded as well.
            match way {
                Way::Resume | Way::Map => assert_eq!(records.remove(0).outcome, ApprovalOutcome::Suspended),
                _ => {}
            }
            let [record] = &records[..] else { panic!("{way:?}: {records:?}") };
            let pay = kit.get("pay").unwrap();
            assert_eq!(record.outcome, outcome, "{way:?}");
            assert_eq!((record.call_id.as_str(), &*record.tool), ("c1", "pay"));
            assert_eq!(record.digest, Some(pay.approval_digest(&json!(5))));
            assert_eq!(record.edited_digest, edited.map(|cents| pay.approval_digest(&json!(cents))), "{way:?}");
            assert_eq!(record.who.as_deref(), Some("bob"), "{way:?}");
            assert_eq!(record.at, Some(Timestamp::from_unix_millis(77)), "{way:?}");
            assert_eq!(record.recorded_at, Timestamp::from_unix_millis(1_000), "{way:?}");
            assert_eq!(record.caller.as_ref().unwrap().as_str(), "ana", "{way:?}");
            assert_eq!(record.reason.as_deref(), reason, "{way:?}");
            let rule = if way == Way::Map { ApprovalRule::StillOpen } else { ApprovalRule::ToolPolicy };
            assert_eq!(record.rule, Some(rule), "{way:?}");
        }
    }
}

#[tokio::test]
async fn a_verdict_that_does_not_count_is_recorded_with_its_sender() {
    let ((kit, _), book) = (bench(), Book::default());
    let other = |request: ApprovalRequest, _: Cx| async move { bob(request.approve().digest("sha256:00")) };
    kit.run_with(calls([("pay", "5")]), book.open().approvals(other)).collect_results().await;
    let [record] = &book.records()[..] else { panic!() };
    assert_eq!((record.outcome, record.who.as_deref()), (ApprovalOutcome::Rejected, Some("bob")));
    let reason = record.reason.as_deref().unwrap();
    assert!(reason.contains("other arguments or another definition"), "{reason}");
}

/// Nothing here has checked the call that a provider executes, but its verdicts are recorded like all others.
#[test]
fn a_verdict_for_a_provider_is_recorded_with_its_outcome_and_the_reason_of_a_rejection() {
    let book = Book::default();
    let options = book.open();
    let request = ApprovalRequest::new("q1", &ToolCall::new("mcp_1", "delete_page", "{}"));
    options.accept_remote_verdict(&request, &bob(request.approve())).unwrap();
    options.accept_remote_verdict(&request, &bob(request.deny("still used"))).unwrap();
    options.accept_remote_verdict(&request, &bob(request.edit(json!({})))).unwrap_err();
    let records = book.records();
    let read: Vec<_> = records.iter().map(|record| (record.outcome.as_str(), record.reason.as_deref())).collect();
    let rejected = "the provider executes the call, so the verdict must be `approved` or `denied`, not `edited`";
    assert_eq!(read, [("approved", None), ("denied", Some("still used")), ("rejected", Some(rejected))]);
    assert!(records.iter().all(|record| record.who.as_deref() == Some("bob") && record.caller.is_some()));
}

#[tokio::test]
async fn an_unanswered_request_is_recorded() {
    type Answer = fn() -> Result<ApprovalAnswer, &'static str>;
    let table: [(Answer, &str, Option<&str>); 5] = [
        (|| Ok(ApprovalAnswer::NoAnswer { reason: "asleep".into() }), "unanswered", Some("asleep")),
        (|| Ok(ApprovalAnswer::NoAnswer { reason: String::new() }), "unanswered", None),
        (|| Ok(ApprovalAnswer::Later), "suspended", None),
        (|| Err("gone"), "rejected", Some("gone")),
        (|| panic!("dead"), "rejected", Some("dead")),
    ];
    for (answer, outcome, reason) in table {
        let ((kit, _), book) = (bench(), Book::default());
        let options = book.open().approvals(move |_: ApprovalRequest, _: Cx| async move { answer() });
        kit.run_with(calls([("pay", "5")]), options).collect_results().await;
        let [record] = &book.records()[..] else { panic!("{outcome}") };
        assert_eq!((record.outcome.as_str(), &record.who), (outcome, &None));
        let said = record.reason.as_deref();
        assert!(reason.map_or(said.is_none(), |reason| said.is_some_and(|said| said.contains(reason))), "{said:?}");
    }
    let ((kit, _), book) = (bench(), Book::default());
    kit.run_with(calls([("pay", "5"), ("look", "1")]), book.open()).collect_results().await;
    assert_eq!(book.outcomes(), ["no_approver"]);
}

async fn never_answers(_: ApprovalRequest, _: Cx) -> ApprovalAnswer {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_request_is_recorded_once() {
    let ((kit, _), book) = (bench(), Book::default());
    let run = |options: RunOptions| kit.run_with(calls([("pay", "5")]), options);
    let options = book.open().approvals(never_answers);
    run(options.clone().approval_timeout(Duration::from_secs(1))).collect_results().await;
    assert_eq!(book.outcomes(), ["unanswered"]);
    run(options.clone().timeout(Duration::from_secs(1))).collect_results().await;
    assert_eq!(book.outcomes(), ["unanswered"]);
    for is_dropped in [true, false] {
        let mut run = run(options.clone());
        assert!(matches!(run.next().await, Some(ToolEvent::ApprovalRequested { .. })));
        run.cancel();
        if !is_dropped {
            while run.next().await.is_some() {}
        }
        drop(run);
        assert_eq!(book.outcomes(), ["unanswered"]);
    }
    let (now, reading) = {
        let now = Arc::new(AtomicU64::new(1_000));
        (Arc::clone(&now), move || Timestamp::from_unix_millis(now.load(Ordering::Relaxed)))
    };
    let lapsing = options.approval_clock(reading).approval_lifetime(Duration::from_secs(1));
    let mut run = run(lapsing);
    assert!(matches!(run.next().await, Some(ToolEvent::ApprovalRequested { .. })));
    now.store(2_000, Ordering::Relaxed);
    while run.next().await.is_some() {}
    assert_eq!(book.outcomes(), ["expired"]);
}

/// A resumed call that fails before its verdict matters still closes its approval request.
#[tokio::test]
async fn a_resumed_request_is_closed_whatever_the_outcome_of_its_call() {
    let book = Book::default();
    let (asking, _) = bench();
    let gone = kit([noting("look", &Journal::default())]);
    let forbidding = |_: &Tool, _: &ToolCall, _: &Cx| Permission::denied("no longer");
    for has_verdict in [true, false] {
        let suspended = suspend(&asking, &book.open(), &calls([("pay", "5")])).await;
        assert_eq!(book.outcomes(), ["suspended"]);
        let verdicts: Vec<_> =
            suspended.pending().filter(|_| has_verdict).map(|request| bob(request.approve())).collect();
        let resumed = [
            gone.resume_with(suspended.clone(), verdicts.clone(), book.open()),
            asking.resume_with(suspended.clone(), verdicts.clone(), book.open().permit(forbidding)),
        ];
        for run in resumed {
            assert!(!run.collect_or_suspend().await.unwrap()[0].is_ok());
            let [record] = &book.records()[..] else { panic!() };
            assert_eq!(record.outcome.as_str(), if has_verdict { "rejected" } else { "unanswered" });
            assert_eq!(record.who.as_deref(), has_verdict.then_some("bob"));
            assert_eq!(record.request_id.as_ref(), Some(&suspended.pending().next().unwrap().request_id));
        }
    }
}

#[tokio::test]
async fn a_request_that_is_no_longer_valid_is_recorded_as_rejected() {
    let book = Book::default();
    let journal = Journal::default();
    let changed = kit([gated("pay", &journal).map(|tool| tool.annotate(haft_core::Readonly(true)))]);
    let suspended = suspend(&bench().0, &book.open(), &calls([("pay", "5")])).await;
    let verdicts: Vec<_> = suspended.pending().map(|request| bob(request.approve())).collect();
    changed.resume_with(suspended, verdicts, book.open()).collect_results().await;
    let records = book.records();
    let told: Vec<_> = records.iter().map(|record| (record.outcome.as_str(), record.who.as_deref())).collect();
    // The old request is closed, and a new one is suspended.
    assert_eq!(told, [("suspended", None), ("rejected", Some("bob")), ("suspended", None)]);
    assert_ne!(records[1].request_id, records[2].request_id);
}

#[tokio::test]
async fn a_remembered_verdict_is_recorded_for_every_call_it_approves() {
    let ((kit, _), book, memory) = (bench(), Book::default(), ApprovalMemory::new());
    let options = book.open().approval_memory(&memory);
    let yes = |request: ApprovalRequest, _: Cx| async move { bob(request.approve()).scope(ApprovalScope::ThisTool) };
    kit.run_with(calls([("pay", "5")]), options.clone().approvals(yes)).collect_results().await;
    kit.run_with(calls([("pay", "6")]), options.clone()).collect_results().await;
    let records = book.records();
    let told: Vec<_> = records.iter().map(|record| (record.outcome, record.who.as_deref(), &record.scope)).collect();
    let tool = ApprovalScope::ThisTool;
    assert_eq!(
        told,
        [(ApprovalOutcome::Approved, Some("bob"), &tool), (ApprovalOutcome::Remembered, Some("bob"), &tool)]
    );
    assert_ne!(records[0].request_id, records[1].request_id);
    memory.clear();
    let no = |request: ApprovalRequest, _: Cx| async move { request.deny("no").scope(ApprovalScope::ThisTool) };
    kit.run_with(calls([("pay", "5")]), options.clone().approvals(no)).collect_results().await;
    kit.run_with(calls([("pay", "6")]), options).collect_results().await;
    assert_eq!(book.outcomes(), ["denied", "remembered_denied"]);
}

#[tokio::test]
async fn the_rule_is_recorded() {
    let ((kit, _), book) = (bench(), Book::default());
    let broken = ApprovalPolicy::when(|_: u16, _| async { Err::<bool, _>("no idea") });
    for (policy, call, rule) in [
        (ApprovalPolicy::never(), ("pay", "1"), ApprovalRule::ToolPolicy),
        (ApprovalPolicy::always(), ("look", "1"), ApprovalRule::RunPolicy),
        (broken, ("look", "1"), ApprovalRule::PolicyFailed),
    ] {
        let options = book.open().policy(policy).approvals(Suspend);
        kit.run_with(calls([call]), options).collect_results().await;
        assert_eq!(book.records()[0].rule, Some(rule));
    }
}

#[tokio::test]
async fn an_auditor_that_panics_changes_nothing() {
    for way in Way::ALL {
        let (kit, journal) = bench();
        let options = RunOptions::new().audit(|record| panic!("out of ink for {record:?}"));
        let results = way.results(&kit, &options, &calls([("pay", "5")]), ApprovalRequest::approve).await;
        assert!(results[0].is_ok(), "{way:?}");
        assert_eq!(journal.lines(), ["pay 5"], "{way:?}");
    }
}

/// Without the time, expiry is unknown, so no approval is requested and nothing runs. No other clock is used instead.
#[tokio::test]
async fn a_clock_that_panics_approves_nothing() {
    for lifetime in [None, Some(Duration::from_secs(3_600))] {
        let ((kit, journal), book) = (bench(), Book::default());
        let mut options = book.open().approval_clock(|| panic!("stopped"));
        if let Some(lifetime) = lifetime {
            options = options.approval_lifetime(lifetime);
        }
        let results = kit.run_with(calls([("pay", "5")]), options.approvals(never_asked)).collect_results().await;
        assert_eq!(all_came(&results), ["denied"]);
        assert_eq!(journal.lines(), [""; 0]);
        let records = book.records();
        assert_eq!(records.len(), 1);
        assert_eq!(records[0].outcome, ApprovalOutcome::Rejected);
        assert_eq!(records[0].recorded_at, Timestamp::from_unix_millis(0), "no other clock is read");
    }
}

#[tokio::test]
async fn an_approval_does_not_hold_when_the_clock_panics_afterwards() {
    let stopping = || {
        let reads = AtomicUsize::new(0);
        move || match reads.fetch_add(1, Ordering::SeqCst) {
            0 => Timestamp::from_unix_millis(1_000),
            _ => panic!("stopped"),
        }
    };
    let lasting = || RunOptions::new().approval_lifetime(Duration::from_secs(3_600));
    let (kit, journal) = bench();
    let approver = |request: ApprovalRequest, _: Cx| async move { request.approve() };
    let run = kit.run_with(calls([("pay", "5")]), lasting().approval_clock(stopping()).approvals(approver));
    assert_eq!(all_came(&run.collect_results().await), ["denied"]);

    let working = lasting().approval_clock(|| Timestamp::from_unix_millis(1_000));
    let asked = suspend(&kit, &working, &calls([("pay", "5")])).await;
    let verdicts: Vec<_> = asked.pending().map(ApprovalRequest::approve).collect();
    let broken = lasting().approval_clock(|| panic!("stopped"));
    let run = kit.resume_with(asked, verdicts.clone(), broken.clone());
    assert_eq!(all_came(&run.collect_results().await), ["denied"]);
    let plan = kit.plan_from_map(broken, verdicts, calls([("pay", "5")])).await;
    assert!(plan.approved.is_empty());
    assert_eq!(plan.rejected_verdicts.len(), 1);
    assert_eq!(journal.lines(), [""; 0]);
}

#[tokio::test]
async fn records_hold_no_arguments_and_no_results() {
    let ((kit, _), book) = (bench(), Book::default());
    let answer = |request: ApprovalRequest, _: Cx| async move { request.answer(json!(54_321)) };
    kit.run_with(calls([("pay", "12345")]), book.open().approvals(answer)).collect_results().await;
    let written = serde_json::to_string(&book.records()[0]).unwrap();
    assert!(!written.contains("12345") && !written.contains("54321"), "{written}");
}

/// Collects the events of one target.
#[derive(Clone, Default)]
struct Ear(Arc<Mutex<Vec<BTreeMap<&'static str, String>>>>);

struct Noting<'a>(&'a mut BTreeMap<&'static str, String>);

impl Visit for Noting<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

impl Subscriber for Ear {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "haft::approval" && *metadata.level() == Level::INFO
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = BTreeMap::new();
        event.record(&mut Noting(&mut fields));
        self.0.lock().unwrap().push(fields);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Tracing events are emitted without an auditor, and never contain arguments.
#[tokio::test]
async fn every_request_emits_a_tracing_event() {
    let (kit, _) = bench();
    let ear = Ear::default();
    let guard = tracing::subscriber::set_default(ear.clone());
    let approver = |request: ApprovalRequest, _: Cx| async move { bob(request.edit(json!(54_321))) };
    let run =
        kit.run_with(calls([("pay", "12345"), ("look", "1")]), RunOptions::new().caller("ana").approvals(approver));
    run.collect_results().await;
    drop(guard);
    let [event] = &ear.0.lock().unwrap()[..] else { panic!("{:?}", ear.0) };
    let digest = kit.get("pay").unwrap().approval_digest(&json!(12_345));
    for (field, value) in [
        ("outcome", "edited"),
        ("call_id", "c1"),
        ("tool", "pay"),
        ("digest", &digest),
        ("rule", "tool_policy"),
        ("who", "bob"),
        ("caller", "ana"),
    ] {
        assert_eq!(event.get(field).map(String::as_str), Some(value), "{field}");
    }
    assert!(event["request_id"].starts_with("approval_"));
    assert!(event.values().all(|value| !value.contains("12345") && !value.contains("54321")), "{event:?}");
}
