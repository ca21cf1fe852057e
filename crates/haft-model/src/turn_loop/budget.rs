//! What a loop may spend.
//!
//! A budget is counted over the whole life of a [`LoopState`](crate::LoopState), through every stop and resume: what was
//! spent is in the state. It is looked at before every request, and time also while something is waited for.

use std::fmt;
use std::time::Duration;

use haft_core::Usage;
use serde::{Deserialize, Serialize};

/// What a loop may spend. Nothing is limited until it is said.
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

/// What of a budget is spent. Written as its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Spent {
    /// Tokens read and written.
    Tokens,
    /// Calls of tools.
    Calls,
    /// Time while the loop runs.
    Time,
}

impl Budget {
    /// No limit at all.
    pub fn new() -> Self {
        Self::default()
    }

    /// At most about this many tokens: when a turn reaches the number, no further request is sent.
    pub fn tokens(mut self, most: u64) -> Self {
        self.tokens = Some(most);
        self
    }

    /// At most this many calls. Those beyond are answered with `cancelled`, and the loop ends after their turn; a model
    /// that stays within the number may still answer with what it has.
    pub fn calls(mut self, most: u64) -> Self {
        self.calls = Some(most);
        self
    }

    /// At most this long, from the first poll of a run to its end, whether it is polled meanwhile or not. When the time is
    /// over a request in flight is dropped, and tools are called off.
    pub fn time(mut self, most: Duration) -> Self {
        self.time = Some(most);
        self
    }

    /// Whether these are too many tokens to ask once more.
    pub(super) fn lacks_tokens(&self, spent: &Usage) -> bool {
        let total = spent.total_tokens.max(spent.input_tokens.saturating_add(spent.output_tokens));
        self.tokens.is_some_and(|most| total >= most)
    }

    /// How many calls are left after this many; none when they are not limited.
    pub(super) fn calls_left(&self, made: u64) -> Option<u64> {
        self.calls.map(|most| most.saturating_sub(made))
    }

    pub(super) fn most_calls(&self) -> Option<u64> {
        self.calls
    }

    /// How much time is left after this much; none when it is not limited.
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
        assert!(budget.lacks_tokens(&Usage::new(50, 50).total(0)), "a provider that gives no total");
        assert!(budget.lacks_tokens(&Usage::new(1, 1).total(100)), "a total that holds more than both");
        assert!(!Budget::new().lacks_tokens(&Usage::new(u64::MAX, u64::MAX)));
    }

    #[test]
    fn what_is_left_never_falls_below_nothing() {
        let budget = Budget::new().calls(2).time(Duration::from_secs(1));
        assert_eq!((budget.calls_left(0), budget.calls_left(5)), (Some(2), Some(0)));
        assert_eq!(budget.time_left(Duration::from_secs(9)), Some(Duration::ZERO));
        assert_eq!((Budget::new().calls_left(5), Budget::new().time_left(Duration::MAX)), (None, None));
    }
}
