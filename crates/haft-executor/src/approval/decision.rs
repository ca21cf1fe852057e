//! Decisions about the calls of a plan, as they are made.
//!
//! A planning run takes every call to the point where its handler would run, and holds it there. A decision reports the
//! outcome for one call, in the order in which the calls are decided. It is a notification only and starts nothing. The
//! planning run later continues as the run of its calls, so concurrency limits, services, approval requests and indexes
//! are those of a single run.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use haft_core::{ApprovalRequest, ToolCall, ToolEvent, ToolResult, Verdict};

use super::requested_call::{Origin, Planned, RequestedCall};
use super::verdict::RejectedVerdict;
use crate::executor::Run;

/// The message to the model for a call that has no verdict.
const NO_VERDICT: &str = "this call requires approval and no decision was made";

/// A decision about one call of a plan.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// The call may run, and does when the plan is [run](super::QueuePlan::into_run).
    Approved {
        /// The index of the call.
        index: usize,
        /// The call, with the arguments it was approved with.
        call: ToolCall,
        /// The verdict, if approval was requested.
        verdict: Option<Box<Verdict>>,
    },
    /// The call does not run.
    Finished {
        /// The index of the call.
        index: usize,
        /// The call.
        call: ToolCall,
        /// Its result: the reason why it does not run, or the answer that a verdict gave in place of the tool.
        result: ToolResult,
        /// The verdict, if there is one.
        verdict: Option<Box<Verdict>>,
    },
}

/// A run that holds each call before its handler.
pub(super) struct Planning {
    run: Run,
    planned: Arc<Planned>,
    /// Verdicts that were emitted, by call, until the call is decided.
    verdicts: HashMap<usize, Box<Verdict>>,
    /// The indexes of the calls that may run.
    approved: HashSet<usize>,
    /// Every event that was read, to be replayed by the run of the plan.
    log: Vec<ToolEvent>,
}

/// A step of a planning run.
pub(super) enum PlanningEvent {
    ApprovalRequested(usize, ApprovalRequest),
    Approved(usize, RequestedCall),
    Finished { index: usize, call: ToolCall, result: ToolResult, verdict: Option<Box<Verdict>> },
}

impl Decision {
    /// Returns the index of the call in its plan. Every event of the run has the same index.
    #[must_use]
    pub fn index(&self) -> usize {
        match self {
            Self::Approved { index, .. } | Self::Finished { index, .. } => *index,
        }
    }

    /// Returns the call.
    #[must_use]
    pub fn call(&self) -> &ToolCall {
        match self {
            Self::Approved { call, .. } | Self::Finished { call, .. } => call,
        }
    }

    /// Reports whether the call may run.
    #[must_use]
    pub fn is_approved(&self) -> bool {
        matches!(self, Self::Approved { .. })
    }

    /// Returns the decision that an event amounts to, or `None` for an approval request.
    pub(super) fn of(found: PlanningEvent) -> Option<Self> {
        match found {
            PlanningEvent::ApprovalRequested(..) => None,
            PlanningEvent::Approved(index, approved) => {
                let verdict = approved.verdict().cloned().map(Box::new);
                Some(Self::Approved { index, call: approved.call, verdict })
            }
            PlanningEvent::Finished { index, call, result, verdict } => {
                Some(Self::Finished { index, call, result, verdict })
            }
        }
    }
}

impl Planning {
    pub(super) fn new(run: Run, planned: Planned) -> Self {
        Self {
            run: run.planning(),
            planned: Arc::new(planned),
            verdicts: HashMap::new(),
            approved: HashSet::new(),
            log: Vec::new(),
        }
    }

    /// Returns the next event of the planning run, or `None` when every call is decided.
    pub(super) fn poll(&mut self, task: &mut Context<'_>) -> Poll<Option<PlanningEvent>> {
        loop {
            match Pin::new(&mut self.run).poll_next(task) {
                Poll::Ready(Some(event)) => {
                    if let Some(found) = self.read(event) {
                        return Poll::Ready(Some(found));
                    }
                }
                // The verdict's event is emitted before the call that it approves is held, so all events are read
                // first.
                nothing @ (Poll::Ready(None) | Poll::Pending) => {
                    let Some((index, digest)) = self.run.next_approved() else {
                        let is_over = nothing.is_ready() || self.run.is_decided();
                        return if is_over { Poll::Ready(None) } else { Poll::Pending };
                    };
                    self.approved.insert(index);
                    let (call, verdict) = (self.run.calls()[index].clone(), self.verdicts.remove(&index));
                    let origin = Origin { plan: Arc::clone(&self.planned), index };
                    let approved = RequestedCall::approved(call, digest, verdict, origin);
                    return Poll::Ready(Some(PlanningEvent::Approved(index, approved)));
                }
            }
        }
    }

    fn read(&mut self, event: ToolEvent) -> Option<PlanningEvent> {
        let found = match &event {
            ToolEvent::ApprovalRequested { index, request } => {
                Some(PlanningEvent::ApprovalRequested(*index, (**request).clone()))
            }
            ToolEvent::ApprovalResolved { index, response, .. } => {
                self.verdicts.insert(*index, response.clone());
                None
            }
            // This call was already reported as approved. If it was cancelled or timed out since, the run of the plan
            // reports that.
            ToolEvent::Output { index, .. } if self.approved.contains(index) => None,
            ToolEvent::Output { index, result } => {
                let (index, call, result) = (*index, self.run.calls()[*index].clone(), result.clone());
                Some(PlanningEvent::Finished { index, call, result, verdict: self.verdicts.remove(&index) })
            }
            // A plan can't be suspended. A call that has no verdict yet is planned again by the caller.
            ToolEvent::Suspended { index, .. } => {
                let (index, call) = (*index, self.run.calls()[*index].clone());
                let result = ToolResult::cancelled(&call, NO_VERDICT);
                Some(PlanningEvent::Finished { index, call, result, verdict: None })
            }
            // No handler runs here. Values that permits or policies emit freed their buffer space when they were read.
            ToolEvent::Started { .. }
            | ToolEvent::Progress { .. }
            | ToolEvent::Preliminary { .. }
            | ToolEvent::Unknown(_) => return None,
        };
        self.log.push(event);
        found
    }

    pub(super) fn into_planned(self) -> Arc<Planned> {
        self.planned
    }

    /// Continues as the run of the calls. Calls that were `handed_out` run only if they are in `given_back`.
    pub(super) fn into_run(self, mut handed_out: BTreeSet<usize>, given_back: &[RequestedCall]) -> Run {
        for origin in given_back.iter().filter_map(RequestedCall::origin) {
            if Arc::ptr_eq(&origin.plan, &self.planned) {
                handed_out.remove(&origin.index);
            }
        }
        self.run.released(self.log, &handed_out)
    }

    /// Returns the verdicts that were rejected.
    pub(super) fn rejected_verdicts(&self) -> &[RejectedVerdict] {
        self.run.rejected_verdicts()
    }

    /// Reports whether every call is decided or waits for a verdict.
    pub(super) fn is_waiting_for_answers(&self) -> bool {
        self.run.is_waiting_for_answers()
    }
}
