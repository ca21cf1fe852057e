//! Calls that waited for a verdict.
//!
//! Their questions and the verdicts stand in the history as items. All open questions go back to the executor, which
//! decides what each is worth: a verdict that fits lets its call run, once; a question that has lapsed is answered so; one
//! without a verdict is put to the approver there is, and stays open if that is nobody. When the definition of a tool has
//! changed since, the executor asks anew, and the new question takes the place of the old one.
//!
//! A verdict lets its call begin once. It is taken out of the state before anything runs: one that is stored midway, or
//! found after a crash, has the question open again, and a person decides whether the call may have run already. A result
//! is written down as soon as it is there, and its question is taken out in the same step.

use std::collections::{BTreeMap, HashMap, HashSet};

use haft_core::history::PendingApproval;
use haft_core::{
    ApprovalDecision, ApprovalId, ApprovalRequest, ApprovalResponse, CallId, Item, Run, Suspended, ToolCall, ToolEvent,
    ToolResult, history,
};

use super::call_outcome::CallOutcome;
use super::end::LoopEnd;
use super::error::LoopError;
use super::event::LoopEvent;
use super::interaction::Interaction;
use super::machine::Machine;
use super::open_turn::OpenTurn;
use super::origin::Origins;
use super::record::answer;
use super::signal::Signal;
use super::state::LoopState;
use super::turn_calls::in_turn;

impl Machine {
    /// Goes on with the calls of the history that wait for a verdict.
    pub(super) async fn resume_approvals(&mut self) -> Result<(), LoopEnd> {
        let pending = self.state.read(|state| history::approvals(&state.request.history).pending);
        if pending.is_empty() {
            // Questions of rounds that were settled elsewhere are no part of what the model is asked.
            self.state.change(|state| drop(history::strip_resolved_approvals(&mut state.request.history)));
            return Ok(());
        }
        for pending in self.state.read(|state| by_turn(state.history(), pending)) {
            self.resume_turn(pending).await?;
        }
        Ok(())
    }

    /// Goes on with calls of one turn.
    async fn resume_turn(&mut self, pending: Vec<PendingApproval>) -> Result<(), LoopEnd> {
        let open: HashSet<ApprovalId> = pending.iter().map(|pending| pending.request.request_id.clone()).collect();
        let pending = one_per_call(pending);
        let Some(call_id) = pending.first().map(|pending| pending.call.call_id.clone()) else { return Ok(()) };
        let places: Vec<usize> = self.state.read(|state| {
            let places = state.phase.open().map(OpenTurn::places).unwrap_or_default();
            let place =
                |(at, pending): (usize, &PendingApproval)| places.get(&pending.call.call_id).copied().unwrap_or(at);
            pending.iter().enumerate().map(place).collect()
        });
        let waiting = pending.into_iter().map(|pending| (pending.call, pending.request));
        let suspended = Suspended::of(waiting).map_err(LoopError::Suspended)?;
        // What was said after the calls is nothing they were made with.
        let messages = self.state.read(|state| messages_up_to(state.history(), &call_id));
        let verdicts = self.state.change(|state| take_verdicts(&mut state.request.history, &open));
        let run = self.kit.resume(suspended, verdicts).with(self.settings.options.clone().messages(messages));
        self.run_resumed(run, &places).await
    }

    async fn run_resumed(&mut self, mut run: Run, places: &[usize]) -> Result<(), LoopEnd> {
        let (mut cause, mut asked) = (None, HashMap::new());
        let surfacing = run.calls().iter().enumerate().filter(|(_, call)| CallOutcome::may_surface(&self.kit, call));
        let mut made: HashMap<usize, ToolCall> = surfacing.map(|(at, call)| (at, call.clone())).collect();
        while let Some(event) = self.next_event(&mut run, &mut cause).await {
            let at = event.index();
            let Some(event) = in_turn(event, places) else { continue };
            if let Some(request) = event.suspended_request() {
                asked.insert(request.call_id.clone(), request.clone());
            }
            let ToolEvent::Output { index, result } = event else {
                self.event_slot.emit(LoopEvent::Tool(event)).await;
                continue;
            };
            let told = match made.remove(&at) {
                None => vec![self.answered(index, result)],
                Some(call) => match CallOutcome::of(&self.kit, &run, at, &call.arguments, result) {
                    CallOutcome::Answered(result) => vec![self.answered(index, result)],
                    CallOutcome::Signal(signal) => {
                        let unplaced = self.state.change(|state| surface_signal(state, call, signal.clone()));
                        unplaced.into_iter().chain([LoopEvent::Signal(Box::new(signal))]).collect()
                    }
                    CallOutcome::Interaction(interaction) => {
                        self.state.change(|state| surface_interaction(state, call, interaction));
                        Vec::new()
                    }
                },
            };
            for event in told {
                self.event_slot.emit(event).await;
            }
        }
        for unplaced in self.state.place_results() {
            self.event_slot.emit(unplaced).await;
        }
        self.state.change(|state| {
            replace_questions(&mut state.request.history, asked);
            history::strip_resolved_approvals(&mut state.request.history);
        });
        for refused in run.refused_verdicts() {
            let (response, reason) = (refused.response.clone(), refused.fault.to_string());
            self.event_slot.emit(LoopEvent::VerdictRefused { response, reason }).await;
        }
        cause.map_or(Ok(()), |cause| Err(cause.into()))
    }

    /// Writes down the result of a call, and returns what is to be told.
    fn answered(&self, index: usize, result: ToolResult) -> LoopEvent {
        self.state.add_result(result.clone());
        LoopEvent::Tool(ToolEvent::Output { index, result })
    }
}

/// Writes down a signal that was approved: closed until it is answered, as one that needed no approval.
fn surface_signal(state: &mut LoopState, made: ToolCall, signal: Signal) -> Option<LoopEvent> {
    let items = &mut state.request.history;
    let unplaced = answer(items, vec![signal.result()]);
    remove_approvals(items, &HashSet::from([signal.call_id().clone()]));
    OpenTurn::hold(&mut state.phase, made, |open| open.signals.push(signal));
    unplaced
}

/// Writes down an interaction that was approved: it waits for an answer, and no longer for a verdict.
fn surface_interaction(state: &mut LoopState, made: ToolCall, interaction: Interaction) {
    remove_approvals(&mut state.request.history, &HashSet::from([interaction.call_id().clone()]));
    OpenTurn::hold(&mut state.phase, made, |open| {
        open.interactions.retain(|known| known.call_id() != interaction.call_id());
        open.interactions.push(interaction);
    });
}

/// Puts the results of calls where they belong, and takes out in the same step what was asked and said about them. A verdict
/// that was used is gone even if the result finds no place.
pub(super) fn write_down(state: &mut LoopState, results: Vec<ToolResult>) -> Option<LoopEvent> {
    let done: HashSet<CallId> = results.iter().map(|result| result.call_id.clone()).collect();
    let items = &mut state.request.history;
    let unplaced = answer(items, results.clone());
    remove_approvals(items, &done);
    if let Some(open) = state.phase.open_mut() {
        // They have their results, whoever else was said to be asked.
        open.interactions.retain(|interaction| !done.contains(interaction.call_id()));
        open.add(results);
    }
    unplaced
}

/// Takes out the questions about calls, and the verdicts on them.
fn remove_approvals(items: &mut Vec<Item>, calls: &HashSet<CallId>) {
    let mut asked = HashSet::new();
    items.retain(|item| match item {
        Item::ApprovalRequest(request) if calls.contains(&request.call_id) => {
            asked.insert(request.request_id.clone());
            false
        }
        _ => true,
    });
    items.retain(|item| !matches!(item, Item::ApprovalResponse(response) if asked.contains(&response.request_id)));
}

/// Takes out every verdict on these questions, second ones too: one that was left would be the first for whoever reads
/// the state next. What stands before its question answers nothing and stays.
fn take_verdicts(items: &mut Vec<Item>, open: &HashSet<ApprovalId>) -> Vec<ApprovalResponse> {
    let mut asked = HashSet::new();
    let mut taken = Vec::new();
    items.retain(|item| match item {
        Item::ApprovalRequest(request) => {
            asked.insert(request.request_id.clone());
            true
        }
        Item::ApprovalResponse(response) => {
            let is_verdict = open.contains(&response.request_id) && asked.contains(&response.request_id);
            if is_verdict {
                taken.push(response.clone());
            }
            !is_verdict
        }
        _ => true,
    });
    taken
}

/// Puts questions that were asked anew, as a tool has changed since, in the places of those that were asked before.
fn replace_questions(items: &mut Vec<Item>, mut open: HashMap<CallId, ApprovalRequest>) {
    for item in items.iter() {
        if let Item::ApprovalRequest(known) = item
            && open.get(&known.call_id).is_some_and(|request| request.request_id == known.request_id)
        {
            open.remove(&known.call_id);
        }
    }
    let asked_anew: HashSet<CallId> = open.keys().cloned().collect();
    items.retain_mut(|item| match item {
        Item::ApprovalRequest(request) if asked_anew.contains(&request.call_id) => {
            open.remove(&request.call_id).map(|latest| *request = latest).is_some()
        }
        _ => true,
    });
}

/// The calls of each turn together, in order. Mostly there is one turn: the last.
fn by_turn(items: &[Item], pending: Vec<PendingApproval>) -> Vec<Vec<PendingApproval>> {
    let origins = Origins::of(items);
    let mut turns: BTreeMap<Option<usize>, Vec<PendingApproval>> = BTreeMap::new();
    for question in pending {
        turns.entry(origins.turn(&question.call.call_id)).or_default().push(question);
    }
    turns.into_values().collect()
}

/// The conversation up to the turn that made a call, and with it.
fn messages_up_to(items: &[Item], call_id: &CallId) -> Vec<Item> {
    let end = Origins::of(items).end(call_id).unwrap_or(items.len());
    items[..end].to_vec()
}

/// One question about each call, for a call goes on once: the first that was denied, else the first that has a verdict,
/// else the first.
fn one_per_call(pending: Vec<PendingApproval>) -> Vec<PendingApproval> {
    let mut places: HashMap<CallId, usize> = HashMap::new();
    let mut chosen: Vec<PendingApproval> = Vec::new();
    for question in pending {
        match places.get(&question.call.call_id) {
            None => {
                places.insert(question.call.call_id.clone(), chosen.len());
                chosen.push(question);
            }
            Some(&place) if weight(&question) > weight(&chosen[place]) => chosen[place] = question,
            Some(_) => {}
        }
    }
    chosen
}

/// How much the verdict on a question counts beside that on another about the same call.
fn weight(question: &PendingApproval) -> u8 {
    match question.response.as_ref().map(|response| &response.decision) {
        None => 0,
        Some(
            ApprovalDecision::Approved
            | ApprovalDecision::Edited(_)
            | ApprovalDecision::Answered(_)
            | ApprovalDecision::Other(_),
        ) => 1,
        // A decision that is added later counts as a denial until it is decided about here.
        Some(_) => 2,
    }
}

#[cfg(test)]
mod tests {
    use haft_core::{ApprovalRequest, ToolCall, TurnRequest};

    use super::*;

    #[test]
    fn a_verdict_that_was_used_is_gone_even_if_the_result_finds_no_place() {
        let (pay, other) = (ToolCall::new("c1", "pay", "5"), ToolCall::new("c2", "pay", "6"));
        let (asked, again, meta) =
            (ApprovalRequest::new("q1", &pay), ApprovalRequest::new("q2", &pay), ApprovalRequest::new("q3", &other));
        let items = vec![
            other.into(),
            asked.clone().into(),
            again.into(),
            meta.clone().into(),
            asked.approve().into(),
            meta.approve().into(),
        ];
        let mut state = LoopState::new(TurnRequest::new("any", items.clone()));
        let unplaced = write_down(&mut state, vec![ToolResult::cancelled(&pay, "gone")]);
        assert!(matches!(unplaced, Some(LoopEvent::Unplaced { results, .. }) if results[0].call_id == "c1"));
        assert_eq!(state.history(), [items[0].clone(), items[3].clone(), items[5].clone()]);
    }
}
