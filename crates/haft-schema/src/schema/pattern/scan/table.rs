//! The table of positions where lookarounds hold.

use super::super::BudgetSpent;
use super::super::meter::Meter;

/// The words that are stored on the stack: eight lookarounds over 63 bytes, or two over 255.
const INLINE: usize = 8;

/// One row per lookaround, one bit per position.
#[derive(Debug)]
pub(super) struct Table {
    words: RowBits,
    /// The number of words of one row.
    width: usize,
}

#[derive(Debug)]
enum RowBits {
    Inline([u64; INLINE]),
    Heap(Vec<u64>),
}

/// The complete rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompleteRows<'t> {
    words: &'t [u64],
    width: usize,
}

/// A row that is being written.
#[derive(Debug)]
pub(super) struct Row<'t>(&'t mut [u64]);

impl Table {
    pub(super) fn new(rows: usize, text: &str, meter: &mut Meter<'_>) -> Result<Self, BudgetSpent> {
        let width = text.len() / 64 + 1;
        let count = rows * width;
        let words = if count <= INLINE {
            RowBits::Inline([0; INLINE])
        } else {
            meter.hold(count * size_of::<u64>())?;
            meter.charge(count as u64 / 16)?;
            RowBits::Heap(vec![0; count])
        };
        Ok(Self { words, width })
    }

    /// Returns the rows before `row`, and `row` for writing.
    pub(super) fn split(&mut self, row: usize) -> (CompleteRows<'_>, Row<'_>) {
        let words = match &mut self.words {
            RowBits::Inline(words) => words.as_mut_slice(),
            RowBits::Heap(words) => words.as_mut_slice(),
        };
        let (known, rest) = words.split_at_mut(row * self.width);
        (CompleteRows { words: known, width: self.width }, Row(&mut rest[..self.width]))
    }

    /// Returns all rows.
    pub(super) fn known(&self) -> CompleteRows<'_> {
        let words = match &self.words {
            RowBits::Inline(words) => words.as_slice(),
            RowBits::Heap(words) => words.as_slice(),
        };
        CompleteRows { words, width: self.width }
    }
}

impl CompleteRows<'_> {
    pub(super) fn get(self, row: u16, position: usize) -> bool {
        self.words[usize::from(row) * self.width + position / 64] >> (position % 64) & 1 == 1
    }
}

impl Row<'_> {
    pub(super) fn set(&mut self, position: usize) {
        self.0[position / 64] |= 1 << (position % 64);
    }
}
