//! The approvals of a run: all that it knows of them besides the calls themselves.
//!
//! Most runs have none of this: it is there when calls come with something known about them, when a run was suspended
//! before, when it may be suspended now, or when it only finds out which calls may run.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

use super::call_state::CallState;
use super::run::Run;
use super::span::CallSpan;
#[cfg(feature = "approval")]
use crate::approval::Suspended;
use crate::approval::{
    ApprovedCall, Finished, Pending, Planned, PriorApproval, PriorState, RefusedVerdict, RequestedCall,
};
use crate::call::ToolCall;
use crate::event::ToolEvent;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::item::ApprovalRequest;
use crate::result::ToolResult;
use crate::tool::NO_APPROVAL;
use crate::toolkit::ToolSet;

/// The approvals of a run's calls.
#[derive(Default)]
#[cfg_attr(not(feature = "approval"), allow(dead_code, reason = "without digests nothing is known ahead or later"))]
pub(super) struct RunApprovals {
    /// The approvals that calls came with.
    known: Vec<(usize, Box<PriorState>)>,
    /// The indexes of calls that are not run here, in order: they were taken out of the plan that this is a run of.
    absent: Vec<usize>,
    /// Results from before this run.
    earlier: Vec<Finished>,
    /// Results of this run.
    finished: Vec<Finished>,
    /// Calls that wait beyond this run.
    pending: Vec<Pending>,
    /// Verdicts that fit no question, or did not count for theirs.
    refused: Vec<RefusedVerdict>,
    /// The plan, where the run is to stop before the handlers.
    plan: Option<Plan>,
}

/// The calls of a planning run that may run.
#[derive(Default)]
struct Plan {
    /// Those that nobody was told of yet.
    approved: VecDeque<(usize, ApprovedCall)>,
    /// All of them. Each is ready to run, and waits.
    held: BTreeSet<usize>,
}

/// The treatment of a call whose answer comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Suspending {
    /// It is suspended: whoever runs it takes what is left.
    Allowed,
    /// It is denied: only its result is asked for.
    Denied,
}

impl RunApprovals {
    /// Splits calls from what is known about them.
    pub(super) fn split(calls: impl Iterator<Item = RequestedCall>) -> (Vec<ToolCall>, Option<Box<Self>>) {
        let mut approvals: Option<Box<Self>> = None;
        let calls = calls.enumerate().map(|(index, RequestedCall { call, prior: known })| {
            if let Some(known) = known {
                approvals.get_or_insert_default().known.push((index, known));
            }
            call
        });
        (calls.collect(), approvals)
    }

    /// Creates the run of the calls that this was split from. Calls of one plan are run as they were planned: with its
    /// options, and each at its index there.
    pub(super) fn into_run(mut self: Box<Self>, set: Arc<ToolSet>, calls: Vec<ToolCall>) -> Run {
        let mut run = match self.shared_plan(calls.len()) {
            None => Run::new(set, calls),
            Some(plan) => {
                let mut planned = plan.calls.clone();
                let mut is_absent = vec![true; planned.len()];
                for ((index, known), call) in self.known.iter_mut().zip(calls) {
                    let Some(origin) = &known.origin else { continue };
                    *index = origin.index;
                    planned[*index] = call;
                    is_absent[*index] = false;
                }
                let absent = is_absent.into_iter().enumerate().filter(|(_, is_absent)| *is_absent);
                self.absent = absent.map(|(index, _)| index).collect();
                let mut run = Run::new(set, planned);
                run.options = plan.options.clone();
                run
            }
        };
        run.approvals = Some(self);
        run
    }

    /// The plan that all of the calls are part of, if there is one.
    fn shared_plan(&self, calls: usize) -> Option<Arc<Planned>> {
        let plan = |(_, known): &(usize, Box<PriorState>)| known.origin.as_ref().map(|origin| Arc::clone(&origin.plan));
        let first = plan(self.known.first()?)?;
        let is_shared = self.known.len() == calls
            && self.known.iter().all(|known| plan(known).is_some_and(|plan| Arc::ptr_eq(&plan, &first)));
        is_shared.then_some(first)
    }

    pub(super) fn is_planning(&self) -> bool {
        self.plan.is_some()
    }

    /// Returns the places of the calls that have their result from before, or get it elsewhere.
    pub(super) fn done(&self) -> HashSet<usize> {
        self.earlier.iter().map(|finished| finished.index).chain(self.absent.iter().copied()).collect()
    }

    /// Takes out the calls that are not run here, and makes up for the gaps.
    #[cfg(feature = "approval")]
    fn without_absent(&self, calls: &[ToolCall], pending: &mut [Pending], finished: &mut [Finished]) -> Vec<ToolCall> {
        let pending = pending.iter_mut().map(|pending| &mut pending.index);
        for index in pending.chain(finished.iter_mut().map(|finished| &mut finished.index)) {
            *index -= self.absent.partition_point(|absent| absent < index);
        }
        let present = calls.iter().enumerate().filter(|(index, _)| self.absent.binary_search(index).is_err());
        present.map(|(_, call)| call.clone()).collect()
    }
}

#[cfg_attr(not(feature = "approval"), allow(dead_code, reason = "without digests nothing is known ahead or later"))]
impl Run {
    /// The same run after an earlier one of the same calls.
    pub(crate) fn resumed(mut self, earlier: Vec<Finished>, refused: Vec<RefusedVerdict>) -> Self {
        let approvals = self.approvals.get_or_insert_default();
        (approvals.earlier, approvals.refused) = (earlier, refused);
        self
    }

    /// The same run, which stops each call before its handler, until it is [released](Run::released).
    pub(crate) fn planning(mut self) -> Self {
        self.approvals.get_or_insert_default().plan = Some(Plan::default());
        self
    }

    /// Returns the next call that was found fit to run, each once.
    pub(crate) fn next_approved(&mut self) -> Option<(usize, ApprovedCall)> {
        let plan = self.approvals.as_mut()?.plan.as_mut()?;
        // One that was cancelled or timed out meanwhile has its result.
        while let Some((index, approved)) = plan.approved.pop_front() {
            if plan.held.contains(&index) {
                return Some((index, approved));
            }
        }
        None
    }

    /// Reports whether every call of a planning run has its result or may run.
    pub(crate) fn is_decided(&self) -> bool {
        let plan = self.approvals.as_ref().and_then(|approvals| approvals.plan.as_ref());
        self.has_begun() && plan.is_some_and(|plan| plan.held.len() == self.unfinished)
    }

    /// Reports whether every call of a planning run has its result, may run, or waits for an answer.
    pub(crate) fn is_waiting_for_answers(&self) -> bool {
        let has_stopped = |call_state: &CallState| {
            call_state.is_answered() || call_state.is_awaiting_verdict() || call_state.is_held()
        };
        self.has_begun() && self.call_states.iter().all(has_stopped)
    }

    /// Goes on with a planning run as the run of its calls: the same calls, limits and questions. `shown` are the events
    /// that were read while it was planning, which are yet to be seen by whoever reads the run; `taken` are the calls that
    /// were taken out of the plan.
    pub(crate) fn released(mut self, shown: Vec<ToolEvent>, taken: &BTreeSet<usize>) -> Self {
        let Some(plan) = self.approvals.as_mut().and_then(|approvals| approvals.plan.take()) else {
            return self;
        };
        for event in &shown {
            if let Some(result) = event.result() {
                CallSpan::pass(&self.calls[event.index()], &result.outcome);
            }
        }
        let unread = std::mem::replace(&mut self.ready, shown.into());
        self.ready.extend(unread);
        for index in 0..self.call_states.len() {
            if self.call_states[index].is_answered() {
                continue;
            }
            if taken.contains(&index) {
                self.call_states[index].leave();
                self.unfinished -= 1;
                self.approvals.get_or_insert_default().absent.push(index);
                continue;
            }
            self.call_states[index].release(&self.calls[index], &self.set);
            if plan.held.contains(&index) {
                self.enqueue(index);
            }
        }
        self
    }
}

impl Run {
    /// The same run, of one call whose result is all that is asked for: it can't be suspended.
    pub(super) fn single(mut self) -> Self {
        self.suspending = Suspending::Denied;
        self
    }

    pub(super) fn is_planning(&self) -> bool {
        self.approvals.as_ref().is_some_and(|approvals| approvals.is_planning())
    }

    /// Puts what calls came with where it counts. Nothing has moved yet.
    pub(super) fn apply_prior_approvals(&mut self) {
        let Some(approvals) = &mut self.approvals else { return };
        let mut known = std::mem::take(&mut approvals.known);
        for index in approvals.earlier.iter().map(|finished| finished.index).chain(approvals.absent.iter().copied()) {
            if let Some(call_state) = self.call_states.get_mut(index) {
                call_state.leave();
                self.unfinished -= 1;
            }
        }
        for (index, known) in &mut known {
            let Some(response) = known.verdict.take() else { continue };
            let (index, call_id, tool) = (*index, self.calls[*index].call_id.clone(), self.name(*index));
            self.ready.push_back(ToolEvent::ApprovalResolved { index, call_id, tool, response });
        }
        for (index, known) in known {
            match known.prior_approval {
                PriorApproval::Finished(outcome) => self.finish(index, outcome),
                prior_approval => self.call_states[index].set_prior_approval(prior_approval),
            }
        }
    }

    /// Keeps a result for as long as the run may still be suspended. Whatever was asked about its call is over, and a
    /// verdict that could not be used for it is given back.
    pub(super) fn keep(&mut self, index: usize, result: &ToolResult) {
        let refused = self.call_states[index].close_request(&self.calls[index], &self.options);
        if self.options.approver.is_some() || self.approvals.is_some() {
            let approvals = self.approvals.get_or_insert_default();
            approvals.refused.extend(refused);
            approvals.finished.push(Finished { index, result: result.clone() });
            if let Some(plan) = &mut approvals.plan {
                plan.held.remove(&index);
            }
        }
    }

    /// A call waits beyond this run, if somebody can take it from there.
    pub(super) fn suspend(&mut self, index: usize, request: Box<ApprovalRequest>) {
        if self.suspending == Suspending::Denied {
            return self.cancel_call(index, ToolFailure::new(FailureKind::Denied, NO_APPROVAL));
        }
        self.drain_mailbox();
        let refused = self.call_states[index].take_rejected();
        self.call_states[index].leave();
        self.unfinished -= 1;
        let approvals = self.approvals.get_or_insert_default();
        approvals.refused.extend(refused);
        approvals.pending.push(Pending { index, request: (*request).clone() });
        self.ready.push_back(ToolEvent::Suspended { index, request });
    }

    /// Holds a call that was found fit to run, until its plan is run.
    pub(super) fn hold(&mut self, index: usize) {
        let digest = self.call_states[index].digest().unwrap_or_default().to_owned();
        let approved = ApprovedCall::new(self.calls[index].clone(), digest);
        let refused = self.call_states[index].take_rejected();
        let Some(approvals) = &mut self.approvals else { return };
        approvals.refused.extend(refused);
        if let Some(plan) = &mut approvals.plan {
            plan.approved.push_back((index, approved));
            plan.held.insert(index);
        }
    }

    /// Reports whether calls of it wait beyond this run.
    pub(super) fn has_pending(&self) -> bool {
        self.approvals.as_ref().is_some_and(|approvals| !approvals.pending.is_empty())
    }

    /// Results from before this run, which no event of it shows.
    pub(super) fn earlier(&self) -> impl Iterator<Item = &Finished> {
        self.approvals.iter().flat_map(|approvals| &approvals.earlier)
    }

    /// Returns what is left of the run, if it ended with calls that wait.
    #[cfg(feature = "approval")]
    pub(super) fn take_suspended(&mut self) -> Option<Suspended> {
        let approvals =
            self.approvals.as_mut().filter(|approvals| self.unfinished == 0 && !approvals.pending.is_empty())?;
        let mut pending = std::mem::take(&mut approvals.pending);
        let mut finished = std::mem::take(&mut approvals.finished);
        finished.append(&mut approvals.earlier);
        pending.sort_by_key(|pending| pending.index);
        finished.sort_by_key(|finished| finished.index);
        // A run knows all of its calls, so what it says of them holds together.
        let calls = approvals.without_absent(&self.calls, &mut pending, &mut finished);
        Suspended::new(calls, pending, finished).ok()
    }

    #[cfg(feature = "approval")]
    pub(super) fn refused(&self) -> &[RefusedVerdict] {
        self.approvals.as_ref().map_or(&[], |approvals| &approvals.refused)
    }
}
