//! Calls that have no output yet.

use super::fresh_id::call_at;
use super::layout::Layout;
use crate::call::ToolCall;
use crate::item::Item;
use crate::result::ToolResult;

/// Returns the calls that have no output, in order.
///
/// Calls that the provider executes are not included. An output answers only a call before it, and only one: if several
/// have its id, the first one of the nearest group.
///
/// ```
/// use haft_core::{Item, ToolCall, ToolCallOutput, history};
///
/// let early = ToolCallOutput::new("c1", "before any call");
/// let history: Vec<Item> = vec![early.into(), ToolCall::new("c1", "look", "{}").into()];
/// assert_eq!(history::unanswered(&history).len(), 1);
/// ```
#[must_use]
pub fn unanswered(history: &[Item]) -> Vec<&ToolCall> {
    let layout = Layout::of(history);
    layout.unanswered().filter_map(|(_, call)| call_at(history, call.item)).collect()
}

/// Returns a `cancelled` result for each call that has no output, in order, to be passed to [`answer`](super::answer).
///
/// ```
/// use haft_core::{FailureKind, Item, ToolCall, history};
///
/// let mut history: Vec<Item> = vec![ToolCall::new("c1", "pay", "{}").into(), Item::user("Stop!")];
/// let results = history::cancel_pending(&history, "the user moved on");
/// assert_eq!(results[0].failure().map(|failure| &failure.kind), Some(&FailureKind::Cancelled));
///
/// history::answer(&mut history, results)?;
/// assert!(history::is_reconciled(&history));
/// # Ok::<_, history::AppendError>(())
/// ```
#[must_use]
pub fn cancel_pending(history: &[Item], reason: &str) -> Vec<ToolResult> {
    unanswered(history).into_iter().map(|call| ToolResult::cancelled(call, reason)).collect()
}
