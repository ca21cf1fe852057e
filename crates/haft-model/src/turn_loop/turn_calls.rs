//! Running one turn's calls, and recording the turn.
//!
//! Every call ends in exactly one of four ways: with a result, as a signal, as an open interaction, or waiting for a
//! verdict. Only then is the turn added to the state, with the results that are available, in one step. While the calls
//! run, the state cell has the turn as well, so that a checkpoint contains what is known so far.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use futures_core::Stream;
use haft_core::history::Staged;
use haft_core::{
    ApprovalRequest, CallId, ContentPart, Delta, FailureKind, Finish, Item, RunId, ToolCall, ToolChoice, ToolEvent,
    ToolFailure, ToolResult, Turn,
};
use haft_executor::{Dispatch, Run, WaitingCall};

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
use super::state::{LoopPhase, LoopState};
use super::triage::{CallCounts, Triage};
use super::utterance;

/// The message for a call that was open when the loop was cancelled.
const LOOP_CANCELLED: &str = "the loop was cancelled before the call finished";

/// The message for a call that had no result when the state was last stored.
const PROCESS_ENDED: &str = "the process ended while the call ran, so it is unknown whether it took effect; find out \
                             before you make it again";

/// A turn whose calls are being run. Clones share it: the state cell makes checkpoints from it.
#[derive(Clone, Debug)]
pub(super) struct RunningTurn(Arc<Mutex<TurnCalls>>);

/// A turn's calls, and what became of them.
#[derive(Clone, Debug)]
pub(super) struct TurnCalls {
    turn: Turn,
    calls: Vec<ToolCall>,
    /// The calls that run or are about to, by index.
    running: BTreeSet<usize>,
    results: Vec<ToolResult>,
    signals: Vec<Signal>,
    interactions: Vec<Interaction>,
    /// The approval requests for calls that wait for a verdict.
    approval_requests: Vec<ApprovalRequest>,
    /// The states that calls waiting for answers go on with.
    waits: Vec<WaitingCall>,
    /// The run whose calls wait for a verdict, if any do.
    run_id: Option<RunId>,
}

impl Machine {
    /// Runs a turn's calls and records it, with the results that are available now.
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
        let complete = LoopEvent::Delta(Delta::complete(turn.clone()));

        let (choice, row) = self.state.read(|state| (state.request.tool_choice.clone(), state.row.clone()));
        let (made, earlier) = self.state.read(|state| (state.calls, state.conversation.calls));
        let lacks_call = lacks_call(&choice, &turn);
        let settings = Arc::clone(&self.settings);
        let mut triage = Triage::new(&settings, choice.clone(), row, made, earlier);
        let mut turn_calls = TurnCalls::new(turn);
        let (passed, rejected) = turn_calls.triage(&mut triage);
        let (counts, count) = (triage.counts(), turn_calls.calls.len());
        let running = RunningTurn(Arc::new(Mutex::new(turn_calls)));
        if !passed.is_empty() {
            self.state.stage(running.clone(), counts.clone());
        }
        for event in std::iter::once(complete).chain(rejected) {
            self.event_slot.emit(event).await;
        }
        let cause = self.run_calls(&running, &passed).await;
        if cause.is_some() {
            self.cancel_open_calls(&running).await;
        }

        let is_stuck = count > 0 && counts.repeated_again == count;
        let unplaced = self.record_turn(&running, counts);
        self.add_nested_totals();
        if let Some(unplaced) = unplaced {
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

    /// Runs the calls at these indexes to their ends, or until the loop must end; then they are cancelled.
    async fn run_calls(&mut self, turn: &RunningTurn, passed: &[usize]) -> Option<InterruptionCause> {
        if passed.is_empty() {
            return None;
        }
        let messages = self.state.read(|state| state.request.history.clone());
        let calls: Vec<ToolCall> = turn.change(|turn| passed.iter().map(|&index| turn.calls[index].clone()).collect());
        let written: Vec<String> = calls.iter().map(|call| call.arguments.clone()).collect();
        let calls = calls.into_iter().map(Into::into).collect();
        let mut run = self.tools.run_calls(calls, self.options.clone().messages(messages));
        let mut cause = None;
        while let Some(event) = self.next_event(&mut run, &mut cause).await {
            let at = event.index();
            let Some(event) = in_turn(event, passed) else { continue };
            let event = match event {
                ToolEvent::Output { index, result } => {
                    let outcome = CallOutcome::of(self.tools.toolkit(), &run, at, &written[at], result);
                    turn.change(|turn| turn.add_outcome(index, outcome))
                }
                other => {
                    if let Some(request) = other.suspended_request() {
                        let requests = open_requests(&run, at, request);
                        let wait = run.waiting_call(at);
                        turn.change(|turn| turn.add_requests(other.index(), requests, wait, run.run_id()));
                    }
                    Some(LoopEvent::Tool(other))
                }
            };
            if let Some(event) = event {
                self.event_slot.emit(event).await;
            }
        }
        cause
    }

    /// Returns a run's next event. The run is cancelled when the loop is interrupted.
    pub(super) async fn next_event(
        &mut self,
        run: &mut Run,
        cause: &mut Option<InterruptionCause>,
    ) -> Option<ToolEvent> {
        let around = self.around_calls();
        poll_fn(|task| {
            if cause.is_none()
                && let Poll::Ready(found) = self.interruption.poll(task)
            {
                *cause = Some(found);
                run.cancel();
            }
            around.clone().sync_scope(|| Pin::new(&mut *run).poll_next(task))
        })
        .await
    }

    /// Cancels the calls that are open when the loop is interrupted.
    async fn cancel_open_calls(&mut self, turn: &RunningTurn) {
        for event in turn.change(TurnCalls::cancel_open) {
            self.event_slot.emit(event).await;
        }
    }

    /// Adds the turn and its calls' outcomes to the state, in one step.
    fn record_turn(&self, turn: &RunningTurn, counts: CallCounts) -> Option<LoopEvent> {
        let turn_calls = turn.snapshot();
        // Results may hold errors of user code, which must not be dropped under the lock.
        let recorded = self.state.complete(|state, staged| turn_calls.record(state, staged, counts));
        recorded.unplaced
    }
}

impl RunningTurn {
    /// Copies what is known about the calls.
    pub(super) fn snapshot(&self) -> TurnCalls {
        self.change(|turn| turn.clone())
    }

    fn change<T>(&self, change: impl FnOnce(&mut TurnCalls) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A turn that was added to a state.
pub(super) struct RecordedTurn {
    /// The event for results that could not be added.
    pub(super) unplaced: Option<LoopEvent>,
    /// The phase before.
    _before: LoopPhase,
}

impl TurnCalls {
    /// Starts with no call finished.
    fn new(turn: Turn) -> Self {
        let calls = turn.tool_calls();
        Self {
            turn,
            calls,
            running: BTreeSet::new(),
            results: Vec::new(),
            signals: Vec::new(),
            interactions: Vec::new(),
            approval_requests: Vec::new(),
            waits: Vec::new(),
            run_id: None,
        }
    }

    /// Returns the turn.
    pub(super) fn turn(&self) -> &Turn {
        &self.turn
    }

    /// Rejects the calls that must not run. Returns the others' indexes, and the events for the rejected ones.
    fn triage(&mut self, triage: &mut Triage<'_>) -> (Vec<usize>, Vec<LoopEvent>) {
        if self.turn.is_cut_off() {
            let interrupted = self.turn.interrupted_results().into_iter().enumerate();
            return (Vec::new(), interrupted.map(|(index, result)| self.add_result(index, result)).collect());
        }
        let mut rejected = Vec::new();
        for index in 0..self.calls.len() {
            match triage.reject(&self.calls[index]) {
                None => drop(self.running.insert(index)),
                Some(result) => rejected.push(self.add_result(index, result)),
            }
        }
        (self.running.iter().copied().collect(), rejected)
    }

    /// Records a call's outcome, and returns the event to emit. An interaction has none: it is
    /// reported when the loop ends to wait for it.
    fn add_outcome(&mut self, index: usize, outcome: CallOutcome) -> Option<LoopEvent> {
        self.running.remove(&index);
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

    /// Records a call's result, and returns its event.
    fn add_result(&mut self, index: usize, result: ToolResult) -> LoopEvent {
        self.results.push(result.clone());
        LoopEvent::Tool(ToolEvent::Output { index, result })
    }

    /// Records that a call waits for verdicts, once.
    fn add_requests(
        &mut self,
        index: usize,
        requests: Vec<ApprovalRequest>,
        wait: Option<WaitingCall>,
        run_id: &RunId,
    ) {
        if !self.running.remove(&index) {
            return;
        }
        self.approval_requests.extend(requests);
        self.waits.extend(wait);
        self.run_id.get_or_insert_with(|| run_id.clone());
    }

    /// Cancels the calls that wait, and returns the events with their results.
    fn cancel_open(&mut self) -> Vec<LoopEvent> {
        let mut indexes: HashMap<CallId, usize> = HashMap::new();
        for (index, call) in self.calls.iter().enumerate() {
            indexes.entry(call.call_id.clone()).or_insert(index);
        }
        let interactions = std::mem::take(&mut self.interactions).into_iter();
        let mut waiting: Vec<CallId> = interactions.map(|interaction| interaction.call_id().clone()).collect();
        waiting.extend(std::mem::take(&mut self.approval_requests).into_iter().map(|request| request.call_id));
        self.waits.clear();
        let mut known = HashSet::new();
        let waiting = waiting.iter().filter(|call_id| known.insert(*call_id));
        let waiting = waiting.filter_map(|call_id| indexes.get(call_id).copied());
        waiting.map(|index| self.add_result(index, ToolResult::cancelled(&self.calls[index], LOOP_CANCELLED))).collect()
    }

    /// Gives a result to the calls that run: should the process end now, nobody knows what became of them.
    pub(super) fn assume_ended(&mut self) {
        for index in std::mem::take(&mut self.running) {
            drop(self.add_result(index, outcome_unknown(&self.calls[index])));
        }
    }

    /// Adds the turn and its calls' outcomes to a state. A signal's output is `null` until it is answered.
    pub(super) fn record(self, state: &mut LoopState, staged: Option<&Staged>, counts: CallCounts) -> RecordedTurn {
        let Self { turn, results, signals, interactions, approval_requests, waits, run_id, .. } = self;
        let answers = results.iter().cloned().chain(signals.iter().map(Signal::result));
        let unplaced = append(&mut state.request.history, staged, turn.clone(), answers.collect());
        if let Some(run_id) = run_id {
            let waiting = approval_requests.iter().map(|request| request.call_id.clone());
            state.run_ids.extend(waiting.map(|call_id| (call_id, run_id.clone())));
        }
        state.request.history.extend(approval_requests.into_iter().map(Item::from));
        state.waits.extend(waits.into_iter().map(|waiting| (waiting.call().call_id.clone(), waiting)));
        state.turns = state.turns.saturating_add(1);
        state.row = counts.row;
        (state.calls, state.lacks_calls) = (counts.made, counts.lacks_calls);
        // The model has read the verdicts that its turn follows.
        state.accepted.clear();
        let mut open = OpenTurn { turn, results: Vec::new(), signals, interactions: interactions.into() };
        open.add(results);
        RecordedTurn { unplaced, _before: std::mem::replace(&mut state.phase, LoopPhase::Open(Box::new(open))) }
    }
}

/// Returns the open requests for a call that left its run with this one: one per question, if it asks any.
pub(super) fn open_requests(run: &Run, at: usize, request: &ApprovalRequest) -> Vec<ApprovalRequest> {
    let open: Vec<ApprovalRequest> = run.open_questions(at).cloned().collect();
    if open.is_empty() { vec![request.clone()] } else { open }
}

/// Returns the result for a call that would run when the process ended.
pub(super) fn outcome_unknown(call: &ToolCall) -> ToolResult {
    ToolResult::from_failure(call, ToolFailure::new(FailureKind::OutcomeUnknown, PROCESS_ENDED))
}

/// Returns a run's event with the index that its call has in the turn.
///
/// An event that names no call in the run, or whose type is unknown, has no such index. It is dropped: with another
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

/// Reports whether an empty turn is an end: a model that has nothing to add to a tool's result says nothing, as
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
