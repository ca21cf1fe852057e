//! A calculation's budget.
//!
//! An expression with a few thousand characters can hold a thousand divisions between numbers with ten thousand digits,
//! which would take a minute. Every operation on fractions charges an estimate of its work, in machine words, before it
//! starts. Cancellation is checked at the same places.

use super::fault::CalculationFault;

/// The words that one calculation may touch.
const BUDGET: u64 = 100_000_000;

/// The rest of a budget.
pub(super) struct WorkBudget<'c> {
    left: u64,
    is_cancelled: &'c dyn Fn() -> bool,
}

impl<'c> WorkBudget<'c> {
    pub(super) fn new(is_cancelled: &'c dyn Fn() -> bool) -> Self {
        Self { left: BUDGET, is_cancelled }
    }

    /// Charges for reading and writing numbers with these sizes in bits once.
    pub(super) fn charge_linear(&mut self, bits: u64) -> Result<(), CalculationFault> {
        self.charge(words(bits))
    }

    /// Charges for a multiplication or a division.
    pub(super) fn charge_multiply(&mut self, left: u64, right: u64) -> Result<(), CalculationFault> {
        self.charge(words(left).saturating_mul(words(right)))
    }

    /// Charges for reducing a fraction: a binary greatest common divisor takes a pass over the words for each bit.
    pub(super) fn charge_reduce(&mut self, numerator: u64, denominator: u64) -> Result<(), CalculationFault> {
        let passes = numerator.min(denominator).saturating_mul(2);
        self.charge(passes.saturating_mul(words(numerator.min(denominator))).saturating_add(words(numerator)))
    }

    fn charge(&mut self, words: u64) -> Result<(), CalculationFault> {
        if (self.is_cancelled)() {
            return Err(CalculationFault::Cancelled);
        }
        self.left = self.left.checked_sub(words).ok_or(CalculationFault::TooMuchWork)?;
        Ok(())
    }
}

fn words(bits: u64) -> u64 {
    bits / 64 + 1
}
