//! Results that answer no open call.

use std::fmt;

use thiserror::Error;

use crate::call::CallId;
use crate::result::ToolResult;
use crate::turn::Turn;

/// Results that answer no open call. Nothing was changed, and what was given is given back.
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
/// assert_eq!(error.to_string(), "1 of 2 results answers no open call: 'c2' (no such call)");
/// assert_eq!(history.len(), 1);
///
/// let good = error.into_results().into_iter().filter(|result| result.call_id != "c2");
/// history::answer(&mut history, good)?;
/// # Ok::<_, history::AppendError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{} of {} results {} no open call: {}", strays.len(), results.len(), answers(strays), listed(strays))]
pub struct AppendError {
    strays: Vec<StrayResult>,
    turn: Option<Box<Turn>>,
    results: Vec<ToolResult>,
}

/// One result that answers no open call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StrayResult {
    /// Where it stands among the results that were given.
    pub index: usize,
    /// The call it names.
    pub call_id: CallId,
    /// Why it answers none.
    pub reason: StrayReason,
}

/// Why a result answers no call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StrayReason {
    /// No call has its id.
    NoCall,
    /// Each call of its id has its output, or another of the results given.
    AlreadyAnswered,
    /// The provider runs the call.
    ProviderExecuted,
}

impl AppendError {
    pub(super) fn new(strays: Vec<StrayResult>, results: Vec<ToolResult>) -> Self {
        Self { strays, turn: None, results }
    }

    pub(super) fn with_turn(self, turn: Turn) -> Self {
        Self { turn: Some(Box::new(turn)), ..self }
    }

    /// All results that answer no open call, in the order they were given.
    #[must_use]
    pub fn strays(&self) -> &[StrayResult] {
        &self.strays
    }

    /// All results that were given.
    #[must_use]
    pub fn into_results(self) -> Vec<ToolResult> {
        self.results
    }

    /// What was given: the turn, when there was one, and all results.
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
            Self::ProviderExecuted => "run by the provider",
        })
    }
}

fn answers(strays: &[StrayResult]) -> &'static str {
    if strays.len() == 1 { "answers" } else { "answer" }
}

/// Every stray, for an error must name them all; ids are cut at 80 characters, for they come from a model.
fn listed(strays: &[StrayResult]) -> String {
    let each = strays.iter().map(|stray| format!("'{:.80}' ({})", stray.call_id, stray.reason));
    each.collect::<Vec<_>>().join(", ")
}
