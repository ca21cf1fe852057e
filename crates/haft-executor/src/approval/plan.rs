//! Plans: deciding which calls may run before any of them runs.
//!
//! A plan takes every call through the same pipeline as a run, which is look up, permit, decode and policies, and stops
//! before the handler. No approval is requested for a call that fails earlier. Calls of a plan run with the options and
//! the indexes of the plan. A [`CallPlan`] is data that [`Toolkit::run`] accepts: the run checks each approval again,
//! sends no approval request for a call that has a verdict, and evaluates the policies again for calls that required no
//! approval. A [`QueuePlan`] has pending approval requests, so it continues as the run itself.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use haft_core::{ApprovalRequest, CallId, RunId, ToolCall, ToolResult, Verdict};

use super::decision::{Decision, Planning, PlanningEvent};
use super::gate::{Gate, digest_of};
use super::queue::VerdictQueue;
use super::queue_plan::QueuePlan;
use super::requested_call::{Origin, Planned, PriorApproval, RequestedCall};
use super::ruling::Ruling;
use super::verdict::{RejectedVerdict, VerdictFault};
use crate::executor::{Run, RunOptions, Suspend, decoded};
use crate::toolkit::Toolkit;

/// The calls that may run according to a complete set of verdicts. If the whole plan is passed to [`Toolkit::run`],
/// every call gets its result, in order. The run uses the options the plan was made with.
#[derive(Debug)]
#[must_use = "a plan does nothing unless its calls are run"]
#[non_exhaustive]
pub struct CallPlan {
    /// The calls that may run, in order.
    pub approved: Vec<RequestedCall>,
    /// The results of the calls that do not run, in order: invalid, denied, without a verdict, or answered by a
    /// verdict.
    pub rejected: Vec<ToolResult>,
    /// Approval requests for the calls that have no valid verdict, to be presented to the approver for the next
    /// attempt.
    pub requests: Vec<ApprovalRequest>,
    /// Verdicts that belong to none of the calls, or were rejected.
    pub rejected_verdicts: Vec<RejectedVerdict>,
    /// The kind of each call, in the original order, with the data that a run emits for it.
    order: Vec<PlanEntry>,
    planned: Arc<Planned>,
}

#[derive(Debug)]
enum PlanEntry {
    Approved,
    Rejected { call: Box<ToolCall>, verdict: Option<Box<Verdict>> },
}

impl Toolkit {
    /// Decides which calls may run according to a complete set of verdicts, such as one that arrives with an HTTP
    /// request. No handler runs.
    ///
    /// A verdict names its call and must carry the digest of its approval request. A call that requires approval and
    /// has no valid verdict is rejected as `cancelled`; the plan contains a new approval request for it, and the
    /// rejected verdict. A verdict for a call that requires no approval is applied too.
    ///
    /// The approval requests are not stored, so verdicts that come from clients require [signing
    /// keys](RunOptions::approval_keys). Without keys, the id and the expiry that a verdict states can't be verified. A
    /// signed verdict also states the run that it was requested in. Unless the options set another one, the plan
    /// continues that run, so a verdict that is sent twice does not give its call a second idempotency key.
    ///
    /// A plan can't detect that a verdict was used by an earlier plan. The application must not plan a call again that
    /// already has a result.
    ///
    /// `options` is an [`ApprovalPolicy`](crate::ApprovalPolicy) in addition to those of the tools, or complete
    /// [`RunOptions`].
    ///
    /// ```
    /// use haft_executor::{ApprovalPolicy, Tool, Toolkit};
    /// use haft_core::ToolCall;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let kit: Toolkit = Toolkit::from_iter([Tool::new("pay").handler(|cents: u64, _cx| async move { cents })?]);
    /// let calls = [ToolCall::new("c1", "pay", "500"), ToolCall::new("c2", "pay", "\"much\"")];
    ///
    /// // The first HTTP request has no verdicts; the approval requests are sent to the client:
    /// let plan = kit.plan_from_map(ApprovalPolicy::always(), [], &calls).await;
    /// assert_eq!(plan.requests.len(), 1); // invalid arguments need no approval
    /// let verdicts = [plan.requests[0].approve()];
    ///
    /// // The second one contains them:
    /// let plan = kit.plan_from_map(ApprovalPolicy::always(), verdicts, &calls).await;
    /// let results = kit.run(plan).collect_results().await;
    /// assert_eq!(results[0].to_model_text(), "500");
    /// assert!(!results[1].is_ok());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn plan_from_map<C: Into<ToolCall>>(
        &self,
        options: impl Into<RunOptions>,
        verdicts: impl IntoIterator<Item = Verdict>,
        calls: impl IntoIterator<Item = C>,
    ) -> CallPlan {
        let calls: Vec<ToolCall> = calls.into_iter().map(Into::into).collect();
        let verdicts: Vec<Verdict> = verdicts.into_iter().collect();
        let options = options.into();
        let run_id = signed_run_id(options.gate(), &calls, &verdicts);
        let options = options.or_run_id(|| Some(run_id.unwrap_or_else(RunId::random)));
        let planned = Planned { options, calls: calls.clone() };
        let (calls, mut rejected_verdicts) = with_verdicts(calls, verdicts);
        let run = self.run_with(calls, planned.options.clone().approvals(Suspend));
        let mut planning = Planning::new(run, planned);
        let (mut approved, mut finished, mut requested) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(found) = poll_fn(|task| planning.poll(task)).await {
            match found {
                PlanningEvent::ApprovalRequested(index, request) => requested.push((index, request)),
                PlanningEvent::Approved(index, call) => approved.push((index, call)),
                PlanningEvent::Finished { index, call, result, verdict } => {
                    finished.push((index, (call, result, verdict)));
                }
            }
        }
        rejected_verdicts.extend_from_slice(planning.rejected_verdicts());
        let mut order: Vec<_> = approved.iter().map(|(index, _)| (*index, PlanEntry::Approved)).collect();
        let mut rejected = Vec::new();
        for (index, (call, result, verdict)) in finished {
            rejected.push((index, result));
            order.push((index, PlanEntry::Rejected { call: Box::new(call), verdict }));
        }
        let planned = planning.into_planned();
        let (approved, rejected) = (in_order(approved), in_order(rejected));
        CallPlan {
            approved,
            rejected,
            requests: in_order(requested),
            rejected_verdicts,
            order: in_order(order),
            planned,
        }
    }

    /// Decides which calls may run at once, and requests approval for the others. Verdicts arrive through the queue,
    /// which other runs may share. No handler runs.
    ///
    /// A call that still waits when the queue closes, or when the [approval timeout](RunOptions::approval_timeout) of
    /// the options expires, ends as `cancelled`.
    ///
    /// ```
    /// use haft_executor::{ApprovalPolicy, Tool, Toolkit, VerdictQueue};
    /// use haft_core::ToolCall;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let kit: Toolkit = Toolkit::from_iter([Tool::new("pay").handler(|cents: u64, _cx| async move { cents })?]);
    /// let (sender, queue) = VerdictQueue::new();
    /// let large = ApprovalPolicy::when(|cents: u64, _cx| async move { cents > 100 });
    /// let calls = [ToolCall::new("c1", "pay", "5"), ToolCall::new("c2", "pay", "500")];
    ///
    /// let plan = kit.plan_from_queue(large, &queue, calls).await;
    /// assert_eq!(plan.approved[0].call().call_id, "c1");
    /// sender.send(plan.approval_requests[0].deny("too much"))?;
    ///
    /// let results = plan.into_run().collect_results().await;
    /// assert_eq!(results[0].to_model_text(), "5");
    /// assert_eq!(results[1].failure().unwrap().message, "too much");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn plan_from_queue<C: Into<ToolCall>>(
        &self,
        options: impl Into<RunOptions>,
        verdicts: &VerdictQueue,
        calls: impl IntoIterator<Item = C>,
    ) -> QueuePlan {
        let calls: Vec<ToolCall> = calls.into_iter().map(Into::into).collect();
        let options = options.into().or_run_id(|| Some(RunId::random()));
        let planned = Planned { options: options.approvals(verdicts.clone()), calls };
        let run = self.run_with(&planned.calls, planned.options.clone());
        let mut planning = Planning::new(run, planned);
        let (mut approved, mut requested, mut ready) = (Vec::new(), Vec::new(), VecDeque::new());
        poll_fn(|task| {
            while let Poll::Ready(found) = planning.poll(task) {
                match found {
                    Some(PlanningEvent::ApprovalRequested(index, request)) => requested.push((index, request)),
                    Some(PlanningEvent::Approved(index, call)) if call.verdict().is_none() => {
                        approved.push((index, call));
                    }
                    Some(decided) => ready.extend(Decision::of(decided)),
                    None => return Poll::Ready(()),
                }
            }
            if planning.is_waiting_for_answers() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        let handed_out: BTreeSet<usize> = approved.iter().map(|(index, _)| *index).collect();
        QueuePlan::new(planning, in_order(approved), in_order(requested), ready, handed_out)
    }

    /// Checks a verdict on a pending approval request as a run with these options would, without acting on it: request
    /// id, digest, signature, expiry, and the arguments or the answer it contains. Call this where a verdict is
    /// received, so that the approver learns at once why it is rejected.
    ///
    /// ```
    /// use haft_executor::{ApprovalPolicy, RunOptions, Suspend, Tool, Toolkit, VerdictFault};
    /// use haft_core::ToolCall;
    /// use serde_json::json;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(|cents: u64, _cx| async move { cents })?;
    /// let kit: Toolkit = Toolkit::from_iter([pay]);
    /// let run = kit.run_with([ToolCall::new("c1", "pay", "500")], RunOptions::new().approvals(Suspend));
    /// let suspended = run.collect_or_suspend().await.unwrap_err();
    /// let request = suspended.pending().next().unwrap();
    ///
    /// let options = RunOptions::new();
    /// assert!(kit.check_verdict(&options, request, &request.edit(json!(400))).is_ok());
    /// let fault = kit.check_verdict(&options, request, &request.edit(json!("much"))).unwrap_err();
    /// assert!(matches!(fault, VerdictFault::Invalid { issues } if issues.len() == 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn check_verdict(
        &self,
        options: &RunOptions,
        request: &ApprovalRequest,
        response: &Verdict,
    ) -> Result<(), VerdictFault> {
        let (gate, decode) = (options.gate(), options.decode());
        gate.verify_request(request, || options.known_run_id().cloned())?;
        gate.check_verdict(request, response)?;
        // A tool that was removed, or no longer accepts the arguments, has another definition.
        let tool = self.get(&request.tool).ok_or(VerdictFault::OtherDigest)?;
        if request.question.is_some() {
            // The digest covers the state of the call, which is compared when the call goes on.
            return Ruling::check(tool, decode, request, &response.decision);
        }
        let arguments = decoded(tool, &request.arguments, decode).map_err(|_| VerdictFault::OtherDigest)?;
        if digest_of(tool, &arguments, &request.arguments) != request.digest {
            return Err(VerdictFault::OtherDigest);
        }
        Ruling::check(tool, decode, request, &response.decision)
    }

    /// Continues a suspended run. Approved calls run, other decided calls get their results, and calls without a
    /// verdict are suspended again. Finished calls do not run again: their results are part of
    /// [`collect_results`](crate::Run::collect_results), but their events are not emitted a second time.
    ///
    /// A suspended run contains the calls and the approval requests, but not the caller and the options. Set the
    /// caller, the permit, the keys and the limits again, or the run has none. Rejected verdicts are returned by
    /// [`rejected_verdicts`](crate::Run::rejected_verdicts).
    pub fn resume(&self, suspended: super::Suspended, verdicts: impl IntoIterator<Item = Verdict>) -> Run {
        self.resume_with(suspended, verdicts, RunOptions::new())
    }

    /// Goes on with a suspended run, as [`resume`](Toolkit::resume) does, with options.
    pub fn resume_with(
        &self,
        suspended: super::Suspended,
        verdicts: impl IntoIterator<Item = Verdict>,
        options: impl Into<RunOptions>,
    ) -> Run {
        let options = options.into().or_run_id(|| suspended.run_id().cloned());
        let (calls, earlier, rejected) = suspended.into_calls(verdicts);
        self.run_with(calls, options).resumed(earlier, rejected)
    }
}

/// Iterates over every call, in order. Approved calls run; the others have their results already.
impl IntoIterator for CallPlan {
    type Item = RequestedCall;
    type IntoIter = std::vec::IntoIter<RequestedCall>;

    fn into_iter(self) -> Self::IntoIter {
        let (mut approved, mut rejected) = (self.approved.into_iter(), self.rejected.into_iter().peekable());
        let planned = self.planned;
        let calls = self.order.into_iter().enumerate().filter_map(|(index, entry)| match entry {
            PlanEntry::Approved => approved.next(),
            // A result that the application removed is not replaced by the result of another call.
            PlanEntry::Rejected { call, verdict } => {
                let result = rejected.next_if(|result| result.call_id == call.call_id)?;
                let origin = Origin { plan: Arc::clone(&planned), index };
                Some(RequestedCall::finished(*call, result, verdict, origin))
            }
        });
        calls.collect::<Vec<_>>().into_iter()
    }
}

/// Returns the first run that a verdict is for, as its signature proves. A plan goes on with that run, so that its calls
/// keep their idempotency keys, however often the verdicts are sent.
fn signed_run_id(gate: &Gate, calls: &[ToolCall], verdicts: &[Verdict]) -> Option<RunId> {
    let keys = gate.keys.as_ref()?;
    // Of two calls with one id, the first has the verdict.
    let calls: HashMap<&CallId, &ToolCall> = calls.iter().rev().map(|call| (&call.call_id, call)).collect();
    verdicts.iter().find_map(|verdict| {
        let request = ApprovalRequest::answered_by(calls.get(verdict.call_id.as_ref()?)?, verdict);
        keys.verify(&request).ok().and(request.run_id)
    })
}

/// Assigns each verdict to its call. Only the first verdict for a call is used, and a request id is used for one call
/// only.
fn with_verdicts(
    calls: Vec<ToolCall>,
    verdicts: impl IntoIterator<Item = Verdict>,
) -> (Vec<RequestedCall>, Vec<RejectedVerdict>) {
    let mut open: HashMap<CallId, Option<Box<Verdict>>> =
        calls.iter().map(|call| (call.call_id.clone(), None)).collect();
    let mut answered = HashSet::new();
    let mut rejected_verdicts = Vec::new();
    for response in verdicts {
        let call = response.call_id.clone().map(|call_id| open.entry(call_id));
        let fault = match call {
            Some(Entry::Occupied(mut verdict))
                if verdict.get().is_none() && answered.insert(response.request_id.clone()) =>
            {
                verdict.insert(Some(Box::new(response)));
                continue;
            }
            Some(Entry::Occupied(_)) => VerdictFault::AlreadyDecided,
            Some(Entry::Vacant(_)) | None => VerdictFault::UnknownRequest,
        };
        rejected_verdicts.push(RejectedVerdict::new(response, fault));
    }
    let calls = calls.into_iter().map(|call| match open.remove(&call.call_id).flatten() {
        Some(verdict) => RequestedCall::with(call, PriorApproval::Claimed { verdict }),
        None => call.into(),
    });
    (calls.collect(), rejected_verdicts)
}

/// Sorts values by the index of their call.
fn in_order<T>(mut found: Vec<(usize, T)>) -> Vec<T> {
    found.sort_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, found)| found).collect()
}
