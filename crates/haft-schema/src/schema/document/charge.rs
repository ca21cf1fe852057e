//! Vectors that grow within a budget.

use crate::schema::budget::{BudgetSpent, WorkBudget};

/// Reserves capacity for more entries, at least half of the present capacity. While the entries move, both allocations
/// are charged to the budget.
pub(super) fn reserve<T>(list: &mut Vec<T>, additional: usize, budget: &mut WorkBudget) -> Result<(), BudgetSpent> {
    let old = list.capacity();
    if old - list.len() >= additional {
        return Ok(());
    }
    let new = list.len().saturating_add(additional).max(old.saturating_add(old / 2));
    budget.memory(new.saturating_mul(size_of::<T>()))?;
    list.reserve_exact(new - list.len());
    budget.release(old * size_of::<T>());
    Ok(())
}

/// Drops a list and returns its memory to the budget.
pub(super) fn release<T>(list: Vec<T>, budget: &mut WorkBudget) {
    budget.release(list.capacity() * size_of::<T>());
    drop(list);
}
