//! Faults of approvals that were found before, each in its smallest form.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use haft_core::{
    ApprovalDecision, ApprovalRequest, ApprovalScope, FailureKind, Timestamp, ToolCall, ToolEvent, Verdict,
};
use haft_executor::{
    ApprovalAnswer, ApprovalMemory, ApprovalOutcome, ApprovalPolicy, Approve, BoxError, Cx, Receipt, RunOptions,
    SigningKeys, Suspend, Suspended, Tool, Toolkit, VerdictFault, VerdictQueue,
};
use haft_schema::Schema;

use crate::executing::{came, kit};

fn pay(description: &str) -> Toolkit {
    let pay = Tool::new("pay").describe(description).needs_approval(ApprovalPolicy::always());
    kit([pay.handler(|cents: u8, _cx| async move { cents })])
}

fn call(arguments: &str) -> ToolCall {
    ToolCall::new("c1", "pay", arguments)
}

async fn suspended(kit: &Toolkit) -> (Suspended, ApprovalRequest) {
    let suspended =
        kit.run_with([call("5")], RunOptions::new().approvals(Suspend)).collect_or_suspend().await.unwrap_err();
    let question = suspended.pending().next().unwrap().clone();
    (*suspended, question)
}

fn signed() -> RunOptions {
    RunOptions::new().approval_keys(SigningKeys::new("k1", [7; 32]).unwrap())
}

fn unsigned(question: &ApprovalRequest) -> Verdict {
    let mut verdict = question.approve();
    verdict.signature = None;
    verdict
}

/// Returns a verdict without a usable decision.
fn mumbled(question: &ApprovalRequest) -> Verdict {
    question.respond(ApprovalDecision::Other("perhaps".to_owned()))
}

async fn mumble(question: ApprovalRequest, _: Cx) -> Result<ApprovalAnswer, BoxError> {
    Ok(mumbled(&question).into())
}

/// Returns options that collect the outcomes of approval requests, in a word each.
fn audited(options: RunOptions) -> (RunOptions, Arc<Mutex<Vec<ApprovalOutcome>>>) {
    let outcomes = Arc::<Mutex<Vec<_>>>::default();
    let noting = Arc::clone(&outcomes);
    (options.audit(move |record| noting.lock().unwrap().push(record.outcome)), outcomes)
}

#[tokio::test]
async fn a_plan_returns_verdicts_that_do_not_count() {
    let kit = pay("Pays.");
    let signed = signed();
    let raised = kit.plan_from_map(&signed, [], [call("5")]).await.requests.remove(0);

    let unsigned = unsigned(&raised);
    let plan = kit.plan_from_map(&signed, [unsigned.clone()], [call("5")]).await;
    assert!(plan.approved.is_empty());
    assert!(matches!(plan.rejected_verdicts[0].fault, VerdictFault::Unsigned), "{:?}", plan.rejected_verdicts);
    assert_eq!(*plan.rejected_verdicts[0].response, unsigned);

    let plan = kit.plan_from_map(&signed, [raised.approve()], [call("6")]).await;
    assert_eq!((plan.approved.len(), &plan.rejected_verdicts[0].fault), (0, &VerdictFault::OtherDigest));

    // No approval is requested for arguments that are rejected anyway.
    let (options, outcomes) = audited(signed);
    let plan = kit.plan_from_map(options, [raised.approve()], [call("much")]).await;
    assert_eq!(came(&plan.rejected[0]), "input_validation_error");
    assert_eq!(plan.rejected_verdicts[0].fault, VerdictFault::UnknownRequest);
    assert_eq!(*outcomes.lock().unwrap(), [ApprovalOutcome::Rejected]);
}

/// A verdict itself names its call, and one approval must not count for two.
#[tokio::test]
async fn a_plan_accepts_a_verdict_for_one_call_only() {
    let kit = pay("Pays.");
    let calls = [call("5"), ToolCall::new("c2", "pay", "5")];
    let verdict = kit.plan_from_map(RunOptions::new(), [], &calls).await.requests[0].approve();
    let mut again = verdict.clone();
    again.call_id = Some("c2".into());

    let plan = kit.plan_from_map(RunOptions::new(), [verdict, again], &calls).await;
    assert_eq!((plan.approved.len(), &plan.rejected_verdicts[0].fault), (1, &VerdictFault::AlreadyDecided));
    let results = kit.run(plan).collect_results().await;
    assert_eq!(results.iter().map(came).collect::<Vec<_>>(), ["5", "cancelled"]);
}

#[tokio::test]
async fn a_resumed_run_returns_verdicts_that_do_not_count() {
    let (kept, question) = suspended(&pay("Pays.")).await;
    let mut run = pay("Pays twice.").resume(kept, [question.approve()]);
    while run.next().await.is_some() {}
    assert_eq!(run.rejected_verdicts()[0].fault, VerdictFault::OtherDigest);

    let (kept, question) = suspended(&pay("Pays.")).await;
    let mut verdict = question.approve();
    verdict.expires_at = Some(Timestamp::from_unix_millis(1));
    let mut run = pay("Pays.").resume_with(kept, [verdict], signed());
    while run.next().await.is_some() {}
    assert!(matches!(run.rejected_verdicts()[0].fault, VerdictFault::Unsigned));
}

#[tokio::test]
async fn a_request_for_a_removed_tool_is_closed() {
    let gone: Toolkit = Toolkit::new();
    for (verdicts, outcome) in [(false, ApprovalOutcome::Unanswered), (true, ApprovalOutcome::Rejected)] {
        let (kept, question) = suspended(&pay("Pays.")).await;
        let (options, outcomes) = audited(RunOptions::new());
        let verdicts = verdicts.then(|| question.approve());
        let mut run = gone.resume_with(kept, verdicts.clone(), options);
        while run.next().await.is_some() {}
        let refused = run.rejected_verdicts().iter().map(|refused| (*refused.response).clone());
        assert_eq!(refused.collect::<Vec<_>>(), Vec::from_iter(verdicts));
        assert_eq!(*outcomes.lock().unwrap(), [outcome]);
    }
}

/// The sender of a verdict that does not count gets it back, and the request stays pending.
#[tokio::test]
async fn a_queue_returns_verdicts_that_do_not_count() {
    let (sender, queue) = VerdictQueue::new();
    let mut run = pay("Pays.").run_with([call("5")], signed().approvals(queue.clone()));
    assert!(run.next().await.is_some());
    let question = queue.open().remove(0);
    let refused = sender.send(unsigned(&question)).unwrap_err();
    assert_eq!((&*refused.response, refused.fault), (&unsigned(&question), VerdictFault::Unsigned));
    assert_eq!(queue.open().len(), 1);

    assert_eq!(sender.send(question.approve()), Ok(Receipt::Delivered));
    while run.next().await.is_some() {}
    assert!(run.rejected_verdicts().is_empty());
}

/// A function answers only once, so there is no further verdict to wait for.
#[tokio::test]
async fn a_function_whose_verdict_does_not_count_ends_the_call() {
    let (options, outcomes) = audited(RunOptions::new().approvals(mumble));
    let mut run = pay("Pays.").run_with([call("5")], options);
    let mut results = Vec::new();
    while let Some(event) = run.next().await {
        if let ToolEvent::Output { result, .. } = event {
            results.push(came(&result).to_owned());
        }
    }
    assert_eq!(results, ["denied"]);
    assert_eq!(run.rejected_verdicts()[0].fault, VerdictFault::UnusableDecision { word: "perhaps".to_owned() });
    assert_eq!(*outcomes.lock().unwrap(), [ApprovalOutcome::Rejected]);
}

/// One verdict that does not count came with the call, another from the approver after that.
#[tokio::test]
async fn a_run_returns_every_verdict_that_does_not_count() {
    let (kept, question) = suspended(&pay("Pays.")).await;
    let mut run = pay("Pays.").resume_with(kept, [mumbled(&question)], RunOptions::new().approvals(mumble));
    while run.next().await.is_some() {}
    assert_eq!(run.rejected_verdicts().len(), 2, "{:?}", run.rejected_verdicts());
}

fn remembering(memory: &ApprovalMemory, scope: ApprovalScope) -> RunOptions {
    RunOptions::new().approval_memory(memory).approvals(move |request: ApprovalRequest, _: Cx| {
        let scope = scope.clone();
        async move { request.approve().scope(scope) }
    })
}

/// A tree holds integers of 64 bits: beyond them, an approval is bound to the text.
#[tokio::test]
async fn an_approval_of_a_number_too_large_for_a_tree_is_for_that_number() {
    let number = Schema::json(serde_json::json!({"type": "number"})).unwrap();
    let mint =
        Tool::new("mint").needs_approval(ApprovalPolicy::always()).handler(|n: u128, _cx| async move { n.to_string() });
    let kit: Toolkit = Toolkit::from_iter([mint.unwrap().set_parameters(number)]);
    let memory = ApprovalMemory::new();
    let options = remembering(&memory, ApprovalScope::TheseArguments);
    let first = kit.run_with([ToolCall::new("c1", "mint", "18446744073709551617")], options).collect_results().await;
    assert!(first[0].is_ok());
    let known = RunOptions::new().approval_memory(&memory);
    for (arguments, is_ok) in [("18446744073709551617", true), ("18446744073709551618", false)] {
        let results = kit.run_with([ToolCall::new("c2", "mint", arguments)], known.clone()).collect_results().await;
        assert_eq!(results[0].is_ok(), is_ok, "{arguments}");
    }
}

/// A verdict that was removed from a memory is not restored by a call that read it just before.
#[tokio::test]
async fn a_removed_verdict_is_not_remembered_again() {
    let (memory, kit) = (ApprovalMemory::new(), pay("Pays."));
    let first = kit.run_with([ToolCall::new("c1", "pay", "5")], remembering(&memory, ApprovalScope::ThisTool));
    assert!(first.collect_results().await[0].is_ok());
    let clearing = memory.clone();
    let options = RunOptions::new().approval_memory(&memory).audit(move |_| clearing.clear());
    assert!(kit.run_with([ToolCall::new("c2", "pay", "6")], options).collect_results().await[0].is_ok());
    assert!(memory.is_empty());
}

/// Two tools with the same name and description are still two tools.
#[tokio::test]
async fn an_approval_of_a_tool_does_not_apply_to_its_namesake() {
    let double = |id: &str| -> Toolkit {
        let tool =
            Tool::new(id).needs_approval(ApprovalPolicy::always()).handler(|cents: u64, _cx| async move { cents });
        Toolkit::from_iter([tool.unwrap().with_name("act").unwrap()])
    };
    let (memory, calls) = (ApprovalMemory::new(), [ToolCall::new("c1", "act", "5")]);
    let yes = remembering(&memory, ApprovalScope::ThisTool);
    assert!(double("read").run_with(&calls, yes).collect_results().await[0].is_ok());
    let known = RunOptions::new().approval_memory(&memory);
    assert!(double("read").run_with(&calls, known.clone()).collect_results().await[0].is_ok());
    assert!(!double("wipe").run_with(&calls, known).collect_results().await[0].is_ok());
}

/// A delivered verdict is not lost when its call is cancelled before it reads it.
#[tokio::test]
async fn a_verdict_delivered_to_a_cancelled_call_is_reported() {
    for is_dropped in [true, false] {
        let ((sender, queue), kit) = (VerdictQueue::new(), pay("Pays."));
        let mut run = kit.run_with([ToolCall::new("c1", "pay", "5")], RunOptions::new().approvals(queue.clone()));
        let Some(ToolEvent::ApprovalRequested { request, .. }) = run.next().await else { panic!() };
        assert_eq!(sender.send(request.deny("no")), Ok(Receipt::Delivered));
        if is_dropped {
            drop(run);
        } else {
            run.cancel();
            while run.next().await.is_some() {}
        }
        let unmatched = queue.take_unmatched();
        assert_eq!(unmatched.len(), 1);
        assert_eq!(unmatched[0].response.request_id, request.request_id);
    }
}

/// A single call can't be suspended, and the record contains the outcome of its request.
#[tokio::test]
async fn the_request_of_a_single_call_that_would_be_suspended_is_closed() {
    let (options, records) = audited(RunOptions::new().approvals(Suspend));
    let result = pay("Pays.").run_call_with(&ToolCall::new("c1", "pay", "5"), &options).await;
    assert_eq!(result.failure().unwrap().kind, FailureKind::Denied);
    assert_eq!(*records.lock().unwrap(), [ApprovalOutcome::NoApprover]);
}

/// A plan that is run with a changed tool is rejected, and its verdict is neither applied nor lost.
#[tokio::test]
async fn an_approved_call_that_is_no_longer_valid_returns_its_verdict() {
    let (kit, calls) = (pay("Pays."), [ToolCall::new("c1", "pay", "5")]);
    let asked = kit.plan_from_map(RunOptions::new(), [], &calls).await.requests;
    let plan = kit.plan_from_map(RunOptions::new(), [asked[0].approve()], &calls).await;
    let mut run = pay("Pays twice.").run(plan);
    let mut resolved = 0;
    while let Some(event) = run.next().await {
        resolved += usize::from(matches!(event, ToolEvent::ApprovalResolved { .. }));
    }
    assert_eq!((resolved, run.rejected_verdicts().len()), (0, 1));
    assert_eq!(run.rejected_verdicts()[0].fault, VerdictFault::OtherDigest);
}

/// A verdict can't extend the lifetime of its request where requests expire.
#[tokio::test]
async fn a_verdict_without_the_expiry_of_its_request_is_rejected_where_requests_expire() {
    let (kit, calls) = (pay("Pays."), [ToolCall::new("c1", "pay", "5")]);
    let standing = || Timestamp::from_unix_millis(1_000);
    let options = RunOptions::new().approval_clock(standing).approval_lifetime(Duration::from_secs(60));
    let asked = kit.plan_from_map(&options, [], &calls).await.requests.remove(0);
    for end in [None, Some(Timestamp::from_unix_millis(u64::MAX))] {
        let mut verdict = asked.approve();
        verdict.expires_at = end;
        let plan = kit.plan_from_map(&options, [verdict], &calls).await;
        assert_eq!((plan.approved.len(), &plan.rejected_verdicts[0].fault), (0, &VerdictFault::Expired));
    }
    assert_eq!(kit.plan_from_map(&options, [asked.approve()], &calls).await.approved.len(), 1);
}

/// A task that is woken by a verdict may use the queue at once.
#[tokio::test]
async fn waking_happens_without_the_queues_lock() {
    struct Looking(VerdictQueue, AtomicUsize);
    impl Wake for Looking {
        fn wake(self: Arc<Self>) {
            self.1.fetch_add(self.0.open().len() + 1, Ordering::Relaxed);
        }
    }
    let ((sender, queue), kit) = (VerdictQueue::new(), pay("Pays."));
    let looking = Arc::new(Looking(queue.clone(), AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&looking));
    let request = ApprovalRequest::new("q1", &ToolCall::new("c1", "pay", "5"));
    let cx = Cx::for_call(&ToolCall::new("c1", "pay", "5"));
    let mut approving = Box::pin(queue.approve(request.clone(), cx));
    assert!(approving.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    sender.send(request.approve()).unwrap();
    assert_eq!(looking.1.load(Ordering::Relaxed), 1);
    drop((approving, kit));
}
