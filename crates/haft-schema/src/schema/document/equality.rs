//! Equality according to JSON Schema: numbers by value, objects regardless of order, strings by characters.

use super::charge;
use super::instance::{Instance, Items, Kind, Members};
use crate::schema::budget::{BudgetSpent, WorkBudget};

/// The bytes of strings, numbers and keys that cost one unit of work.
const BYTES_PER_WORK: usize = 16;

/// Reports whether two values are equal. They may belong to different documents. The work is linear in the smaller
/// value.
pub(crate) fn same(a: Instance<'_>, b: Instance<'_>, budget: &mut WorkBudget) -> Result<bool, BudgetSpent> {
    let mut open = Vec::new();
    let result = compare((a, b), &mut open, budget);
    charge::release(open, budget);
    result
}

/// Two arrays or objects of equal length that are being compared.
enum Comparing<'a, 'b> {
    Arrays(Items<'a>, Items<'b>),
    Objects { left: Members<'a>, right: Members<'b>, object: Instance<'b> },
}

/// The next values to compare.
enum NextComparison<'a, 'b> {
    Pair(Instance<'a>, Instance<'b>),
    Different,
    End,
}

fn compare<'a, 'b>(
    (mut a, mut b): (Instance<'a>, Instance<'b>),
    open: &mut Vec<Comparing<'a, 'b>>,
    budget: &mut WorkBudget,
) -> Result<bool, BudgetSpent> {
    loop {
        let is_equal = match (a.kind(), b.kind()) {
            (Kind::Null, Kind::Null) => true,
            (Kind::Boolean, Kind::Boolean) => a.as_bool() == b.as_bool(),
            (Kind::Number, Kind::Number) => {
                budget.work(text_work(a.raw().len().max(b.raw().len())))?;
                a.number() == b.number()
            }
            (Kind::String, Kind::String) => {
                budget.work(text_work(a.raw().len().min(b.raw().len())))?;
                a.quoted().zip(b.quoted()).is_some_and(|(a, b)| a.equals(b))
            }
            (Kind::Array, Kind::Array) if a.len() == b.len() => {
                charge::reserve(open, 1, budget)?;
                open.push(Comparing::Arrays(a.items(), b.items()));
                true
            }
            (Kind::Object, Kind::Object) if a.len() == b.len() => {
                charge::reserve(open, 1, budget)?;
                open.push(Comparing::Objects { left: a.members(), right: b.members(), object: b });
                true
            }
            _ => false,
        };
        budget.work(1)?;
        if !is_equal {
            return Ok(false);
        }
        (a, b) = loop {
            let Some(comparing) = open.last_mut() else { return Ok(true) };
            match comparing.next(budget)? {
                NextComparison::Pair(a, b) => break (a, b),
                NextComparison::Different => return Ok(false),
                NextComparison::End => open.pop(),
            };
        };
    }
}

impl<'a, 'b> Comparing<'a, 'b> {
    fn next(&mut self, budget: &mut WorkBudget) -> Result<NextComparison<'a, 'b>, BudgetSpent> {
        match self {
            Self::Arrays(left, right) => Ok(match left.next().zip(right.next()) {
                Some((a, b)) => NextComparison::Pair(a, b),
                None => NextComparison::End,
            }),
            Self::Objects { left, right, object } => {
                let Some((key, a)) = left.next() else { return Ok(NextComparison::End) };
                let name = key.quoted();
                budget.work(text_work(name.raw.len()))?;
                // Equal objects usually have the same order, which saves the search. Both have the same number of keys
                // and no duplicates, so nothing is left over on the right.
                let found = match right.next() {
                    Some((key, b)) if key.quoted().equals(name) => Some(b),
                    _ => object.find(name),
                };
                Ok(found.map_or(NextComparison::Different, |b| NextComparison::Pair(a, b)))
            }
        }
    }
}

/// Returns the units of work for a text of this length.
pub(super) fn text_work(bytes: usize) -> u64 {
    (bytes / BYTES_PER_WORK) as u64
}
