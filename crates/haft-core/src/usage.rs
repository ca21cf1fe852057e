//! The token usage of a turn.
//!
//! Providers count differently; decoding a response converts their counts, so that each number has one meaning. Sums
//! saturate instead of overflowing.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// The number of tokens read and written.
///
/// ```
/// use haft_core::Usage;
///
/// let turns = [Usage::new(100, 20), Usage::new(150, 30).cache_read(90)];
/// let sum: Usage = turns.iter().copied().sum();
/// assert_eq!((sum.input_tokens, sum.output_tokens, sum.total_tokens), (250, 50, 300));
/// assert_eq!(sum.cache_read_tokens, 90);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens the model read, including those read from and written to the cache.
    pub input_tokens: u64,
    /// Tokens the model wrote, including reasoning.
    pub output_tokens: u64,
    /// The total that the provider reports, which may exceed the sum of input and output.
    pub total_tokens: u64,
    /// Input tokens that were read from the cache.
    pub cache_read_tokens: u64,
    /// Input tokens that were written to the cache.
    pub cache_write_tokens: u64,
    /// Output tokens that were used for reasoning.
    pub reasoning_tokens: u64,
}

impl Usage {
    /// Creates a usage with the sum of input and output as the total.
    #[must_use]
    pub fn new(input: u64, output: u64) -> Self {
        Self {
            input_tokens: input,
            output_tokens: output,
            total_tokens: input.saturating_add(output),
            ..Self::default()
        }
    }

    /// Sets the total.
    #[must_use]
    pub fn total(mut self, tokens: u64) -> Self {
        self.total_tokens = tokens;
        self
    }

    /// Sets the number of input tokens that were read from the cache.
    #[must_use]
    pub fn cache_read(mut self, tokens: u64) -> Self {
        self.cache_read_tokens = tokens;
        self
    }

    /// Sets the number of input tokens that were written to the cache.
    #[must_use]
    pub fn cache_write(mut self, tokens: u64) -> Self {
        self.cache_write_tokens = tokens;
        self
    }

    /// Sets the number of output tokens that were used for reasoning.
    #[must_use]
    pub fn reasoning(mut self, tokens: u64) -> Self {
        self.reasoning_tokens = tokens;
        self
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            total_tokens: self.total_tokens.saturating_add(other.total_tokens),
            cache_read_tokens: self.cache_read_tokens.saturating_add(other.cache_read_tokens),
            cache_write_tokens: self.cache_write_tokens.saturating_add(other.cache_write_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_add(other.reasoning_tokens),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(usages: I) -> Self {
        usages.fold(Self::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_count_is_added() {
        let one = Usage::new(1, 2).total(7).cache_read(3).cache_write(4).reasoning(5);
        let mut sum = one + one;
        sum += one;
        assert_eq!(sum, Usage::new(3, 6).total(21).cache_read(9).cache_write(12).reasoning(15));
        assert_eq!([one, one, one].into_iter().sum::<Usage>(), sum);
        assert_eq!(std::iter::empty().sum::<Usage>(), Usage::default());
    }

    #[test]
    fn sums_saturate() {
        let full = Usage::new(u64::MAX, u64::MAX).cache_read(u64::MAX).cache_write(u64::MAX).reasoning(u64::MAX);
        assert_eq!(full.total_tokens, u64::MAX);
        assert_eq!(full + Usage::new(1, 1).cache_read(1).cache_write(1).reasoning(1), full);
    }

    #[test]
    fn absent_counts_are_zero() {
        let read: Usage = serde_json::from_str(r#"{"input_tokens":3}"#).unwrap();
        assert_eq!(read, Usage::new(3, 0).total(0));
    }
}
