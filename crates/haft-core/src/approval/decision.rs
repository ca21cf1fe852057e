//! Decisions about calls as they are made.
//!
//! A planning run walks every call to the point where it could run, and holds it there. Decisions say what it found out, each
//! about one call, in the order they are made. They are notices: nothing runs by them. The planning run itself goes on as
//! the run of its calls, so limits, services, questions and indexes are those of one run, whatever was read before.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::approved_call::{ApprovedCall, Origin, Planned};
use super::verdict::RefusedVerdict;
use crate::call::ToolCall;
use crate::event::ToolEvent;
use crate::executor::Run;
use crate::item::{ApprovalRequest, ApprovalResponse};
use crate::result::ToolResult;

/// What the model is told when no verdict came with its call.
const NO_VERDICT: &str = "nobody has decided whether this call may run";

/// A decision about one call of a plan.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// It may run, and does when the plan is [run](super::QueuePlan::into_run).
    Approved {
        /// The index of the call.
        index: usize,
        /// The call, with the arguments it was approved with.
        call: ToolCall,
        /// The verdict.
        verdict: Option<Box<ApprovalResponse>>,
    },
    /// It does not run.
    Settled {
        /// The index of the call.
        index: usize,
        /// The call.
        call: ToolCall,
        /// Its result: why it does not run, or a person's answer in the tool's place.
        result: ToolResult,
        /// The verdict, when there was one.
        verdict: Option<Box<ApprovalResponse>>,
    },
}

/// Decisions about calls, as they are made: one per call that was not decided at once. The stream ends when all are.
///
/// Nothing is waited for, and no time passes for the questions, while it is not polled.
#[must_use = "nothing is decided unless the stream is polled"]
pub struct Decisions {
    planning: Planning,
    ready: VecDeque<Decision>,
    /// The calls that were approved at once and handed out.
    handed_out: BTreeSet<usize>,
}

/// A run that stops each call before its handler.
pub(super) struct Planning {
    run: Run,
    planned: Arc<Planned>,
    /// Verdicts that were shown, until their call is decided.
    verdicts: HashMap<usize, Box<ApprovalResponse>>,
    /// The calls that were found fit to run.
    approved: HashSet<usize>,
    /// Everything that was read of the run, for whoever reads on.
    log: Vec<ToolEvent>,
}

/// Something a planning run found out.
pub(super) enum PlanningEvent {
    ApprovalRequested(usize, ApprovalRequest),
    Approved(usize, ApprovedCall),
    Settled { index: usize, call: ToolCall, result: ToolResult, verdict: Option<Box<ApprovalResponse>> },
}

impl Decision {
    /// The index of the call in its plan, which every event of its run has too.
    #[must_use]
    pub fn index(&self) -> usize {
        match self {
            Self::Approved { index, .. } | Self::Settled { index, .. } => *index,
        }
    }

    /// The call.
    #[must_use]
    pub fn call(&self) -> &ToolCall {
        match self {
            Self::Approved { call, .. } | Self::Settled { call, .. } => call,
        }
    }

    /// Whether the call may run.
    #[must_use]
    pub fn is_approved(&self) -> bool {
        matches!(self, Self::Approved { .. })
    }

    /// The notice of what was found out; none when somebody was asked.
    pub(super) fn of(found: PlanningEvent) -> Option<Self> {
        match found {
            PlanningEvent::ApprovalRequested(..) => None,
            PlanningEvent::Approved(index, approved) => {
                let ApprovedCall { call, verdict, .. } = approved;
                Some(Self::Approved { index, call, verdict })
            }
            PlanningEvent::Settled { index, call, result, verdict } => {
                Some(Self::Settled { index, call, result, verdict })
            }
        }
    }
}

impl Decisions {
    pub(super) fn new(planning: Planning, ready: VecDeque<Decision>, handed_out: BTreeSet<usize>) -> Self {
        Self { planning, ready, handed_out }
    }

    /// The verdicts that reached the plan and did not count, and why.
    #[must_use]
    pub fn refused_verdicts(&self) -> &[RefusedVerdict] {
        self.planning.refused()
    }

    /// The next decision; `None` when every call is decided on.
    pub async fn next(&mut self) -> Option<Decision> {
        poll_fn(|task| Pin::new(&mut *self).poll_next(task)).await
    }

    /// Goes on as the run of the calls. Of those that were handed out, the run has the ones that were given back.
    pub(super) fn into_run(self, given_back: &[ApprovedCall]) -> Run {
        let Self { planning: Planning { run, planned, log, .. }, handed_out: mut taken, .. } = self;
        for origin in given_back.iter().filter_map(|approved| approved.origin.as_ref()) {
            if Arc::ptr_eq(&origin.plan, &planned) {
                taken.remove(&origin.index);
            }
        }
        run.released(log, &taken)
    }
}

impl Stream for Decisions {
    type Item = Decision;

    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Decision>> {
        let this = self.get_mut();
        if let Some(decision) = this.ready.pop_front() {
            return Poll::Ready(Some(decision));
        }
        loop {
            match this.planning.poll(task) {
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

    /// What is found out next; `None` when everything is.
    pub(super) fn poll(&mut self, task: &mut Context<'_>) -> Poll<Option<PlanningEvent>> {
        loop {
            match Pin::new(&mut self.run).poll_next(task) {
                Poll::Ready(Some(event)) => {
                    if let Some(found) = self.read(event) {
                        return Poll::Ready(Some(found));
                    }
                }
                // A verdict is shown before the call that it lets run is held.
                nothing @ (Poll::Ready(None) | Poll::Pending) => {
                    let Some((index, mut approved)) = self.run.next_approved() else {
                        let is_over = nothing.is_ready() || self.run.is_decided();
                        return if is_over { Poll::Ready(None) } else { Poll::Pending };
                    };
                    approved.verdict = self.verdicts.remove(&index);
                    approved.origin = Some(Origin { plan: Arc::clone(&self.planned), index });
                    self.approved.insert(index);
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
            // What may run was decided: that it timed out or was cancelled since is for whoever runs the plan.
            ToolEvent::Output { index, .. } if self.approved.contains(index) => None,
            ToolEvent::Output { index, result } => {
                let (index, call, result) = (*index, self.run.calls()[*index].clone(), result.clone());
                Some(PlanningEvent::Settled { index, call, result, verdict: self.verdicts.remove(&index) })
            }
            // Nobody goes on with a plan later: a call that could wait is planned again.
            ToolEvent::Suspended { index, .. } => {
                let (index, call) = (*index, self.run.calls()[*index].clone());
                let result = ToolResult::cancelled(&call, NO_VERDICT);
                Some(PlanningEvent::Settled { index, call, result, verdict: None })
            }
            // Nothing runs, and what a permit or a policy emits was made room for when it was read.
            ToolEvent::Progress { .. } | ToolEvent::Preliminary { .. } => return None,
        };
        self.log.push(event);
        found
    }

    pub(super) fn into_planned(self) -> Arc<Planned> {
        self.planned
    }

    /// The verdicts that turned out to be unusable.
    pub(super) fn refused(&self) -> &[RefusedVerdict] {
        self.run.refused_verdicts()
    }

    /// Whether every call is decided on or waits for an answer.
    pub(super) fn is_waiting_for_answers(&self) -> bool {
        self.run.is_waiting_for_answers()
    }
}

impl fmt::Debug for Decisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decisions").field("run", &self.planning.run).finish_non_exhaustive()
    }
}
