//! The approval state of a run, besides the calls themselves.
//!
//! Most runs have none. It exists when calls come with facts about their approval, when a run was suspended before or
//! may be suspended now, or when a run only plans: it determines which calls may run.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

use haft_core::{ApprovalRequest, FailureKind, ToolCall, ToolEvent, ToolFailure, ToolResult};

use super::call_state::{CallState, LeavingCall};
use super::option::RunOptions;
use super::run::Run;
use super::span::CallSpan;
use crate::approval::Suspended;
use crate::approval::{
    Finished, Pending, Planned, PriorApproval, PriorState, RejectedVerdict, RequestedCall, Waiting, WaitingCall,
};
use crate::tool::NO_APPROVAL;
use crate::toolkit::ToolSet;

/// The approval state of a run.
#[derive(Default)]
pub(super) struct RunApprovals {
    /// The approvals that calls came with.
    known: Vec<(usize, Box<PriorState>)>,
    /// The indexes of calls that are not run here, in order: they were removed from the plan that this is a run of.
    absent: Vec<usize>,
    /// Results from before this run.
    earlier: Vec<Finished>,
    /// Results of this run.
    finished: Vec<Finished>,
    /// Calls that are suspended, with a request each or a request for each open question.
    pending: Vec<Pending>,
    /// Those of them that wait for answers.
    waiting: Vec<Waiting>,
    /// Verdicts that match no request, or were rejected.
    rejected: Vec<RejectedVerdict>,
    /// Set in a planning run, which stops before the handlers.
    plan: Option<Plan>,
}

/// The calls of a planning run that may run.
#[derive(Default)]
struct Plan {
    /// Those that were not returned yet.
    approved: VecDeque<(usize, String)>,
    /// All of them. Each is ready to run, and held.
    held: BTreeSet<usize>,
}

/// The treatment of a call whose verdict is deferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Suspending {
    /// It is suspended: the application stores it and resumes it later.
    Allowed,
    /// It is denied: a single call must return a result.
    Denied,
}

impl RunApprovals {
    /// Splits calls from the facts about their approval.
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

    /// Creates the run of the calls that this was split from. Calls of one plan run as they were planned: with its
    /// options, and each at its index there.
    pub(super) fn into_run(
        mut self: Box<Self>,
        set: Arc<ToolSet>,
        calls: Vec<ToolCall>,
        options: Option<RunOptions>,
    ) -> Run {
        let mut run = match self.shared_plan(calls.len()) {
            None => Run::new(set, calls, options.unwrap_or_default()),
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
                Run::new(set, planned, options.unwrap_or_else(|| plan.options.clone()))
            }
        };
        run.approvals = Some(self);
        run
    }

    /// Returns the plan that all of the calls are part of, if there is one.
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

    /// Returns the indexes of the calls that have their result from before, or run elsewhere.
    pub(super) fn done(&self) -> HashSet<usize> {
        self.earlier.iter().map(|finished| finished.index).chain(self.absent.iter().copied()).collect()
    }

    /// Removes the calls that are not run here, and adjusts the indexes.
    fn without_absent(
        &self,
        calls: &[ToolCall],
        pending: &mut [Pending],
        waiting: &mut [Waiting],
        finished: &mut [Finished],
    ) -> Vec<ToolCall> {
        let pending = pending.iter_mut().map(|pending| &mut pending.index);
        let waiting = waiting.iter_mut().map(|waiting| &mut waiting.index);
        for index in pending.chain(waiting).chain(finished.iter_mut().map(|finished| &mut finished.index)) {
            *index -= self.absent.partition_point(|absent| absent < index);
        }
        let present = calls.iter().enumerate().filter(|(index, _)| self.absent.binary_search(index).is_err());
        present.map(|(_, call)| call.clone()).collect()
    }
}

impl Run {
    /// Adds the results and rejected verdicts of an earlier run of the same calls.
    pub(crate) fn resumed(mut self, earlier: Vec<Finished>, rejected: Vec<RejectedVerdict>) -> Self {
        let approvals = self.approvals.get_or_insert_default();
        (approvals.earlier, approvals.rejected) = (earlier, rejected);
        self
    }

    /// Makes this a planning run: each call stops before its handler, until the run is [released](Run::released).
    pub(crate) fn planning(mut self) -> Self {
        self.approvals.get_or_insert_default().plan = Some(Plan::default());
        self
    }

    /// Returns the index of the next call that may run, each once, and the digest that its approval is bound to.
    pub(crate) fn next_approved(&mut self) -> Option<(usize, String)> {
        let plan = self.approvals.as_mut()?.plan.as_mut()?;
        // A call that was cancelled or timed out meanwhile has its result.
        while let Some((index, digest)) = plan.approved.pop_front() {
            if plan.held.contains(&index) {
                return Some((index, digest));
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

    /// Turns a planning run into the run of its calls: the same calls, limits and requests. `read` are the events that
    /// were read while it was planning, which the reader of the run has yet to receive; `taken` are the calls that were
    /// removed from the plan.
    pub(crate) fn released(mut self, read: Vec<ToolEvent>, taken: &BTreeSet<usize>) -> Self {
        let Some(plan) = self.approvals.as_mut().and_then(|approvals| approvals.plan.take()) else {
            return self;
        };
        for event in &read {
            if let Some(result) = event.result() {
                CallSpan::record_unstarted(&self.calls[event.index()], &result.outcome);
            }
        }
        let unread = std::mem::replace(&mut self.ready, read.into());
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
    /// Marks this as the run of a single call, which must return a result: it can't be suspended.
    pub(super) fn single(mut self) -> Self {
        self.suspending = Suspending::Denied;
        self
    }

    pub(super) fn is_planning(&self) -> bool {
        self.approvals.as_ref().is_some_and(|approvals| approvals.is_planning())
    }

    /// Hands the approval facts that calls came with to their states. No call has been advanced yet.
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

    /// Records a result for as long as the run may still be suspended. The approval request of the call is closed, and
    /// a verdict that was not used is kept for the application.
    pub(super) fn record_result(&mut self, index: usize, result: &ToolResult) {
        let rejected = self.call_states[index].close_request(&self.calls[index], &self.options);
        if self.options.approver.is_some() || self.approvals.is_some() {
            let approvals = self.approvals.get_or_insert_default();
            approvals.rejected.extend(rejected);
            approvals.finished.push(Finished { index, result: result.clone() });
            if let Some(plan) = &mut approvals.plan {
                plan.held.remove(&index);
            }
        }
    }

    /// Suspends a call: it leaves this run and waits for its verdict. A single call is denied instead.
    pub(super) fn suspend(&mut self, index: usize, request: Box<ApprovalRequest>) {
        if self.suspending == Suspending::Denied {
            return self.cancel_call(index, ToolFailure::new(FailureKind::Denied, NO_APPROVAL));
        }
        self.drain_mailbox();
        let rejected = self.call_states[index].take_rejected();
        self.call_states[index].leave();
        self.unfinished -= 1;
        let approvals = self.approvals.get_or_insert_default();
        approvals.rejected.extend(rejected);
        approvals.pending.push(Pending { index, request: (*request).clone() });
        self.ready.push_back(ToolEvent::Suspended { index, request });
    }

    /// Suspends a call that waits for answers: it leaves this run with its state, and its open questions stay open.
    pub(super) fn leave_waiting(&mut self, index: usize, leaving: LeavingCall) {
        let LeavingCall { wait, open } = leaving;
        self.drain_mailbox();
        let rejected = self.call_states[index].take_rejected();
        self.call_states[index].leave();
        self.unfinished -= 1;
        let approvals = self.approvals.get_or_insert_default();
        approvals.rejected.extend(rejected);
        approvals.waiting.push(Waiting { index, wait });
        for request in open {
            approvals.pending.push(Pending { index, request: request.clone() });
            self.ready.push_back(ToolEvent::Suspended { index, request: Box::new(request) });
        }
        self.free_slot_of(index);
    }

    /// Holds a call that may run, until its plan is run.
    pub(super) fn hold(&mut self, index: usize) {
        let digest = self.call_states[index].digest().unwrap_or_default().to_owned();
        let rejected = self.call_states[index].take_rejected();
        let Some(approvals) = &mut self.approvals else { return };
        approvals.rejected.extend(rejected);
        if let Some(plan) = &mut approvals.plan {
            plan.approved.push_back((index, digest));
            plan.held.insert(index);
        }
    }

    /// Returns the state of a call that waits for answers after this run; `None` for any other call. It is available when
    /// the call's first [`Suspended`](ToolEvent::Suspended) event is. [`suspended`](Self::suspended) contains it as well.
    #[must_use]
    pub fn waiting_call(&self, index: usize) -> Option<WaitingCall> {
        let waiting = self.approvals.as_ref()?.waiting.iter().find(|waiting| waiting.index == index)?;
        Some(WaitingCall { call: self.calls[index].clone(), wait: waiting.wait.clone() })
    }

    /// Returns the open questions of a call that waits for answers after this run, in order.
    pub fn open_questions(&self, index: usize) -> impl Iterator<Item = &ApprovalRequest> {
        let pending = self.approvals.iter().flat_map(|approvals| &approvals.pending);
        let pending = pending.filter(move |pending| pending.index == index && pending.request.question.is_some());
        pending.map(|pending| &pending.request)
    }

    /// Reports whether calls of the run are suspended.
    pub(super) fn has_pending(&self) -> bool {
        self.approvals.as_ref().is_some_and(|approvals| !approvals.pending.is_empty())
    }

    /// Returns the results from before this run, which are not among its events.
    pub(super) fn earlier(&self) -> impl Iterator<Item = &Finished> {
        self.approvals.iter().flat_map(|approvals| &approvals.earlier)
    }

    /// Returns the suspended run, if it ended with suspended calls.
    pub(super) fn take_suspended(&mut self) -> Option<Suspended> {
        let approvals =
            self.approvals.as_mut().filter(|approvals| self.unfinished == 0 && !approvals.pending.is_empty())?;
        let mut pending = std::mem::take(&mut approvals.pending);
        let mut waiting = std::mem::take(&mut approvals.waiting);
        let mut finished = std::mem::take(&mut approvals.finished);
        finished.append(&mut approvals.earlier);
        pending.sort_by_key(|pending| pending.index);
        finished.sort_by_key(|finished| finished.index);
        // The indexes come from this run's calls, so the parts are consistent.
        let calls = approvals.without_absent(&self.calls, &mut pending, &mut waiting, &mut finished);
        let rejected = self.rejected_verdicts().to_vec();
        let suspended = Suspended::new(calls, pending, finished, waiting).ok()?.with_run_id(self.run_id());
        Some(suspended.with_rejected_verdicts(rejected))
    }

    pub(super) fn rejected(&self) -> &[RejectedVerdict] {
        self.approvals.as_ref().map_or(&[], |approvals| &approvals.rejected)
    }
}
