//! Decisions about calls as they are made.
//!
//! A planning run walks every call to the point where it could run, and stops there. What it finds out is handed on as
//! decisions, each about one call, in the order they are made. Running the approved ones is up to the reader.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::approved_call::{ApprovedCall, RequestedCall};
use super::verdict::RefusedVerdict;
use crate::call::ToolCall;
use crate::event::ToolEvent;
use crate::executor::Run;
use crate::item::{ApprovalRequest, ApprovalResponse};
use crate::result::ToolResult;
use crate::toolkit::Toolkit;

/// What the model is told when no verdict came with its call.
const NO_VERDICT: &str = "nobody has decided whether this call may run";

/// What was decided about one call.
#[derive(Debug)]
#[must_use = "a call that was decided on still needs its result"]
#[non_exhaustive]
pub enum Decision {
    /// It may run.
    Approved(ApprovedCall),
    /// It does not run.
    Settled {
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
    ready: VecDeque<(usize, Decision)>,
}

/// A run that only finds out which calls may run.
pub(super) struct Planning {
    run: Run,
    /// Verdicts that were shown, until their call is decided.
    verdicts: HashMap<usize, Box<ApprovalResponse>>,
}

/// Something a planning run found out.
pub(super) enum Found {
    Asked(usize, ApprovalRequest),
    Decided(usize, Decision),
}

impl Decision {
    /// The call.
    #[must_use]
    pub fn call(&self) -> &ToolCall {
        match self {
            Self::Approved(approved) => approved.call(),
            Self::Settled { call, .. } => call,
        }
    }

    /// Whether the call may run.
    #[must_use]
    pub fn is_approved(&self) -> bool {
        matches!(self, Self::Approved(_))
    }
}

impl Toolkit {
    /// The events of a call that was decided on: the verdict, and then what the tool does, or the result it has instead.
    ///
    /// To run approved calls beside each other, merge these streams (`flat_map_unordered` of `futures`), or hand
    /// everything to one run with [`approvals`](Run::approvals).
    pub fn decision_to_events(&self, decision: Decision) -> Run {
        self.run([decision])
    }
}

impl Decisions {
    pub(super) fn new(planning: Planning, ready: VecDeque<(usize, Decision)>) -> Self {
        Self { planning, ready }
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
}

impl Stream for Decisions {
    type Item = Decision;

    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Decision>> {
        let this = self.get_mut();
        if let Some((_, decision)) = this.ready.pop_front() {
            return Poll::Ready(Some(decision));
        }
        loop {
            match this.planning.poll(task) {
                Poll::Ready(Some(Found::Decided(_, decision))) => return Poll::Ready(Some(decision)),
                Poll::Ready(Some(Found::Asked(..))) => {}
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl Planning {
    pub(super) fn new(run: Run) -> Self {
        Self { run: run.planning(), verdicts: HashMap::new() }
    }

    /// What is found out next; `None` when everything is.
    pub(super) fn poll(&mut self, task: &mut Context<'_>) -> Poll<Option<Found>> {
        loop {
            match Pin::new(&mut self.run).poll_next(task) {
                Poll::Ready(Some(ToolEvent::ApprovalRequested { index, request })) => {
                    return Poll::Ready(Some(Found::Asked(index, *request)));
                }
                Poll::Ready(Some(ToolEvent::ApprovalResolved { index, response, .. })) => {
                    self.verdicts.insert(index, response);
                }
                Poll::Ready(Some(ToolEvent::Output { index, result })) => {
                    let (call, verdict) = (self.run.calls()[index].clone(), self.verdicts.remove(&index));
                    return Poll::Ready(Some(Found::Decided(index, Decision::Settled { call, result, verdict })));
                }
                // Nobody goes on with a plan later: a call that could wait is planned again.
                Poll::Ready(Some(ToolEvent::Suspended { index, .. })) => {
                    let call = self.run.calls()[index].clone();
                    let result = ToolResult::cancelled(&call, NO_VERDICT);
                    let decision = Decision::Settled { call, result, verdict: None };
                    return Poll::Ready(Some(Found::Decided(index, decision)));
                }
                Poll::Ready(Some(_)) => {}
                // A verdict is shown before the call that it lets run is handed over.
                nothing @ (Poll::Ready(None) | Poll::Pending) => {
                    let Some((index, mut approved)) = self.run.next_approved() else {
                        return nothing.map(|_| None);
                    };
                    approved.verdict = self.verdicts.remove(&index);
                    return Poll::Ready(Some(Found::Decided(index, Decision::Approved(approved))));
                }
            }
        }
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

impl From<Decision> for RequestedCall {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Approved(approved) => approved.into(),
            Decision::Settled { call, result, verdict } => Self::settled(call, result, verdict),
        }
    }
}

impl fmt::Debug for Decisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decisions").field("run", &self.planning.run).finish_non_exhaustive()
    }
}
