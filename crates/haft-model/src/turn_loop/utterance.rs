//! The items that a model may produce.
//!
//! A turn is added to the history unchanged, and verdicts and outputs are read from the history later. So a turn with
//! an item of another author (a verdict, the output of a call that the application runs, a user message) is rejected
//! whole, before any of it is recorded or run. No item may be removed from a turn silently.
//!
//! The core decides the author for every type of item ([`Item::author`]); here it is decided for every author whether
//! a model may write in its place. So a new type of item is rejected until it is decided about.

use std::collections::HashSet;

use haft_core::{ApprovalRequest, Author, CallId, History, Item, Role, Turn};
use serde::Deserialize;
use serde_json::Value;

use crate::error::ModelError;

/// The maximum number of characters of an error that may quote the model.
const MOST_QUOTED: usize = 200;

/// Checks that every item of a turn may be written by the model or its provider after this history.
pub(super) fn check(history: &History, turn: &Turn) -> Result<(), ModelError> {
    let local = local_ids(turn);
    let mut requested = HashSet::new();
    for (position, item) in turn.items.iter().enumerate() {
        let repeated = match item {
            Item::ApprovalRequest(request) => !requested.insert(&request.request_id) || is_known(history, request),
            _ => false,
        };
        if let Some(fault) = fault(history, turn, &local, item).or_else(|| repeated.then(|| reused(item))) {
            let message = format!("a model must not write the item at {position} of its turn: {fault}");
            return Err(ModelError::Unreadable { message: message.into(), source: None });
        }
    }
    Ok(())
}

/// Returns the reason why a model must not write an item. Every author is named, and every item that is not allowed is
/// a fault.
fn fault(history: &History, turn: &Turn, local: &HashSet<&CallId>, item: &Item) -> Option<String> {
    match (item.author(), item) {
        (Author::Model | Author::Provider, _) => None,
        (Author::Executor, Item::ToolOutput(output)) if !local.contains(&output.call_id) => {
            output_fault(history, turn, &output.call_id)
        }
        // A provider may request approval of calls that it runs.
        (Author::Gate, Item::ApprovalRequest(request))
            if !request.provider_data.is_empty()
                && !local.contains(&request.call_id)
                && !history.is_local_call(&request.call_id) =>
        {
            None
        }
        (Author::Unknown, Item::Unknown(value)) => unknown_fault(value),
        (
            Author::User | Author::Application | Author::Executor | Author::Gate | Author::Approver | Author::Unknown,
            item,
        ) => Some(described(item)),
    }
}

/// Reports whether the id of an approval request is that of an earlier request or verdict. The verdict on one of them
/// would count for the other.
fn is_known(history: &History, request: &ApprovalRequest) -> bool {
    history.is_requested(&request.request_id) || history.is_decided(&request.request_id)
}

/// Describes an approval request whose id is taken.
fn reused(item: &Item) -> String {
    format!("{}, with the id of an earlier one", described(item))
}

/// Describes an item that a model must not write.
fn described(item: &Item) -> String {
    match item {
        Item::Message(message) => format!("a message of the role `{}`", role(message.role)),
        Item::ToolOutput(output) => {
            format!("the output of the call `{:.80}`, which the application runs", output.call_id)
        }
        Item::ApprovalRequest(request) => format!("an approval request for the call `{:.80}`", request.call_id),
        Item::Verdict(response) => format!("a verdict on the approval request `{:.80}`", response.request_id),
        other => format!("an item of the author {:?}", other.author()),
    }
}

/// Rejects an output whose call the provider does not run, in this turn or in one before it that was paused.
fn output_fault(history: &History, turn: &Turn, id: &CallId) -> Option<String> {
    let is_known = history.is_provider_call(id) || turn.items.iter().any(|item| item.provider_call_id() == Some(id));
    (!is_known).then(|| format!("an output for the call `{id:.80}`, which the provider does not run"))
}

/// Rejects an unknown item that would be read back as a known one, or not at all.
fn unknown_fault(value: &Value) -> Option<String> {
    match Item::deserialize(value) {
        Ok(Item::Unknown(_)) => None,
        Ok(_) => Some(format!("an item of the known type {}, given as unknown", value["type"])),
        Err(error) => {
            let error: String = error.to_string().chars().take(MOST_QUOTED).collect();
            Some(format!("an item that can't be read again: {error}"))
        }
    }
}

/// Returns the ids of the calls that the application runs.
fn local_ids(turn: &Turn) -> HashSet<&CallId> {
    turn.items.iter().filter_map(Item::local_call).map(|call| &call.call_id).collect()
}

fn role(role: Role) -> String {
    format!("{role:?}").to_lowercase()
}
