//! Which calls may run, found out before any of them does.
//!
//! A plan takes every call through the same pipeline as a run would, look up, permit, read and check, policies, and stops
//! before the handler. Calls that fail on the way are never asked about. Whatever is run of a plan runs as was planned:
//! with the options of the plan, and at the indexes of the plan. A [`CallPlan`] is data, which [`Toolkit::run`] takes: it
//! checks each approval once more, asks about no call that has its verdict, and evaluates the policies again for those that
//! required none. A [`QueuePlan`] has questions open, so it becomes the run itself.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use super::approved_call::{ApprovedCall, Origin, Planned, PriorApproval, RequestedCall};
use super::decision::{Decision, Decisions, Planning, PlanningEvent};
use super::gate::digest_of;
use super::queue::VerdictQueue;
use super::ruling::Ruling;
use super::verdict::{RefusedVerdict, VerdictFault};
use crate::call::{CallId, ToolCall};
use crate::executor::{Run, RunOptions, Suspend, decoded};
use crate::item::{ApprovalRequest, ApprovalResponse};
use crate::result::ToolResult;
use crate::toolkit::Toolkit;

/// The calls that may run, by verdicts that are all there. Given to [`Toolkit::run`] whole, every call gets its result, in
/// order. The run has the options that the plan was made with; others can be set on it.
#[derive(Debug)]
#[must_use = "a plan does nothing unless its calls are run"]
#[non_exhaustive]
pub struct CallPlan {
    /// The calls that may run, in order.
    pub approved: Vec<ApprovedCall>,
    /// The results of those that do not: refused, denied, not decided on, or answered by a person. In order.
    pub rejected: Vec<ToolResult>,
    /// Questions about the calls that nobody has decided on: what to show to somebody for another try.
    pub requests: Vec<ApprovalRequest>,
    /// Verdicts that fit none of the calls, or did not count for theirs.
    pub refused: Vec<RefusedVerdict>,
    /// Where the calls stood, the approved and the rejected ones apart, and what else a run has to show of them.
    order: Vec<PlanEntry>,
    planned: Arc<Planned>,
}

#[derive(Debug)]
enum PlanEntry {
    Approved,
    Rejected { call: Box<ToolCall>, verdict: Option<Box<ApprovalResponse>> },
}

/// The calls that may run now, the questions about the others, and what is decided about those when verdicts come.
///
/// [`into_run`](QueuePlan::into_run) makes it the run of its calls: one run, with the options that the plan was made with.
#[derive(Debug)]
#[must_use = "a plan does nothing unless its calls are run"]
#[non_exhaustive]
pub struct QueuePlan {
    /// The calls that may run at once, in order. One that is taken out is not run by the plan, and gets no result there.
    pub approved: Vec<ApprovedCall>,
    /// The questions about the others, in order. The run shows them as events, too.
    pub approval_requests: Vec<ApprovalRequest>,
    /// The decisions about all other calls: those that failed before anybody could be asked come first.
    pub decisions: Decisions,
}

impl QueuePlan {
    /// Goes on as the run of the calls: those that are approved run, the others as they are decided on. Its events are
    /// those of a run of all calls, questions and verdicts included, whatever was read of [`decisions`](Self::decisions)
    /// before. Options were fixed when the plan was made, and time has counted since.
    pub fn into_run(self) -> Run {
        self.decisions.into_run(&self.approved)
    }
}

impl Toolkit {
    /// Finds out which calls may run by verdicts that are all there, as a server does that gets them with a request.
    /// Nothing runs.
    ///
    /// A verdict names its call and must carry the digest of its question. A call that needs one and has none that counts is
    /// rejected as `cancelled`; a new question about it is in the plan, and so is the verdict that did not count. A
    /// verdict on a call that needs none counts too.
    ///
    /// The questions themselves are not kept, so verdicts that come from clients need [keys](RunOptions::approval_keys):
    /// without them what a verdict says of its question, its id and its end, is all that is known.
    ///
    /// A plan can't know that a verdict was used in an earlier one: whoever keeps the calls takes care that one that has
    /// its result is not planned again.
    ///
    /// `options` are an [`ApprovalPolicy`](crate::ApprovalPolicy) beside the tools' own, or whole [`RunOptions`].
    ///
    /// ```
    /// use haft_core::{ApprovalPolicy, Tool, ToolCall, Toolkit};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let kit: Toolkit = Toolkit::from_iter([Tool::new("pay").run(|cents: u64, _cx| async move { cents })?]);
    /// let calls = [ToolCall::new("c1", "pay", "500"), ToolCall::new("c2", "pay", "\"much\"")];
    ///
    /// // The first request has no verdicts; the person is shown the questions:
    /// let plan = kit.plan_from_map(ApprovalPolicy::always(), [], &calls).await;
    /// assert_eq!(plan.requests.len(), 1); // nobody is asked about arguments that are refused anyway
    /// let verdicts = [plan.requests[0].approve()];
    ///
    /// // The second one brings them:
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
        verdicts: impl IntoIterator<Item = ApprovalResponse>,
        calls: impl IntoIterator<Item = C>,
    ) -> CallPlan {
        let calls: Vec<ToolCall> = calls.into_iter().map(Into::into).collect();
        let planned = Planned { options: options.into(), calls: calls.clone() };
        let (calls, mut refused) = with_verdicts(calls, verdicts);
        let run = self.run(calls).with(planned.options.clone().approvals(Suspend));
        let mut planning = Planning::new(run, planned);
        let (mut approved, mut settled, mut requested) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(found) = poll_fn(|task| planning.poll(task)).await {
            match found {
                PlanningEvent::ApprovalRequested(index, request) => requested.push((index, request)),
                PlanningEvent::Approved(index, call) => approved.push((index, call)),
                PlanningEvent::Settled { index, call, result, verdict } => {
                    settled.push((index, (call, result, verdict)))
                }
            }
        }
        refused.extend_from_slice(planning.refused());
        let mut order: Vec<_> = approved.iter().map(|(index, _)| (*index, PlanEntry::Approved)).collect();
        let mut rejected = Vec::new();
        for (index, (call, result, verdict)) in settled {
            rejected.push((index, result));
            order.push((index, PlanEntry::Rejected { call: Box::new(call), verdict }));
        }
        let planned = planning.into_planned();
        let (approved, rejected) = (in_order(approved), in_order(rejected));
        CallPlan { approved, rejected, requests: in_order(requested), refused, order: in_order(order), planned }
    }

    /// Finds out which calls may run at once and asks about the others; verdicts come by the queue, which other rounds
    /// may share. Nothing runs.
    ///
    /// What still waits when the queue ends, or when the options' [timeout](RunOptions::approval_timeout) is over, is
    /// settled as `cancelled`.
    ///
    /// ```
    /// use haft_core::{ApprovalPolicy, Tool, ToolCall, Toolkit, VerdictQueue};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let kit: Toolkit = Toolkit::from_iter([Tool::new("pay").run(|cents: u64, _cx| async move { cents })?]);
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
        let planned = Planned { options: options.into().approvals(verdicts.clone()), calls };
        let run = self.run(&planned.calls).with(planned.options.clone());
        let mut planning = Planning::new(run, planned);
        let (mut approved, mut requested, mut ready) = (Vec::new(), Vec::new(), VecDeque::new());
        poll_fn(|task| {
            while let Poll::Ready(found) = planning.poll(task) {
                match found {
                    Some(PlanningEvent::ApprovalRequested(index, request)) => requested.push((index, request)),
                    Some(PlanningEvent::Approved(index, call)) if call.verdict().is_none() => {
                        approved.push((index, call))
                    }
                    Some(decided) => ready.extend(Decision::of(decided)),
                    None => return Poll::Ready(()),
                }
            }
            if planning.is_waiting_for_answers() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        let handed_out: BTreeSet<usize> = approved.iter().map(|(index, _)| *index).collect();
        let decisions = Decisions::new(planning, ready, handed_out);
        QueuePlan { approved: in_order(approved), approval_requests: in_order(requested), decisions }
    }

    /// Checks a verdict on an open question as a run with these options would, without acting on it: the question it names,
    /// digest, signature, end, and the arguments or the answer it brings. To be asked where a verdict is taken in, so that
    /// whoever gave it learns at once what is wrong with it.
    ///
    /// ```
    /// use haft_core::{ApprovalPolicy, RunOptions, Suspend, Tool, ToolCall, Toolkit, VerdictFault};
    /// use serde_json::json;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).run(|cents: u64, _cx| async move { cents })?;
    /// let kit: Toolkit = Toolkit::from_iter([pay]);
    /// let run = kit.run([ToolCall::new("c1", "pay", "500")]).approvals(Suspend);
    /// let suspended = run.collect_or_suspend().await.unwrap_err();
    /// let question = suspended.pending().next().unwrap();
    ///
    /// let options = RunOptions::new();
    /// assert!(kit.check_verdict(&options, question, &question.edit(json!(400))).is_ok());
    /// let fault = kit.check_verdict(&options, question, &question.edit(json!("much"))).unwrap_err();
    /// assert!(matches!(fault, VerdictFault::Invalid { issues } if issues.len() == 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn check_verdict(
        &self,
        options: &RunOptions,
        request: &ApprovalRequest,
        response: &ApprovalResponse,
    ) -> Result<(), VerdictFault> {
        let (gate, decode) = (options.gate(), options.decode());
        gate.verify_request(request)?;
        gate.check_verdict(request, response)?;
        // A tool that is gone, or takes other arguments, is another definition too.
        let tool = self.get(&request.tool).ok_or(VerdictFault::OtherDigest)?;
        let arguments = decoded(tool, &request.arguments, decode).map_err(|_| VerdictFault::OtherDigest)?;
        if digest_of(tool, &arguments, &request.arguments) != request.digest {
            return Err(VerdictFault::OtherDigest);
        }
        Ruling::of(tool, decode, request, &response.decision).map(drop)
    }

    /// Goes on with calls that stopped to wait: those that somebody agreed to run, the others get their results, and
    /// what nobody has decided on is suspended again. Calls that were done are not run again, and their results are
    /// among those that [`collect_results`](crate::Run::collect_results) gives; no event shows them a second time.
    ///
    /// What was stored is the calls and the questions, not who asked nor under which limits: give the caller, the permit, keys
    /// and limits to the run again, or it runs without. Verdicts that can't be used are in
    /// [`refused_verdicts`](crate::Run::refused_verdicts).
    pub fn resume(&self, suspended: super::Suspended, verdicts: impl IntoIterator<Item = ApprovalResponse>) -> Run {
        let (calls, earlier, refused) = suspended.into_calls(verdicts);
        self.run(calls).resumed(earlier, refused)
    }
}

/// Every call, in order: the approved ones run, the others give the results they have.
impl IntoIterator for CallPlan {
    type Item = RequestedCall;
    type IntoIter = std::vec::IntoIter<RequestedCall>;

    fn into_iter(self) -> Self::IntoIter {
        let (mut approved, mut rejected) = (self.approved.into_iter(), self.rejected.into_iter().peekable());
        let planned = self.planned;
        let calls = self.order.into_iter().enumerate().filter_map(|(index, entry)| match entry {
            PlanEntry::Approved => approved.next().map(RequestedCall::from),
            // Results that somebody took out are not made up for by those of other calls.
            PlanEntry::Rejected { call, verdict } => {
                let result = rejected.next_if(|result| result.call_id == call.call_id)?;
                let origin = Origin { plan: Arc::clone(&planned), index };
                Some(RequestedCall::finished(*call, result, verdict, origin))
            }
        });
        calls.collect::<Vec<_>>().into_iter()
    }
}

/// Puts each verdict to its call. The first one for a call counts, and one question is about one call.
fn with_verdicts(
    calls: Vec<ToolCall>,
    verdicts: impl IntoIterator<Item = ApprovalResponse>,
) -> (Vec<RequestedCall>, Vec<RefusedVerdict>) {
    let mut open: HashMap<CallId, Option<Box<ApprovalResponse>>> =
        calls.iter().map(|call| (call.call_id.clone(), None)).collect();
    let mut answered = HashSet::new();
    let mut refused = Vec::new();
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
        refused.push(RefusedVerdict::new(response, fault));
    }
    let calls = calls.into_iter().map(|call| match open.remove(&call.call_id).flatten() {
        Some(verdict) => RequestedCall::with(call, PriorApproval::Claimed { verdict }),
        None => call.into(),
    });
    (calls.collect(), refused)
}

/// What was found out about calls, in the order of the calls.
fn in_order<T>(mut found: Vec<(usize, T)>) -> Vec<T> {
    found.sort_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, found)| found).collect()
}
