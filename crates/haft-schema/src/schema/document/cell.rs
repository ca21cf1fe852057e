//! One entry of a document.

use super::instance::Kind;

/// A value or a key: its kind, its range in the text and its extent in the list of cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// The kind in the lowest 3 bits, the flags above, the length in the highest 23 bits.
    meta: u32,
    /// The offset of the first byte in the text.
    pub(super) start: u32,
    /// The offset after the last byte.
    pub(super) end: u32,
    /// For a value, the cell after its subtree; for an array or object still being read, its parent; for a key in an
    /// indexed object, its hash.
    pub(super) next: u32,
}

const KIND_BITS: u32 = 0b111;
/// The cell is a key; its kind is that of a string.
const KEY: u32 = 1 << 8;
/// A string or key contains escapes.
const ESCAPED: u32 = 1 << 3;
/// A number is written with a point or an exponent.
const FLOAT: u32 = 1 << 4;
/// A later key of the object equals this one.
const HIDDEN: u32 = 1 << 5;
/// An earlier key of the object equals this one.
const REPEATED: u32 = 1 << 6;
/// The members of an object are in the index.
const INDEXED: u32 = 1 << 7;
const LENGTH_SHIFT: u32 = 9;
/// The lengths from here on, 8 million, are stored separately. Tests lower it, to reach it with texts of normal size.
const MAX_LENGTH: u32 = if cfg!(test) { 40_000 } else { u32::MAX >> LENGTH_SHIFT };

impl Cell {
    pub(super) fn new(kind: Kind, start: u32, end: u32, next: u32) -> Self {
        let meta = match kind {
            Kind::Null => 0,
            Kind::Boolean => 1,
            Kind::Number => 2,
            Kind::String => 3,
            Kind::Array => 4,
            Kind::Object => 5,
        };
        Self { meta, start, end, next }
    }

    #[inline]
    pub(super) fn kind(self) -> Kind {
        match self.meta & KIND_BITS {
            0 => Kind::Null,
            1 => Kind::Boolean,
            2 => Kind::Number,
            3 => Kind::String,
            4 => Kind::Array,
            _ => Kind::Object,
        }
    }

    #[inline]
    pub(super) fn is_object(self) -> bool {
        self.kind() == Kind::Object
    }

    pub(super) fn is_key(self) -> bool {
        self.meta & KEY != 0
    }

    pub(super) fn is_escaped(self) -> bool {
        self.meta & ESCAPED != 0
    }

    pub(super) fn is_float(self) -> bool {
        self.meta & FLOAT != 0
    }

    pub(super) fn is_hidden(self) -> bool {
        self.meta & HIDDEN != 0
    }

    pub(super) fn is_repeated(self) -> bool {
        self.meta & REPEATED != 0
    }

    pub(super) fn is_indexed(self) -> bool {
        self.meta & INDEXED != 0
    }

    pub(super) fn set_key(&mut self) {
        self.meta |= KEY;
    }

    pub(super) fn set_escaped(&mut self) {
        self.meta |= ESCAPED;
    }

    pub(super) fn set_float(&mut self) {
        self.meta |= FLOAT;
    }

    pub(super) fn set_hidden(&mut self) {
        self.meta |= HIDDEN;
    }

    pub(super) fn set_repeated(&mut self) {
        self.meta |= REPEATED;
    }

    pub(super) fn set_indexed(&mut self) {
        self.meta |= INDEXED;
    }

    /// Returns the number of items or visible members, or `None` if it is too large for a cell.
    #[inline]
    pub(super) fn length(self) -> Option<u32> {
        Some(self.meta >> LENGTH_SHIFT).filter(|length| *length < MAX_LENGTH)
    }

    /// Counts one more item or member. A length that is too large stays too large.
    #[inline]
    pub(super) fn add_one(&mut self) {
        if self.length().is_some() {
            self.meta += 1 << LENGTH_SHIFT;
        }
    }

    /// Subtracts hidden members from the length.
    pub(super) fn subtract(&mut self, hidden: u32) {
        if let Some(length) = self.length() {
            self.meta = (self.meta & ((1 << LENGTH_SHIFT) - 1)) | (length.saturating_sub(hidden) << LENGTH_SHIFT);
        }
    }
}
