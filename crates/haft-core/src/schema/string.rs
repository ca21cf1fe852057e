//! Rules for strings. Lengths count characters, as JSON Schema does, not bytes.

use super::pattern::Pattern;

/// Rules for strings.
#[derive(Debug)]
pub(super) struct StringRule {
    pub(super) min: usize,
    pub(super) max: usize,
    pub(super) pattern: Option<Pattern>,
    /// The only strings that fit.
    pub(super) literals: Option<Box<[Box<str>]>>,
    /// What the schema calls the form of such strings. It is told, not checked.
    pub(super) format: Option<Box<str>>,
}

/// The rule that a string breaks.
#[derive(Clone, Copy, Debug)]
pub(super) enum StringFault<'a> {
    Literal(&'a [Box<str>]),
    TooShort { min: usize, length: usize },
    TooLong { max: usize, length: usize },
    Pattern(&'a str),
}

impl Default for StringRule {
    fn default() -> Self {
        Self { min: 0, max: usize::MAX, pattern: None, literals: None, format: None }
    }
}

impl StringRule {
    /// Whether there is any rule at all: most strings have none, and are not looked at.
    pub(super) fn is_bare(&self) -> bool {
        self.min == 0 && self.max == usize::MAX && self.pattern.is_none() && self.literals.is_none()
    }

    /// The first rule that `text` breaks.
    pub(super) fn fault(&self, text: &str) -> Option<StringFault<'_>> {
        if let Some(literals) = &self.literals
            && !literals.iter().any(|literal| &**literal == text)
        {
            return Some(StringFault::Literal(literals));
        }
        if let Some(fault) = self.length_fault(text) {
            return Some(fault);
        }
        match &self.pattern {
            Some(pattern) if !pattern.is_match(text) => Some(StringFault::Pattern(pattern.source())),
            _ => None,
        }
    }

    /// Every rule that `text` breaks. A string that must be one of a set is told only that.
    pub(super) fn faults(&self, text: &str) -> impl Iterator<Item = StringFault<'_>> {
        let first = self.fault(text);
        let second = match (&first, &self.pattern) {
            (Some(StringFault::TooShort { .. } | StringFault::TooLong { .. }), Some(pattern))
                if !pattern.is_match(text) =>
            {
                Some(StringFault::Pattern(pattern.source()))
            }
            _ => None,
        };
        first.into_iter().chain(second)
    }

    fn length_fault(&self, text: &str) -> Option<StringFault<'_>> {
        // A character takes one to four bytes: most lengths are settled without counting.
        if text.len() / 4 >= self.min && text.len() <= self.max {
            return None;
        }
        let length = text.chars().count();
        if length < self.min {
            Some(StringFault::TooShort { min: self.min, length })
        } else if length > self.max {
            Some(StringFault::TooLong { max: self.max, length })
        } else {
            None
        }
    }
}
