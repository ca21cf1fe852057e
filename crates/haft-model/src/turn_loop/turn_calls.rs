//! Answering the calls of one turn, and writing the turn down.
//!
//! Every call ends in exactly one of four ways: with a result, as a signal, as an open interaction, or waiting for a
//! verdict. Only when all have, the turn goes into the state, with whatever results there are, in one step.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use futures_core::Stream;
use haft_core::{
    ApprovalRequest, CallId, ContentPart, Delta, Finish, Item, Run, ToolCall, ToolChoice, ToolEvent, ToolResult, Turn,
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

/// What the model is told of a call that nobody will answer any more.
const LOOP_CANCELLED: &str = "the loop was called off before the call was answered";

/// A turn whose calls are being answered.
pub(super) struct TurnCalls {
    turn: Turn,
    calls: Vec<ToolCall>,
    results: Vec<ToolResult>,
    signals: Vec<Signal>,
    interactions: Vec<Interaction>,
    /// Questions about calls that wait for a verdict.
    questions: Vec<ApprovalRequest>,
}

impl Machine {
    /// Answers the calls of a turn and writes it down, as far as it can be answered now.
    pub(super) async fn execute_turn(&mut self, mut turn: Turn) -> Result<(), LoopEnd> {
        self.state.change(|state| state.usage += turn.usage);
        if is_empty(&turn) {
            return Err(LoopError::EmptyTurn { finish: turn.finish }.into());
        }
        self.state.read(|state| state.request.history.fresh_ids(&mut turn));
        self.state.read(|state| utterance::check(&state.request.history, &turn)).map_err(LoopError::from)?;
        self.event_slot.emit(LoopEvent::Delta(Delta::complete(turn.clone()))).await;

        let (choice, made) = self.state.read(|state| (state.request.tool_choice.clone(), state.calls));
        let lacks_call = lacks_call(&choice, &turn);
        let (settings, state) = (Arc::clone(&self.settings), self.state.clone());
        let mut triage = Triage::new(&settings, &state, choice.clone(), made);
        let mut calls_of_turn = TurnCalls::new(turn);
        let passed = self.reject_calls(&mut calls_of_turn, &mut triage).await;
        let counts = triage.counts();
        let cause = self.run_calls(&mut calls_of_turn, &passed).await;
        if cause.is_some() {
            self.cancel_open_calls(&mut calls_of_turn).await;
        }

        let is_stuck = !calls_of_turn.calls.is_empty() && counts.repeated == calls_of_turn.calls.len();
        if let Some(unplaced) = self.write_down(calls_of_turn, counts) {
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

    /// Answers what is not to be run, and gives the places of the calls that are.
    async fn reject_calls(&mut self, calls_of_turn: &mut TurnCalls, triage: &mut Triage<'_>) -> Vec<usize> {
        let interrupted = calls_of_turn.turn.interrupted_results();
        if calls_of_turn.turn.is_cut_off() {
            for (index, result) in interrupted.into_iter().enumerate() {
                self.event_slot.emit(calls_of_turn.answered(index, result)).await;
            }
            return Vec::new();
        }
        let mut passed = Vec::new();
        for index in 0..calls_of_turn.calls.len() {
            match triage.reject(&calls_of_turn.calls[index]) {
                None => passed.push(index),
                Some(result) => self.event_slot.emit(calls_of_turn.answered(index, result)).await,
            }
        }
        passed
    }

    /// Runs the calls at these places to their ends, or until the loop must end; then they are called off.
    async fn run_calls(&mut self, calls_of_turn: &mut TurnCalls, passed: &[usize]) -> Option<InterruptionCause> {
        if passed.is_empty() {
            return None;
        }
        let messages = self.state.stage(&calls_of_turn.turn);
        let calls = passed.iter().map(|&index| calls_of_turn.calls[index].clone());
        let mut run = self.kit.run(calls).with(self.settings.options.clone().messages(messages));
        let mut cause = None;
        while let Some(event) = self.next_event(&mut run, &mut cause).await {
            let at = event.index();
            let Some(event) = in_turn(event, passed) else { continue };
            let event = match event {
                ToolEvent::Output { index, result } => {
                    let outcome = CallOutcome::of(&self.kit, &run, at, &calls_of_turn.calls[index].arguments, result);
                    calls_of_turn.finished(index, outcome)
                }
                other => {
                    calls_of_turn.questions.extend(other.suspended_request().cloned());
                    Some(LoopEvent::Tool(other))
                }
            };
            if let Some(event) = event {
                self.event_slot.emit(event).await;
            }
        }
        cause
    }

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

    /// Nobody waits for an answer any more.
    async fn cancel_open_calls(&mut self, calls_of_turn: &mut TurnCalls) {
        let mut places: HashMap<CallId, usize> = HashMap::new();
        for (index, call) in calls_of_turn.calls.iter().enumerate() {
            places.entry(call.call_id.clone()).or_insert(index);
        }
        for interaction in std::mem::take(&mut calls_of_turn.interactions) {
            let index = places.get(interaction.call_id()).copied().unwrap_or_default();
            let cancelled = calls_of_turn.answered(index, interaction.cancelled(LOOP_CANCELLED));
            self.event_slot.emit(cancelled).await;
        }
        for question in std::mem::take(&mut calls_of_turn.questions) {
            let Some(&index) = places.get(&question.call_id) else { continue };
            let cancelled = ToolResult::cancelled(&calls_of_turn.calls[index], LOOP_CANCELLED);
            let cancelled = calls_of_turn.answered(index, cancelled);
            self.event_slot.emit(cancelled).await;
        }
    }

    /// The turn and everything known of its calls, in one step. Signals stand as closed until they are answered.
    fn write_down(&self, calls_of_turn: TurnCalls, counts: CallCounts) -> Option<LoopEvent> {
        let TurnCalls { turn, results, signals, interactions, questions, .. } = calls_of_turn;
        let (unplaced, before) = self.state.complete(|state, staged| {
            let answers = results.iter().cloned().chain(signals.iter().map(Signal::result));
            let unplaced = append(&mut state.request.history, staged.as_ref(), turn.clone(), answers.collect());
            state.request.history.extend(questions.into_iter().map(Item::from));
            state.turns = state.turns.saturating_add(1);
            state.seen.merge(counts.seen);
            (state.calls, state.lacks_calls) = (counts.made, counts.lacks_calls);
            let mut open = OpenTurn { turn, results: Vec::new(), signals, interactions };
            open.add(results);
            // Results may hold errors of user code, which are not dropped under the lock.
            (unplaced, std::mem::replace(&mut state.phase, LoopPhase::Open(open)))
        });
        drop(before);
        unplaced
    }
}

impl TurnCalls {
    fn new(turn: Turn) -> Self {
        let calls = turn.tool_calls();
        Self { turn, calls, results: Vec::new(), signals: Vec::new(), interactions: Vec::new(), questions: Vec::new() }
    }

    /// Notes how a call came out of its run, and returns what is to be told of it. Of an interaction nothing is: it is
    /// shown when the loop ends to wait for it.
    fn finished(&mut self, index: usize, outcome: CallOutcome) -> Option<LoopEvent> {
        match outcome {
            CallOutcome::Answered(result) => Some(self.answered(index, result)),
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

    /// Notes the one result of a call.
    fn answered(&mut self, index: usize, result: ToolResult) -> LoopEvent {
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

/// Whether a turn says nothing: no items, or blank text alone.
fn is_empty(turn: &Turn) -> bool {
    let is_blank = |part: &ContentPart| part.as_text().is_some_and(|text| text.trim().is_empty());
    turn.items.iter().all(|item| matches!(item, Item::Message(message) if message.content.iter().all(is_blank)))
}

/// Whether a call had to be made and was not. A turn that is not whole may yet have made it.
fn lacks_call(choice: &ToolChoice, turn: &Turn) -> bool {
    let is_call = |item: &Item| matches!(item, Item::ToolCall(_) | Item::ProviderCall(_));
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
        let common = json!({"index": 1, "call_id": "c1", "tool": "pay", "seq": 0, "data": 1, "value": 2,
            "request": request, "response": request.approve(), "result": ToolResult::ok(&call, json!(3))});
        let decided: BTreeSet<&str> =
            ["progress", "preliminary", "approval_requested", "approval_resolved", "suspended", "output"].into();
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
