//! Value sizes, level by level.
//!
//! A step into a value, by a member, an index or a loop, leads exactly one level down. So it is enough to know each
//! level's longest list and largest value; and a loop over many small elements does not count as one over many large
//! ones.

use std::collections::BTreeMap;
use std::iter::once;

use serde_json::Value;

use super::check::ArgumentReads;
use super::error::EvaluationError;
use super::{MAX_INPUT, MAX_INPUT_DEPTH};

/// Bounds on a value's sizes: of the value itself, then of what is inside it, level by level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ValueSizes(Vec<SizeLevel>);

/// Bounds on one level's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SizeLevel {
    /// The most elements in a list or map.
    pub(super) len: u64,
    /// The largest value, with everything inside it.
    pub(super) size: u64,
}

/// The sizes of the arguments that an expression reads. Members are measured one by one, because most expressions
/// compare a small one with a large one.
#[derive(Debug)]
pub(super) struct ArgumentSizes<'a> {
    pub(super) whole: ValueSizes,
    members: BTreeMap<&'a str, ValueSizes>,
}

impl<'a> ArgumentSizes<'a> {
    /// Measures arguments.
    pub(super) fn of(arguments: &'a Value, reads: &ArgumentReads) -> Result<Self, EvaluationError> {
        let Value::Object(object) = arguments else {
            let (whole, _) = ValueSizes::of(arguments, 0)?;
            return Ok(Self { whole, members: BTreeMap::new() });
        };
        let mut sizes = Self { whole: ValueSizes::nothing(), members: BTreeMap::new() };
        let mut outer = SizeLevel { len: 0, size: 1 };
        for (name, value) in object.iter().filter(|(name, _)| reads.includes(name)) {
            let key = text_size(name);
            let (member, size) = ValueSizes::of(value, outer.size + key)?;
            outer = SizeLevel { len: outer.len + 1, size: outer.size + key + size };
            // A loop over a map visits its keys.
            sizes.whole = sizes.whole.join(&member).join(&ValueSizes::of_size(key));
            sizes.members.insert(name, member);
        }
        sizes.whole = sizes.whole.within(outer);
        Ok(sizes)
    }

    /// Returns a member's sizes.
    pub(super) fn member(&self, name: &str) -> ValueSizes {
        self.members.get(name).cloned().unwrap_or_else(ValueSizes::scalar)
    }
}

impl ValueSizes {
    /// Measures a value and also returns its size. `before` is the size of what was measured before.
    fn of(value: &Value, before: u64) -> Result<(Self, u64), EvaluationError> {
        let mut levels = Vec::new();
        let size = measure(value, 0, &mut levels, before)?;
        Ok((Self(levels), size))
    }

    /// Returns the sizes for a number, a boolean or null.
    pub(super) fn scalar() -> Self {
        Self::of_size(1)
    }

    /// Returns the sizes for no value at all.
    pub(super) fn nothing() -> Self {
        Self(Vec::new())
    }

    /// Returns the sizes for a value without elements.
    pub(super) fn of_size(size: u64) -> Self {
        Self(vec![SizeLevel { len: 0, size }])
    }

    /// Returns the sizes for a list of texts.
    pub(super) fn of_texts(texts: &[Box<str>]) -> Self {
        let sizes = || texts.iter().map(|text| text_size(text));
        let size = 1 + sizes().fold(0, u64::saturating_add);
        Self::of_size(sizes().max().unwrap_or(1)).within(SizeLevel { len: texts.len() as u64, size })
    }

    /// Returns the value's own size.
    pub(super) fn size(&self) -> u64 {
        self.0.first().map_or(0, |level| level.size)
    }

    /// Returns the number of elements.
    pub(super) fn len(&self) -> u64 {
        self.0.first().map_or(0, |level| level.len)
    }

    /// Returns an element's sizes.
    pub(super) fn element(&self) -> Self {
        match self.0.as_slice() {
            [] | [_] => Self::scalar(),
            [_, inner @ ..] => Self(inner.to_vec()),
        }
    }

    /// Returns the sizes for a list or map of such elements.
    pub(super) fn within(self, outer: SizeLevel) -> Self {
        Self(once(outer).chain(self.0).collect())
    }

    /// Returns bounds for both.
    pub(super) fn join(&self, other: &Self) -> Self {
        self.merged(other, |left, right| SizeLevel { len: left.len.max(right.len), size: left.size.max(right.size) })
    }

    /// Returns the sizes for both in one list or text.
    pub(super) fn concat(&self, other: &Self) -> Self {
        let mut sizes = self.join(other);
        if let Some(first) = sizes.0.first_mut() {
            first.len = self.len().saturating_add(other.len());
            first.size = self.size().saturating_add(other.size());
        }
        sizes
    }

    /// Returns the sizes for this many copies in one list or text.
    pub(super) fn times(mut self, times: u64) -> Self {
        if let Some(first) = self.0.first_mut() {
            first.len = first.len.saturating_mul(times);
            first.size = first.size.saturating_mul(times);
        }
        self
    }

    fn merged(&self, other: &Self, merge: impl Fn(SizeLevel, SizeLevel) -> SizeLevel) -> Self {
        let level = |sizes: &Self, index: usize| sizes.0.get(index).copied().unwrap_or_default();
        let depth = self.0.len().max(other.0.len());
        Self((0..depth).map(|index| merge(level(self, index), level(other, index))).collect())
    }
}

/// Returns a text's size. Reading some bytes takes as long as visiting one value.
pub(super) fn text_size(text: &str) -> u64 {
    1 + text.len() as u64 / 16
}

/// Measures a value at a depth and returns its size. `before` is the size of what was measured before.
fn measure(value: &Value, depth: usize, levels: &mut Vec<SizeLevel>, before: u64) -> Result<u64, EvaluationError> {
    if depth >= MAX_INPUT_DEPTH {
        return Err(EvaluationError::InputTooDeep);
    }
    if levels.len() == depth {
        levels.push(SizeLevel::default());
    }
    let (mut size, mut len) = (1, 0);
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => size = text_size(text),
        Value::Array(elements) => {
            len = elements.len() as u64;
            for element in elements {
                size += measure(element, depth + 1, levels, before + size)?;
            }
        }
        Value::Object(members) => {
            len = members.len() as u64;
            for (name, member) in members {
                let key = text_size(name);
                size += key + measure(member, depth + 1, levels, before + size + key)?;
                // A loop over a map visits its keys.
                levels[depth + 1].size = levels[depth + 1].size.max(key);
            }
        }
    }
    if before + size > MAX_INPUT {
        return Err(EvaluationError::InputTooLarge);
    }
    let level = &mut levels[depth];
    *level = SizeLevel { len: level.len.max(len), size: level.size.max(size) };
    Ok(size)
}
