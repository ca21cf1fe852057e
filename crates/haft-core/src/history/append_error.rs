//! Results that answer no pending call.

use std::fmt;

use thiserror::Error;

use crate::call::CallId;
use crate::result::ToolResult;
use crate::turn::Turn;

/// Results that answer no pending call. The history is unchanged, and the error returns the arguments.
///
/// ```
/// use haft_core::{Item, ToolCall, ToolResult, history};
/// use serde_json::json;
///
/// let call = ToolCall::new("c1", "add", "{}");
/// let mut history = vec![Item::from(call.clone())];
/// let stray = ToolResult::ok(&ToolCall::new("c2", "add", "{}"), json!(1));
///
/// let error = history::answer(&mut history, [ToolResult::ok(&call, json!(3)), stray]).unwrap_err();
/// assert_eq!(error.to_string(), "1 of 2 results answers no pending call: 'c2' (no such call)");
/// assert_eq!(history.len(), 1);
///
/// let good = error.into_results().into_iter().filter(|result| result.call_id != "c2");
/// history::answer(&mut history, good)?;
/// # Ok::<_, history::AppendError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{} of {} results {} no pending call: {}", strays.len(), results.len(), answers(strays), listed(strays))]
pub struct AppendError {
    strays: Vec<StrayResult>,
    turn: Option<Box<Turn>>,
    results: Vec<ToolResult>,
}

/// One result that answers no pending call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StrayResult {
    /// The index of the result among those that were passed.
    pub index: usize,
    /// The call id of the result.
    pub call_id: CallId,
    /// The reason why it answers no call.
    pub reason: StrayReason,
}

/// The reason why a result answers no call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StrayReason {
    /// No call has its id.
    NoCall,
    /// Every call with its id already has an output, or is answered by another result.
    AlreadyAnswered,
    /// The call is executed by the provider.
    ProviderExecuted,
}

impl AppendError {
    pub(super) fn new(strays: Vec<StrayResult>, results: Vec<ToolResult>) -> Self {
        Self { strays, turn: None, results }
    }

    pub(super) fn with_turn(self, turn: Turn) -> Self {
        Self { turn: Some(Box::new(turn)), ..self }
    }

    /// Returns all results that answer no pending call, in the order they were passed.
    #[must_use]
    pub fn strays(&self) -> &[StrayResult] {
        &self.strays
    }

    /// Returns all results that were passed.
    #[must_use]
    pub fn into_results(self) -> Vec<ToolResult> {
        self.results
    }

    /// Returns everything that was passed: the turn, if there was one, and all results.
    #[must_use]
    pub fn into_parts(self) -> (Option<Turn>, Vec<ToolResult>) {
        (self.turn.map(|turn| *turn), self.results)
    }
}

impl fmt::Display for StrayReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoCall => "no such call",
            Self::AlreadyAnswered => "already answered",
            Self::ProviderExecuted => "executed by the provider",
        })
    }
}

fn answers(strays: &[StrayResult]) -> &'static str {
    if strays.len() == 1 { "answers" } else { "answer" }
}

/// Lists every stray result. Ids come from a model, so each is cut at 80 characters.
fn listed(strays: &[StrayResult]) -> String {
    let each = strays.iter().map(|stray| format!("'{:.80}' ({})", stray.call_id, stray.reason));
    each.collect::<Vec<_>>().join(", ")
}
