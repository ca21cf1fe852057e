//! Limits for argument text and for the nesting of JSON, and options for decoding.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::scan::nests_within;
use crate::issue::{Issue, Issues};

/// The limits that argument text must satisfy before it is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The longest text, in bytes. Default: 4 MiB.
    pub max_bytes: usize,
    /// The deepest nesting of arrays and objects. Default: 128. Every level takes stack while it is read, so more than
    /// 256 counts as 256.
    pub max_depth: usize,
    /// The treatment of a duplicate key in an object. Default: reject.
    pub duplicate_keys: DuplicateKeys,
}

/// The treatment of a key that occurs twice in one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum DuplicateKeys {
    /// Reject the arguments and name the key. Parsers disagree on which one counts.
    #[default]
    Reject,
    /// Use the last one, as most JSON parsers do.
    LastWins,
}

impl Default for Limits {
    fn default() -> Self {
        DecodeOptions::DEFAULT.limits
    }
}

/// The deepest nesting of a result or an emitted value, equal to the default for arguments.
pub const OUTPUT_DEPTH: usize = 128;

/// The deepest nesting of stored JSON that is parsed into a tree: results and arguments, inside the values that contain
/// them.
pub(crate) const STORED_DEPTH: usize = 512;

/// Rejects a tree that nests too deeply to be processed recursively.
pub(super) fn within_depth(value: &Value) -> Result<(), Issues> {
    if nests_within(value, Limits::DEEPEST) {
        return Ok(());
    }
    let message = format!("nests deeper than {} levels; use a flatter value", Limits::DEEPEST);
    Err(Issue::new("", "maxDepth", message).expected(format!("at most {} levels", Limits::DEEPEST)).into())
}

impl Limits {
    /// The deepest nesting that is ever read from outside.
    pub const DEEPEST: usize = 256;

    /// Returns the nesting limit, capped at what the stack of any thread allows.
    #[inline]
    pub(crate) fn depth(&self) -> usize {
        self.max_depth.min(Self::DEEPEST)
    }

    /// Sets the longest text, in bytes.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets the deepest nesting.
    #[must_use]
    pub fn max_depth(mut self, depth: usize) -> Self {
        self.max_depth = depth;
        self
    }

    /// Sets the treatment of duplicate keys.
    #[must_use]
    pub fn duplicate_keys(mut self, rule: DuplicateKeys) -> Self {
        self.duplicate_keys = rule;
        self
    }
}

/// The small mistakes of a model that are repaired instead of rejected. All are off by default; every repair is
/// recorded on the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Repairs {
    /// A JSON string that contains the JSON of the expected type: `"{\"a\":1}"` for `{"a":1}`.
    pub nested_json: bool,
    /// A string that contains the expected number or boolean: `"3"` for `3`.
    pub quoted_scalars: bool,
    /// One value where an array of such values is expected: `"a"` for `["a"]`.
    pub single_item_arrays: bool,
}

impl Repairs {
    /// Creates the default: no repairs.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Enables every repair.
    #[must_use]
    pub fn all() -> Self {
        Self { nested_json: true, quoted_scalars: true, single_item_arrays: true }
    }

    pub(crate) fn any(self) -> bool {
        self.nested_json || self.quoted_scalars || self.single_item_arrays
    }
}

/// The options for decoding argument text: its limits and the allowed repairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecodeOptions {
    /// The limits of the text.
    pub limits: Limits,
    /// The mistakes that are repaired.
    pub repairs: Repairs,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl DecodeOptions {
    /// The default options.
    pub const DEFAULT: Self = Self {
        limits: Limits { max_bytes: 4 * 1024 * 1024, max_depth: 128, duplicate_keys: DuplicateKeys::Reject },
        repairs: Repairs { nested_json: false, quoted_scalars: false, single_item_arrays: false },
    };

    /// Combines these options with narrower ones: the smaller limits apply, everything else is replaced. A value that is
    /// the default counts as unset.
    #[must_use]
    pub fn merge(self, narrower: Self) -> Self {
        let Self { limits: Limits { max_bytes, max_depth, duplicate_keys }, repairs } = narrower;
        let (unset, limits) = (Self::DEFAULT, self.limits);
        Self {
            limits: Limits {
                max_bytes: narrowed(limits.max_bytes, max_bytes, &unset.limits.max_bytes, Ord::min),
                max_depth: narrowed(limits.max_depth, max_depth, &unset.limits.max_depth, Ord::min),
                duplicate_keys: narrowed(limits.duplicate_keys, duplicate_keys, &unset.limits.duplicate_keys, replaced),
            },
            repairs: narrowed(self.repairs, repairs, &unset.repairs, replaced),
        }
    }

    /// Sets the limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the allowed repairs.
    #[must_use]
    pub fn repairs(mut self, repairs: Repairs) -> Self {
        self.repairs = repairs;
        self
    }
}

/// One mistake that was repaired before the handler received the arguments, or the application the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Repair {
    /// A JSON Pointer to the value that was changed.
    pub pointer: String,
    /// The kind of repair.
    pub kind: RepairKind,
}

impl Repair {
    /// Creates the record of a repair.
    #[must_use]
    pub fn new(pointer: impl Into<String>, kind: RepairKind) -> Self {
        Self { pointer: pointer.into(), kind }
    }
}

/// The kinds of repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RepairKind {
    /// JSON was parsed from a string.
    NestedJson,
    /// A number or boolean was parsed from a string.
    QuotedScalar,
    /// A single value was wrapped in an array.
    SingleItemArray,
    /// The Markdown code fence around an answer was removed. Arguments of calls have none.
    CodeFence,
}

fn narrowed<T: PartialEq>(wide: T, narrower: T, unset: &T, both: fn(T, T) -> T) -> T {
    match (wide == *unset, narrower == *unset) {
        (_, true) => wide,
        (true, false) => narrower,
        (false, false) => both(wide, narrower),
    }
}

fn replaced<T>(_: T, narrower: T) -> T {
    narrower
}
