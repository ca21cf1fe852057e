//! Triage of the calls of a turn: those that are run, and those that are rejected.
//!
//! Nothing here depends on the tools: a call is rejected because an earlier one has its id, because the tool choice
//! does not permit it, because it was made too often, or because the budget is spent. Each rejection is a result that
//! the model can act on.

use std::collections::HashSet;

use haft_core::{CallId, ToolCall, ToolChoice, ToolFailure, ToolResult};

use super::guard::{CallKey, CallRow};
use super::settings::Settings;

/// The failure kind of a call that the tool choice does not permit.
pub(super) const CHOICE_VIOLATION: &str = "tool_choice_violation";
/// The failure kind of a call that was made too often.
pub(super) const REPEATED_CALL: &str = "repeated_call";

/// The triage of the calls of one turn, in order.
pub(super) struct Triage<'a> {
    settings: &'a Settings,
    choice: ToolChoice,
    ids: HashSet<CallId>,
    /// The equal calls in a row up to now.
    row: CallRow,
    /// True if the model was told in an earlier turn that it repeats itself, and has made no other call since.
    was_told: bool,
    made: u64,
    /// The number of calls in earlier tasks of the conversation.
    earlier: u64,
    repeated: usize,
    lacks_calls: bool,
}

/// The counts of the calls of a turn.
#[derive(Clone, Debug)]
pub(super) struct CallCounts {
    /// The equal calls in a row up to the end of this turn; empty if they are not limited.
    pub(super) row: CallRow,
    /// The number of calls that passed so far, including those of this turn.
    pub(super) made: u64,
    /// The number of calls that were rejected because they were made too often, if the model was told before that the
    /// next one ends the loop.
    pub(super) repeated_again: usize,
    /// True if calls were rejected because the budget is spent.
    pub(super) lacks_calls: bool,
}

impl<'a> Triage<'a> {
    /// Starts with the equal calls in a row before this turn, and the number of calls that were made.
    pub(super) fn new(settings: &'a Settings, choice: ToolChoice, row: CallRow, made: u64, earlier: u64) -> Self {
        let was_told = row.len() > settings.repeated_calls;
        Self { settings, choice, ids: HashSet::new(), row, was_told, made, earlier, repeated: 0, lacks_calls: false }
    }

    /// Returns the result of a call that is rejected; `None` if it passes.
    pub(super) fn reject(&mut self, call: &ToolCall) -> Option<ToolResult> {
        if !self.ids.insert(call.call_id.clone()) {
            return Some(ToolResult::duplicate_call_id(call));
        }
        if !self.choice.permits(&call.name) {
            return Some(rejection(call, CHOICE_VIOLATION, permitted(&self.choice)));
        }
        let most = self.settings.repeated_calls;
        let key = (most > 0).then(|| CallKey::of(call));
        if let Some(key) = key.clone().filter(|key| self.row.times(key) >= most) {
            // Rejected calls belong to the row: one that is longer than the limit means that the model was told.
            self.row.note(key);
            self.repeated += 1;
            let times = if most == 1 { "once".to_owned() } else { format!("{most} times in a row") };
            let message = format!(
                "this call was already made {times} with the same arguments and was not run again; use the earlier \
                 result, or try something else: repeating it once more ends the run"
            );
            return Some(rejection(call, REPEATED_CALL, message));
        }
        let total = self.earlier.saturating_add(self.made);
        let budgets = [(&self.settings.budget, self.made), (&self.settings.conversation_budget, total)];
        let spent = budgets.into_iter().find(|(budget, made)| budget.calls_left(*made) == Some(0));
        if let Some(most) = spent.and_then(|(budget, _)| budget.most_calls()) {
            self.lacks_calls = true;
            let calls = if most == 1 { "call" } else { "calls" };
            let reason = format!("the budget of {most} {calls} is spent, so this call was not run");
            return Some(ToolResult::cancelled(call, reason));
        }
        if let Some(key) = key {
            self.row.note(key);
        }
        self.made = self.made.saturating_add(1);
        None
    }

    /// Returns the counts.
    pub(super) fn counts(self) -> CallCounts {
        let Self { row, was_told, made, repeated, lacks_calls, .. } = self;
        CallCounts { row, made, repeated_again: if was_told { repeated } else { 0 }, lacks_calls }
    }
}

fn rejection(call: &ToolCall, kind: &str, message: String) -> ToolResult {
    ToolResult::from_failure(call, ToolFailure::new(kind, message).not_started())
}

/// Describes the calls that a tool choice permits.
fn permitted(choice: &ToolChoice) -> String {
    let listed = |names: &[String]| names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    match choice {
        ToolChoice::Tool(name) => format!("only the tool '{name}' may be called now; this call was not run"),
        ToolChoice::OneOf { names, .. } if !names.is_empty() => {
            format!("only these tools may be called now: {}; this call was not run", listed(names))
        }
        // A choice that is added later permits nothing in this message until it is described.
        _ => "no tool may be called now; this call was not run".to_owned(),
    }
}
