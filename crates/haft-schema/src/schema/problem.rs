//! The problems of values as data; only [`message`](super::message) turns them into text.

use std::borrow::Cow;

use super::keyword::union::{VariantFormMismatch, Variants};
use super::node::Property;
use super::types::Types;

/// One problem of a value.
pub(super) enum Problem<'a> {
    /// No value is allowed.
    Never,
    /// The value has none of these types.
    Type(Types),
    /// The value must be what `expected` describes.
    Is {
        keyword: &'static str,
        expected: Cow<'a, str>,
    },
    /// The value must be one of the listed values.
    OneOf {
        keyword: &'static str,
        listed: Cow<'a, str>,
        count: usize,
    },
    /// A string has too few or too many characters.
    Length {
        keyword: &'static str,
        bound: &'static str,
        count: usize,
        length: usize,
    },
    Pattern(&'a str),
    TooFewItems(usize),
    TooManyItems(usize),
    NotUnique,
    Missing(&'a str, Types),
    /// An undeclared key, the declared properties, and the declared name that was probably meant.
    Unknown(Cow<'a, str>, &'a [Property], Option<&'a str>),
    Tag(AllowedValues<'a>),
    Keys(Vec<&'a str>),
    /// The value is no variant of an enum, or a variant written in the form of another.
    Variant(Variants<'a>, Option<VariantFormMismatch<'a>>),
    TooFewKeys(usize),
    TooManyKeys(usize),
    NoBranch {
        keyword: &'static str,
        count: usize,
    },
    SeveralBranches,
    /// A problem whose text comes from its keyword, created only on demand.
    Custom {
        keyword: &'static str,
        words: &'a dyn Fn() -> CustomProblem,
    },
}

/// The text of a keyword's own problem: what it requires, and the sentence for an invalid value.
#[derive(Debug)]
pub(super) struct CustomProblem {
    pub(super) expected: String,
    pub(super) message: String,
}

/// The allowed values: the first few of them, as JSON, and their number. A rejection of many values must not copy the
/// whole list each time.
#[derive(Debug, Default)]
pub(super) struct AllowedValues<'a> {
    pub(super) first: Vec<Cow<'a, str>>,
    pub(super) count: usize,
}

impl<'a> AllowedValues<'a> {
    /// The number of values that are listed.
    pub(super) const MOST: usize = 12;

    /// Adds values; only those that are listed are taken from the iterator.
    pub(super) fn extend(&mut self, values: impl ExactSizeIterator<Item = Cow<'a, str>>) {
        self.count += values.len();
        self.first.extend(values.take(Self::MOST.saturating_sub(self.first.len())));
    }

    /// Creates the list of these values.
    pub(super) fn of(values: impl ExactSizeIterator<Item = Cow<'a, str>>) -> Self {
        let mut listed = Self::default();
        listed.extend(values);
        listed
    }
}

impl Problem<'_> {
    /// Returns the types that a value must have, if its type is the problem.
    pub(super) fn expected_types(&self) -> Option<Types> {
        match self {
            Self::Type(types) => Some(*types),
            _ => None,
        }
    }
}
