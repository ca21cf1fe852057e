//! Faults of patterns.

use super::{BudgetSpent, MAX_DEPTH, MAX_SIZE};

/// A fault of a pattern. `at` counts the characters of the source before the fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PatternFault {
    /// Syntax of another dialect.
    #[error("`{found}` at character {at} is not ECMA-262 syntax: {advice}")]
    Foreign { at: usize, found: Box<str>, advice: &'static str },
    /// Valid ECMA-262 syntax that is not implemented.
    #[error("`{found}` at character {at} is not supported: {advice}")]
    Unsupported { at: usize, found: Box<str>, advice: &'static str },
    #[error("the group opened at character {at} is not closed: add `)`, or write `\\(` for a parenthesis")]
    UnclosedGroup { at: usize },
    #[error("`)` at character {at} closes no group: remove it, or write `\\)` for a parenthesis")]
    UnopenedGroup { at: usize },
    #[error("the class opened at character {at} is not closed: add `]`, or write `\\[` for a bracket")]
    UnclosedClass { at: usize },
    #[error(
        "the quantifier at character {at} has nothing to repeat: escape it with `\\`, or put `(?:...)` around what it repeats"
    )]
    NothingToRepeat { at: usize },
    #[error("the quantifier at character {at} has bounds out of order: write the smaller one first")]
    ReversedBounds { at: usize },
    #[error("the range at character {at} is out of order: write the smaller end first, or `\\-` for a hyphen")]
    ReversedRange { at: usize },
    #[error("`\\{escape}` at character {at} has no meaning: remove the backslash, or write `\\\\` for a backslash")]
    UnknownEscape { at: usize, escape: char },
    #[error("the escape at character {at} is malformed: write {expected}")]
    MalformedEscape { at: usize, expected: &'static str },
    #[error("the backslash at the end, character {at}, escapes nothing: write `\\\\` for a backslash")]
    TrailingBackslash { at: usize },
    #[error(
        "the property `{name}` at character {at} is unknown: use a general category such as `L` or `Nd`, or one of \
         Alphabetic, Any, ASCII, Assigned, Emoji, Lowercase, Uppercase, White_Space"
    )]
    UnknownProperty { at: usize, name: Box<str> },
    #[error("the backreference at character {at} names no group of the pattern")]
    UnknownGroup { at: usize },
    #[error("the group name at character {at} is malformed: use letters, digits, `_` and `$`, a digit not first")]
    MalformedName { at: usize },
    #[error("the group name at character {at} is already used: rename one of the groups")]
    DuplicateName { at: usize },
    #[error("the group at character {at} is nested too deeply: use at most {MAX_DEPTH} levels")]
    TooDeep { at: usize },
    #[error("the pattern needs more than {MAX_SIZE} operations: shorten it, or repeat groups less often")]
    TooLarge,
    #[error("the budget of the schema is exhausted")]
    Spent,
}

impl From<BudgetSpent> for PatternFault {
    fn from(_: BudgetSpent) -> Self {
        Self::Spent
    }
}
