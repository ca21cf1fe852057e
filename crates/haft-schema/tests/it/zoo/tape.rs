//! A list of choices, from which everything else is made.
//!
//! A generator that takes its choices from bytes needs no shrinking of its own: fewer and smaller bytes make a simpler
//! value. Past the end of the tape every choice is the first one.

use proptest::prelude::*;

/// Choices yet to be made.
#[derive(Clone, Debug)]
pub(super) struct Tape {
    bytes: Vec<u8>,
    at: usize,
}

impl Tape {
    /// Generates any tape.
    pub(super) fn any() -> impl Strategy<Value = Self> {
        proptest::collection::vec(any::<u8>(), 0..200).prop_map(|bytes| Self { bytes, at: 0 })
    }

    /// Makes one of `count` choices.
    pub(super) fn pick(&mut self, count: usize) -> usize {
        usize::from(self.next()) % count
    }

    /// Returns one of these values.
    pub(super) fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.pick(choices.len())]
    }

    /// Returns true once in `times`, and false at the end of the tape.
    pub(super) fn once_in(&mut self, times: usize) -> bool {
        usize::from(self.next()) >= 256 - 256 / times
    }

    fn next(&mut self) -> u8 {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        byte
    }
}
