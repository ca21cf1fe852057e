//! Permits and approvals, as the model reads them.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use haft::approval::{ApprovalAnswer, ApprovalDecision, ApprovalMemory, ApprovalScope, Verdict, VerdictQueue};
use haft::conversation::Timestamp;
use haft::middleware::{Next, Request};
use serde_json::json;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn search() -> Tool {
    Tool::new("search").handler(|(), _cx| async { "fine" }).unwrap()
}

/// A tool whose calls require approval.
pub(super) fn pay() -> Tool {
    paying(ApprovalPolicy::always())
}

fn paying(policy: ApprovalPolicy) -> Tool {
    Tool::new("pay").needs_approval(policy).handler(|cents: u64, _cx| async move { cents }).unwrap()
}

/// Runs a call that requires approval, with an approver.
async fn answered(approver: impl haft::approval::Approve) -> ToolFailure {
    failed_with(pay(), "5", RunOptions::new().approvals(approver)).await
}

pub(super) async fn permits(messages: &mut Messages) {
    messages.section("Permits");
    let permit = |decision: fn() -> Result<Permission, &'static str>| {
        RunOptions::new().permit(move |_: &Tool, _: &ToolCall, _: &Cx| decision())
    };
    let reason = permit(|| Ok(Permission::denied("only administrators may search")));
    messages.failure("denied with a reason", &failed_with(search(), "", reason).await);
    let silent = permit(|| Ok(Permission::denied("")));
    messages.failure("denied without a reason", &failed_with(search(), "", silent).await);
    let failing = permit(|| Err("secret"));
    messages.failure("the permit fails", &failed_with(search(), "", failing).await);
    let panicking = permit(|| panic!("secret"));
    messages.failure("the permit panics", &failed_with(search(), "", panicking).await);
}

pub(super) async fn denials(messages: &mut Messages) {
    messages.section("Approvals");
    messages.failure("no approver configured", &failed(pay(), "5").await);
    let undecided = paying(ApprovalPolicy::when(|_: u64, _| async { Err::<bool, _>("secret") }));
    messages.failure("the policy fails, and no approver is configured", &failed(undecided, "5").await);
    let denied = answered(|request: ApprovalRequest, _| async move { request.deny("too expensive") }).await;
    messages.failure("denied with a reason", &denied);
    let silent = |request: ApprovalRequest, _| async move { request.respond(ApprovalDecision::Denied) };
    messages.failure("denied without a reason", &answered(silent).await);
    let failing = |_: ApprovalRequest, _| async { Err::<Verdict, _>("secret") };
    messages.failure("the approver fails", &answered(failing).await);
    let panicking = |_: ApprovalRequest, _| async { panic!("secret") as Verdict };
    messages.failure("the approver panics", &answered(panicking).await);
    let pending = |_: ApprovalRequest, _| std::future::pending::<Verdict>();
    let options = RunOptions::new().approvals(pending).approval_timeout(SECOND);
    messages.failure("the approval request times out", &failed_with(pay(), "5", options).await);
    let nobody = |_: ApprovalRequest, _| async { ApprovalAnswer::NoAnswer { reason: String::new() } };
    messages.failure("the approver has no answer", &answered(nobody).await);
    let (_sender, queue) = VerdictQueue::new();
    queue.close();
    messages.failure("the verdict queue is closed", &answered(queue).await);
    let kit: Toolkit = Toolkit::from_iter([pay()]);
    let call = ToolCall::new("c1", "pay", "5");
    let plan = kit.plan_from_map(RunOptions::new(), [], [call.clone()]).await;
    messages.failure("planned without a verdict", &failure_of(&plan.rejected[0]));
    let single = kit.run_call_with(&call, RunOptions::new().approvals(Suspend)).await;
    messages.failure("suspended in a single call", &failure_of(&single));
}

pub(super) async fn verdicts(messages: &mut Messages) {
    messages.section("Verdicts that are rejected");
    let other = |request: ApprovalRequest, _| async move { request.approve().digest("sha256:other") };
    messages.failure("for other arguments", &answered(other).await);
    let unknown = |_: ApprovalRequest, _| async { Verdict::new("q9", ApprovalDecision::Approved) };
    messages.failure("for another request", &answered(unknown).await);
    let unusable = |request: ApprovalRequest, _| async move { request.respond("perhaps".into()) };
    messages.failure("a decision that can't be used", &answered(unusable).await);
    let edited = |request: ApprovalRequest, _| async move { request.edit(json!("five")) };
    messages.failure("edited to invalid arguments", &answered(edited).await);
    let clock = Arc::new(AtomicU64::new(0));
    let (read, write) = (Arc::clone(&clock), clock);
    let late = move |request: ApprovalRequest, _| {
        write.store(60_000, Ordering::SeqCst);
        async move { request.approve() }
    };
    let clock = move || Timestamp::from_unix_millis(read.load(Ordering::SeqCst));
    let options = RunOptions::new().approvals(late).approval_lifetime(30 * SECOND).approval_clock(clock);
    messages.failure("after the request expired", &failed_with(pay(), "5", options).await);
    let approving = |request: ApprovalRequest, _| async move { request.approve() };
    let broken = || panic!("secret");
    let options = RunOptions::new().approvals(approving).approval_lifetime(SECOND).approval_clock(broken);
    messages.failure("the approval clock fails", &failed_with(pay(), "5", options).await);
    let changing =
        pay().wrap(|request: Request, next: Next| async move { next.run(request.with_arguments(&json!(500))).await });
    let options = RunOptions::new().approvals(approving);
    messages.failure("middleware changes the approved arguments", &failed_with(changing, "5", options).await);
}

pub(super) async fn remembered(messages: &mut Messages) {
    messages.section("Remembered verdicts");
    let memory = ApprovalMemory::bounded(NonZeroUsize::MIN);
    let deny =
        |request: ApprovalRequest, _| async move { request.deny("too expensive").scope(ApprovalScope::TheseArguments) };
    let options = RunOptions::new().approvals(deny).approval_memory(memory).caller("user:ana");
    let kit: Toolkit = Toolkit::from_iter([pay()]);
    let call = |cents: &str| ToolCall::new("c1", "pay", cents);
    for (situation, cents) in [
        ("denied before", "5"),
        ("denied before, more often than the memory can hold", "6"),
        ("denied as one of the merged denials", "7"),
    ] {
        run(&kit, [call(cents)], options.clone()).await;
        messages.failure(situation, &failure_of(&run(&kit, [call(cents)], options.clone()).await[0]));
    }
}
