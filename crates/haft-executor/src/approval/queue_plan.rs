//! Plans whose verdicts arrive through a queue.
//!
//! Such a plan has pending approval requests, so it is not data: it continues as the run itself. Its decisions are
//! notices, in the order in which they are made. Reading one starts nothing, and the run is the same whether they are
//! read or not.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll};

use haft_core::ApprovalRequest;

use super::decision::{Decision, Planning};
use super::requested_call::RequestedCall;
use super::verdict::RejectedVerdict;
use crate::executor::Run;

/// The calls that may run now, the approval requests for the others, and the decisions as verdicts arrive.
///
/// [`into_run`](QueuePlan::into_run) turns the plan into the run of its calls: a single run, with the options of the
/// plan.
#[must_use = "a plan does nothing unless its calls are run"]
#[non_exhaustive]
pub struct QueuePlan {
    /// The calls that may run at once, in order. A call that is removed from this list is not run by the plan and gets
    /// no result from it.
    pub approved: Vec<RequestedCall>,
    /// The approval requests for the other calls, in order. The run also emits them as events.
    pub approval_requests: Vec<ApprovalRequest>,
    planning: Planning,
    /// Decisions that were made and not read.
    ready: VecDeque<Decision>,
    /// The indexes of the calls that were approved at once and returned to the caller.
    handed_out: BTreeSet<usize>,
}

impl QueuePlan {
    pub(super) fn new(
        planning: Planning,
        approved: Vec<RequestedCall>,
        approval_requests: Vec<ApprovalRequest>,
        ready: VecDeque<Decision>,
        handed_out: BTreeSet<usize>,
    ) -> Self {
        Self { approved, approval_requests, planning, ready, handed_out }
    }

    /// Returns the next decision about a call that could not be decided at once, or `None` when every call is decided.
    /// Calls that failed before approval could be requested come first.
    ///
    /// While you do not wait for it, the plan makes no progress and no timeout fires.
    pub async fn next_decision(&mut self) -> Option<Decision> {
        poll_fn(|task| self.poll_decision(task)).await
    }

    fn poll_decision(&mut self, task: &mut Context<'_>) -> Poll<Option<Decision>> {
        if let Some(decision) = self.ready.pop_front() {
            return Poll::Ready(Some(decision));
        }
        loop {
            match self.planning.poll(task) {
                Poll::Ready(Some(found)) => {
                    if let Some(decision) = Decision::of(found) {
                        return Poll::Ready(Some(decision));
                    }
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Returns the verdicts that reached the plan and were rejected, with the reasons.
    #[must_use]
    pub fn rejected_verdicts(&self) -> &[RejectedVerdict] {
        self.planning.rejected_verdicts()
    }

    /// Continues as the run of the calls. Approved calls run at once, the others when they are decided. The run emits
    /// the events of all calls, approval requests and verdicts included, whether or not you read their
    /// [decisions](Self::next_decision). Its options are those of the plan, and its timeouts have been running since the
    /// plan was made.
    pub fn into_run(self) -> Run {
        self.planning.into_run(self.handed_out, &self.approved)
    }
}

impl fmt::Debug for QueuePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueuePlan")
            .field("approved", &self.approved)
            .field("approval_requests", &self.approval_requests)
            .finish_non_exhaustive()
    }
}
