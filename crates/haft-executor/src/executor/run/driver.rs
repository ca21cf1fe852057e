//! The driver of a run: each poll advances its calls.
//!
//! Every poll takes the same steps in this order: end calls that were cancelled; poll running calls that were woken, so
//! that a call that has finished is not reported as timed out; end calls that are past their deadlines; advance all
//! others; and only then return an event. So no event is returned that a cancellation or a timeout should have
//! preceded.

use std::collections::HashSet;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use haft_core::{ApprovalRequest, FailureKind, Outcome, ToolEvent, ToolFailure, ToolName, ToolResult};
use haft_schema::isolation::{Isolated, Panicked, poll_isolated};
use tokio::task::coop::has_budget_remaining;
use tokio::time::Instant;

use super::{Due, Run};
use crate::cancellation::Cancellation;
use crate::cx::RunCx;
use crate::cx::emit::Emitted;
use crate::executor::call_handle::RunShared;
use crate::executor::call_state::{Advance, CallState, StepCx};
use crate::executor::mailbox::{Emission, EmissionBody};
use crate::executor::option::{HandlerTask, StartEvents};
use crate::executor::slot::Slots;
use crate::handler::broken;
use crate::seed::RandomState;

/// The message to the model about calls that were cancelled.
const CANCELLED: &str = "the call was cancelled";
/// The message to the model about calls that were unfinished at the run's deadline.
const PAST_DEADLINE: &str = "the run's deadline passed before this call finished";

/// Timeouts are set, and tokio's timer is not available.
#[derive(Clone, Debug, thiserror::Error)]
#[error("timeouts require a tokio runtime with time enabled: {0}")]
struct MissingTimer(#[source] Panicked);

/// The point up to which a call is advanced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AdvanceUntil {
    /// Until its verdict is resolved: nothing that follows from the verdict starts.
    Verdict,
    /// Until it has to wait or has finished.
    Blocked,
}

impl Run {
    /// Starts the run and advances every call until it has to wait.
    pub(super) fn start(&mut self) {
        let count = self.calls.len();
        self.call_states = std::iter::repeat_with(CallState::new).take(count).collect();
        self.wakers.resize(count, None);
        self.ready.reserve(count);
        self.slots = Slots::new(self.options.concurrency);
        self.problems = self.set.problems(self.options.scope.as_deref());
        self.deadline = self.options.until.and_then(|deadline| deadline.moment(Instant::now()));
        if let Some(deadline) = self.deadline {
            self.timer.add(deadline, Due::Run);
        }
        let shared = RunCx {
            decode: self.options.decode,
            cancellations: self.options.cancellations.clone(),
            deadline: self.deadline,
            scope: self.options.scope.clone(),
            run_id: std::mem::take(&mut self.id),
            start_events: self.options.start_events,
            asking: self.options.asking(),
        };
        self.shared = Some(RunShared::new(Arc::clone(&self.set), Arc::clone(&self.calls), shared));
        self.watch_cancellation();
        // Results and verdicts from before the run are kept even if the run is cancelled right away.
        self.apply_prior_approvals();
        if self.was_cancelled() || self.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            // Nothing may start: the calls are ended before any of them is advanced.
            return;
        }
        for index in self.repeated_ids() {
            if self.call_states[index].is_answered() {
                continue;
            }
            let failure = ToolResult::duplicate_call_id(&self.calls[index]).into_failure();
            self.cancel_call(index, failure);
        }
        self.was_cut_short = false;
        for index in 0..count {
            self.advance(index);
        }
        self.has_free_slot = true;
    }

    /// Ends all calls if the run was cancelled.
    pub(super) fn end_cancelled(&mut self, task: &mut Context<'_>) {
        if self.cancelled.is_some() {
            match poll_isolated(&mut self.cancelled, task) {
                Poll::Pending => {}
                Poll::Ready(Ok(())) => self.is_cancelled = true,
                // The waker of the task panicked, so the cancellation can't wake it. Each poll checks the flag instead.
                Poll::Ready(Err(_)) => {
                    self.is_cancelled = self.was_cancelled();
                    self.watch_cancellation();
                }
            }
        }
        if self.is_cancelled && self.unfinished > 0 {
            if self.options.handler_task == HandlerTask::Spawned {
                // A handler that returned in its task before the cancellation keeps its result.
                self.poll_timed();
            }
            self.cancel_all(|| ToolFailure::new(FailureKind::Cancelled, CANCELLED));
        }
    }

    fn watch_cancellation(&mut self) {
        let flags = self.options.cancellations.clone();
        self.cancelled = (!flags.is_empty())
            .then(|| Isolated::new(Box::pin(async move { Cancellation::any(flags.as_slice()).await }) as _));
    }

    /// Ends the calls that are past their deadlines.
    pub(super) fn end_timed_out(&mut self) {
        if self.timer.is_empty() {
            return;
        }
        self.poll_timed();
        let now = Instant::now();
        while let Some(due) = self.timer.pop(now) {
            match due {
                Due::Run => self.cancel_all(|| ToolFailure::new(FailureKind::TimedOut, PAST_DEADLINE)),
                Due::Call(index) if self.call_states[index].pass_deadline() => self.end_if_timed_out(index, now),
                Due::Call(_) => {}
            }
        }
    }

    /// Ends a call that passed its deadline before it was polled, and that has not finished. With no budget left the
    /// poll may not have made progress, so the call is polled again first.
    fn end_after_last_poll(&mut self, index: usize) {
        if has_budget_remaining() {
            return self.end_if_timed_out(index, Instant::now());
        }
        self.enqueue(index);
        self.call_states[index].pass_deadline();
    }

    fn end_if_timed_out(&mut self, index: usize, now: Instant) {
        let call_state = &mut self.call_states[index];
        if let Some(at) = self.shared.as_ref().and_then(|run_shared| run_shared.mailbox.last_activity(index)) {
            call_state.touch(at);
        }
        let Some(due) = call_state.due() else { return };
        if due > now {
            return self.timer.add(due, Due::Call(index));
        }
        // User code that waits for its reader is not idle.
        if call_state.is_only_idle(now)
            && self.shared.as_ref().is_some_and(|run_shared| run_shared.mailbox.is_full(index))
        {
            call_state.touch(now);
            if let Some(due) = call_state.due() {
                self.timer.add(due, Due::Call(index));
            }
            return;
        }
        let failure = call_state.timed_out(now);
        self.cancel_call(index, failure);
    }

    /// Polls the calls that have a running deadline and were woken. No handler starts here: a call whose verdict was
    /// resolved is advanced later.
    fn poll_timed(&mut self) {
        self.drain_mailbox();
        for _ in 0..self.woken.len() {
            let Some(index) = self.next_woken() else { return };
            let call_state = &self.call_states[index];
            if call_state.is_running() || call_state.is_awaiting_verdict() || call_state.is_awaiting_answers() {
                self.advance_to(index, AdvanceUntil::Verdict);
                if !has_budget_remaining() {
                    return;
                }
            } else {
                self.enqueue(index);
            }
        }
    }

    /// Advances the calls that were woken, and those that get a slot.
    pub(super) fn advance_woken(&mut self) {
        self.drain_mailbox();
        while let Some(index) = self.next_woken() {
            self.advance(index);
            // Without budget, polling the others would only return pending.
            if !has_budget_remaining() {
                return;
            }
        }
        while self.has_free_slot {
            match self.slots.next() {
                Some(index) if self.start_handler(index) => self.advance(index),
                Some(_) => {}
                None => self.has_free_slot = false,
            }
        }
    }

    /// Queues a call to be polled.
    pub(in crate::executor) fn enqueue(&mut self, index: usize) {
        if self.call_states[index].enqueue() {
            self.woken.push_back(index);
        }
    }

    fn next_woken(&mut self) -> Option<usize> {
        let index = self.woken.pop_front()?;
        self.call_states[index].dequeue();
        Some(index)
    }

    /// Takes the emitted values of calls out of the mailbox, and queues the calls that were woken.
    pub(in crate::executor) fn drain_mailbox(&mut self) {
        let Some((woken, emissions)) = self.shared.as_ref().and_then(|run_shared| run_shared.mailbox.drain()) else {
            return;
        };
        for index in woken {
            self.enqueue(index);
        }
        for Emission { index, body } in emissions {
            if self.call_states[index].is_answered() {
                continue;
            }
            let (call_id, tool) = (self.calls[index].call_id.clone(), self.name(index));
            self.ready.push_back(match body {
                EmissionBody::Started { attempt } => ToolEvent::Started { index, call_id, tool, attempt },
                EmissionBody::Value { emitted, at } => {
                    self.call_states[index].touch(at);
                    let seq = self.call_states[index].next_seq();
                    match emitted {
                        Emitted::Progress(data) => ToolEvent::Progress { index, call_id, tool, seq, data },
                        Emitted::Preliminary(value) => ToolEvent::Preliminary { index, call_id, tool, seq, value },
                    }
                }
                EmissionBody::Asked { request, at } => {
                    self.call_states[index].pause(at);
                    ToolEvent::ApprovalRequested { index, request }
                }
                EmissionBody::Settled { verdict, at } => {
                    let deadline = self.call_states[index].settle(at);
                    if let (Some(_), Some(run_shared)) = (deadline, &self.shared) {
                        run_shared.mailbox.set_deadline(index, deadline);
                    }
                    if let Some(due) = self.call_states[index].due() {
                        self.timer.add(due, Due::Call(index));
                    }
                    let Some(response) = verdict else { continue };
                    ToolEvent::ApprovalResolved { index, call_id, tool, response }
                }
            });
        }
    }

    /// Registers the task to be woken when there is work. Returns false if there is work already.
    pub(super) fn park(&mut self, task: &mut Context<'_>) -> bool {
        // Calls that the task had no budget left for are still queued.
        if !self.woken.is_empty() || self.has_free_slot {
            return false;
        }
        match self.timer.park(task) {
            Ok(Poll::Pending) => self.shared.as_ref().is_some_and(|run_shared| run_shared.mailbox.park(task.waker())),
            Ok(Poll::Ready(())) => false,
            Err(panicked) => {
                // Without a timer no timeout can be enforced, and one that is not enforced must not be ignored
                // silently.
                let cause = MissingTimer(panicked);
                self.cancel_all(|| broken(cause.clone()));
                false
            }
        }
    }

    /// Advances one call until it has to wait or has finished.
    fn advance(&mut self, index: usize) {
        self.advance_to(index, AdvanceUntil::Blocked);
    }

    fn advance_to(&mut self, index: usize, until: AdvanceUntil) {
        if self.call_states[index].is_answered() {
            return self.free_slot_of(index);
        }
        let is_planning = self.is_planning();
        loop {
            let Some(run_shared) = &self.shared else { return };
            let step_cx = StepCx {
                set: &self.set,
                options: &self.options,
                run_shared,
                is_planning,
                suspending: self.suspending,
                problems: self.problems.as_deref(),
                problem_scope: self.problem_scope,
            };
            let (call_state, call) = (&mut self.call_states[index], &self.calls[index]);
            // Most calls never wait, so a call gets its waker only when it has to wait, and is then polled once more
            // with it.
            let mut advance = match &self.wakers[index] {
                Some(waker) => call_state.step(index, call, step_cx, &mut Context::from_waker(waker)),
                None => call_state.step(index, call, step_cx, &mut Context::from_waker(Waker::noop())),
            };
            if matches!(advance, Advance::Pending) && self.wakers[index].is_none() && call_state.is_pending() {
                let waker = self.wakers[index].insert(run_shared.mailbox.waker(index));
                advance = call_state.step(index, call, step_cx, &mut Context::from_waker(waker));
            }
            match advance {
                Advance::Pending => return self.has_to_wait(index),
                Advance::Moved => {}
                Advance::Refining => {
                    if let Some(due) = call_state.due() {
                        self.timer.add(due, Due::Call(index));
                    }
                }
                Advance::ApprovalRequested(request) => {
                    if let Some(due) = call_state.due() {
                        self.timer.add(due, Due::Call(index));
                    }
                    self.ready.push_back(ToolEvent::ApprovalRequested { index, request });
                }
                Advance::Answered { response, edited } => {
                    let (call_id, tool) = (call.call_id.clone(), self.name(index));
                    // Values that were emitted while it waited come first.
                    self.drain_mailbox();
                    self.ready.push_back(ToolEvent::ApprovalResolved { index, call_id, tool, response });
                    if let Some(arguments) = edited {
                        let call = &mut Arc::make_mut(&mut self.calls)[index];
                        call.arguments = arguments;
                        call.argument_issue = None;
                    }
                    if until == AdvanceUntil::Verdict {
                        return self.enqueue(index);
                    }
                }
                Advance::Suspended(request) => return self.suspend(index, request),
                Advance::Asked(requests) => self.questions_asked(index, requests),
                Advance::Left(leaving) => return self.leave_waiting(index, *leaving),
                Advance::Held => return self.hold(index),
                Advance::Started => self.handler_started(index),
                Advance::NeedsSlot { tool } => {
                    if !call_state.has_slot() && !self.slots.enter(index, self.set.at(tool).0) {
                        // It may overtake calls that wait only for a slot of their own kind.
                        self.has_free_slot = true;
                        return;
                    }
                    if !self.start_handler(index) {
                        return;
                    }
                }
                Advance::Finished(outcome) => return self.finish(index, outcome),
            }
        }
    }

    /// Ends a call that has to wait and was polled for the last time.
    fn has_to_wait(&mut self, index: usize) {
        if self.call_states[index].was_last_poll() {
            self.end_after_last_poll(index);
        } else if self.call_states[index].is_awaiting_answers() {
            // Work that could not be stopped may have kept its slot until now.
            self.free_slot_of(index);
        }
    }

    /// Starts the handler of a call that holds a slot. Returns false if it could not be started.
    fn start_handler(&mut self, index: usize) -> bool {
        let Some(run_shared) = &self.shared else { return false };
        let call_state = &mut self.call_states[index];
        if let Err(failure) = call_state.start(index, &self.calls[index], &self.set, &self.options, &run_shared.mailbox)
        {
            self.cancel_call(index, failure);
            return false;
        }
        self.handler_started(index);
        true
    }

    /// Reports the questions of a call that waits, and frees what it held.
    fn questions_asked(&mut self, index: usize, requests: Vec<ApprovalRequest>) {
        // Values that it emitted come first.
        self.drain_mailbox();
        for request in requests {
            self.ready.push_back(ToolEvent::ApprovalRequested { index, request: Box::new(request) });
        }
        if let Some(run_shared) = &self.shared {
            run_shared.mailbox.set_waiting(index, true);
        }
        self.free_slot_of(index);
    }

    /// Watches the timeouts of a call that got further, and emits that its handler runs if it does.
    fn handler_started(&mut self, index: usize) {
        let call_state = &self.call_states[index];
        if let Some(due) = call_state.due() {
            self.timer.add(due, Due::Call(index));
        }
        // Where something is in front of the handler, only that knows when the handler is reached, and reports it.
        if self.options.start_events == StartEvents::Emitted && call_state.is_polled_directly() {
            let (call_id, tool) = (self.calls[index].call_id.clone(), self.name(index));
            self.ready.push_back(ToolEvent::Started { index, call_id, tool, attempt: 1 });
        }
    }

    /// Ends every unfinished call.
    pub(super) fn cancel_all(&mut self, failure: impl Fn() -> ToolFailure) {
        self.slots.clear_waiting();
        for index in 0..self.call_states.len() {
            if !self.call_states[index].is_answered() {
                self.cancel_call(index, failure());
            }
        }
    }

    /// Ends one call in its current state: it was cancelled or timed out.
    pub(in crate::executor) fn cancel_call(&mut self, index: usize, failure: ToolFailure) {
        self.drain_mailbox();
        if let Some(RunShared { mailbox, .. }) = self.shared.as_deref() {
            // Closed first, so that values that are dropped now observe the cancellation.
            mailbox.close(index);
        }
        self.was_cut_short = true;
        let outcome = self.call_states[index].cancel(&self.calls[index], failure);
        self.finish(index, outcome);
    }

    /// Answers a call. All outputs are created here.
    pub(in crate::executor) fn finish(&mut self, index: usize, outcome: Outcome) {
        // Values that the call emitted come before its output.
        self.drain_mailbox();
        // Without a remaining handle nothing can observe the close.
        if let Some(run_shared) = self.shared.as_ref().filter(|run_shared| Arc::strong_count(run_shared) > 1) {
            run_shared.mailbox.close(index);
        }
        let mut result = ToolResult::named(self.name(index), &self.calls[index], outcome);
        result.repairs = self.call_states[index].take_repairs();
        self.record_result(index, &result);
        self.call_states[index].answer();
        self.ready.push_back(ToolEvent::Output { index, result });
        self.unfinished -= 1;
        self.free_slot_of(index);
    }

    /// Frees the slot of an answered call, unless work of it still runs where it can't be stopped.
    pub(in crate::executor) fn free_slot_of(&mut self, index: usize) {
        let Some(run_shared) = &self.shared else { return };
        if self.call_states[index].leave_lanes() {
            // Closed, so that work that still occupies them frees them. A call that waits is not over.
            if self.call_states[index].is_answered() {
                run_shared.mailbox.close(index);
            }
            run_shared.mailbox.leave_lanes(index);
        }
        if run_shared.mailbox.is_occupied(index) {
            return;
        }
        if self.call_states[index].free_slot()
            && let Some(tool) = self.call_states[index].tool(&self.set)
        {
            self.slots.leave(tool);
            self.has_free_slot = true;
        }
    }

    /// Returns the calls whose id an earlier call has.
    fn repeated_ids(&self) -> Vec<usize> {
        let mut seen = HashSet::with_capacity_and_hasher(self.calls.len(), RandomState::default());
        let repeated = self.calls.iter().enumerate().filter(|(_, call)| !seen.insert(call.call_id.as_str()));
        repeated.map(|(index, _)| index).collect()
    }

    /// Returns the name of a call's tool, shared if the tool exists.
    pub(in crate::executor) fn name(&self, index: usize) -> ToolName {
        match self.call_states[index].tool(&self.set) {
            Some(tool) => tool.shared_name().clone(),
            None => self.calls[index].name.as_str().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::num::NonZeroUsize;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use haft_core::ToolCall;
    use tokio::sync::mpsc;
    use tokio::task::yield_now;
    use tokio::time::sleep;

    use crate::cx::Cx;
    use crate::executor::CallHandle;
    use crate::tool::{Concurrency, ExecutionLimits, Tool};
    use crate::toolkit::Toolkit;

    /// A slot becomes free while other calls exhaust the task's budget, in one of the cases with the last unit of it.
    #[tokio::test(start_paused = true)]
    async fn a_freed_slot_is_given_on_when_the_task_runs_out_of_budget() {
        for spenders in 120..=136 {
            let (occupants, senders) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
            let (kept, noted) = (Arc::clone(&occupants), Arc::clone(&senders));
            let one = Concurrency::Max(NonZeroUsize::MIN);
            // Returns at once, while work of it that can't be stopped keeps its slot.
            let occupying =
                Tool::new("occupy").limits(ExecutionLimits::new().concurrency(one)).handler(move |(), cx: Cx| {
                    kept.lock().unwrap().extend(cx.call_handle().map(CallHandle::occupy));
                    async {}
                });
            let spending = Tool::new("spend").handler(move |(), _cx| {
                let (sender, mut receiver) = mpsc::channel(1);
                noted.lock().unwrap().push(sender);
                async move {
                    receiver.recv().await;
                    pending::<()>().await;
                }
            });
            let kit: Toolkit = Toolkit::from_iter([occupying.unwrap(), spending.unwrap()]);
            let names = ["occupy", "occupy"].into_iter().chain(std::iter::repeat_n("spend", spenders));
            let mut run = kit.run(names.enumerate().map(|(n, name)| ToolCall::new(format!("c{n}"), name, "")));
            assert_eq!(run.next().await.unwrap().index(), 0);

            occupants.lock().unwrap().clear();
            for sender in &*senders.lock().unwrap() {
                sender.try_send(()).unwrap();
            }
            yield_now().await;
            // The timer is polled first: when it fires, the run has parked while a slot was free.
            let event = tokio::select! {
                biased;
                () = sleep(Duration::from_secs(1)) => None,
                event = run.next() => event,
            };
            assert_eq!(event.expect("the second call never starts").index(), 1, "{spenders}");
        }
    }
}
