//! The characters of a string with escapes.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::BuildHasher;

use super::cell::Cell;
use crate::schema::budget::{BudgetSpent, WorkBudget};

/// The content of a JSON string as written, without its quotes. It is known to be valid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quoted<'t> {
    pub(super) raw: &'t str,
    pub(super) is_escaped: bool,
}

/// A run of unescaped characters, or an escaped character.
enum Piece<'t> {
    Run(&'t str),
    Char(char),
}

impl<'t> Quoted<'t> {
    /// Returns the content of the string or key in a cell.
    #[inline]
    pub(super) fn of(text: &'t str, cell: Cell) -> Self {
        Self { raw: &text[cell.start as usize + 1..cell.end as usize - 1], is_escaped: cell.is_escaped() }
    }

    #[inline]
    pub(super) fn decode(self) -> Cow<'t, str> {
        if self.is_escaped { Cow::Owned(self.decoded()) } else { Cow::Borrowed(self.raw) }
    }

    #[inline(never)]
    fn decoded(self) -> String {
        let mut decoded = String::with_capacity(self.raw.len());
        for piece in self.pieces() {
            match piece {
                Piece::Run(run) => decoded.push_str(run),
                Piece::Char(char) => decoded.push(char),
            }
        }
        decoded
    }

    /// Hashes the decoded characters. A decoded copy is charged to the budget while it exists.
    pub(super) fn hash(self, hasher: &impl BuildHasher, budget: &mut WorkBudget) -> Result<u64, BudgetSpent> {
        if !self.is_escaped {
            return Ok(hasher.hash_one(self.raw));
        }
        budget.memory(self.raw.len())?;
        let hash = hasher.hash_one(&*self.decode());
        budget.release(self.raw.len());
        Ok(hash)
    }

    pub(super) fn is(self, other: &str) -> bool {
        if !self.is_escaped {
            return self.raw == other;
        }
        let mut rest = other;
        for piece in self.pieces() {
            let stripped = match piece {
                Piece::Run(run) => rest.strip_prefix(run),
                Piece::Char(char) => rest.strip_prefix(char),
            };
            match stripped {
                Some(stripped) => rest = stripped,
                None => return false,
            }
        }
        rest.is_empty()
    }

    /// Compares the decoded characters.
    pub(super) fn compare(self, other: Self) -> Ordering {
        if self.is_escaped || other.is_escaped { self.chars().cmp(other.chars()) } else { self.raw.cmp(other.raw) }
    }

    pub(super) fn equals(self, other: Self) -> bool {
        match (self.is_escaped, other.is_escaped) {
            (_, false) => self.is(other.raw),
            (false, true) => other.is(self.raw),
            (true, true) => self.chars().eq(other.chars()),
        }
    }

    pub(super) fn chars(self) -> impl Iterator<Item = char> {
        let mut run = "".chars();
        let mut pieces = self.pieces();
        std::iter::from_fn(move || {
            loop {
                if let Some(char) = run.next() {
                    return Some(char);
                }
                match pieces.next()? {
                    Piece::Run(next) => run = next.chars(),
                    Piece::Char(char) => return Some(char),
                }
            }
        })
    }

    fn pieces(self) -> impl Iterator<Item = Piece<'t>> {
        let Self { raw: mut rest, is_escaped } = self;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let run = if is_escaped { rest.find('\\').unwrap_or(rest.len()) } else { rest.len() };
            if run > 0 {
                let (piece, after) = rest.split_at(run);
                rest = after;
                return Some(Piece::Run(piece));
            }
            let (char, after) = unescape(rest);
            rest = after;
            Some(Piece::Char(char))
        })
    }
}

/// Splits off the escape at the start of a text that is known to be valid.
fn unescape(text: &str) -> (char, &str) {
    let (char, length) = match text.as_bytes().get(1) {
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'n') => ('\n', 2),
        Some(b'r') => ('\r', 2),
        Some(b't') => ('\t', 2),
        Some(b'u') => {
            let unit = read_unit(text.as_bytes(), 2).unwrap_or_default();
            match char::from_u32(unit) {
                Some(char) => (char, 6),
                None => (read_pair(text.as_bytes(), 2).unwrap_or(char::REPLACEMENT_CHARACTER), 12),
            }
        }
        Some(quoted) => (char::from(*quoted), 2),
        None => (char::REPLACEMENT_CHARACTER, 1),
    };
    (char, text.get(length..).unwrap_or_default())
}

/// Reads the four hexadecimal digits at an offset.
pub(super) fn read_unit(bytes: &[u8], at: usize) -> Option<u32> {
    let mut unit = 0;
    for byte in bytes.get(at..at + 4)? {
        unit = unit * 16 + char::from(*byte).to_digit(16)?;
    }
    Some(unit)
}

/// Reads a character from the two surrogates at an offset, which is after the first `\u`.
pub(super) fn read_pair(bytes: &[u8], at: usize) -> Option<char> {
    let high = read_unit(bytes, at).filter(|unit| (0xD800..0xDC00).contains(unit))?;
    if bytes.get(at + 4..at + 6)? != b"\\u" {
        return None;
    }
    let low = read_unit(bytes, at + 6).filter(|unit| (0xDC00..0xE000).contains(unit))?;
    char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
}
