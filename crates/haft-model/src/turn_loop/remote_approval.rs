//! Approval requests of a provider, for calls that it executes itself.
//!
//! The provider sends the request as an item of its turn and stops; the response is an item of the next request to it.
//! So a loop waits until every such request has a response, from the loop's owner or in the history: an unanswered
//! request must never be sent back. A response that can't be used is removed and reported, and its request is pending
//! again; an expired request is denied, as no verdict on it can be used any more.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use haft_core::{ApprovalId, ApprovalRequest, Author, Item, Verdict, history};
use haft_executor::{RunOptions, VerdictFault};

use super::event::LoopEvent;
use super::machine::Machine;

/// The reason for the denial of a request that expired.
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
pub(super) enum DecidedRequests {
    Included,
    Excluded,
}

/// Returns the approval requests that are pending, in order: those of local calls without output, and those of the
/// provider without a response.
pub(super) fn pending_requests(items: &[Item], decided: DecidedRequests) -> Vec<ApprovalRequest> {
    let found = history::approvals(items);
    let is_pending = |response: &Option<Verdict>| decided == DecidedRequests::Included || response.is_none();
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

/// The changes of the responses to a provider's requests, with their events.
#[derive(Debug, Default)]
struct Settlement {
    /// The positions of responses that can't be used.
    removed: HashSet<usize>,
    denials: Vec<Verdict>,
    /// The requests whose verdict was accepted, now or before, and not sent yet.
    accepted: BTreeSet<ApprovalId>,
    events: Vec<LoopEvent>,
}

impl Machine {
    /// Checks the responses that were added since the provider made its requests, and denies requests that expired. A
    /// verdict is accepted once: it stays valid if the state is started again before it was sent.
    pub(super) async fn settle_remote_approvals(&mut self) {
        let (items, accepted) = self.state.read(|state| (state.request.history.clone(), state.accepted.clone()));
        let start = new_from(&items);
        if start == items.len() && !items.has_open_remote_request() {
            return;
        }
        let (mut requested, mut sent) = (HashSet::new(), HashSet::new());
        let mut unsent: HashMap<&ApprovalId, VecDeque<(usize, &Verdict)>> = HashMap::new();
        for (at, item) in items.iter().enumerate() {
            match item {
                Item::ApprovalRequest(request) => drop(requested.insert(&request.request_id)),
                // A verdict that precedes its request is not one on it.
                Item::Verdict(response) if requested.contains(&response.request_id) => {
                    if at < start {
                        sent.insert(&response.request_id);
                    } else {
                        unsent.entry(&response.request_id).or_default().push_back((at, response));
                    }
                }
                _ => {}
            }
        }
        // The approval clock and the auditors are user code, so the state is not locked here.
        let mut settlement = Settlement::default();
        for found in history::approvals(&items).remote {
            let id = &found.request.request_id;
            let mut responses = unsent.remove(id).unwrap_or_default();
            let first = if sent.contains(id) { None } else { responses.pop_front() };
            match first {
                None if found.response.is_none() => settlement.deny_if_expired(&self.options, &found.request),
                None => {}
                Some(_) if accepted.contains(id) => drop(settlement.accepted.insert(id.clone())),
                Some((at, response)) => settlement.check(&self.options, &found.request, response, at),
            }
            for (at, response) in responses {
                settlement.reject(response, &VerdictFault::AlreadyDecided, at);
            }
        }
        let Settlement { removed, denials, accepted, events } = settlement;
        self.state.change(|state| {
            if !removed.is_empty() {
                let mut at = 0..;
                state.request.history.retain(|_| at.next().is_none_or(|at| !removed.contains(&at)));
            }
            state.request.history.extend(denials.into_iter().map(Item::from));
            state.accepted = accepted;
        });
        for event in events {
            self.event_slot.emit(event).await;
        }
    }
}

impl Settlement {
    /// Checks the first response to a request.
    fn check(&mut self, options: &RunOptions, request: &ApprovalRequest, response: &Verdict, at: usize) {
        match options.accept_remote_verdict(request, response) {
            Ok(()) => self.accept(response),
            Err(fault) => {
                self.reject(response, &fault, at);
                match fault {
                    // The record of the outcome is made already.
                    VerdictFault::Expired => self.deny(request.deny(EXPIRED)),
                    _ => self.deny_if_expired(options, request),
                }
            }
        }
    }

    /// Denies a request that no verdict can be used for any more.
    fn deny_if_expired(&mut self, options: &RunOptions, request: &ApprovalRequest) {
        let denial = request.deny(EXPIRED);
        if options.check_remote_verdict(request, &denial) == Err(VerdictFault::Expired) {
            drop(options.accept_remote_verdict(request, &denial));
            self.deny(denial);
        }
    }

    fn deny(&mut self, denial: Verdict) {
        self.accept(&denial);
        self.denials.push(denial);
    }

    fn accept(&mut self, response: &Verdict) {
        self.accepted.insert(response.request_id.clone());
        self.events.push(LoopEvent::ProviderApproval { response: Box::new(response.clone()) });
    }

    fn reject(&mut self, response: &Verdict, fault: &VerdictFault, at: usize) {
        self.removed.insert(at);
        let (response, reason) = (Box::new(response.clone()), fault.to_string());
        self.events.push(LoopEvent::VerdictRejected { response, reason });
    }
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
