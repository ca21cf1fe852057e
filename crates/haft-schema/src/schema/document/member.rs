//! The members of objects: duplicate keys, and an index of large objects.
//!
//! A small object is searched linearly. The keys of a large one are sorted by hash, and by characters where hashes are
//! equal, so that no choice of keys makes a search slow even if the hash seed were known.

use std::cmp::Ordering;
use std::hash::BuildHasher;

use foldhash::quality::RandomState;

use super::cell::Cell;
use super::charge;
use super::escape::Quoted;
use crate::schema::budget::{BudgetSpent, WorkBudget};

/// The most members of an object that is searched linearly.
const SMALL: usize = 16;

/// The index of the keys of large objects.
#[derive(Debug)]
pub(super) struct MemberIndex<S = RandomState> {
    /// The visible keys of each object in turn, sorted.
    keys: Vec<u32>,
    objects: Vec<ObjectKeys>,
    hasher: S,
    /// Hashes and cells of the keys of one object, while they are sorted.
    scratch: Vec<u64>,
}

/// The range of an object's keys in the index.
#[derive(Clone, Copy, Debug)]
struct ObjectKeys {
    object: u32,
    first: u32,
    count: u32,
}

impl<S: BuildHasher> MemberIndex<S> {
    pub(super) fn new(hasher: S) -> Self {
        Self { keys: Vec::new(), objects: Vec::new(), hasher, scratch: Vec::new() }
    }

    pub(super) fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Marks the duplicate keys of an object whose members are complete, and reports whether there are any.
    pub(super) fn mark_duplicates(
        &mut self,
        text: &str,
        cells: &mut [Cell],
        object: u32,
        budget: &mut WorkBudget,
    ) -> Result<bool, BudgetSpent> {
        let length = cells[object as usize].length().map(|length| length as usize);
        match length.filter(|length| *length <= SMALL).and_then(|_| mark_small(text, cells, object)) {
            Some(has_duplicates) => Ok(has_duplicates),
            None => {
                let length = length.unwrap_or_else(|| key_cells(cells, object).count());
                self.hash(text, cells, object, length, budget)?;
                self.mark_hashed(text, cells, object, budget)
            }
        }
    }

    /// Fills the scratch list with the hashes and cells of the keys.
    fn hash(
        &mut self,
        text: &str,
        cells: &mut [Cell],
        object: u32,
        length: usize,
        budget: &mut WorkBudget,
    ) -> Result<(), BudgetSpent> {
        budget.work(sort_work(length))?;
        self.scratch.clear();
        charge::reserve(&mut self.scratch, length, budget)?;
        let end = cells[object as usize].next;
        let mut key = object + 1;
        while key < end {
            let quoted = Quoted::of(text, cells[key as usize]);
            let hash = narrow(quoted.hash(&self.hasher, budget)?);
            cells[key as usize].next = hash;
            self.scratch.push(u64::from(hash) << 32 | u64::from(key));
            key = cells[key as usize + 1].next;
        }
        Ok(())
    }

    /// Sorts the keys in the scratch list, marks duplicates and adds the others to the index.
    fn mark_hashed(
        &mut self,
        text: &str,
        cells: &mut [Cell],
        object: u32,
        budget: &mut WorkBudget,
    ) -> Result<bool, BudgetSpent> {
        let quoted = |cells: &[Cell], key| Quoted::of(text, cells[key as usize]);
        charge::reserve(&mut self.keys, self.scratch.len(), budget)?;
        charge::reserve(&mut self.objects, 1, budget)?;
        let first = self.keys.len();
        self.scratch.sort_unstable();
        let mut hidden = 0;
        for run in self.scratch.chunk_by_mut(|a, b| a >> 32 == b >> 32) {
            if run.len() > 1 {
                let bytes: usize = run.iter().map(|entry| quoted(cells, narrow(*entry)).raw.len()).sum();
                budget.work((bytes as u64 / 16).saturating_mul(u64::from(run.len().ilog2()) + 1))?;
                let compare = |a: &u64, b: &u64| quoted(cells, narrow(*a)).compare(quoted(cells, narrow(*b)));
                run.sort_unstable_by(|a, b| compare(a, b).then(a.cmp(b)));
            }
            let mut run = run.iter().map(|entry| narrow(*entry)).peekable();
            while let Some(key) = run.next() {
                match run.peek() {
                    Some(later) if quoted(cells, key).equals(quoted(cells, *later)) => {
                        hidden += 1;
                        cells[key as usize].set_hidden();
                        cells[*later as usize].set_repeated();
                    }
                    _ => self.keys.push(key),
                }
            }
        }
        let count = self.keys.len() - first;
        self.objects.push(ObjectKeys { object, first: narrow(first as u64), count: narrow(count as u64) });
        let cell = &mut cells[object as usize];
        cell.set_indexed();
        cell.subtract(hidden);
        Ok(hidden > 0)
    }

    /// Finishes the index when all objects are in it.
    pub(super) fn finish(&mut self, budget: &mut WorkBudget) {
        charge::release(std::mem::take(&mut self.scratch), budget);
        // Objects were added when they ended, and inner objects end first.
        self.objects.sort_unstable_by_key(|entry| entry.object);
    }

    /// Returns the memory of the index to the budget.
    pub(super) fn release(self, budget: &mut WorkBudget) {
        charge::release(self.keys, budget);
        charge::release(self.objects, budget);
        charge::release(self.scratch, budget);
    }

    /// Finds a visible key of an indexed object.
    pub(super) fn find(&self, text: &str, cells: &[Cell], object: u32, name: Quoted<'_>) -> Option<u32> {
        let at = self.objects.binary_search_by_key(&object, |entry| entry.object).ok()?;
        let ObjectKeys { first, count, .. } = self.objects[at];
        let keys = &self.keys[first as usize..][..count as usize];
        let hash = narrow(self.hasher.hash_one(&*name.decode()));
        let order = |key: &u32| {
            let cell = cells[*key as usize];
            match cell.next.cmp(&hash) {
                Ordering::Equal => Quoted::of(text, cell).compare(name),
                unequal => unequal,
            }
        };
        keys.binary_search_by(order).ok().map(|found| keys[found])
    }
}

/// Returns the units of work that sorting takes.
pub(crate) fn sort_work(length: usize) -> u64 {
    let depth = u64::from(length.checked_ilog2().unwrap_or_default());
    (length as u64).saturating_mul(1 + depth / 8)
}

/// Marks duplicates by comparing all pairs of keys, or returns `None` if a key has escapes.
fn mark_small(text: &str, cells: &mut [Cell], object: u32) -> Option<bool> {
    let mut keys = [(0_u64, 0_u32); SMALL];
    let mut count = 0;
    let mut hidden = 0;
    let end = cells[object as usize].next;
    let mut key = object + 1;
    while key < end {
        let cell = cells[key as usize];
        if cell.is_escaped() {
            return None;
        }
        let raw = Quoted::of(text, cell).raw;
        let mark = mark(raw.as_bytes());
        for (earlier_mark, earlier) in &keys[..count] {
            if *earlier_mark == mark && Quoted::of(text, cells[*earlier as usize]).raw == raw {
                if !cells[*earlier as usize].is_hidden() {
                    hidden += 1;
                    cells[*earlier as usize].set_hidden();
                }
                cells[key as usize].set_repeated();
            }
        }
        *keys.get_mut(count)? = (mark, key);
        count += 1;
        key = cells[key as usize + 1].next;
    }
    cells[object as usize].subtract(hidden);
    Some(hidden > 0)
}

/// Returns a number that distinguishes most names: the length and the outer bytes.
fn mark(name: &[u8]) -> u64 {
    let mut outer = [0; 8];
    match (name.first_chunk::<3>(), name.last_chunk::<3>()) {
        (Some(first), Some(last)) => {
            outer[..3].copy_from_slice(first);
            outer[3..6].copy_from_slice(last);
        }
        _ => outer[..name.len()].copy_from_slice(name),
    }
    u64::from_le_bytes(outer) ^ ((name.len() as u64) << 48)
}

/// Returns the cells of all keys of an object, hidden ones included.
pub(super) fn key_cells(cells: &[Cell], object: u32) -> impl Iterator<Item = Cell> {
    let end = cells[object as usize].next;
    let mut key = object + 1;
    std::iter::from_fn(move || {
        let found = (key < end).then(|| cells[key as usize])?;
        key = cells[key as usize + 1].next;
        Some(found)
    })
}

/// Returns the lower half: of a hash, or the cell in an entry of the scratch list.
#[expect(clippy::cast_possible_truncation, reason = "only the lower half is needed")]
fn narrow(value: u64) -> u32 {
    value as u32
}
