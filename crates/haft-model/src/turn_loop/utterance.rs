//! What a model may say.
//!
//! A turn goes into the history as it is, and the history is what verdicts and answers are read from later. So a turn that
//! speaks for somebody else (an approval, the result of a call that is run here, a user's message) is rejected whole,
//! before any of it is written down or run. Nothing is taken out of a turn in silence.
//!
//! Whose words an item is the core decides, for every type of item ([`Item::author`]); here every author is decided about.
//! So a new type of item is not allowed until somebody says so.

use std::collections::HashSet;

use haft_core::{Author, CallId, History, Item, Role, Turn};
use serde::Deserialize;
use serde_json::Value;

use crate::error::ModelError;

/// How much is told of an error that may repeat what the model said, in characters.
const MOST_TOLD: usize = 200;

/// Whether everything in a turn is the model's, or its provider's, to say after this history.
pub(super) fn check(history: &History, turn: &Turn) -> Result<(), ModelError> {
    let local = local_ids(turn);
    for (place, item) in turn.items.iter().enumerate() {
        if let Some(fault) = fault(history, turn, &local, item) {
            let message = format!("the item at {place} of the turn is not a model's to say: {fault}");
            return Err(ModelError::Unreadable { message, source: None });
        }
    }
    Ok(())
}

/// Returns why an item is not a model's to say. Every author is named, and within each whatever is not allowed is a fault.
fn fault(history: &History, turn: &Turn, local: &HashSet<&CallId>, item: &Item) -> Option<String> {
    match (item.author(), item) {
        (Author::Model | Author::Provider, _) => None,
        (Author::Executor, Item::ToolOutput(output)) if !local.contains(&output.call_id) => {
            output_fault(history, turn, &output.call_id)
        }
        // A provider may ask about what it runs itself.
        (Author::Gate, Item::ApprovalRequest(request))
            if !request.provider_data.is_empty() && !local.contains(&request.call_id) =>
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

/// Names an item that somebody else has to say.
fn described(item: &Item) -> String {
    match item {
        Item::Message(message) => format!("a message of the role `{}`", role(message.role)),
        Item::ToolOutput(output) => format!("the output of the call `{:.80}`, which is run here", output.call_id),
        Item::ApprovalRequest(request) => format!("a question about the call `{:.80}`", request.call_id),
        Item::ApprovalResponse(response) => format!("a verdict on the question `{:.80}`", response.request_id),
        other => format!("an item that speaks for {:?}", other.author()),
    }
}

/// Outputs belong to calls that the provider runs, in this turn or in one before it that was paused.
fn output_fault(history: &History, turn: &Turn, id: &CallId) -> Option<String> {
    let is_known = history.is_provider_call(id) || turn.items.iter().any(|item| item.provider_call_id() == Some(id));
    (!is_known).then(|| format!("an output for the call `{id:.80}`, which the provider does not run"))
}

/// An item of an unknown type is shared as it came, and must still be one when it is read again.
fn unknown_fault(value: &Value) -> Option<String> {
    match Item::deserialize(value) {
        Ok(Item::Unknown(_)) => None,
        Ok(_) => Some(format!("an item of the known type {}, given as unknown", value["type"])),
        Err(error) => {
            let error: String = error.to_string().chars().take(MOST_TOLD).collect();
            Some(format!("an item that can't be read again: {error}"))
        }
    }
}

fn local_ids(turn: &Turn) -> HashSet<&CallId> {
    turn.items.iter().filter_map(Item::local_call).map(|call| &call.call_id).collect()
}

fn role(role: Role) -> String {
    format!("{role:?}").to_lowercase()
}
