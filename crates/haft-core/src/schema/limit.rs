//! Limits of argument text and of the nesting of JSON, and how leniently text is read.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::scan::nests_within;
use crate::issue::{Issue, Issues};

/// What argument text may cost before it is refused unread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The longest text, in bytes. Default: 4 MiB.
    pub max_bytes: usize,
    /// How deep arrays and objects may nest. Default: 128. Every level takes stack while it is read, so more than 256
    /// counts as 256.
    pub max_depth: usize,
    /// What to do with a key that stands twice in one object. Default: refuse.
    pub duplicate_keys: DuplicateKeys,
}

/// What to do with a key that stands twice in one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum DuplicateKeys {
    /// Refuse the arguments and name the key. Two parsers may disagree on which one counts.
    #[default]
    Refuse,
    /// Take the last one, as most JSON parsers do.
    LastWins,
}

impl Default for Limits {
    fn default() -> Self {
        DecodeOptions::DEFAULT.limits
    }
}

/// The levels that a result, or a value that is emitted on the way to it, may nest: as arguments by default.
pub(crate) const OUTPUT_DEPTH: usize = 128;

/// The levels that JSON may nest that is held here and made a tree of: results and arguments within whatever holds them.
pub(crate) const HELD_DEPTH: usize = 512;

/// Rejects a tree that nests too deep to be walked through.
pub(super) fn within_depth(value: &Value) -> Result<(), Issues> {
    if nests_within(value, Limits::DEEPEST) {
        return Ok(());
    }
    let message = format!("nests deeper than {} levels; use a flatter value", Limits::DEEPEST);
    Err(Issue::new("", "maxDepth", message).expected(format!("at most {} levels", Limits::DEEPEST)).into())
}

impl Limits {
    /// The most levels that are ever read of text from outside.
    pub(crate) const DEEPEST: usize = 256;

    /// How deep values may nest, within what any thread can bear.
    #[inline]
    pub(crate) fn depth(&self) -> usize {
        self.max_depth.min(Self::DEEPEST)
    }

    /// The same limits with another cap on the text's length.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// The same limits with another cap on nesting.
    #[must_use]
    pub fn max_depth(mut self, depth: usize) -> Self {
        self.max_depth = depth;
        self
    }

    /// The same limits with another rule for duplicate keys.
    #[must_use]
    pub fn duplicate_keys(mut self, rule: DuplicateKeys) -> Self {
        self.duplicate_keys = rule;
        self
    }
}

/// Which small mistakes of a model are mended instead of refused. All off by default; every repair that was made is
/// recorded on the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Repairs {
    /// A JSON string that holds the JSON of the expected type: `"{\"a\":1}"` for `{"a":1}`.
    pub nested_json: bool,
    /// A string that spells the expected number or boolean: `"3"` for `3`.
    pub quoted_scalars: bool,
    /// One value where an array of such values is expected: `"a"` for `["a"]`.
    pub single_item_arrays: bool,
}

impl Repairs {
    /// No repairs: the default.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Every repair there is.
    #[must_use]
    pub fn all() -> Self {
        Self { nested_json: true, quoted_scalars: true, single_item_arrays: true }
    }

    pub(crate) fn any(self) -> bool {
        self.nested_json || self.quoted_scalars || self.single_item_arrays
    }
}

/// How argument text is read: its limits and the repairs that are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecodeOptions {
    /// What the text may cost.
    pub limits: Limits,
    /// Which mistakes are mended.
    pub repairs: Repairs,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl DecodeOptions {
    /// The default options.
    pub(crate) const DEFAULT: Self = Self {
        limits: Limits { max_bytes: 4 * 1024 * 1024, max_depth: 128, duplicate_keys: DuplicateKeys::Refuse },
        repairs: Repairs { nested_json: false, quoted_scalars: false, single_item_arrays: false },
    };

    /// The same options with other limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same options with other repairs.
    #[must_use]
    pub fn repairs(mut self, repairs: Repairs) -> Self {
        self.repairs = repairs;
        self
    }
}

/// One mistake that was mended before the handler saw the arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Repair {
    /// JSON Pointer to the value that was changed.
    pub pointer: String,
    /// What was done.
    pub kind: RepairKind,
}

/// The kinds of repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RepairKind {
    /// JSON was read out of a string.
    NestedJson,
    /// A number or boolean was read out of a string.
    QuotedScalar,
    /// A single value was wrapped into an array.
    SingleItemArray,
}
