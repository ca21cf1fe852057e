//! A list of choices, from which schemas and values are made.
//!
//! A generator that takes its choices from bytes needs no shrinking of its own: fewer and smaller bytes make a simpler
//! case. Past the end of the tape every choice is the first one.

use proptest::prelude::*;

/// Choices yet to be made.
#[derive(Clone)]
pub(super) struct Tape {
    bytes: Vec<u8>,
    at: usize,
}

impl Tape {
    /// Generates any tape.
    pub(super) fn any() -> impl Strategy<Value = Self> {
        proptest::collection::vec(any::<u8>(), 0..320).prop_map(|bytes| Self { bytes, at: 0 })
    }

    /// Makes one of `count` choices.
    pub(super) fn pick(&mut self, count: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % count
    }

    /// Returns one of these values.
    pub(super) fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.pick(choices.len())]
    }

    /// Returns true once in `times`, and false at the end of the tape.
    pub(super) fn once_in(&mut self, times: usize) -> bool {
        self.pick(times) == times - 1
    }

    /// Returns whether there are choices left, so that a generator may stop where all that is left is the simplest.
    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }
}

/// The choices are only noise; the test prints what was generated from them.
impl std::fmt::Debug for Tape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tape({} bytes)", self.bytes.len())
    }
}
