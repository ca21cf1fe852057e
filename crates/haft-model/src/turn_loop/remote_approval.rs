//! Approval requests of a provider, for calls that it executes itself.
//!
//! The provider sends the request as an item of its turn and stops; the response is an item of the next request to it. So
//! a loop waits until every such request has a response, whoever answers it: an unanswered request must never be sent
//! back. A response that can't be used is removed and reported, and its request is pending again; an expired request is
//! denied, as no verdict on it can be used any more.

use std::collections::{HashMap, HashSet};

use haft_core::{ApprovalId, ApprovalRequest, ApprovalResponse, Author, Item, VerdictFault, history};

use super::event::LoopEvent;
use super::machine::Machine;
use super::state::LoopState;

/// The reason of a denial because nobody decided in time.
const EXPIRED: &str = "the approval request expired";

/// The side that executes a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallSide {
    /// The application, with its tools.
    Application,
    /// The provider of the model.
    Provider,
}

/// The treatment of requests for local calls that have a verdict which was not acted on yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decided {
    Included,
    Excluded,
}

/// Returns the approval requests that are pending, in order: those of local calls without output, and those of the
/// provider without a response.
pub(super) fn pending_requests(items: &[Item], decided: Decided) -> Vec<ApprovalRequest> {
    let found = history::approvals(items);
    let is_pending = |response: &Option<ApprovalResponse>| decided == Decided::Included || response.is_none();
    let local = found.pending.into_iter().filter(|pending| is_pending(&pending.response)).map(|it| it.request);
    let remote = found.remote.into_iter().filter(|remote| remote.response.is_none()).map(|it| it.request);
    let mut requests: Vec<ApprovalRequest> = local.chain(remote).collect();
    if requests.len() > 1 {
        let mut order: HashMap<&ApprovalId, usize> = HashMap::new();
        for (position, item) in items.iter().enumerate() {
            if let Item::ApprovalRequest(request) = item {
                order.entry(&request.request_id).or_insert(position);
            }
        }
        requests.sort_by_key(|request| order.get(&request.request_id).copied());
    }
    requests
}

/// A change of the responses to a provider's requests, with its event.
struct Settled {
    event: LoopEvent,
    change: ResponseChange,
}

enum ResponseChange {
    None,
    /// The response at this position of the history can't be used.
    Remove(usize),
    /// The request is denied.
    Deny(Box<ApprovalResponse>),
}

impl Machine {
    /// Checks the responses that were added since the provider made its requests, and denies requests that expired.
    pub(super) async fn settle_remote_approvals(&mut self) {
        let (items, start) = self.state.read(|state| {
            let start = new_from(state.history());
            (state.request.history.clone(), start)
        });
        if start == items.len() && !items.has_open_remote_request() {
            return;
        }
        let mut settled = Vec::new();
        let remote = history::approvals(&items).remote;
        let mut first = HashSet::new();
        for (at, item) in items.iter().enumerate().skip(start) {
            let Item::ApprovalResponse(response) = item else { continue };
            let Some(found) = remote.iter().find(|found| found.request.request_id == response.request_id) else {
                continue;
            };
            // The approval clock and the auditors are user code, so the state is not locked here.
            let is_first = first.insert(&response.request_id) && found.response.as_ref() == Some(response);
            let checked = if is_first {
                self.options.accept_remote_verdict(&found.request, response)
            } else {
                Err(VerdictFault::AlreadyDecided)
            };
            settled.push(match checked {
                Ok(()) => Settled::resolved(response.clone(), ResponseChange::None),
                Err(fault) => Settled::rejected(response.clone(), &fault, at),
            });
        }
        for found in remote.into_iter().filter(|found| found.response.is_none()) {
            let denial = found.request.deny(EXPIRED);
            if self.options.check_remote_verdict(&found.request, &denial) == Err(VerdictFault::Expired) {
                drop(self.options.accept_remote_verdict(&found.request, &denial));
                settled.push(Settled::resolved(denial.clone(), ResponseChange::Deny(Box::new(denial))));
            }
        }
        self.state.change(|state| apply(state, &settled));
        for Settled { event, .. } in settled {
            self.event_slot.emit(event).await;
        }
    }
}

impl Settled {
    fn resolved(response: ApprovalResponse, change: ResponseChange) -> Self {
        Self { event: LoopEvent::ProviderApproval { response: Box::new(response) }, change }
    }

    fn rejected(response: ApprovalResponse, fault: &VerdictFault, at: usize) -> Self {
        let event = LoopEvent::VerdictRejected { response: Box::new(response), reason: fault.to_string() };
        Self { event, change: ResponseChange::Remove(at) }
    }
}

/// Changes the responses of the history.
fn apply(state: &mut LoopState, settled: &[Settled]) {
    let removed: HashSet<usize> = settled
        .iter()
        .filter_map(|settled| match settled.change {
            ResponseChange::Remove(at) => Some(at),
            ResponseChange::None | ResponseChange::Deny(_) => None,
        })
        .collect();
    if !removed.is_empty() {
        let mut at = 0..;
        state.request.history.retain(|_| at.next().is_none_or(|at| !removed.contains(&at)));
    }
    state.request.history.extend(settled.iter().filter_map(|settled| match &settled.change {
        ResponseChange::Deny(denial) => Some(Item::ApprovalResponse((**denial).clone())),
        ResponseChange::None | ResponseChange::Remove(_) => None,
    }));
}

/// Returns the position after the last item of the model or its provider: responses from there on were not sent yet.
fn new_from(items: &[Item]) -> usize {
    let is_sent = |item: &Item| match item.author() {
        Author::Model | Author::Provider => true,
        Author::User | Author::Application | Author::Executor | Author::Gate | Author::Approver | Author::Unknown => {
            false
        }
    };
    items.iter().rposition(is_sent).map_or(0, |last| last + 1)
}
