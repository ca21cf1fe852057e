//! The accounting of one match.

use super::{BudgetSpent, WorkBudget};

/// The steps and the memory of one match, charged to the budget of its check.
///
/// All memory is returned by [`Meter::finish`] at the latest.
#[derive(Debug)]
pub(super) struct Meter<'b> {
    budget: &'b mut WorkBudget,
    unpaid: u64,
    held: usize,
}

impl<'b> Meter<'b> {
    /// The steps that an engine may take between two charges.
    pub(super) const INTERVAL: u64 = 1024;

    pub(super) fn new(budget: &'b mut WorkBudget) -> Self {
        Self { budget, unpaid: 0, held: 0 }
    }

    /// Charges steps. A remainder below one unit is charged with the next steps.
    pub(super) fn charge(&mut self, steps: u64) -> Result<(), BudgetSpent> {
        let steps = self.unpaid + steps;
        self.unpaid = steps % WorkBudget::STEPS_PER_UNIT;
        self.budget.steps(steps - self.unpaid)
    }

    /// Takes more memory.
    pub(super) fn hold(&mut self, bytes: usize) -> Result<(), BudgetSpent> {
        self.budget.memory(bytes)?;
        self.held += bytes;
        Ok(())
    }

    /// Returns memory that [`Meter::hold`] took.
    pub(super) fn release(&mut self, bytes: usize) {
        self.budget.release(bytes);
        self.held -= bytes;
    }

    /// Charges one more unit for the match itself, and returns the memory.
    pub(super) fn finish(self) -> Result<(), BudgetSpent> {
        self.budget.release(self.held);
        self.budget.work(1)
    }
}
