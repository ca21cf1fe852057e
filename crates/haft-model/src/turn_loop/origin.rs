//! The turn of a history that a call belongs to, and the conversation up to it.
//!
//! A call that waited is resumed with the messages that preceded it. Messages after its turn were not the reason for
//! the call, and must not change what a policy, an approver or a handler reads.

use std::collections::{HashMap, HashSet};

use haft_core::{Author, CallId, Item};

/// The turns of a history, by the calls they made.
#[derive(Debug, Default)]
pub(super) struct Origins<'h> {
    /// The turn of each call. Of calls that share an id it is that of the last.
    turns: HashMap<&'h CallId, usize>,
    /// The end of each turn: the position after its last item.
    ends: Vec<usize>,
}

impl<'h> Origins<'h> {
    /// Finds the turns of a history.
    pub(super) fn of(items: &'h [Item]) -> Self {
        let remote: HashSet<&CallId> = items.iter().filter_map(Item::provider_call_id).collect();
        let mut origins = Self::default();
        let mut is_open = false;
        for (position, item) in items.iter().enumerate() {
            match speaker(item, &remote) {
                Speaker::Neutral => {}
                Speaker::Other => is_open = false,
                Speaker::Model => {
                    if !is_open {
                        origins.ends.push(position);
                        is_open = true;
                    }
                    if let Some(end) = origins.ends.last_mut() {
                        *end = position + 1;
                    }
                    if let Item::ToolCall(call) = item {
                        origins.turns.insert(&call.call_id, origins.ends.len() - 1);
                    }
                }
            }
        }
        origins
    }

    /// Returns the number of the turn of a call, in order.
    pub(super) fn turn(&self, call_id: &CallId) -> Option<usize> {
        self.turns.get(call_id).copied()
    }

    /// Returns the length of the conversation up to the turn of a call, inclusive.
    pub(super) fn end(&self, call_id: &CallId) -> Option<usize> {
        self.turn(call_id).and_then(|turn| self.ends.get(turn)).copied()
    }
}

/// The relation of an item to the turn of a model.
enum Speaker {
    /// The item is part of a turn: the model or its provider wrote it.
    Model,
    /// The item neither belongs to a turn nor ends one.
    Neutral,
    /// The item ends a turn.
    Other,
}

/// Returns the relation of an item to the turn before it. Every author is named, so a new one has to be decided about.
fn speaker(item: &Item, remote: &HashSet<&CallId>) -> Speaker {
    match item.author() {
        Author::Model | Author::Provider => Speaker::Model,
        Author::Executor => match item {
            Item::ToolOutput(output) if remote.contains(&output.call_id) => Speaker::Model,
            _ => Speaker::Other,
        },
        // Approval requests and verdicts may be among the calls that they are about.
        Author::Gate | Author::Approver => Speaker::Neutral,
        Author::User | Author::Application | Author::Unknown => Speaker::Other,
    }
}

#[cfg(test)]
mod tests {
    use haft_core::{ApprovalRequest, ToolCall, ToolCallOutput};

    use super::*;

    #[test]
    fn a_turn_ends_with_the_last_item_of_the_model() {
        let call = |id: &str| ToolCall::new(id, "pay", "5");
        let items = vec![
            Item::user("pay"),
            Item::assistant("very well"),
            call("c1").into(),
            ApprovalRequest::new("q1", &call("c1")).into(),
            call("c2").into(),
            ApprovalRequest::new("q2", &call("c2")).into(),
            ToolCallOutput::new("c2", "paid").into(),
            Item::user("and this?"),
            call("c3").into(),
        ];
        let origins = Origins::of(&items);
        let found = ["c1", "c2", "c3", "c4"].map(|id| (origins.turn(&id.into()), origins.end(&id.into())));
        assert_eq!(found, [(Some(0), Some(5)), (Some(0), Some(5)), (Some(1), Some(9)), (None, None)]);
    }
}
