//! Approval requests of a history, matched with their calls and responses.
//!
//! This module only matches; it decides nothing. The executor checks whether a response is valid for its request
//! (digest, expiry). Matching goes backwards only: a request belongs to an earlier call and a response to an earlier
//! request, so that no early item can approve a later call.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::fresh_id::call_at;
use super::layout::Layout;
use crate::call::ToolCall;
use crate::item::{ApprovalId, ApprovalRequest, Item, Verdict};

/// The approval items of a history, matched with each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Approvals {
    /// Requests for calls that have no output yet, in order.
    pub pending: Vec<PendingApproval>,
    /// Requests for calls that have an output, or that do not precede the request.
    pub resolved: Vec<ApprovalRequest>,
    /// Requests of a provider for calls that it executes.
    pub remote: Vec<RemoteApproval>,
    /// Requests with the id of an earlier one. No response applies to them.
    pub repeated: Vec<ApprovalRequest>,
    /// Responses without an earlier request.
    pub unmatched: Vec<Verdict>,
    /// Further responses to a request: only the first one is used.
    pub ignored: Vec<Verdict>,
}

/// An approval request for a call that has no output yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PendingApproval {
    /// The call that waits for approval.
    pub call: ToolCall,
    /// The approval request.
    pub request: ApprovalRequest,
    /// The response, if there is one: the call can continue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Verdict>,
}

/// An approval request of a provider for a call that it executes. The response is sent to the provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RemoteApproval {
    /// The approval request.
    pub request: ApprovalRequest,
    /// The response, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Verdict>,
}

/// Matches the approval items of a history with their calls and with each other. The first response to a request is
/// used.
///
/// ```
/// use haft_core::{ApprovalDecision, ApprovalRequest, ToolCall, history};
///
/// let pay = ToolCall::new("c1", "pay", r#"{"cents":5}"#);
/// let request = ApprovalRequest::new("q1", &pay);
/// let (yes, no) = (request.approve(), request.deny("on second thoughts"));
/// let history = vec![pay.clone().into(), request.into(), yes.into(), no.clone().into()];
///
/// let approvals = history::approvals(&history);
/// assert_eq!(approvals.pending[0].call, pay);
/// let response = approvals.pending[0].response.as_ref().unwrap();
/// assert_eq!(response.decision, ApprovalDecision::Approved);
/// assert_eq!(approvals.ignored, [no]);
/// ```
#[must_use]
pub fn approvals(history: &[Item]) -> Approvals {
    let layout = Layout::of(history);
    let mut calls = layout.requests.iter().map(|&(_, call)| call);
    let mut approvals = Approvals::default();
    let mut tracked: HashMap<&ApprovalId, TrackedRequest> = HashMap::new();
    for item in history {
        match item {
            Item::ApprovalRequest(request) => {
                let call = calls.next().flatten();
                if tracked.contains_key(&request.request_id) {
                    approvals.repeated.push(request.clone());
                } else {
                    tracked.insert(&request.request_id, approvals.ask(history, &layout, request, call));
                }
            }
            Item::Verdict(response) => match tracked.get_mut(&response.request_id) {
                Some(tracked) => approvals.answer(tracked, response),
                None => approvals.unmatched.push(response.clone()),
            },
            _ => {}
        }
    }
    approvals
}

/// Removes the approval requests of calls that have an output, together with their responses, and returns the removed
/// items.
///
/// These remain: requests for calls without output and their responses, responses without a request, and everything
/// about calls that the provider executes.
///
/// ```
/// use haft_core::{ApprovalRequest, Item, ToolCall, ToolResult, history};
/// use serde_json::json;
///
/// let pay = ToolCall::new("c1", "pay", r#"{"cents":5}"#);
/// let request = ApprovalRequest::new("q1", &pay);
/// let yes = request.approve();
/// let mut history: Vec<Item> = vec![pay.clone().into(), request.into(), yes.into()];
/// assert!(history::strip_resolved_approvals(&mut history).is_empty());
///
/// history::answer(&mut history, [ToolResult::ok(&pay, json!("paid"))])?;
/// assert_eq!(history::strip_resolved_approvals(&mut history).len(), 2);
/// assert!(matches!(&history[..], [Item::ToolCall(_), Item::ToolOutput(_)]));
/// # Ok::<_, history::AppendError>(())
/// ```
pub fn strip_resolved_approvals(history: &mut Vec<Item>) -> Vec<Item> {
    let layout = Layout::of(history);
    let mut calls = layout.requests.iter().map(|&(_, call)| call);
    let mut tracked: HashMap<&ApprovalId, bool> = HashMap::new();
    let is_resolved: Vec<bool> = history
        .iter()
        .map(|item| match item {
            Item::ApprovalRequest(request) => {
                let call = calls.next().flatten().map(|call| &layout.calls[call]);
                let is_resolved = call.is_some_and(|call| call.answer.is_some());
                // A request that repeats the id of a removed one is removed with it, or it would become the first.
                let is_first_resolved = *tracked.entry(&request.request_id).or_insert(is_resolved);
                is_resolved || is_first_resolved
            }
            Item::Verdict(response) => tracked.get(&response.request_id).copied().unwrap_or_default(),
            _ => false,
        })
        .collect();
    let mut is_resolved = is_resolved.into_iter();
    history.extract_if(.., |_| is_resolved.next().unwrap_or_default()).collect()
}

/// A request and whether it has a response.
#[derive(Debug)]
struct TrackedRequest {
    entry: RequestEntry,
    is_answered: bool,
}

#[derive(Clone, Copy, Debug)]
enum RequestEntry {
    Pending(usize),
    Remote(usize),
    Resolved,
}

impl Approvals {
    fn ask(
        &mut self,
        history: &[Item],
        layout: &Layout,
        request: &ApprovalRequest,
        call: Option<usize>,
    ) -> TrackedRequest {
        let local = call.map(|call| &layout.calls[call]).filter(|call| !call.is_remote);
        let waiting = local.filter(|call| call.answer.is_none()).and_then(|call| call_at(history, call.item));
        let request = request.clone();
        let entry = if let Some(call) = waiting {
            self.pending.push(PendingApproval { call: call.clone(), request, response: None });
            RequestEntry::Pending(self.pending.len() - 1)
        } else if local.is_none() && !request.provider_data.is_empty() {
            self.remote.push(RemoteApproval { request, response: None });
            RequestEntry::Remote(self.remote.len() - 1)
        } else {
            self.resolved.push(request);
            RequestEntry::Resolved
        };
        TrackedRequest { entry, is_answered: false }
    }

    fn answer(&mut self, tracked: &mut TrackedRequest, response: &Verdict) {
        if std::mem::replace(&mut tracked.is_answered, true) {
            self.ignored.push(response.clone());
            return;
        }
        match tracked.entry {
            RequestEntry::Pending(index) => self.pending[index].response = Some(response.clone()),
            RequestEntry::Remote(index) => self.remote[index].response = Some(response.clone()),
            RequestEntry::Resolved => {}
        }
    }
}
