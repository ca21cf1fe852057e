//! Resuming calls that waited for a verdict.
//!
//! Approval requests and verdicts are items of the history. All pending requests are passed to the executor, which
//! checks them: a valid verdict lets its call run, once; an expired request fails its call; a request without a
//! verdict is passed to the approver, and stays pending if none is configured. If the definition of a tool has changed
//! since, the executor makes a new request, which replaces the old one.
//!
//! A verdict must let its call begin only once. It is removed from the state before anything runs: in a state that is
//! stored meanwhile, or found after a crash, the request is pending again, and the approver decides whether the call
//! may have run. A result is recorded as soon as it is available, and its request is removed in the same step.
//!
//! A call is resumed in a run with the id of the run that it was made in, so it has the same idempotency key each time,
//! also after a crash. The id is kept until the call has its result.

use std::collections::{BTreeMap, HashMap, HashSet};

use haft_core::history::{self, PendingApproval};
use haft_core::{
    ApprovalDecision, ApprovalId, ApprovalRequest, CallId, Item, RunId, ToolCall, ToolEvent, ToolResult, Verdict,
};
use haft_executor::{Dispatch, Run, Suspended, WaitingCall};

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
use super::state_cell::ResumedCalls;
use super::turn_calls::{in_turn, open_requests};

impl Machine {
    /// Resumes the calls of the history that wait for a verdict.
    pub(super) async fn resume_approvals(&mut self) -> Result<(), LoopEnd> {
        let pending = self.state.read(|state| history::approvals(&state.request.history).pending);
        self.state.change(|state| {
            // The history may have been changed from outside.
            let waiting: HashSet<&CallId> = pending.iter().map(|pending| &pending.call.call_id).collect();
            state.run_ids.retain(|call_id, _| waiting.contains(call_id));
            state.waits.retain(|call_id, _| waiting.contains(call_id));
        });
        if pending.is_empty() {
            // Requests that were resolved elsewhere are not sent to the model.
            self.state.change(|state| drop(history::strip_resolved_approvals(&mut state.request.history)));
            return Ok(());
        }
        for (run_id, pending) in self.state.read(|state| by_run(state, pending)) {
            self.resume_run(run_id, pending).await?;
        }
        Ok(())
    }

    /// Resumes the calls of one run. Without an id, they are resumed as a new run.
    async fn resume_run(&mut self, run_id: Option<RunId>, pending: Vec<PendingApproval>) -> Result<(), LoopEnd> {
        let open: HashSet<ApprovalId> = pending.iter().map(|pending| pending.request.request_id.clone()).collect();
        let pending = one_per_call(pending);
        let Some(call_id) = pending.first().map(|pending| pending.call.call_id.clone()) else { return Ok(()) };
        let waits = self.state.read(|state| state.waits.clone());
        let waiting = pending.clone().into_iter().map(|pending| (pending.call, pending.request));
        let states = waits.values().cloned();
        let suspended = Suspended::with_waiting(waiting, states).map_err(LoopError::Suspended)?;
        let indexes: Vec<usize> = self.state.read(|state| {
            let known = state.phase.open().map(OpenTurn::indexes).unwrap_or_default();
            let index = |(at, call): (usize, &ToolCall)| known.get(&call.call_id).copied().unwrap_or(at);
            suspended.calls().iter().enumerate().map(index).collect()
        });
        // Messages after the turn of the calls are not passed to them.
        let messages = self.state.read(|state| messages_up_to(state.history(), &call_id));
        let verdicts = self.state.change(|state| take_verdicts(&mut state.request.history, &open));
        let resumed = ResumedCalls::of(&pending, &verdicts);
        let options = self.options.clone().messages(messages);
        // The options may set an id as well, for the runs of new calls.
        let options = match run_id {
            Some(run_id) => options.run_id(run_id),
            None => options,
        };
        let run = self.tools.resume_calls(suspended, verdicts, options);
        self.state.change(|state| {
            let ids = run.calls().iter().map(|call| (call.call_id.clone(), run.run_id().clone()));
            state.run_ids.extend(ids);
        });
        self.state.resume(resumed);
        let mut seen = HashSet::new();
        let calls = pending.into_iter().map(|pending| pending.call);
        let calls = calls.filter(|call| seen.insert(call.call_id.clone())).collect();
        self.event_slot.emit(LoopEvent::CallsResumed { calls }).await;
        let ended = self.run_resumed(run, &indexes).await;
        self.state.resume(ResumedCalls::default());
        ended
    }

    /// Runs resumed calls and records their outcomes.
    async fn run_resumed(&mut self, mut run: Run, indexes: &[usize]) -> Result<(), LoopEnd> {
        let (mut cause, mut requests) = (None, HashMap::new());
        let surfacing =
            run.calls().iter().enumerate().filter(|(_, call)| CallOutcome::may_surface(self.tools.toolkit(), call));
        let mut made: HashMap<usize, ToolCall> = surfacing.map(|(at, call)| (at, call.clone())).collect();
        while let Some(event) = self.next_event(&mut run, &mut cause).await {
            let at = event.index();
            let Some(event) = in_turn(event, indexes) else { continue };
            if let Some(request) = event.suspended_request() {
                self.state.settle(&request.call_id);
                match run.waiting_call(at) {
                    // Its requests and its state change in one step.
                    Some(waiting) => {
                        let open = open_requests(&run, at, request);
                        self.state.change(|state| wait_again(state, waiting, open));
                    }
                    None => drop(requests.insert(request.call_id.clone(), request.clone())),
                }
            }
            let ToolEvent::Output { index, result } = event else {
                self.event_slot.emit(LoopEvent::Tool(event)).await;
                continue;
            };
            self.state.settle(&result.call_id);
            let events = match made.remove(&at) {
                None => vec![self.add_result(index, result)],
                Some(call) => match CallOutcome::of(self.tools.toolkit(), &run, at, &call.arguments, result) {
                    CallOutcome::Answered(result) => vec![self.add_result(index, result)],
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
            for event in events {
                self.event_slot.emit(event).await;
            }
        }
        self.add_nested_totals();
        for unplaced in self.state.place_results() {
            self.event_slot.emit(unplaced).await;
        }
        self.state.change(|state| {
            replace_requests(&mut state.request.history, requests);
            history::strip_resolved_approvals(&mut state.request.history);
        });
        for rejected in run.rejected_verdicts() {
            let (response, reason) = (rejected.response.clone(), rejected.fault.to_string());
            self.event_slot.emit(LoopEvent::VerdictRejected { response, reason }).await;
        }
        cause.map_or(Ok(()), |cause| Err(cause.into()))
    }

    /// Records the result of a call, and returns its event.
    fn add_result(&self, index: usize, result: ToolResult) -> LoopEvent {
        self.state.add_result(result.clone());
        LoopEvent::Tool(ToolEvent::Output { index, result })
    }
}

impl ResumedCalls {
    /// Sorts calls by their verdicts. One without a verdict may run too: an approver may decide about it at once.
    fn of(pending: &[PendingApproval], verdicts: &[Verdict]) -> Self {
        let by_request: HashMap<&ApprovalId, &Verdict> =
            verdicts.iter().rev().map(|verdict| (&verdict.request_id, verdict)).collect();
        let mut resumed = Self::default();
        for PendingApproval { call, request, .. } in pending {
            if request.question.is_some() {
                // Whatever the answer is, the call goes on with it.
                if resumed.running.last() != Some(call) {
                    resumed.running.push(call.clone());
                }
                continue;
            }
            match by_request.get(&request.request_id).filter(|verdict| runs_nothing(&verdict.decision)) {
                Some(&verdict) => resumed.verdicts.push((call.call_id.clone(), verdict.clone())),
                None => resumed.running.push(call.clone()),
            }
        }
        resumed
    }
}

/// Reports whether a call with this decision certainly does not run. A decision that is added later counts as one that
/// lets it run until it is decided about here.
fn runs_nothing(decision: &ApprovalDecision) -> bool {
    matches!(decision, ApprovalDecision::Denied | ApprovalDecision::Answered(_) | ApprovalDecision::Other(_))
}

/// Records a signal that was approved. Its output is `null` until it is answered.
fn surface_signal(state: &mut LoopState, made: ToolCall, signal: Signal) -> Option<LoopEvent> {
    let items = &mut state.request.history;
    let unplaced = answer(items, vec![signal.result()]);
    remove_approvals(items, &HashSet::from([signal.call_id().clone()]));
    state.run_ids.remove(signal.call_id());
    OpenTurn::hold(&mut state.phase, made, |open| open.signals.push(signal));
    unplaced
}

/// Records an interaction that was approved: it waits for an answer, and no longer for a verdict.
fn surface_interaction(state: &mut LoopState, made: ToolCall, interaction: Interaction) {
    remove_approvals(&mut state.request.history, &HashSet::from([interaction.call_id().clone()]));
    state.run_ids.remove(interaction.call_id());
    OpenTurn::hold(&mut state.phase, made, |open| open.interactions.put(interaction));
}

/// Adds the results of calls to the history, and removes their approval requests and verdicts in the same step. A
/// verdict that was used is removed even if the result can't be added.
pub(super) fn record_results(state: &mut LoopState, results: Vec<ToolResult>) -> Option<LoopEvent> {
    let done: HashSet<CallId> = results.iter().map(|result| result.call_id.clone()).collect();
    let items = &mut state.request.history;
    let unplaced = answer(items, results.clone());
    remove_approvals(items, &done);
    state.run_ids.retain(|call_id, _| !done.contains(call_id));
    state.waits.retain(|call_id, _| !done.contains(call_id));
    match state.phase.open_mut() {
        Some(open) => {
            // These calls are finished, so they no longer wait for an answer.
            open.interactions.retain(|interaction| !done.contains(interaction.call_id()));
            open.add(results);
        }
        None => state.failures.extend(results.into_iter().filter(|result| result.failure().is_some())),
    }
    unplaced
}

/// Removes the approval requests of calls, and the verdicts on them.
fn remove_approvals(items: &mut Vec<Item>, calls: &HashSet<CallId>) {
    let mut requests = HashSet::new();
    items.retain(|item| match item {
        Item::ApprovalRequest(request) if calls.contains(&request.call_id) => {
            requests.insert(request.request_id.clone());
            false
        }
        _ => true,
    });
    items.retain(|item| !matches!(item, Item::Verdict(response) if requests.contains(&response.request_id)));
}

/// Removes every verdict on these approval requests, also further ones: one that was left would count as the first
/// when the state is read again. A verdict that precedes its request is not one on it, and stays.
fn take_verdicts(items: &mut Vec<Item>, open: &HashSet<ApprovalId>) -> Vec<Verdict> {
    let mut requests = HashSet::new();
    let mut taken = Vec::new();
    items.retain(|item| match item {
        Item::ApprovalRequest(request) => {
            requests.insert(request.request_id.clone());
            true
        }
        Item::Verdict(response) => {
            let is_verdict = open.contains(&response.request_id) && requests.contains(&response.request_id);
            if is_verdict {
                taken.push(response.clone());
            }
            !is_verdict
        }
        _ => true,
    });
    taken
}

/// Replaces approval requests with the new ones that were made because a tool has changed.
fn replace_requests(items: &mut Vec<Item>, mut open: HashMap<CallId, ApprovalRequest>) {
    for item in items.iter() {
        if let Item::ApprovalRequest(known) = item
            && open.get(&known.call_id).is_some_and(|request| request.request_id == known.request_id)
        {
            open.remove(&known.call_id);
        }
    }
    let replaced: HashSet<CallId> = open.keys().cloned().collect();
    items.retain_mut(|item| match item {
        Item::ApprovalRequest(request) if replaced.contains(&request.call_id) => {
            open.remove(&request.call_id).map(|latest| *request = latest).is_some()
        }
        _ => true,
    });
}

/// Records that a call waits again, or still: its requests are those that are open now.
fn wait_again(state: &mut LoopState, waiting: WaitingCall, open: Vec<ApprovalRequest>) {
    let call_id = waiting.call().call_id.clone();
    let items = &mut state.request.history;
    let is_old = |item: &Item| matches!(item, Item::ApprovalRequest(request) if request.call_id == call_id);
    let place = items.iter().position(is_old).unwrap_or(items.len());
    remove_approvals(items, &HashSet::from([call_id.clone()]));
    let mut all: Vec<Item> = std::mem::take(items).into();
    let after = all.split_off(place.min(all.len()));
    all.extend(open.into_iter().map(Item::from));
    all.extend(after);
    *items = all.into();
    state.waits.insert(call_id, waiting);
}

/// Groups pending approvals by the turn and the run of their call, in order. Mostly there is one turn: the last, whose
/// calls were made in one run.
fn by_run(state: &LoopState, pending: Vec<PendingApproval>) -> Vec<(Option<RunId>, Vec<PendingApproval>)> {
    let origins = Origins::of(state.history());
    let mut runs: BTreeMap<(Option<usize>, Option<RunId>), Vec<PendingApproval>> = BTreeMap::new();
    for approval in pending {
        let call_id = &approval.call.call_id;
        let run = (origins.turn(call_id), state.run_ids.get(call_id).cloned());
        runs.entry(run).or_default().push(approval);
    }
    runs.into_iter().map(|((_, run_id), pending)| (run_id, pending)).collect()
}

/// Returns the conversation up to the turn of a call, inclusive.
fn messages_up_to(items: &[Item], call_id: &CallId) -> Vec<Item> {
    let end = Origins::of(items).end(call_id).unwrap_or(items.len());
    items[..end].to_vec()
}

/// Selects one approval request for each call, as a call is resumed once: the first that was denied, else the first
/// with a verdict, else the first. Of a call that asks questions, all of them are selected.
fn one_per_call(pending: Vec<PendingApproval>) -> Vec<PendingApproval> {
    let mut positions: HashMap<CallId, usize> = HashMap::new();
    let mut chosen: Vec<PendingApproval> = Vec::new();
    for approval in pending {
        if approval.request.question.is_some() {
            chosen.push(approval);
            continue;
        }
        match positions.get(&approval.call.call_id) {
            None => {
                positions.insert(approval.call.call_id.clone(), chosen.len());
                chosen.push(approval);
            }
            Some(&position) if precedence(&approval) > precedence(&chosen[position]) => chosen[position] = approval,
            Some(_) => {}
        }
    }
    chosen
}

/// Returns the precedence of a request among those for the same call.
fn precedence(pending: &PendingApproval) -> u8 {
    match pending.response.as_ref().map(|response| &response.decision) {
        None => 0,
        Some(
            ApprovalDecision::Approved
            | ApprovalDecision::Edited(_)
            | ApprovalDecision::Answered(_)
            | ApprovalDecision::Other(_),
        ) => 1,
        // A denial. A decision that is added later counts as one until it is decided about here.
        Some(_) => 2,
    }
}

#[cfg(test)]
mod tests {
    use haft_core::tagged::TaggedEnum;
    use haft_core::{ApprovalRequest, ProviderCall, Reasoning, ToolCall, ToolCallOutput, TurnRequest};
    use serde_json::json;

    use super::*;

    /// Fails when a type of item is added, until it is decided whether it is removed with the approvals of its call.
    #[test]
    fn only_requests_and_verdicts_are_removed_with_the_approvals_of_a_call() {
        let types: Vec<&str> = Item::VARIANTS.iter().map(|(tag, _)| *tag).collect();
        let approvals = ["approval_request", "approval_response"];
        let others = ["message", "reasoning", "tool_call", "tool_output", "provider_call"];
        assert_eq!(types.len(), approvals.len() + others.len());
        assert!(approvals.iter().chain(&others).all(|tag| types.contains(tag)), "{types:?}");

        let call = ToolCall::new("c1", "pay", "5");
        let request = ApprovalRequest::new("q1", &call);
        let kept: [Item; 5] = [
            Item::assistant("paying"),
            Reasoning::text("hm").into(),
            call.into(),
            ToolCallOutput::new("c1", "paid").into(),
            ProviderCall::new("vendor", "search", "").call_id("c1").into(),
        ];
        let mut items = kept.to_vec();
        items.extend([request.clone().into(), request.approve().into(), Item::Unknown(json!({"type": "hunch"}))]);
        remove_approvals(&mut items, &HashSet::from(["c1".into()]));
        assert_eq!(items[..5], kept);
        assert_eq!(items[5..], [Item::Unknown(json!({"type": "hunch"}))]);
    }

    #[test]
    fn a_used_verdict_is_removed_even_if_the_result_cannot_be_added() {
        let (pay, other) = (ToolCall::new("c1", "pay", "5"), ToolCall::new("c2", "pay", "6"));
        let (requests, again, meta) =
            (ApprovalRequest::new("q1", &pay), ApprovalRequest::new("q2", &pay), ApprovalRequest::new("q3", &other));
        let items = vec![
            other.into(),
            requests.clone().into(),
            again.into(),
            meta.clone().into(),
            requests.approve().into(),
            meta.approve().into(),
        ];
        let mut state = LoopState::new(TurnRequest::new("any", items.clone()));
        let unplaced = record_results(&mut state, vec![ToolResult::cancelled(&pay, "gone")]);
        assert!(matches!(unplaced, Some(LoopEvent::Unplaced { results, .. }) if results[0].call_id == "c1"));
        assert_eq!(state.history(), [items[0].clone(), items[3].clone(), items[5].clone()]);
    }
}
