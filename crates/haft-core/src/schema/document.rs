//! A JSON text as a flat list of its values, over which schemas are evaluated.
//!
//! A tree of boxed values costs many times its text and must be dropped recursively. A [`Document`] keeps the text and
//! one cell of 16 bytes per value and per key, in text order: the kind, the place in the text and the cell after the
//! subtree. Strings and numbers are decoded when they are asked for, numbers exactly. Every value has a small id, its
//! cell, so that a check can remember what it has already found out about it.
//!
//! Reading accepts what RFC 8259 accepts and nothing else, in time and memory linear in the text, without recursion.
//! Of equal keys in one object the last one counts and the others are hidden; [`Document::duplicates`] reports them,
//! as most callers reject them. Nothing here may be quadratic in hostile input, and nothing may depend on the
//! secrecy of a hash seed for more than speed.

mod cell;
mod charge;
mod equality;
mod escape;
mod fingerprint;
mod instance;
mod member;
mod pointer;
mod read;
#[cfg(test)]
mod tests;
mod token;

use std::borrow::Cow;

use crate::schema::budget::{BudgetSpent, WorkBudget};
use cell::Cell;
pub(crate) use equality::same;
pub(crate) use fingerprint::{Fingerprints, all_differ};
pub(crate) use instance::{Instance, MemberKey};
use member::MemberIndex;
pub(crate) use member::sort_work;
pub(crate) use pointer::{PathStep, Pointers};
use read::{DocumentReader, KeyTraits, Length, NumberTraits, ReadCells};

/// The most duplicate keys that a document reports.
const MAX_DUPLICATES: usize = 1_000;

/// A JSON text and its values.
#[derive(Debug)]
pub(crate) struct Document<'t> {
    text: Cow<'t, str>,
    cells: Vec<Cell>,
    index: MemberIndex,
    /// At most a handful, as each takes millions of bytes of text.
    lengths: Vec<Length>,
    duplicates: Vec<u32>,
    keys: KeyTraits,
    numbers: NumberTraits,
}

/// The limits for reading a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadOptions {
    /// The most arrays and objects around a value, itself included: `[[]]` has a depth of 2.
    pub(crate) max_depth: usize,
}

/// The reason why a text is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReadFault {
    /// The text is not JSON from this byte on.
    Malformed { at: usize },
    /// The number at this byte is beyond the range of `f64`, which most readers cannot represent.
    OutOfRange { at: usize, pointer: String },
    /// The array or object at this byte is nested too deeply.
    TooDeep { at: usize, pointer: String },
    /// The text is 4 GiB or longer.
    TooLong,
    /// The budget is spent.
    Spent,
}

impl From<BudgetSpent> for ReadFault {
    fn from(BudgetSpent: BudgetSpent) -> Self {
        Self::Spent
    }
}

impl<'t> Document<'t> {
    /// Reads a text. The memory of the document is taken from the budget for good.
    pub(crate) fn read(text: &'t str, options: ReadOptions, budget: &mut WorkBudget) -> Result<Self, ReadFault> {
        let reading = DocumentReader::run(text, options, budget)?;
        Self::assemble(Cow::Borrowed(text), reading, budget)
    }

    /// Returns the value of the whole text.
    pub(crate) fn root(&self) -> Instance<'_> {
        Instance::new(self, 0)
    }

    /// Returns the value with this id, or for the id of a key the value of that key.
    pub(crate) fn instance(&self, id: u32) -> Option<Instance<'_>> {
        let is_key = self.cells.get(id as usize)?.is_key();
        Some(Instance::new(self, if is_key { id + 1 } else { id }))
    }

    /// Returns the keys that repeat an earlier key of their object, in text order: the first thousand of them.
    pub(crate) fn duplicates(&self) -> impl ExactSizeIterator<Item = MemberKey<'_>> {
        self.duplicates.iter().map(|cell| MemberKey::new(self, *cell))
    }

    /// Returns whether some number with a point or an exponent may be another number as a float.
    pub(crate) fn has_fine_float(&self) -> bool {
        self.numbers.has_fine_float
    }

    /// Returns whether some whole number is written with a point or an exponent, or as `-0`.
    pub(crate) fn has_integral_float(&self) -> bool {
        self.numbers.has_integral_float
    }

    /// Returns whether some integer is written with more digits than 64 bits are sure to hold.
    pub(crate) fn has_long_integer(&self) -> bool {
        self.numbers.has_long_integer
    }

    /// Returns whether some key may be one that no object may have.
    pub(crate) fn has_odd_key(&self) -> bool {
        self.keys.has_odd
    }

    /// Returns every value and key, in text order.
    pub(crate) fn values(&self) -> impl Iterator<Item = Instance<'_>> {
        self.cells.iter().zip(0..).map(|(_, id)| Instance::new(self, id))
    }

    #[inline]
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    fn assemble(text: Cow<'t, str>, reading: ReadCells, budget: &mut WorkBudget) -> Result<Self, ReadFault> {
        let ReadCells { cells, index, lengths, keys, numbers } = reading;
        let mut duplicates = Vec::new();
        if keys.has_duplicates {
            budget.work(cells.len() as u64 / 16)?;
            budget.memory(MAX_DUPLICATES * size_of::<u32>())?;
            let repeated = cells.iter().zip(0..).filter(|(cell, _)| cell.is_repeated()).map(|(_, id)| id);
            duplicates.extend(repeated.take(MAX_DUPLICATES));
        }
        Ok(Self { text, cells, index, lengths, duplicates, keys, numbers })
    }

    #[inline]
    fn cell(&self, id: u32) -> Cell {
        self.cells[id as usize]
    }
}

impl Document<'static> {
    /// Reads a text that the document then owns, as the constants of a schema are.
    pub(crate) fn read_owned(text: String, options: ReadOptions, budget: &mut WorkBudget) -> Result<Self, ReadFault> {
        let reading = DocumentReader::run(&text, options, budget)?;
        Self::assemble(Cow::Owned(text), reading, budget)
    }
}
