//! Which calls of a turn are handed on, and which are answered at once.
//!
//! Nothing here looks at tools: a call is refused because an earlier one has its id, because the request did not permit
//! it, because it was made too often, or because the budget has no more. Each refusal is an answer the model can act on.

use std::collections::HashSet;

use haft_core::{CallId, ToolCall, ToolChoice, ToolFailure, ToolResult};

use super::Settings;
use super::guard::{CallKey, SeenCalls};
use super::state_cell::StateCell;

/// The kind of failure of a call that the choice of tools does not permit.
pub(super) const CHOICE_VIOLATION: &str = "tool_choice_violation";
/// The kind of failure of a call that was made too often.
pub(super) const REPEATED_CALL: &str = "repeated_call";

/// Goes through the calls of one turn, in order.
pub(super) struct Triage<'a> {
    settings: &'a Settings,
    state: &'a StateCell,
    choice: ToolChoice,
    ids: HashSet<CallId>,
    /// The calls of this turn that were handed on.
    seen: SeenCalls,
    made: u64,
    repeated: usize,
    lacks_calls: bool,
}

/// What the calls of a turn came to.
pub(super) struct CallCounts {
    /// The calls of this turn that were handed on; none when nobody asks how often.
    pub(super) seen: SeenCalls,
    /// How many were handed on so far, with those of this turn.
    pub(super) made: u64,
    /// How many calls were refused because they were made too often.
    pub(super) repeated: usize,
    /// Whether calls were refused because the budget has no more.
    pub(super) lacks_calls: bool,
}

impl<'a> Triage<'a> {
    pub(super) fn new(settings: &'a Settings, state: &'a StateCell, choice: ToolChoice, made: u64) -> Self {
        let (ids, seen) = (HashSet::new(), SeenCalls::default());
        Self { settings, state, choice, ids, seen, made, repeated: 0, lacks_calls: false }
    }

    /// The answer to a call that is not handed on.
    pub(super) fn reject(&mut self, call: &ToolCall) -> Option<ToolResult> {
        if !self.ids.insert(call.call_id.clone()) {
            return Some(ToolResult::duplicate_call_id(call));
        }
        if !self.choice.permits(&call.name) {
            return Some(rejection(call, CHOICE_VIOLATION, permitted(&self.choice)));
        }
        let most = self.settings.repeated_calls;
        let key = (most > 0).then(|| CallKey::of(call));
        if key.as_ref().is_some_and(|key| self.times(key) >= most) {
            self.repeated += 1;
            let message = format!(
                "this call was made {most} times already with the same arguments and was not made again; \
                 use what it gave, or try something else"
            );
            return Some(rejection(call, REPEATED_CALL, message));
        }
        let budget = &self.settings.budget;
        if let (Some(0), Some(most)) = (budget.calls_left(self.made), budget.most_calls()) {
            self.lacks_calls = true;
            let reason = format!("the budget of {most} calls is spent, so this call was not run");
            return Some(ToolResult::cancelled(call, reason));
        }
        if let Some(key) = key {
            self.seen.note(key);
        }
        self.made = self.made.saturating_add(1);
        None
    }

    /// How often a call was made, in this turn and before.
    fn times(&self, key: &CallKey) -> u32 {
        self.state.read(|state| state.seen.times(key)).saturating_add(self.seen.times(key))
    }

    pub(super) fn counts(self) -> CallCounts {
        let Self { seen, made, repeated, lacks_calls, .. } = self;
        CallCounts { seen, made, repeated, lacks_calls }
    }
}

fn rejection(call: &ToolCall, kind: &str, message: String) -> ToolResult {
    ToolResult::from_failure(call, ToolFailure::new(kind, message).not_started())
}

fn permitted(choice: &ToolChoice) -> String {
    let listed = |names: &[String]| names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    match choice {
        ToolChoice::Tool(name) => format!("only the tool '{name}' may be called now; this call was not run"),
        ToolChoice::OneOf { names, .. } if !names.is_empty() => {
            format!("only these tools may be called now: {}; this call was not run", listed(names))
        }
        _ => "no tool may be called now; this call was not run".to_owned(),
    }
}
