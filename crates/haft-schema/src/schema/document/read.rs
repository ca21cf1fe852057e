//! The reader of a text into cells.

use foldhash::quality::RandomState;

use super::cell::Cell;
use super::escape::Quoted;
use super::instance::Kind;
use super::member::{MemberIndex, key_cells};
use super::pointer::{self, PathStep};
use super::token::{self, TokenFault};
use super::{ReadFault, ReadOptions, charge};
use crate::schema::budget::WorkBudget;

/// The longest number with a point and a sign that a float is certain to represent exactly: one of 15 digits.
const LONGEST_SURE_FLOAT: usize = 17;

/// The most digits, including a sign, that a 64-bit integer is certain to hold.
const LONGEST_SURE_INTEGER: usize = 18;

/// The parent of the root.
const NONE: u32 = u32::MAX;

/// The bytes of text that cost one unit of work.
const BYTES_PER_WORK: usize = 16;

/// The most unused cells that are always kept, as moving the others would cost more.
const MAX_SPARE: usize = 256;

/// The cells of a text that was read to its end.
pub(super) struct ReadCells {
    pub(super) cells: Vec<Cell>,
    pub(super) index: MemberIndex,
    pub(super) lengths: Vec<Length>,
    pub(super) keys: KeyTraits,
    pub(super) numbers: NumberTraits,
}

/// Properties of the keys of a document.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KeyTraits {
    pub(super) has_duplicates: bool,
    /// Set if a key may be forbidden.
    pub(super) may_be_forbidden: bool,
}

/// Properties of the numbers of a document.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NumberTraits {
    /// Set if a whole number is written with a point or an exponent, or as `-0`.
    pub(super) has_integral_float: bool,
    /// Set if a number with a point or an exponent may change when it is converted to a float.
    pub(super) has_inexact_float: bool,
    /// Set if an integer has more digits than 64 bits are certain to hold.
    pub(super) has_long_integer: bool,
}

/// The number of items or visible members of an array or object, if it is too large for its cell.
#[derive(Debug)]
pub(super) struct Length {
    pub(super) container: u32,
    pub(super) length: usize,
}

/// The reader of a text.
///
/// The open arrays and objects form a list through the `next` fields of their cells, so that nesting takes no memory
/// beyond the cells.
pub(super) struct DocumentReader<'r> {
    text: &'r str,
    bytes: &'r [u8],
    at: usize,
    cells: Vec<Cell>,
    /// The innermost open array or object.
    open: u32,
    depth: usize,
    options: ReadOptions,
    index: MemberIndex,
    lengths: Vec<Length>,
    keys: KeyTraits,
    numbers: NumberTraits,
    budget: &'r mut WorkBudget,
}

impl<'r> DocumentReader<'r> {
    pub(super) fn run(text: &'r str, options: ReadOptions, budget: &'r mut WorkBudget) -> Result<ReadCells, ReadFault> {
        if u32::try_from(text.len()).is_err() {
            return Err(ReadFault::TooLong);
        }
        budget.work((text.len() / BYTES_PER_WORK) as u64 + 1)?;
        let bytes = text.as_bytes();
        let mut cells = Vec::new();
        charge::reserve(&mut cells, cell_bound(bytes), budget)?;
        let (index, lengths) = (MemberIndex::new(RandomState::default()), Vec::new());
        let (keys, numbers) = (KeyTraits::default(), NumberTraits::default());
        let (at, open, depth) = (0, NONE, 0);
        let mut reader = Self { text, bytes, at, cells, open, depth, options, index, lengths, keys, numbers, budget };
        match reader.values() {
            Ok(()) => Ok(reader.finish()),
            Err(fault) => {
                charge::release(reader.cells, reader.budget);
                charge::release(reader.lengths, reader.budget);
                reader.index.release(reader.budget);
                Err(fault)
            }
        }
    }

    /// Reads the root and all values in it.
    fn values(&mut self) -> Result<(), ReadFault> {
        loop {
            match self.peek() {
                Some(b'"') => {
                    let cell = self.string()?;
                    self.push(cell)?;
                }
                Some(b'{') => {
                    self.open(Kind::Object)?;
                    if self.peek() != Some(b'}') {
                        self.key()?;
                        continue;
                    }
                    self.close()?;
                }
                Some(b'[') => {
                    self.open(Kind::Array)?;
                    if self.peek() != Some(b']') {
                        continue;
                    }
                    self.close()?;
                }
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.literal("true", Kind::Boolean)?,
                Some(b'f') => self.literal("false", Kind::Boolean)?,
                Some(b'n') => self.literal("null", Kind::Null)?,
                _ => return Err(self.malformed()),
            }
            if self.after_value()?.is_end() {
                return Ok(());
            }
        }
    }

    /// Closes the containers that end after a value, up to the start of the next value.
    fn after_value(&mut self) -> Result<AfterValue, ReadFault> {
        loop {
            let next = self.peek();
            if self.open == NONE {
                return if next.is_none() { Ok(AfterValue::End) } else { Err(self.malformed()) };
            }
            let container = &mut self.cells[self.open as usize];
            container.add_one();
            match (next, container.is_object()) {
                (Some(b','), false) => {
                    self.at += 1;
                    return Ok(AfterValue::Value);
                }
                (Some(b','), true) => {
                    self.at += 1;
                    self.key()?;
                    return Ok(AfterValue::Value);
                }
                (Some(b']'), false) | (Some(b'}'), true) => self.close()?,
                _ => return Err(self.malformed()),
            }
        }
    }

    fn open(&mut self, kind: Kind) -> Result<(), ReadFault> {
        if self.depth >= self.options.max_depth {
            return Err(ReadFault::TooDeep { at: self.at, pointer: self.pointer() });
        }
        let id = self.push(Cell::new(kind, offset(self.at), 0, self.open))?;
        self.open = id;
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    fn close(&mut self) -> Result<(), ReadFault> {
        self.at += 1;
        let id = self.open;
        let next = offset(self.cells.len());
        let container = &mut self.cells[id as usize];
        self.open = container.next;
        self.depth -= 1;
        container.end = offset(self.at);
        container.next = next;
        if container.is_object() && container.length() != Some(0) && container.length() != Some(1) {
            self.keys.has_duplicates |= self.index.mark_duplicates(self.text, &mut self.cells, id, self.budget)?;
        }
        if self.cells[id as usize].length().is_none() {
            self.count(id)?;
        }
        Ok(())
    }

    /// Stores a length that is too large for its cell.
    #[cold]
    fn count(&mut self, container: u32) -> Result<(), ReadFault> {
        let cell = self.cells[container as usize];
        let length = if cell.is_object() {
            key_cells(&self.cells, container).filter(|key| !key.is_hidden()).count()
        } else {
            pointer::position(&self.cells, container, cell.next)
        };
        charge::reserve(&mut self.lengths, 1, self.budget)?;
        self.lengths.push(Length { container, length });
        Ok(())
    }

    /// Reads a key and the colon after it.
    fn key(&mut self) -> Result<(), ReadFault> {
        if self.peek() != Some(b'"') {
            return Err(self.malformed());
        }
        let mut cell = self.string()?;
        cell.set_key();
        self.keys.may_be_forbidden |=
            cell.is_escaped() || may_be_forbidden(&self.bytes[cell.start as usize..cell.end as usize]);
        self.push(cell)?;
        if self.peek() != Some(b':') {
            return Err(self.malformed());
        }
        self.at += 1;
        Ok(())
    }

    #[inline]
    fn string(&mut self) -> Result<Cell, ReadFault> {
        let token = token::string(self.bytes, self.at)?;
        let mut cell = self.leaf(Kind::String, token.end);
        if token.is_escaped {
            cell.set_escaped();
        }
        Ok(cell)
    }

    fn number(&mut self) -> Result<(), ReadFault> {
        let start = self.at;
        let token = token::number(self.text, start)?;
        if !token.is_in_range {
            return Err(ReadFault::OutOfRange { at: start, pointer: self.pointer() });
        }
        let mut cell = self.leaf(Kind::Number, token.end);
        if token.is_float {
            cell.set_float();
            self.numbers.has_integral_float |= token.is_integral_float;
            self.numbers.has_inexact_float |= may_be_inexact(&self.bytes[start..token.end]);
        } else {
            // Most readers parse it as a float.
            self.numbers.has_integral_float |= &self.bytes[start..token.end] == b"-0";
            self.numbers.has_long_integer |= token.end - start > LONGEST_SURE_INTEGER;
        }
        self.push(cell)?;
        Ok(())
    }

    fn literal(&mut self, word: &str, kind: Kind) -> Result<(), ReadFault> {
        let matching = self.bytes[self.at..].iter().zip(word.bytes()).take_while(|(found, due)| *found == due).count();
        if matching < word.len() {
            return Err(ReadFault::Malformed { at: self.at + matching });
        }
        let cell = self.leaf(kind, self.at + word.len());
        self.push(cell)?;
        Ok(())
    }

    /// Creates the cell of a value without children, and moves past it.
    #[inline]
    fn leaf(&mut self, kind: Kind, end: usize) -> Cell {
        let start = self.at;
        self.at = end;
        Cell::new(kind, offset(start), offset(end), offset(self.cells.len() + 1))
    }

    #[inline]
    fn push(&mut self, cell: Cell) -> Result<u32, ReadFault> {
        if self.cells.len() == self.cells.capacity() {
            charge::reserve(&mut self.cells, 1, self.budget)?;
        }
        let id = offset(self.cells.len());
        self.cells.push(cell);
        Ok(id)
    }

    /// Returns the next byte that is not whitespace.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.at += 1,
                next => return next.copied(),
            }
        }
    }

    #[cold]
    fn malformed(&self) -> ReadFault {
        ReadFault::Malformed { at: self.at }
    }

    /// Returns the pointer to the value that starts here.
    #[cold]
    fn pointer(&self) -> String {
        let mut steps = Vec::new();
        let mut child = offset(self.cells.len());
        let mut container = self.open;
        while container != NONE {
            let cell = self.cells[container as usize];
            steps.push(if cell.is_object() {
                PathStep::Key(child - 1)
            } else {
                PathStep::Index(pointer::position(&self.cells, container, child))
            });
            child = container;
            container = cell.next;
        }
        steps.reverse();
        pointer::render(&steps, |key| Quoted::of(self.text, self.cells[key as usize]))
    }

    fn finish(self) -> ReadCells {
        let Self { mut cells, mut index, lengths, keys, numbers, budget, .. } = self;
        let spare = cells.capacity() - cells.len();
        if spare > MAX_SPARE && spare > cells.len() / 4 {
            cells.shrink_to_fit();
            budget.release(spare * size_of::<Cell>());
        }
        index.finish(budget);
        ReadCells { cells, index, lengths, keys, numbers }
    }
}

/// Reports whether a number with a point or an exponent may change when it is converted to a float.
fn may_be_inexact(number: &[u8]) -> bool {
    number.len() > LONGEST_SURE_FLOAT || number.iter().any(|byte| matches!(byte, b'e' | b'E'))
}

/// Reports whether a key without escapes, in its quotes, may be forbidden. It compares only the beginning.
#[inline]
fn may_be_forbidden(key: &[u8]) -> bool {
    matches!(key, [_, b'_' | b'$', ..] | br#""prototype""#)
}

/// The state of the text after a value.
enum AfterValue {
    Value,
    End,
}

impl AfterValue {
    fn is_end(&self) -> bool {
        matches!(self, Self::End)
    }
}

impl From<TokenFault> for ReadFault {
    fn from(TokenFault { at }: TokenFault) -> Self {
        Self::Malformed { at }
    }
}

/// Returns an upper bound for the number of cells: each value is preceded by `[`, `,` or `:`, each key by `{` or `,`,
/// and the root by nothing. Such a byte in a string has no meaning, so the bound is limited to what the shortest values
/// take: two bytes per cell, as in `[1,2]`.
fn cell_bound(bytes: &[u8]) -> usize {
    let count = |block: &[u8]| block.iter().map(|byte| u8::from(matches!(byte, b'[' | b'{' | b',' | b':'))).sum::<u8>();
    // One-byte counters let the compiler count many bytes at once; a block cannot overflow them.
    let count: usize = bytes.chunks(255).map(|block| usize::from(count(block))).sum();
    count.min(bytes.len() / 2) + 1
}

/// Narrows an offset in the text or a cell index. The text is shorter than 4 GiB, and so is the list of its cells.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the length of the text is checked before the first call")]
fn offset(at: usize) -> u32 {
    at as u32
}
