//! How a run moves its calls.
//!
//! Every poll does the same, in this order: settle what was called off; let running calls that have something to say say
//! it, as one that is done is not late however late it is asked; settle what is late; move all others; and only then
//! hand out an event. So no event is given that a cancel or a timeout should have preceded.

use std::collections::HashSet;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tokio::task::coop::has_budget_remaining;
use tokio::time::Instant;

use super::{Due, Run};
use crate::cx::RunCx;
use crate::emit::Emitted;
use crate::event::ToolEvent;
use crate::executor::call_handle::RunShared;
use crate::executor::call_state::{CallState, Step, StepCx};
use crate::executor::isolation::{Isolated, Panicked, poll_isolated};
use crate::executor::mailbox::Emission;
use crate::executor::option::{HandlerTask, Until};
use crate::executor::slot::Slots;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::handler::broken;
use crate::result::{Outcome, ToolResult};
use crate::seed::RandomState;
use crate::tool::ToolName;

/// What the model is told about calls that were called off.
const CALLED_OFF: &str = "the call was called off";
/// What the model is told about calls that the run's deadline caught.
const RUN_OVER: &str = "the time for all calls was over before this one was done";

/// Limits of time need tokio's clock.
#[derive(Clone, Debug, thiserror::Error)]
#[error("limits of time need a tokio runtime with time enabled: {0}")]
struct NoClock(#[source] Panicked);

/// How far a call may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// To the answer it waits for, but not beyond.
    Answer,
    /// As far as it goes.
    End,
}

impl Run {
    /// Moves every call as far as it goes.
    pub(super) fn start(&mut self) {
        let count = self.calls.len();
        self.call_states = std::iter::repeat_with(CallState::new).take(count).collect();
        self.wakers.resize(count, None);
        self.ready.reserve(count);
        self.slots = Slots::new(self.options.concurrency);
        self.problems = self.set.problems(self.options.scope.as_deref());
        self.deadline = match self.options.until {
            None => None,
            Some(Until::Moment(moment)) => Some(moment),
            Some(Until::After(timeout)) => Instant::now().checked_add(timeout),
        };
        if let Some(deadline) = self.deadline {
            self.timer.add(deadline, Due::Run);
        }
        let shared = RunCx {
            decode: self.options.decode,
            cancellation: self.options.cancellation.clone(),
            deadline: self.deadline,
            scope: self.options.scope.clone(),
        };
        self.shared = Some(RunShared::new(Arc::clone(&self.set), Arc::clone(&self.calls), shared));
        self.watch_cancellation();
        // What is known already stays as it is, whatever becomes of the rest.
        self.apply_prior_approvals();
        if self.was_cancelled() || self.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            // Nothing may start: everything is settled before anything is moved.
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

    /// Settles everything if the run was called off.
    pub(super) fn end_cancelled(&mut self, task: &mut Context<'_>) {
        if self.cancelled.is_some() {
            match poll_isolated(&mut self.cancelled, task) {
                Poll::Pending => {}
                Poll::Ready(Ok(())) => self.is_cancelled = true,
                // The waker of the task panicked. Nothing wakes it for the flag then, and each poll asks anew.
                Poll::Ready(Err(_)) => {
                    self.is_cancelled = self.was_cancelled();
                    self.watch_cancellation();
                }
            }
        }
        if self.is_cancelled && self.unfinished > 0 {
            if self.options.handler_task == HandlerTask::Spawned {
                // What ended in its own task before it was called off has its result.
                self.poll_timed();
            }
            self.cancel_all(|| ToolFailure::new(FailureKind::Cancelled, CALLED_OFF));
        }
    }

    fn watch_cancellation(&mut self) {
        let flag = self.options.cancellation.clone();
        self.cancelled = flag.map(|flag| Isolated::new(Box::pin(async move { flag.cancelled().await }) as _));
    }

    /// Settles what has taken too long by now.
    pub(super) fn end_timed_out(&mut self) {
        if self.timer.is_empty() {
            return;
        }
        self.poll_timed();
        let now = Instant::now();
        while let Some(due) = self.timer.pop(now) {
            match due {
                Due::Run => self.cancel_all(|| ToolFailure::new(FailureKind::TimedOut, RUN_OVER)),
                Due::CallState(index) if self.call_states[index].pass_deadline() => self.end_if_timed_out(index, now),
                Due::CallState(_) => {}
            }
        }
    }

    /// Settles a call whose time was over before it was looked at, and which is not done. Unless it only seemed so: what
    /// has no budget to be looked at by is looked at again first.
    fn judge(&mut self, index: usize) {
        if has_budget_remaining() {
            return self.end_if_timed_out(index, Instant::now());
        }
        self.enqueue(index);
        self.call_states[index].pass_deadline();
    }

    fn end_if_timed_out(&mut self, index: usize, now: Instant) {
        let call_state = &mut self.call_states[index];
        if let Some(at) = self.shared.as_ref().and_then(|run_shared| run_shared.mailbox.last_alive(index)) {
            call_state.touch(at);
        }
        let Some(due) = call_state.due() else { return };
        if due > now {
            return self.timer.add(due, Due::CallState(index));
        }
        // A handler that waits for its reader is not silent.
        if call_state.is_running()
            && call_state.is_only_idle(now)
            && self.shared.as_ref().is_some_and(|run_shared| run_shared.mailbox.is_full(index))
        {
            call_state.touch(now);
            if let Some(due) = call_state.due() {
                self.timer.add(due, Due::CallState(index));
            }
            return;
        }
        let failure = call_state.timed_out(now);
        self.cancel_call(index, failure);
    }

    /// Moves the calls that time counts for and that have something to say. Nothing starts that did not run before: a
    /// call that was answered goes on later.
    fn poll_timed(&mut self) {
        self.drain_mailbox();
        for _ in 0..self.woken.len() {
            let Some(index) = self.next_woken() else { return };
            let call_state = &self.call_states[index];
            if call_state.is_running() || call_state.is_awaiting_verdict() {
                self.advance_to(index, Reach::Answer);
                if !has_budget_remaining() {
                    return;
                }
            } else {
                self.enqueue(index);
            }
        }
    }

    /// Moves the calls that have something to say, and those whose turn has come.
    pub(super) fn move_on(&mut self) {
        self.drain_mailbox();
        while let Some(index) = self.next_woken() {
            self.advance(index);
            // The rest would only seem unready, and be looked at in vain.
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

    /// Notes that a call is to be looked at.
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

    /// Takes what calls have shown, and notes those that were woken.
    pub(in crate::executor) fn drain_mailbox(&mut self) {
        let Some((woken, emissions)) = self.shared.as_ref().and_then(|run_shared| run_shared.mailbox.drain()) else {
            return;
        };
        for index in woken {
            self.enqueue(index);
        }
        for Emission { index, emitted, at } in emissions {
            if self.call_states[index].is_answered() {
                continue;
            }
            self.call_states[index].touch(at);
            let seq = self.call_states[index].next_seq();
            let (call_id, tool) = (self.calls[index].call_id.clone(), self.name(index));
            self.ready.push_back(match emitted {
                Emitted::Progress(data) => ToolEvent::Progress { index, call_id, tool, seq, data },
                Emitted::Preliminary(value) => ToolEvent::Preliminary { index, call_id, tool, seq, value },
            });
        }
    }

    /// Sees to it that the task is woken when there is something to do. Says no when there already is.
    pub(super) fn rest(&mut self, task: &mut Context<'_>) -> bool {
        // What the task had no budget left for is still to be done.
        if !self.woken.is_empty() || self.has_free_slot {
            return false;
        }
        match self.timer.rest(task) {
            Ok(Poll::Pending) => self.shared.as_ref().is_some_and(|run_shared| run_shared.mailbox.rest(task.waker())),
            Ok(Poll::Ready(())) => false,
            Err(panicked) => {
                // Without a clock no limit of time can be kept, and a limit that is not kept must not look as if it were.
                let cause = NoClock(panicked);
                self.cancel_all(|| broken(cause.clone()));
                false
            }
        }
    }

    /// Moves one call as far as it goes.
    fn advance(&mut self, index: usize) {
        self.advance_to(index, Reach::End);
    }

    fn advance_to(&mut self, index: usize, reach: Reach) {
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
                #[cfg(feature = "approval")]
                suspending: self.suspending,
                problems: self.problems.as_deref(),
            };
            let (call_state, call) = (&mut self.call_states[index], &self.calls[index]);
            // Most calls never wait, so only those that do get a waker of their own, and are polled once more with it.
            let mut step = match &self.wakers[index] {
                Some(waker) => call_state.step(index, call, step_cx, &mut Context::from_waker(waker)),
                None => call_state.step(index, call, step_cx, &mut Context::from_waker(Waker::noop())),
            };
            if matches!(step, Step::Pending) && self.wakers[index].is_none() && call_state.is_pending() {
                let waker = self.wakers[index].insert(run_shared.mailbox.waker(index));
                step = call_state.step(index, call, step_cx, &mut Context::from_waker(waker));
            }
            match step {
                Step::Pending => {
                    if call_state.was_last_poll() {
                        self.judge(index);
                    }
                    return;
                }
                Step::Moved => {}
                Step::Asked(request) => {
                    if let Some(due) = call_state.due() {
                        self.timer.add(due, Due::CallState(index));
                    }
                    self.ready.push_back(ToolEvent::ApprovalRequested { index, request });
                }
                Step::Answered { response, edited } => {
                    let (call_id, tool) = (call.call_id.clone(), self.name(index));
                    // What was shown while it waited comes first.
                    self.drain_mailbox();
                    self.ready.push_back(ToolEvent::ApprovalResolved { index, call_id, tool, response });
                    if let Some(arguments) = edited {
                        Arc::make_mut(&mut self.calls)[index].arguments = arguments;
                    }
                    if reach == Reach::Answer {
                        return self.enqueue(index);
                    }
                }
                Step::Suspended(request) => return self.suspend(index, request),
                Step::Held => return self.hold(index),
                Step::WantsSlot { tool } => {
                    if !self.slots.enter(index, self.set.at(tool).0) {
                        // It may pass those that wait for their own kind only.
                        self.has_free_slot = true;
                        return;
                    }
                    if !self.start_handler(index) {
                        return;
                    }
                }
                Step::Finished(outcome) => return self.finish(index, outcome),
            }
        }
    }

    /// Lets a call that has a place run. Says no when it could not.
    fn start_handler(&mut self, index: usize) -> bool {
        let Some(run_shared) = &self.shared else { return false };
        let call_state = &mut self.call_states[index];
        if let Err(failure) = call_state.start(index, &self.set, &self.options, &run_shared.mailbox) {
            self.cancel_call(index, failure);
            return false;
        }
        if let Some(due) = call_state.due() {
            self.timer.add(due, Due::CallState(index));
        }
        true
    }

    /// Ends every call that is not done.
    pub(super) fn cancel_all(&mut self, failure: impl Fn() -> ToolFailure) {
        self.slots.clear_line();
        for index in 0..self.call_states.len() {
            if !self.call_states[index].is_answered() {
                self.cancel_call(index, failure());
            }
        }
    }

    /// Ends one call where it is, as it was called off or took too long.
    pub(in crate::executor) fn cancel_call(&mut self, index: usize, failure: ToolFailure) {
        self.drain_mailbox();
        if let Some(RunShared { mailbox, .. }) = self.shared.as_deref() {
            // First, so that whatever is dropped now finds itself called off.
            mailbox.close(index);
        }
        self.was_cut_short = true;
        let outcome = self.call_states[index].cancel(&self.calls[index], failure);
        self.finish(index, outcome);
    }

    /// Answers a call: the one place where outputs come from.
    pub(in crate::executor) fn finish(&mut self, index: usize, outcome: Outcome) {
        // What the call showed comes before its output.
        self.drain_mailbox();
        // With no handle left nobody can ask whether the call is over.
        if let Some(run_shared) = self.shared.as_ref().filter(|run_shared| Arc::strong_count(run_shared) > 1) {
            run_shared.mailbox.close(index);
        }
        let mut result = ToolResult::named(self.name(index), &self.calls[index], outcome);
        result.repairs = self.call_states[index].take_repairs();
        self.keep(index, &result);
        self.call_states[index].answer();
        self.ready.push_back(ToolEvent::Output { index, result });
        self.unfinished -= 1;
        self.free_slot_of(index);
    }

    /// Gives the place of an answered call back, unless something of it still runs where it can't be stopped.
    fn free_slot_of(&mut self, index: usize) {
        if self.shared.as_ref().is_some_and(|run_shared| run_shared.mailbox.is_occupied(index)) {
            return;
        }
        if self.call_states[index].free_slot()
            && let Some(tool) = self.call_states[index].tool(&self.set)
        {
            self.slots.leave(tool);
            self.has_free_slot = true;
        }
    }

    /// The calls whose id an earlier one has.
    fn repeated_ids(&self) -> Vec<usize> {
        let mut seen = HashSet::with_capacity_and_hasher(self.calls.len(), RandomState::default());
        let repeated = self.calls.iter().enumerate().filter(|(_, call)| !seen.insert(call.call_id.as_str()));
        repeated.map(|(index, _)| index).collect()
    }

    /// The name of a call's tool, shared if there is such a tool.
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

    use tokio::sync::mpsc;
    use tokio::task::yield_now;
    use tokio::time::sleep;

    use crate::call::ToolCall;
    use crate::cx::Cx;
    use crate::executor::CallHandle;
    use crate::tool::{Concurrency, ExecutionLimits, Tool};
    use crate::toolkit::Toolkit;

    /// A place becomes free while others use up what the task may do in one go, at the last of them to the dot.
    #[tokio::test(start_paused = true)]
    async fn a_place_is_given_on_however_little_the_task_may_still_do() {
        for spenders in 120..=136 {
            let (stays, senders) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
            let (kept, noted) = (Arc::clone(&stays), Arc::clone(&senders));
            let one = Concurrency::Max(NonZeroUsize::MIN);
            // Done at once, while something of it stays where it can't be stopped and keeps its place.
            let staying = Tool::new("stay").limits(ExecutionLimits::new().concurrency(one)).run(move |(), cx: Cx| {
                kept.lock().unwrap().extend(cx.call_handle().map(CallHandle::occupy));
                async {}
            });
            let spending = Tool::new("spend").run(move |(), _cx| {
                let (sender, mut receiver) = mpsc::channel(1);
                noted.lock().unwrap().push(sender);
                async move {
                    receiver.recv().await;
                    pending::<()>().await;
                }
            });
            let kit: Toolkit = Toolkit::from_iter([staying.unwrap(), spending.unwrap()]);
            let names = ["stay", "stay"].into_iter().chain(std::iter::repeat_n("spend", spenders));
            let mut run = kit.run(names.enumerate().map(|(n, name)| ToolCall::new(format!("c{n}"), name, "")));
            assert_eq!(run.next().await.unwrap().index(), 0);

            stays.lock().unwrap().clear();
            for sender in &*senders.lock().unwrap() {
                sender.try_send(()).unwrap();
            }
            yield_now().await;
            // The clock first: when it comes to that, the run has gone to sleep with a place to give.
            let event = tokio::select! {
                biased;
                () = sleep(Duration::from_secs(1)) => None,
                event = run.next() => event,
            };
            assert_eq!(event.expect("the second never begins").index(), 1, "{spenders}");
        }
    }
}
