//! Descriptions of the faults of a history.
//!
//! A repair reports its changes; an error before a repair has to describe the faults instead. Ids and names are cut at
//! 80 characters, as they come from a model.

use std::fmt::Write as _;

use haft_core::CallId;
use haft_core::history::Change;

/// The number of faults in a message; the others are counted.
const MOST_LISTED: usize = 3;

/// Describes the first faults, one sentence each.
pub(super) fn summary(changes: &[Change]) -> String {
    let mut sentences: Vec<String> = changes.iter().take(MOST_LISTED).map(sentence).collect();
    match changes.len().saturating_sub(MOST_LISTED) {
        0 => {}
        more => sentences.push(format!("and {more} more")),
    }
    sentences.join("; ")
}

/// Returns the affected calls.
pub(super) fn calls(changes: &[Change]) -> Vec<CallId> {
    let mut calls = Vec::new();
    for change in changes {
        match change {
            Change::Moved(moved) => calls.push(moved.call_id.clone()),
            Change::Reordered(reordered) => calls.extend(reordered.call_ids.iter().cloned()),
            Change::Removed(removed) => calls.push(removed.output.call_id.clone()),
            Change::Cancelled(cancelled) => calls.push(cancelled.call_id.clone()),
            Change::Renamed(renamed) => calls.push(renamed.from.clone()),
            Change::Relabelled(relabelled) => calls.push(relabelled.call_id.clone()),
            // A kind of change that is added names no call here until it is decided about; a test lists all kinds.
            _ => {}
        }
    }
    calls
}

/// Describes the fault that a change would repair.
fn sentence(change: &Change) -> String {
    match change {
        Change::Moved(moved) => format!(
            "the output of the call '{:.80}' at {} is not right after the turn with the call at {}",
            moved.call_id, moved.index, moved.call_index
        ),
        Change::Reordered(reordered) => {
            let mut sentence = format!("the outputs from {} on are not in the order of their calls:", reordered.index);
            for (position, id) in reordered.call_ids.iter().take(MOST_LISTED).enumerate() {
                let _ = write!(sentence, "{} '{id:.80}'", if position == 0 { "" } else { "," });
            }
            sentence
        }
        Change::Removed(removed) => format!(
            "the output for the call '{:.80}' at {} belongs to no call: {}",
            removed.output.call_id, removed.index, removed.reason
        ),
        Change::Cancelled(call) => {
            format!("the call '{:.80}' of '{:.80}' at {} has no output", call.call_id, call.tool, call.index)
        }
        Change::Renamed(call) => {
            format!(
                "the call '{:.80}' of '{:.80}' at {} has the id of an earlier call",
                call.from, call.tool, call.index
            )
        }
        Change::Relabelled(output) => format!(
            "the output of the call '{:.80}' at {} names the tool '{:.80}', but the call is of '{:.80}'",
            output.call_id, output.index, output.from, output.to
        ),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use haft_core::{Item, ToolCall, ToolCallOutput, history};

    use super::*;

    fn faults(items: Vec<Item>) -> Vec<String> {
        history::repair(items, "").changes.iter().map(sentence).collect()
    }

    #[test]
    fn each_fault_is_described_with_its_location() {
        let call = |id: &str| Item::from(ToolCall::new(id, "look", "{}"));
        let output = |id: &str| ToolCallOutput::new(id, "dark");
        assert_eq!(
            faults(vec![call("c1"), Item::user("well?"), output("c1").into()]),
            ["the output of the call 'c1' at 2 is not right after the turn with the call at 0"]
        );
        assert_eq!(
            faults(vec![call("c1"), call("c2"), call("c3"), output("c3").into(), output("c2").into()]),
            [
                "the call 'c1' of 'look' at 0 has no output",
                "the outputs from 3 on are not in the order of their calls: 'c2', 'c3'"
            ]
        );
        assert_eq!(
            faults(vec![call("c1"), output("c1").tool("listen").into(), output("c1").into()]),
            [
                "the output of the call 'c1' at 1 names the tool 'listen', but the call is of 'look'",
                "the output for the call 'c1' at 2 belongs to no call: the call already has an output"
            ]
        );
        assert_eq!(
            faults(vec![call("c1"), output("c1").into(), call("c1"), output("c1").into()]),
            ["the call 'c1' of 'look' at 2 has the id of an earlier call"]
        );
    }
}
