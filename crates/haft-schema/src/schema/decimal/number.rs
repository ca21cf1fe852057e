//! Numbers that outlive their text.

use std::fmt;

use super::Decimal;
use super::digits::Digits;

/// An owned [`Decimal`], as bounds in schemas are.
#[derive(Clone)]
pub(crate) struct Number {
    text: Box<str>,
    digits: Box<str>,
    exponent: i64,
    is_negative: bool,
}

impl Number {
    /// Parses the text of a JSON number. Other text returns an unspecified number.
    pub(crate) fn parse(text: &str) -> Self {
        let Decimal { digits, exponent, is_negative, .. } = Decimal::parse(text);
        let (head, tail) = digits.parts();
        Self { text: text.into(), digits: [head, tail].concat().into(), exponent, is_negative }
    }

    /// Returns the number for comparisons, without parsing the text again.
    #[inline]
    pub(crate) fn as_decimal(&self) -> Decimal<'_> {
        let Self { text, digits, exponent, is_negative } = self;
        Decimal { text, digits: Digits::new(digits, ""), exponent: *exponent, is_negative: *is_negative }
    }
}

impl Eq for Number {}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.as_decimal() == other.as_decimal()
    }
}

/// Writes the number as in its text, shortened in the middle.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_decimal().fmt(f)
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Number({self})")
    }
}
