//! A JSON text as a flat list of its values, over which schemas are evaluated.
//!
//! A tree of boxed values takes many times the memory of its text and must be dropped recursively. A [`Document`] keeps
//! the text and one cell of 16 bytes per value and per key, in text order: the kind, the offset in the text and the
//! index of the cell after the subtree. Strings and numbers are decoded on access, numbers exactly. Every value has a
//! small id, the index of its cell, so that a check can cache results by value.
//!
//! The reader accepts what RFC 8259 accepts and nothing else, in time and memory linear in the text, without recursion.
//! Of equal keys in one object the last one counts and the others are hidden; [`Document::duplicates`] reports them, as
//! most callers reject them. Nothing here may be quadratic in hostile input, and the secrecy of a hash seed may affect
//! only speed.

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

/// The reason why a text cannot be read.
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
    /// Reads a text. The memory of the document is charged to the budget and never released.
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

    /// Reports whether a number with a point or an exponent may change when it is converted to a float.
    pub(crate) fn has_inexact_float(&self) -> bool {
        self.numbers.has_inexact_float
    }

    /// Reports whether a whole number is written with a point or an exponent, or as `-0`.
    pub(crate) fn has_integral_float(&self) -> bool {
        self.numbers.has_integral_float
    }

    /// Reports whether an integer has more digits than 64 bits are certain to hold.
    pub(crate) fn has_long_integer(&self) -> bool {
        self.numbers.has_long_integer
    }

    /// Reports whether a key may be one that is forbidden in every object.
    pub(crate) fn may_have_forbidden_key(&self) -> bool {
        self.keys.may_be_forbidden
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
    /// Reads a text into a document that owns it, as for the constants of a schema.
    pub(crate) fn read_owned(text: String, options: ReadOptions, budget: &mut WorkBudget) -> Result<Self, ReadFault> {
        let reading = DocumentReader::run(&text, options, budget)?;
        Self::assemble(Cow::Owned(text), reading, budget)
    }
}
