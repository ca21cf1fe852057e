//! What is wrong at one place, as a value: words are made of it in [`message`](super::message) alone.

use std::borrow::Cow;

use super::keyword::union::{Slip, Variants};
use super::node::Property;
use super::seen::Seen;
use super::types::Types;

/// What is wrong at one place.
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
    /// The value must be one of these.
    OneOf {
        keyword: &'static str,
        literals: Vec<Cow<'a, str>>,
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
    /// The key, what is declared, and which of that is there.
    Unknown(Cow<'a, str>, &'a [Property], &'a Seen),
    Tag(Vec<&'a str>),
    Keys(Vec<&'a str>),
    /// None of an enum's variants, or one in the form of another.
    Variant(Variants<'a>, Option<Slip<'a>>),
    TooFewKeys(usize),
    TooManyKeys(usize),
    NoBranch {
        keyword: &'static str,
        count: usize,
    },
    SeveralBranches,
    /// What a keyword says in words of its own, which are made only if somebody wants them.
    Said {
        keyword: &'static str,
        words: &'a dyn Fn() -> Words,
    },
}

/// What a keyword asks for, and the sentence for a value that does not have it.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) expected: String,
    pub(super) message: String,
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
