//! The budget of a loop.
//!
//! A budget is counted over the whole life of a [`LoopState`](crate::LoopState), through every stop and resume: the
//! totals are in the state. It is checked before every request, and the time also while the loop waits.

use std::fmt;
use std::time::Duration;

use haft_core::Usage;
use serde::{Deserialize, Serialize};

/// The budget of a loop. Nothing is limited by default.
///
/// ```
/// use std::time::Duration;
/// use haft_model::Budget;
///
/// let budget = Budget::new().tokens(50_000).calls(100).time(Duration::from_secs(60));
/// # let _ = budget;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "a budget limits nothing until it is given to a loop"]
pub struct Budget {
    tokens: Option<u64>,
    calls: Option<u64>,
    time: Option<Duration>,
}

/// The part of a budget that is spent, written as its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Spent {
    /// The tokens read and written.
    Tokens,
    /// The tool calls.
    Calls,
    /// The time for which the loop runs.
    Time,
}

impl Budget {
    /// Creates a budget without limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits the tokens, approximately: when a turn reaches the number, no further request is sent.
    pub fn tokens(mut self, most: u64) -> Self {
        self.tokens = Some(most);
        self
    }

    /// Limits the calls. Those beyond the limit fail with `cancelled`, and the loop ends after their turn; a model
    /// that stays within the limit may still answer with the results that it has.
    pub fn calls(mut self, most: u64) -> Self {
        self.calls = Some(most);
        self
    }

    /// Limits the time from the first poll of a run to its end, whether it is polled meanwhile or not. At the deadline
    /// a request in flight is dropped, and running tools are cancelled.
    pub fn time(mut self, most: Duration) -> Self {
        self.time = Some(most);
        self
    }

    /// Reports whether no tokens are left for another request.
    pub(super) fn lacks_tokens(&self, spent: &Usage) -> bool {
        self.tokens_left(spent) == Some(0)
    }

    /// Returns the tokens that are left after this usage; `None` if unlimited.
    pub(super) fn tokens_left(&self, spent: &Usage) -> Option<u64> {
        self.tokens.map(|most| most.saturating_sub(Self::spent_tokens(spent)))
    }

    /// Returns the tokens of a usage.
    pub(super) fn spent_tokens(spent: &Usage) -> u64 {
        spent.total_tokens.max(spent.input_tokens.saturating_add(spent.output_tokens))
    }

    /// Returns the number of calls that are left after this many; `None` if unlimited.
    pub(super) fn calls_left(&self, made: u64) -> Option<u64> {
        self.calls.map(|most| most.saturating_sub(made))
    }

    /// Returns the limit of calls; `None` if unlimited.
    pub(super) fn most_calls(&self) -> Option<u64> {
        self.calls
    }

    /// Returns the time that is left after this much; `None` if unlimited.
    pub(super) fn time_left(&self, used: Duration) -> Option<Duration> {
        self.time.map(|most| most.saturating_sub(used))
    }
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tokens => "tokens",
            Self::Calls => "calls",
            Self::Time => "time",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_the_larger_of_the_total_and_the_sum() {
        let budget = Budget::new().tokens(100);
        assert!(!budget.lacks_tokens(&Usage::new(50, 49)));
        assert!(budget.lacks_tokens(&Usage::new(50, 50)));
        assert!(budget.lacks_tokens(&Usage::new(50, 50).total(0)), "a provider that reports no total");
        assert!(budget.lacks_tokens(&Usage::new(1, 1).total(100)), "a total that includes more than both");
        assert!(!Budget::new().lacks_tokens(&Usage::new(u64::MAX, u64::MAX)));
    }

    #[test]
    fn the_rest_of_a_budget_is_never_negative() {
        let budget = Budget::new().calls(2).time(Duration::from_secs(1));
        assert_eq!((budget.calls_left(0), budget.calls_left(5)), (Some(2), Some(0)));
        assert_eq!(budget.time_left(Duration::from_secs(9)), Some(Duration::ZERO));
        assert_eq!((Budget::new().calls_left(5), Budget::new().time_left(Duration::MAX)), (None, None));
    }
}
