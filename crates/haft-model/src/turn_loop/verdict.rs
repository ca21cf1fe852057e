//! Calls that waited for a verdict.
//!
//! Their questions and the verdicts stand in the history as items. All open questions go back to the executor, which
//! decides what each is worth: a verdict that fits lets its call run, once; a question that has lapsed is answered so; one
//! without a verdict is put to the approver there is, and stays open if that is nobody.

use std::collections::HashMap;

use haft_core::history::PendingApproval;
use haft_core::{ApprovalId, Item, Run, Suspended, ToolEvent, ToolResult, history};

use super::end::LoopEnd;
use super::error::LoopError;
use super::event::LoopEvent;
use super::machine::Machine;
use super::record::answer;
use super::settle::place;

impl Machine {
    /// Goes on with the calls of the history that wait for a verdict.
    pub(super) async fn settle_approvals(&mut self) -> Result<(), LoopEnd> {
        let pending = one_per_call(self.state.read(|state| history::approvals(&state.request.history).pending));
        if pending.is_empty() {
            return Ok(());
        }
        let places: Vec<usize> = self.state.read(|state| {
            let place = |(at, pending): (usize, &PendingApproval)| {
                state.open.as_ref().and_then(|open| open.index_of(&pending.call.call_id)).unwrap_or(at)
            };
            pending.iter().enumerate().map(place).collect()
        });
        let verdicts: Vec<_> = pending.iter().filter_map(|pending| pending.response.clone()).collect();
        let waiting = pending.into_iter().map(|pending| (pending.call, pending.request));
        let suspended = Suspended::of(waiting).map_err(LoopError::Suspended)?;
        let messages = self.state.read(|state| state.request.history.clone());
        let run = self.kit.resume(suspended, verdicts).with(self.settings.options.clone().messages(messages));
        self.run_resumed(run, &places).await
    }

    async fn run_resumed(&mut self, mut run: Run, places: &[usize]) -> Result<(), LoopEnd> {
        let (mut results, mut cause) = (Vec::new(), None);
        while let Some(mut event) = self.next_event(&mut run, &mut cause).await {
            place(&mut event, places);
            if let ToolEvent::Output { result, .. } = &event {
                results.push(result.clone());
            }
            self.outlet.emit(LoopEvent::Tool(event)).await;
        }
        let refused: HashMap<ApprovalId, String> = run
            .refused_verdicts()
            .iter()
            .map(|refused| (refused.response.request_id.clone(), refused.fault.to_string()))
            .collect();
        let (unused, unplaced) = self.place_results(results, &refused);
        if let Some(unplaced) = unplaced {
            self.outlet.emit(unplaced).await;
        }
        for (response, reason) in unused {
            self.outlet.emit(LoopEvent::VerdictRefused { response: Box::new(response), reason }).await;
        }
        cause.map_or(Ok(()), |cause| Err(cause.into()))
    }

    /// Puts the results where they belong. Verdicts that were not used are taken out, so that others can be given.
    fn place_results(
        &self,
        results: Vec<ToolResult>,
        refused: &HashMap<ApprovalId, String>,
    ) -> (Vec<(haft_core::ApprovalResponse, String)>, Option<LoopEvent>) {
        self.state.change(|state| {
            let items = &mut state.request.history;
            let unplaced = answer(items, results.clone());
            history::strip_resolved_approvals(items);
            let mut unused = Vec::new();
            items.retain(|item| match item {
                Item::ApprovalResponse(response) => match refused.get(&response.request_id) {
                    Some(reason) => {
                        unused.push((response.clone(), reason.clone()));
                        false
                    }
                    None => true,
                },
                _ => true,
            });
            if let Some(open) = &mut state.open {
                open.add(results);
            }
            (unused, unplaced)
        })
    }
}

/// One question about each call: the first that has its verdict, else the first. A call goes on once.
fn one_per_call(pending: Vec<PendingApproval>) -> Vec<PendingApproval> {
    let mut kept: Vec<PendingApproval> = Vec::new();
    for question in pending {
        match kept.iter_mut().find(|known| known.call.call_id == question.call.call_id) {
            None => kept.push(question),
            Some(known) if known.response.is_none() && question.response.is_some() => *known = question,
            Some(_) => {}
        }
    }
    kept
}
