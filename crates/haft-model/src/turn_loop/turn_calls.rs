//! Running the calls of one turn, and recording the turn.
//!
//! Every call ends in exactly one of four ways: with a result, as a signal, as an open interaction, or waiting for a
//! verdict. Only then is the turn added to the state, with the results that are available, in one step.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use futures_core::Stream;
use haft_core::{
    ApprovalRequest, CallId, ContentPart, Delta, Dispatch, Finish, Item, Run, RunId, ToolCall, ToolChoice, ToolEvent,
    ToolResult, Turn,
};

use super::call_outcome::CallOutcome;
use super::end::LoopEnd;
use super::error::LoopError;
use super::event::LoopEvent;
use super::interaction::Interaction;
use super::interruption::InterruptionCause;
use super::machine::Machine;
use super::open_turn::OpenTurn;
use super::record::append;
use super::signal::Signal;
use super::state::LoopPhase;
use super::triage::{CallCounts, Triage};
use super::utterance;

/// The message of a call that was open when the loop was cancelled.
const LOOP_CANCELLED: &str = "the loop was cancelled before the call finished";

/// A turn whose calls are being run.
pub(super) struct TurnCalls {
    turn: Turn,
    calls: Vec<ToolCall>,
    results: Vec<ToolResult>,
    signals: Vec<Signal>,
    interactions: Vec<Interaction>,
    /// The approval requests of calls that wait for a verdict.
    approval_requests: Vec<ApprovalRequest>,
    /// The run of the calls that wait for a verdict, if there are any.
    run_id: Option<RunId>,
}

impl Machine {
    /// Runs the calls of a turn and records it, with the results that are available now.
    pub(super) async fn execute_turn(&mut self, mut turn: Turn) -> Result<(), LoopEnd> {
        self.state.change(|state| state.usage += turn.usage);
        if is_empty(&turn) {
            if !self.state.read(|state| may_be_empty(&state.request.history, &turn)) {
                return Err(LoopError::EmptyTurn { finish: turn.finish }.into());
            }
            // Providers reject a message without content.
            turn.items.clear();
        }
        self.state.read(|state| state.request.history.fresh_ids(&mut turn));
        let checked = self.state.read(|state| utterance::check(&state.request.history, &turn));
        checked.map_err(|error| self.model_failed(error))?;
        self.event_slot.emit(LoopEvent::Delta(Delta::complete(turn.clone()))).await;

        let (choice, row) = self.state.read(|state| (state.request.tool_choice.clone(), state.row.clone()));
        let (made, earlier) = self.state.read(|state| (state.calls, state.conversation.calls));
        let lacks_call = lacks_call(&choice, &turn);
        let settings = Arc::clone(&self.settings);
        let mut triage = Triage::new(&settings, choice.clone(), row, made, earlier);
        let mut turn_calls = TurnCalls::new(turn);
        let passed = self.reject_calls(&mut turn_calls, &mut triage).await;
        let counts = triage.counts();
        let cause = self.run_calls(&mut turn_calls, &passed).await;
        if cause.is_some() {
            self.cancel_open_calls(&mut turn_calls).await;
        }

        let is_stuck = !turn_calls.calls.is_empty() && counts.repeated_again == turn_calls.calls.len();
        if let Some(unplaced) = self.record_turn(turn_calls, counts) {
            self.event_slot.emit(unplaced).await;
        }
        if let Some(cause) = cause {
            return Err(cause.into());
        }
        if lacks_call {
            self.close_turn(LoopPhase::Ready).await;
            return Err(LoopError::ToolChoice { choice }.into());
        }
        if is_stuck {
            self.close_turn(LoopPhase::Ready).await;
            return Err(LoopEnd::RepeatedCalls);
        }
        self.ensure_nothing_waits()
    }

    /// Rejects the calls that must not run, and returns the indexes of the others.
    async fn reject_calls(&mut self, turn_calls: &mut TurnCalls, triage: &mut Triage<'_>) -> Vec<usize> {
        let interrupted = turn_calls.turn.interrupted_results();
        if turn_calls.turn.is_cut_off() {
            for (index, result) in interrupted.into_iter().enumerate() {
                self.event_slot.emit(turn_calls.add_result(index, result)).await;
            }
            return Vec::new();
        }
        let mut passed = Vec::new();
        for index in 0..turn_calls.calls.len() {
            match triage.reject(&turn_calls.calls[index]) {
                None => passed.push(index),
                Some(result) => self.event_slot.emit(turn_calls.add_result(index, result)).await,
            }
        }
        passed
    }

    /// Runs the calls at these indexes to their ends, or until the loop must end; then they are cancelled.
    async fn run_calls(&mut self, turn_calls: &mut TurnCalls, passed: &[usize]) -> Option<InterruptionCause> {
        if passed.is_empty() {
            return None;
        }
        let messages = self.state.stage(&turn_calls.turn);
        let calls = passed.iter().map(|&index| turn_calls.calls[index].clone().into()).collect();
        let mut run = self.tools.run_calls(calls, self.options.clone().messages(messages));
        let mut cause = None;
        while let Some(event) = self.next_event(&mut run, &mut cause).await {
            let at = event.index();
            let Some(event) = in_turn(event, passed) else { continue };
            let event = match event {
                ToolEvent::Output { index, result } => {
                    let outcome =
                        CallOutcome::of(self.tools.toolkit(), &run, at, &turn_calls.calls[index].arguments, result);
                    turn_calls.add_outcome(index, outcome)
                }
                other => {
                    turn_calls.approval_requests.extend(other.suspended_request().cloned());
                    Some(LoopEvent::Tool(other))
                }
            };
            if let Some(event) = event {
                self.event_slot.emit(event).await;
            }
        }
        if !turn_calls.approval_requests.is_empty() {
            turn_calls.run_id = Some(run.run_id().clone());
        }
        cause
    }

    /// Returns the next event of a run, which is cancelled when the loop is interrupted.
    pub(super) async fn next_event(
        &mut self,
        run: &mut Run,
        cause: &mut Option<InterruptionCause>,
    ) -> Option<ToolEvent> {
        poll_fn(|task| {
            if cause.is_none()
                && let Poll::Ready(found) = self.interruption.poll(task)
            {
                *cause = Some(found);
                run.cancel();
            }
            Pin::new(&mut *run).poll_next(task)
        })
        .await
    }

    /// Cancels the calls that are open when the loop is interrupted.
    async fn cancel_open_calls(&mut self, turn_calls: &mut TurnCalls) {
        let mut indexes: HashMap<CallId, usize> = HashMap::new();
        for (index, call) in turn_calls.calls.iter().enumerate() {
            indexes.entry(call.call_id.clone()).or_insert(index);
        }
        for interaction in std::mem::take(&mut turn_calls.interactions) {
            let index = indexes.get(interaction.call_id()).copied().unwrap_or_default();
            let cancelled = turn_calls.add_result(index, interaction.cancelled(LOOP_CANCELLED));
            self.event_slot.emit(cancelled).await;
        }
        for request in std::mem::take(&mut turn_calls.approval_requests) {
            let Some(&index) = indexes.get(&request.call_id) else { continue };
            let cancelled = ToolResult::cancelled(&turn_calls.calls[index], LOOP_CANCELLED);
            let cancelled = turn_calls.add_result(index, cancelled);
            self.event_slot.emit(cancelled).await;
        }
    }

    /// Adds the turn and the outcomes of its calls to the state, in one step. The output of a signal is `null` until
    /// it is answered.
    fn record_turn(&self, turn_calls: TurnCalls, counts: CallCounts) -> Option<LoopEvent> {
        let TurnCalls { turn, results, signals, interactions, approval_requests, run_id, .. } = turn_calls;
        let (unplaced, before) = self.state.complete(|state, staged| {
            let answers = results.iter().cloned().chain(signals.iter().map(Signal::result));
            let unplaced = append(&mut state.request.history, staged.as_ref(), turn.clone(), answers.collect());
            if let Some(run_id) = run_id {
                let waiting = approval_requests.iter().map(|request| request.call_id.clone());
                state.run_ids.extend(waiting.map(|call_id| (call_id, run_id.clone())));
            }
            state.request.history.extend(approval_requests.into_iter().map(Item::from));
            state.turns = state.turns.saturating_add(1);
            state.row = counts.row;
            (state.calls, state.lacks_calls) = (counts.made, counts.lacks_calls);
            // The model has read the verdicts that its turn follows.
            state.accepted.clear();
            let mut open = OpenTurn { turn, results: Vec::new(), signals, interactions: interactions.into() };
            open.add(results);
            // Results may hold errors of user code, which must not be dropped under the lock.
            (unplaced, std::mem::replace(&mut state.phase, LoopPhase::Open(Box::new(open))))
        });
        drop(before);
        unplaced
    }
}

impl TurnCalls {
    /// Starts with no call finished.
    fn new(turn: Turn) -> Self {
        let calls = turn.tool_calls();
        Self {
            turn,
            calls,
            results: Vec::new(),
            signals: Vec::new(),
            interactions: Vec::new(),
            approval_requests: Vec::new(),
            run_id: None,
        }
    }

    /// Records the outcome of a call, and returns the event to emit. An interaction has none: it is
    /// reported when the loop ends to wait for it.
    fn add_outcome(&mut self, index: usize, outcome: CallOutcome) -> Option<LoopEvent> {
        match outcome {
            CallOutcome::Answered(result) => Some(self.add_result(index, result)),
            CallOutcome::Signal(signal) => {
                self.signals.push(signal.clone());
                Some(LoopEvent::Signal(Box::new(signal)))
            }
            CallOutcome::Interaction(interaction) => {
                self.interactions.push(interaction);
                None
            }
        }
    }

    /// Records the result of a call, and returns its event.
    fn add_result(&mut self, index: usize, result: ToolResult) -> LoopEvent {
        self.results.push(result.clone());
        LoopEvent::Tool(ToolEvent::Output { index, result })
    }
}

/// Returns an event of a run with the index that its call has in the turn.
///
/// An event that names no call of the run, or whose type is unknown, has no such index. It is dropped: with another
/// index it would be about another call.
pub(super) fn in_turn(event: ToolEvent, indexes: &[usize]) -> Option<ToolEvent> {
    let index = *indexes.get(event.index())?;
    event.with_index(index)
}

/// Reports whether a turn is empty: no items, or blank text only.
fn is_empty(turn: &Turn) -> bool {
    let is_blank = |part: &ContentPart| part.as_text().is_some_and(|text| text.trim().is_empty());
    turn.items.iter().all(|item| matches!(item, Item::Message(message) if message.content.iter().all(is_blank)))
}

/// Reports whether an empty turn is an end: a model that has nothing to add to the result of a tool says nothing, as
/// Anthropic documents.
fn may_be_empty(history: &[Item], turn: &Turn) -> bool {
    turn.finish == Finish::Stop && matches!(history.last(), Some(Item::ToolOutput(_)))
}

/// Reports whether a required call is missing. An incomplete turn might still have made it.
fn lacks_call(choice: &ToolChoice, turn: &Turn) -> bool {
    // An approval request in a turn is about a call that the provider will make.
    let is_call = |item: &Item| matches!(item, Item::ToolCall(_) | Item::ProviderCall(_) | Item::ApprovalRequest(_));
    let is_whole = !turn.is_cut_off() && turn.finish != Finish::Pause;
    is_whole && choice.requires_call() && !turn.items.iter().any(is_call)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use haft_core::tagged::TaggedEnum;
    use serde_json::json;

    use super::*;

    fn read(event: serde_json::Value) -> ToolEvent {
        serde_json::from_value(event).unwrap()
    }

    /// A type of event that is added fails here until it is known to be moved.
    #[test]
    fn every_event_of_a_run_gets_the_index_of_its_call_in_the_turn() {
        let call = ToolCall::new("c1", "pay", "5");
        let request = ApprovalRequest::new("q1", &call);
        let common = json!({"index": 1, "call_id": "c1", "tool": "pay", "seq": 0, "data": 1, "value": 2, "attempt": 1,
            "request": request, "response": request.approve(), "result": ToolResult::ok(&call, json!(3))});
        let decided: BTreeSet<&str> =
            ["started", "progress", "preliminary", "approval_requested", "approval_resolved", "suspended", "output"]
                .into();
        assert_eq!(ToolEvent::VARIANTS.iter().map(|(tag, _)| *tag).collect::<BTreeSet<_>>(), decided);
        for tag in decided {
            let mut written = common.clone();
            written["type"] = tag.into();
            let moved = in_turn(read(written.clone()), &[4, 7]).unwrap();
            assert_eq!(moved.index(), 7, "{tag}");
            assert_eq!(moved.suspended_request().is_some(), tag == "suspended");
            assert_eq!(in_turn(read(written), &[4]), None, "a call that the run does not have");
        }
    }

    #[test]
    fn an_unknown_event_is_not_passed_on() {
        assert_eq!(in_turn(read(json!({"type": "paused", "index": 0})), &[4]), None);
        assert_eq!(in_turn(read(json!({"type": "paused"})), &[4]), None);
    }
}
