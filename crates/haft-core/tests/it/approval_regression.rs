//! Faults of approvals that were found once, each in its smallest form.

use std::sync::{Arc, Mutex};

use haft_core::{
    ApprovalAnswer, ApprovalDecision, ApprovalOutcome, ApprovalPolicy, ApprovalRequest, ApprovalResponse, BoxError, Cx,
    Delivery, RunOptions, SignatureError, SigningKeys, Suspend, Suspended, Timestamp, Tool, ToolCall, ToolEvent,
    Toolkit, VerdictFault, VerdictQueue,
};

use crate::executing::{came, kit};

fn pay(description: &str) -> Toolkit {
    let pay = Tool::new("pay").describe(description).needs_approval(ApprovalPolicy::always());
    kit([pay.run(|cents: u8, _cx| async move { cents })])
}

fn call(arguments: &str) -> ToolCall {
    ToolCall::new("c1", "pay", arguments)
}

async fn suspended(kit: &Toolkit) -> (Suspended, ApprovalRequest) {
    let suspended = kit.run([call("5")]).approvals(Suspend).collect_or_suspend().await.unwrap_err();
    let question = suspended.pending().next().unwrap().clone();
    (*suspended, question)
}

fn signed() -> RunOptions {
    RunOptions::new().approval_keys(SigningKeys::new("k1", [7; 32]).unwrap())
}

fn unsigned(question: &ApprovalRequest) -> ApprovalResponse {
    let mut verdict = question.approve();
    verdict.signature = None;
    verdict
}

/// A verdict that says nothing that could be done.
fn mumbled(question: &ApprovalRequest) -> ApprovalResponse {
    question.respond(ApprovalDecision::Other("perhaps".to_owned()))
}

async fn mumble(question: ApprovalRequest, _: Cx) -> Result<ApprovalAnswer, BoxError> {
    Ok(mumbled(&question).into())
}

/// What became of questions, in a word each.
fn audited(options: RunOptions) -> (RunOptions, Arc<Mutex<Vec<ApprovalOutcome>>>) {
    let outcomes = Arc::<Mutex<Vec<_>>>::default();
    let noting = Arc::clone(&outcomes);
    (options.audit(move |record| noting.lock().unwrap().push(record.outcome)), outcomes)
}

#[tokio::test]
async fn a_plan_hands_back_verdicts_that_do_not_count() {
    let kit = pay("Pays.");
    let signed = signed();
    let raised = kit.plan_from_map(&signed, [], [call("5")]).await.requests.remove(0);

    let unsigned = unsigned(&raised);
    let plan = kit.plan_from_map(&signed, [unsigned.clone()], [call("5")]).await;
    assert!(plan.approved.is_empty());
    assert!(matches!(plan.refused[0].fault, VerdictFault::Signature(_)), "{:?}", plan.refused);
    assert_eq!(*plan.refused[0].response, unsigned);

    let plan = kit.plan_from_map(&signed, [raised.approve()], [call("6")]).await;
    assert_eq!((plan.approved.len(), &plan.refused[0].fault), (0, &VerdictFault::OtherDigest));

    // Nobody would have been asked about arguments that are refused anyway.
    let (options, outcomes) = audited(signed);
    let plan = kit.plan_from_map(options, [raised.approve()], [call("much")]).await;
    assert_eq!(came(&plan.rejected[0]), "input_validation_error");
    assert_eq!(plan.refused[0].fault, VerdictFault::UnknownRequest);
    assert_eq!(*outcomes.lock().unwrap(), [ApprovalOutcome::Refused]);
}

/// A verdict says itself which call it is about, and one yes must not do for two.
#[tokio::test]
async fn a_plan_takes_a_question_for_one_call_only() {
    let kit = pay("Pays.");
    let calls = [call("5"), ToolCall::new("c2", "pay", "5")];
    let verdict = kit.plan_from_map(RunOptions::new(), [], &calls).await.requests[0].approve();
    let mut again = verdict.clone();
    again.call_id = Some("c2".into());

    let plan = kit.plan_from_map(RunOptions::new(), [verdict, again], &calls).await;
    assert_eq!((plan.approved.len(), &plan.refused[0].fault), (1, &VerdictFault::AlreadyDecided));
    let results = kit.run(plan).collect_results().await;
    assert_eq!(results.iter().map(came).collect::<Vec<_>>(), ["5", "cancelled"]);
}

#[tokio::test]
async fn a_resumed_run_hands_back_verdicts_that_do_not_count() {
    let (kept, question) = suspended(&pay("Pays.")).await;
    let mut run = pay("Pays twice.").resume(kept, [question.approve()]);
    while run.next().await.is_some() {}
    assert_eq!(run.refused_verdicts()[0].fault, VerdictFault::OtherDigest);

    let (kept, question) = suspended(&pay("Pays.")).await;
    let mut verdict = question.approve();
    verdict.expires_at = Some(Timestamp::from_unix_millis(1));
    let mut run = pay("Pays.").resume(kept, [verdict]).with(signed());
    while run.next().await.is_some() {}
    assert!(matches!(run.refused_verdicts()[0].fault, VerdictFault::Signature(_)));
}

#[tokio::test]
async fn a_question_about_a_tool_that_is_gone_is_closed() {
    let gone: Toolkit = Toolkit::new();
    for (verdicts, outcome) in [(false, ApprovalOutcome::Unanswered), (true, ApprovalOutcome::Refused)] {
        let (kept, question) = suspended(&pay("Pays.")).await;
        let (options, outcomes) = audited(RunOptions::new());
        let verdicts = verdicts.then(|| question.approve());
        let mut run = gone.resume(kept, verdicts.clone()).with(options);
        while run.next().await.is_some() {}
        let refused = run.refused_verdicts().iter().map(|refused| (*refused.response).clone());
        assert_eq!(refused.collect::<Vec<_>>(), Vec::from_iter(verdicts));
        assert_eq!(*outcomes.lock().unwrap(), [outcome]);
    }
}

/// Whoever sends a verdict that does not count hears of it, and the question stays open.
#[tokio::test]
async fn a_queue_hands_back_verdicts_that_do_not_count() {
    let (sender, queue) = VerdictQueue::new();
    let mut run = pay("Pays.").run([call("5")]).with(signed().approvals(queue.clone()));
    assert!(run.next().await.is_some());
    let question = queue.open().remove(0);
    let refused = sender.send(unsigned(&question)).unwrap_err();
    assert_eq!((&*refused.response, refused.fault), (&unsigned(&question), SignatureError::Missing.into()));
    assert_eq!(queue.open().len(), 1);

    assert_eq!(sender.send(question.approve()), Ok(Delivery::Delivered));
    while run.next().await.is_some() {}
    assert!(run.refused_verdicts().is_empty());
}

/// A function has one answer only: there is nobody to wait for after it.
#[tokio::test]
async fn a_function_whose_verdict_does_not_count_ends_the_call() {
    let (options, outcomes) = audited(RunOptions::new().approvals(mumble));
    let mut run = pay("Pays.").run([call("5")]).with(options);
    let mut results = Vec::new();
    while let Some(event) = run.next().await {
        if let ToolEvent::Output { result, .. } = event {
            results.push(came(&result).to_owned());
        }
    }
    assert_eq!(results, ["denied"]);
    assert_eq!(run.refused_verdicts()[0].fault, VerdictFault::UnusableDecision { word: "perhaps".to_owned() });
    assert_eq!(*outcomes.lock().unwrap(), [ApprovalOutcome::Refused]);
}

/// One verdict that does not count came with the call, another from whoever was asked after that.
#[tokio::test]
async fn a_run_hands_back_every_verdict_that_does_not_count() {
    let (kept, question) = suspended(&pay("Pays.")).await;
    let mut run = pay("Pays.").resume(kept, [mumbled(&question)]).with(RunOptions::new().approvals(mumble));
    while run.next().await.is_some() {}
    assert_eq!(run.refused_verdicts().len(), 2, "{:?}", run.refused_verdicts());
}
