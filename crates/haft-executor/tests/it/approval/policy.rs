//! Approval policies: the rules by which approval is required, and the lifetime of requests.

use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_core::{ApprovalRequest, ApprovalRule, Item, Timestamp, ToolCall, ToolEvent};
use haft_executor::{
    ApprovalAnswer, ApprovalCx, ApprovalPolicy, Cx, MissingService, Next, Request, RunOptions, Services, Toolkit,
    VerdictFault, VerdictQueue,
};
use tokio::time::{Instant, sleep};

use crate::approval::bench::{Journal, Way, all_came, bench, message, never_asked, noting, suspend, tell};
use crate::executing::{calls, kit};

fn broken() -> ApprovalPolicy {
    ApprovalPolicy::when(|_: u16, _| async { Err::<bool, _>("no idea") })
}

fn panicking() -> ApprovalPolicy {
    fn confused(cents: u16) -> bool {
        panic!("{cents}?")
    }
    ApprovalPolicy::when(|cents: u16, _| async move { confused(cents) })
}

fn panicking_at_once() -> ApprovalPolicy {
    ApprovalPolicy::when(|cents: u16, _| {
        assert!(cents > 65_000, "{cents}?");
        async { false }
    })
}

fn unreadable() -> ApprovalPolicy {
    ApprovalPolicy::when(|_: Vec<String>, _| async { false })
}

/// Returns the first approval request for a call of a tool with a policy, in a run with options.
async fn asked(policy: ApprovalPolicy, options: &RunOptions, call: ToolCall) -> Option<ApprovalRequest> {
    let kit = kit([noting("pay", &Journal::default()).and_then(|tool| tool.set_needs_approval(policy))]);
    kit.plan_from_map(options, [], [call]).await.requests.into_iter().next()
}

#[tokio::test]
async fn a_request_contains_the_rule_that_required_it() {
    let more_than = |least: u16| ApprovalPolicy::when(move |cents: u16, _| async move { cents > least });
    let (never, always) = (ApprovalPolicy::never, ApprovalPolicy::always);
    let run = |policy: ApprovalPolicy| RunOptions::new().policy(policy);
    let instead = |policy: ApprovalPolicy| RunOptions::new().policy_instead(policy);
    let (tool, of_run, failed) = ("tool_policy", "run_policy", "policy_failed");
    let table = [
        (never(), RunOptions::new(), None),
        (always(), RunOptions::new(), Some(tool)),
        (more_than(4), RunOptions::new(), Some(tool)),
        (more_than(5), RunOptions::new(), None),
        // The application can require more approvals, and not fewer.
        (never(), run(always()), Some(of_run)),
        (more_than(5), run(more_than(4)), Some(of_run)),
        (always(), run(never()), Some(tool)),
        (more_than(4), run(more_than(5)), Some(tool)),
        (more_than(5), run(always()), Some(of_run)),
        // Unless it replaces the policy explicitly.
        (always(), instead(never()), None),
        (always(), instead(more_than(5)), None),
        (never(), instead(more_than(4)), Some(of_run)),
        // A policy that fails requires approval.
        (broken(), RunOptions::new(), Some(failed)),
        (panicking(), RunOptions::new(), Some(failed)),
        (panicking_at_once(), RunOptions::new(), Some(failed)),
        (unreadable(), RunOptions::new(), Some(failed)),
        (never(), run(broken()), Some(failed)),
        (broken(), run(never()), Some(failed)),
        (broken(), instead(never()), None),
        (never(), instead(panicking()), Some(failed)),
    ];
    for (place, (own, options, rule)) in table.into_iter().enumerate() {
        let request = asked(own, &options, ToolCall::new("c1", "pay", "5")).await;
        assert_eq!(request.and_then(|request| request.rule).as_ref().map(ApprovalRule::as_str), rule, "row {place}");
    }
}

#[tokio::test]
async fn a_policy_that_fails_requires_approval() {
    for policy in [broken, panicking, panicking_at_once, unreadable] {
        for way in Way::ALL {
            let journal = Journal::default();
            let kit = kit([noting("pay", &journal).and_then(|tool| tool.set_needs_approval(policy()))]);
            let deny = |request: &ApprovalRequest| request.deny("not like this");
            let results = way.results(&kit, &RunOptions::new(), &calls([("pay", "5")]), deny).await;
            assert_eq!((all_came(&results), message(&results)), (vec!["denied"], "not like this"), "{way:?}");
            assert_eq!(journal.lines(), [""; 0], "{way:?}");
            let nobody = kit.run(calls([("pay", "5")])).collect_results().await;
            assert_eq!(all_came(&nobody), ["denied"]);
            let cause = nobody[0].failure().unwrap().source().unwrap().to_string();
            assert!(cause.contains("policy failed"), "{cause}");
        }
    }
}

#[tokio::test]
async fn a_policy_knows_the_call_the_caller_and_the_conversation() {
    let policy = ApprovalPolicy::when(|_: u16, cx| async move {
        let is_known = cx.call_id == "c1" && cx.tool.as_str() == "pay" && cx.messages.len() == 1;
        !(is_known && cx.caller.is_some_and(|caller| caller.as_str() == "ana"))
    });
    let (call, messages) = (ToolCall::new("c1", "pay", "5"), vec![Item::user("pay bob")]);
    let options = RunOptions::new().messages(messages);
    assert!(asked(policy.clone(), &options.clone().caller("ana"), call.clone()).await.is_none());
    assert!(asked(policy.clone(), &options.caller("bob"), call.clone()).await.is_some());
    assert!(asked(policy, &RunOptions::new().caller("ana"), call).await.is_some());
}

/// Creates a clock that is moved by hand.
/// The services of the toolkit and of the run, and the extensions of the run. Those of a middleware come later.
#[tokio::test]
async fn a_policy_reads_services_and_extensions() {
    struct Allowed(u16);
    struct Bonus(u16);
    let policy = ApprovalPolicy::when(|cents: u16, cx: ApprovalCx| {
        let allowed = cx.service::<Allowed>()?.0 + cx.extension::<Bonus>().map_or(0, |bonus| bonus.0);
        Ok::<_, MissingService>(cents > allowed)
    });
    let pay = noting("pay", &Journal::default()).and_then(|tool| tool.set_needs_approval(policy));
    let bare = kit([pay]).wrap(|request: Request, next: Next| next.run(request.with_service(Allowed(u16::MAX))));
    let provided = bare.clone().with_services(Services::new().with(Allowed(5)));
    let run = |allowed: u16| RunOptions::new().services(Services::new().with(Allowed(allowed)));
    for (kit, options, cents, rule) in [
        (&bare, RunOptions::new(), "1", Some("policy_failed")),
        (&provided, RunOptions::new(), "5", None),
        (&provided, RunOptions::new(), "6", Some("tool_policy")),
        (&provided, RunOptions::new().extension(Bonus(1)), "6", None),
        (&provided, run(7), "7", None),
        (&bare, run(7).extension(Bonus(1)), "9", Some("tool_policy")),
    ] {
        let requests = kit.plan_from_map(options, [], [ToolCall::new("c1", "pay", cents)]).await.requests;
        let required = requests.first().and_then(|request| request.rule.as_ref()).map(ApprovalRule::as_str);
        assert_eq!(required, rule, "{cents}");
    }
}

fn clock() -> (Arc<AtomicU64>, impl Fn() -> Timestamp + Send + Sync + Clone + 'static) {
    let now = Arc::new(AtomicU64::new(1_000));
    let reading = Arc::clone(&now);
    (now, move || Timestamp::from_unix_millis(reading.load(Ordering::Relaxed)))
}

#[tokio::test]
async fn a_request_contains_its_expiry() {
    let (_, read) = clock();
    let always = ApprovalPolicy::always;
    let call = || ToolCall::new("c1", "pay", "5");
    let request = asked(always(), &RunOptions::new(), call()).await.unwrap();
    assert_eq!(request.expires_at, None);
    let options = RunOptions::new().approval_clock(read).approval_lifetime(Duration::from_millis(500));
    let request = asked(always(), &options, call()).await.unwrap();
    assert_eq!(request.expires_at, Some(Timestamp::from_unix_millis(1_500)));
    assert_eq!(request.approve().expires_at, request.expires_at);
}

#[tokio::test]
async fn a_verdict_counts_until_its_request_expires() {
    for (moment, came_of) in [(1_499, "5"), (1_500, "cancelled"), (1_501, "cancelled"), (u64::MAX, "cancelled")] {
        let (kit, journal) = bench();
        let calls = calls([("pay", "5")]);
        let (now, read) = clock();
        let options = RunOptions::new().approval_clock(read).approval_lifetime(Duration::from_millis(500));

        let suspended = suspend(&kit, &options, &calls).await;
        let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
        let planned = kit.plan_from_map(&options, [], &calls).await.requests[0].approve();
        let moving = Arc::clone(&now);
        let late = options.clone().approvals(move |request: ApprovalRequest, _: Cx| {
            moving.store(moment, Ordering::Relaxed);
            async move { request.approve() }
        });

        let in_run = kit.run_with(&calls, late).collect_results().await;
        let resumed = kit.resume_with(suspended, verdicts, options.clone()).collect_results().await;
        let plan = kit.plan_from_map(&options, [planned], &calls).await;
        let faults: Vec<_> = plan.rejected_verdicts.iter().map(|refused| refused.fault.clone()).collect();
        assert_eq!(faults, if came_of == "5" { vec![] } else { vec![VerdictFault::Expired] });
        assert_eq!(all_came(&kit.run(plan).collect_results().await), [came_of], "{moment}");
        for results in [in_run, resumed] {
            assert_eq!(all_came(&results), [came_of], "{moment}");
            assert!(came_of == "5" || message(&results).contains("has expired"), "{}", message(&results));
        }
        assert_eq!(journal.lines().len(), if came_of == "5" { 3 } else { 0 }, "{moment}");
    }
}

/// The expiry of a request is stored with it: a resumed run needs no lifetime setting to enforce it.
#[tokio::test]
async fn a_request_expires_wherever_it_is_resumed() {
    let (kit, journal) = bench();
    let (now, read) = clock();
    let options = RunOptions::new().approval_clock(read.clone()).approval_lifetime(Duration::from_millis(500));
    let suspended = suspend(&kit, &options, &calls([("pay", "5")])).await;
    now.store(1_500, Ordering::Relaxed);
    let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
    let elsewhere = RunOptions::new().approval_clock(read);
    let results = kit.resume_with(suspended.clone(), verdicts, elsewhere.clone()).collect_results().await;
    assert_eq!(all_came(&results), ["cancelled"]);
    // Approval is not requested again either.
    let run = kit.resume_with(suspended, [], elsewhere.approvals(never_asked));
    assert_eq!(tell(run).await, ["c1 output cancelled"]);
    assert_eq!(journal.lines(), [""; 0]);
}

async fn never_answers(_: ApprovalRequest, _: Cx) -> ApprovalAnswer {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn no_call_waits_longer_than_the_approval_timeout() {
    let (kit, journal) = bench();
    let began = Instant::now();
    let options = RunOptions::new().approval_timeout(Duration::from_secs(5));
    let calls = calls([("pay", "5"), ("look", "1")]);
    let run = kit.run_with(&calls, options.clone().approvals(never_answers));
    assert_eq!(tell(run).await, ["c1 asked", "c2 output 1", "c1 output cancelled"]);
    assert_eq!(began.elapsed(), Duration::from_secs(5));

    let (_sender, queue) = VerdictQueue::new();
    let mut plan = kit.plan_from_queue(&options, &queue, &calls).await;
    assert!(!plan.next_decision().await.unwrap().is_approved());
    assert!(plan.next_decision().await.is_none());
    let results = plan.into_run().collect_results().await;
    assert_eq!(all_came(&results), ["cancelled", "1"]);
    assert!(message(&results).contains("the approval request timed out"));
    assert_eq!(journal.lines(), ["look 1", "look 1"]);
}

/// An expired request can't be answered any more, so no run waits for it.
#[tokio::test(start_paused = true)]
async fn no_call_waits_longer_than_the_lifetime_of_its_request() {
    let lifetime = Duration::from_secs(5);
    for (timeout, waited) in [(None, 5), (Some(3), 3), (Some(9), 5)] {
        let (kit, _) = bench();
        let (_, read) = clock();
        let mut options = RunOptions::new().approval_lifetime(lifetime).approval_clock(read);
        if let Some(timeout) = timeout {
            options = options.approval_timeout(Duration::from_secs(timeout));
        }
        let began = Instant::now();
        let results = kit.run_with(calls([("pay", "5")]), options.approvals(never_answers)).collect_results().await;
        assert_eq!(all_came(&results), ["cancelled"]);
        assert_eq!(began.elapsed(), Duration::from_secs(waited), "{timeout:?}");
    }
}

/// A lifetime beyond the largest time is no limit.
#[tokio::test]
async fn a_request_may_never_expire() {
    let (kit, _) = bench();
    let later = |request: ApprovalRequest, _: Cx| async move {
        tokio::task::yield_now().await;
        request.approve()
    };
    let options = RunOptions::new().approval_lifetime(Duration::MAX).approvals(later);
    let results = kit.run_with(calls([("pay", "5")]), options).collect_results().await;
    assert_eq!(all_came(&results), ["5"]);
}

/// The time that an approver takes does not count toward the tool's timeout.
#[tokio::test(start_paused = true)]
async fn waiting_for_approval_does_not_count_toward_the_timeout() {
    let (kit, journal) = bench();
    let slow = |request: ApprovalRequest, _: Cx| async move {
        sleep(Duration::from_secs(3_600)).await;
        request.approve()
    };
    let run =
        kit.run_with(calls([("pay", "5")]), RunOptions::new().call_timeout(Duration::from_secs(1)).approvals(slow));
    assert_eq!(all_came(&run.collect_results().await), ["5"]);
    assert_eq!(journal.lines(), ["pay 5"]);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_of_the_run_ends_the_wait_too() {
    let (kit, journal) = bench();
    let run =
        kit.run_with(calls([("pay", "5")]), RunOptions::new().timeout(Duration::from_secs(2)).approvals(never_answers));
    assert_eq!(tell(run).await, ["c1 asked", "c1 output timed_out"]);
    assert_eq!(journal.lines(), [""; 0]);
}

/// An approver receives the context of the call, and values it emits precede its answer.
#[tokio::test]
async fn an_approver_can_emit_progress() {
    let (kit, _) = bench();
    let showing = |request: ApprovalRequest, cx: Cx| async move {
        cx.emit("reading").await.unwrap();
        request.approve()
    };
    let told = tell(kit.run_with(calls([("pay", "5")]), RunOptions::new().approvals(showing))).await;
    assert_eq!(told, ["c1 asked", "c1 progress \"reading\"", "c1 approved", "c1 output 5"]);
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_it_waits_ends_at_once() {
    let (kit, journal): (Toolkit, _) = bench();
    let dropped = Arc::new(Mutex::new(false));
    let noting = Arc::clone(&dropped);
    let waiting = move |_: ApprovalRequest, _: Cx| {
        let guard = OnDrop(Arc::clone(&noting));
        async move {
            let _guard = guard;
            std::future::pending::<ApprovalAnswer>().await
        }
    };
    let mut run = kit.run_with(calls([("pay", "5")]), RunOptions::new().approvals(waiting));
    assert!(matches!(run.next().await, Some(ToolEvent::ApprovalRequested { .. })));
    run.cancel();
    assert_eq!(tell(&mut run).await, ["c1 output cancelled"]);
    assert!(*dropped.lock().unwrap());
    assert_eq!(journal.lines(), [""; 0]);
}

struct OnDrop(Arc<Mutex<bool>>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        *self.0.lock().unwrap() = true;
    }
}
