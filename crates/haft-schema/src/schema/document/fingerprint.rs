//! Hashes of values, to find equal ones among many.
//!
//! A hash only selects which values are compared; the comparison decides. Comparisons are charged to the budget, so
//! that values with colliding hashes abort a check instead of making it quadratic.

use std::hash::BuildHasher;

use foldhash::quality::RandomState;

use super::charge;
use super::equality::{same, text_work};
use super::instance::{Instance, Items, Kind, Members};
use super::member::sort_work;
use crate::schema::budget::{BudgetSpent, WorkBudget};

/// A source of hashes with a random seed. Values that are equal according to [`same`] have equal hashes.
#[derive(Clone, Debug)]
pub(crate) struct Fingerprints {
    hasher: RandomState,
}

/// Reports whether no two items of an array are equal.
pub(crate) fn all_differ(array: Instance<'_>, budget: &mut WorkBudget) -> Result<bool, BudgetSpent> {
    if array.kind() != Kind::Array || array.len() < 2 {
        return Ok(true);
    }
    let mut hashes = Vec::new();
    let result = differ(array, &mut hashes, budget);
    charge::release(hashes, budget);
    result
}

fn differ(array: Instance<'_>, hashes: &mut Vec<(u32, u32)>, budget: &mut WorkBudget) -> Result<bool, BudgetSpent> {
    charge::reserve(hashes, array.len(), budget)?;
    let document = array.document();
    let fingerprints = Fingerprints { hasher: document.index.hasher().clone() };
    for item in array.items() {
        // Storing half of the hash halves the memory; the few additional collisions cost a comparison each.
        let [a, b, c, d, ..] = fingerprints.of(item, budget)?.to_le_bytes();
        hashes.push((u32::from_le_bytes([a, b, c, d]), item.id()));
    }
    budget.work(sort_work(hashes.len()))?;
    hashes.sort_unstable();
    for run in hashes.chunk_by(|a, b| a.0 == b.0) {
        for (at, (_, item)) in run.iter().enumerate() {
            for (_, earlier) in &run[..at] {
                if same(Instance::new(document, *item), Instance::new(document, *earlier), budget)? {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

impl Fingerprints {
    pub(crate) fn new() -> Self {
        Self { hasher: RandomState::default() }
    }

    /// Returns the hash of a value.
    pub(crate) fn of(&self, value: Instance<'_>, budget: &mut WorkBudget) -> Result<u64, BudgetSpent> {
        let mut open = Vec::new();
        let result = self.hash(value, &mut open, budget);
        charge::release(open, budget);
        result
    }

    fn hash<'d>(
        &self,
        mut value: Instance<'d>,
        open: &mut Vec<Hashing<'d>>,
        budget: &mut WorkBudget,
    ) -> Result<u64, BudgetSpent> {
        loop {
            budget.work(1)?;
            let mut hash = match value.kind() {
                Kind::Null => Some(self.hasher.hash_one(HashInput::Null)),
                Kind::Boolean => Some(self.hasher.hash_one((HashInput::Boolean, value.as_bool()))),
                Kind::Number => {
                    budget.work(text_work(value.raw().len()))?;
                    Some(self.hasher.hash_one((HashInput::Number, value.number())))
                }
                Kind::String => {
                    budget.work(text_work(value.raw().len()))?;
                    let characters = value.quoted().map(|quoted| quoted.hash(&self.hasher, budget)).transpose()?;
                    Some(self.hasher.hash_one((HashInput::String, characters)))
                }
                Kind::Array | Kind::Object => {
                    charge::reserve(open, 1, budget)?;
                    open.push(Hashing::new(value));
                    None
                }
            };
            value = loop {
                // Without an open container there is a hash: that of the first value.
                let Some(container) = open.last_mut() else { return Ok(hash.unwrap_or_default()) };
                if let Some(hash) = hash {
                    container.add(hash, &self.hasher);
                }
                match container.next(&self.hasher, budget)? {
                    Some(next) => break next,
                    None => hash = Some(container.finish(&self.hasher)),
                }
                open.pop();
            };
        }
    }
}

/// The kinds of input to a hash, so that values of different kinds have different hashes.
#[derive(Hash)]
enum HashInput {
    Null,
    Boolean,
    Number,
    String,
    Item,
    Member,
    Array,
    Object,
}

/// An array or object that is being hashed.
enum Hashing<'d> {
    Array { items: Items<'d>, hash: u64 },
    Object { members: Members<'d>, key: u64, hash: u64 },
}

impl<'d> Hashing<'d> {
    fn new(value: Instance<'d>) -> Self {
        if value.kind() == Kind::Array {
            Self::Array { items: value.items(), hash: 0 }
        } else {
            Self::Object { members: value.members(), key: 0, hash: 0 }
        }
    }

    /// Moves to the next value.
    fn next(&mut self, hasher: &RandomState, budget: &mut WorkBudget) -> Result<Option<Instance<'d>>, BudgetSpent> {
        match self {
            Self::Array { items, .. } => Ok(items.next()),
            Self::Object { members, key, .. } => {
                let Some((name, value)) = members.next() else { return Ok(None) };
                let name = name.quoted();
                budget.work(text_work(name.raw.len()))?;
                *key = name.hash(hasher, budget)?;
                Ok(Some(value))
            }
        }
    }

    /// Adds the hash of the current value. The order counts for items but not for members.
    fn add(&mut self, value: u64, hasher: &RandomState) {
        match self {
            Self::Array { hash, .. } => *hash = hasher.hash_one((HashInput::Item, *hash, value)),
            Self::Object { key, hash, .. } => {
                *hash = hash.wrapping_add(hasher.hash_one((HashInput::Member, *key, value)));
            }
        }
    }

    fn finish(&self, hasher: &RandomState) -> u64 {
        match self {
            Self::Array { hash, .. } => hasher.hash_one((HashInput::Array, *hash)),
            Self::Object { hash, .. } => hasher.hash_one((HashInput::Object, *hash)),
        }
    }
}
