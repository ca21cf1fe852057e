//! Lists that grow within a budget.

use crate::schema::budget::{BudgetSpent, WorkBudget};

/// Makes room for more entries, by half of the capacity at least. While the entries move, both places are taken from
/// the budget.
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
