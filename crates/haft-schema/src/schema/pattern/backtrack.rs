//! Matching by backtracking, for patterns with backreferences.
//!
//! Every step is charged, so that the budget aborts a search that would take exponential time. The stack of choices is
//! a vector that is charged as it grows.

use super::BudgetSpent;
use super::class::Class;
use super::meter::Meter;
use super::syntax::{CharSet, Direction, Edge, Sign};

mod emit;
mod search;

use search::Search;

/// A backtracking program.
#[derive(Debug)]
pub(super) struct BacktrackProgram {
    code: Box<[BacktrackOp]>,
    registers: u16,
    /// Set if no match can begin after the start of the text.
    is_anchored: bool,
}

/// An operation. Unless stated otherwise, execution continues with the next one.
#[derive(Clone, Copy, Debug)]
enum BacktrackOp {
    /// Reads one character of a set.
    One(CharSet, Direction),
    Edge(Edge),
    /// Continues with `first`, and with `second` if that fails.
    Split {
        first: u16,
        second: u16,
    },
    Jump(u16),
    /// Sets a register to the position.
    Save(u16),
    /// Unsets the registers from the first to the last.
    Unset(u16, u16),
    /// Fails if the register holds the position.
    Advance(u16),
    /// Reads the text that a group captured, or nothing if it captured nothing.
    Reference(u16, Direction),
    /// Tries the operations up to [`BacktrackOp::LookEnd`], then continues with `after` from the same position.
    Look {
        after: u16,
        sign: Sign,
    },
    LookEnd,
    Match,
}

impl BacktrackProgram {
    pub(super) fn is_match(&self, text: &str, classes: &[Class], meter: &mut Meter<'_>) -> Result<bool, BudgetSpent> {
        let mut search = Search::new(&self.code, self.registers, text, classes, meter)?;
        let mut position = 0;
        loop {
            if search.attempt(position)? {
                return Ok(true);
            }
            match Direction::Forward.read(text, position) {
                Some((_, next)) if !self.is_anchored => position = next,
                _ => return Ok(false),
            }
        }
    }

    /// Returns the size of the program on the heap, in bytes.
    pub(super) fn heap(&self) -> usize {
        size_of_val::<[_]>(&self.code)
    }
}
