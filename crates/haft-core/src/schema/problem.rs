//! A problem at one place, as a value: words are made of it in [`message`](super::message) alone.

use std::borrow::Cow;

use super::keyword::union::{VariantFormMismatch, Variants};
use super::node::Property;
use super::types::Types;

/// A problem at one place.
pub(super) enum Problem<'a> {
    /// No value is allowed.
    Never,
    /// The value has none of these types.
    Type(Types),
    /// The value must be what `expected` says.
    Is {
        keyword: &'static str,
        expected: Cow<'a, str>,
    },
    /// The value must be one of so many, which are listed.
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
    /// The key, what is declared, and the declared name that was probably meant.
    Unknown(Cow<'a, str>, &'a [Property], Option<&'a str>),
    Tag(AllowedValues<'a>),
    Keys(Vec<&'a str>),
    /// None of an enum's variants, or one in the form of another.
    Variant(Variants<'a>, Option<VariantFormMismatch<'a>>),
    TooFewKeys(usize),
    TooManyKeys(usize),
    NoBranch {
        keyword: &'static str,
        count: usize,
    },
    SeveralBranches,
    /// A problem that a keyword has words of its own for, which are made only if somebody wants them.
    Custom {
        keyword: &'static str,
        words: &'a dyn Fn() -> CustomProblem,
    },
}

/// The words of a keyword: what it asks for, and the sentence for a value that does not have it.
#[derive(Debug)]
pub(super) struct CustomProblem {
    pub(super) expected: String,
    pub(super) message: String,
}

/// The values that are allowed: the first few of them, as JSON, and their number. A rejection of many values must not cost
/// the whole list each time.
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
    /// Returns the types that a value must have, where its type is the problem.
    pub(super) fn wanted(&self) -> Option<Types> {
        match self {
            Self::Type(types) => Some(*types),
            _ => None,
        }
    }
}
