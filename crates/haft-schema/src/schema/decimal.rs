//! Exact decimal numbers.
//!
//! JSON numbers are decimal and have no width. A check in `f64` would accept `4.99999999999999999999` as an integer and
//! treat `9007199254740993` as even, so nothing here is ever rounded. A [`Decimal`] borrows its digits from the text
//! and stores the exponent separately: `1e1000000` is one digit, never a million zeros. Every operation is linear in
//! the digits as written, however large the exponent.

mod digits;
mod multiple;
mod number;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use digits::Digits;
pub(crate) use multiple::{Divisor, DivisorFault};
pub(crate) use number::Number;

/// The largest magnitude of an exponent; larger ones are clamped. No text has this many digits, so a number with a
/// clamped exponent still compares correctly with all numbers of smaller exponents; two numbers with clamped exponents
/// compare by their digits only.
const MAX_EXPONENT: i64 = 100_000_000_000_000_000;

/// The most characters of a number that a message contains.
const SHOWN: usize = 40;

/// The characters kept at the end of a shortened number, enough for an exponent.
const SHOWN_TAIL: usize = 8;

/// A number with the digits of its text: `digits * 10^exponent`.
///
/// Neither the first nor the last digit is a zero, and zero has no digits, no sign and the exponent 0. Two equal
/// numbers therefore have equal fields, however they are written.
#[derive(Clone, Copy)]
pub(crate) struct Decimal<'t> {
    text: &'t str,
    digits: Digits<'t>,
    exponent: i64,
    is_negative: bool,
}

impl<'t> Decimal<'t> {
    /// Parses the text of a JSON number. Other text returns an unspecified number.
    pub(crate) fn parse(text: &'t str) -> Self {
        let (is_negative, magnitude) = match text.strip_prefix('-') {
            Some(magnitude) => (true, magnitude),
            None => (false, text),
        };
        let (mantissa, exponent) = match magnitude.find(['e', 'E']) {
            Some(at) => (&magnitude[..at], read_exponent(&magnitude[at + 1..])),
            None => (magnitude, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        Self::normalised(text, is_negative, (whole, fraction), exponent)
    }

    fn normalised(text: &'t str, is_negative: bool, (whole, fraction): (&'t str, &'t str), exponent: i64) -> Self {
        let whole = whole.trim_start_matches('0');
        let fraction = fraction.trim_end_matches('0');
        let shift = |places: usize| i64::try_from(places).unwrap_or(MAX_EXPONENT);
        let (digits, exponent) = if fraction.is_empty() {
            let digits = whole.trim_end_matches('0');
            (Digits::new(digits, ""), exponent + shift(whole.len() - digits.len()))
        } else {
            let scale = shift(fraction.len());
            let fraction = if whole.is_empty() { fraction.trim_start_matches('0') } else { fraction };
            (Digits::new(whole, fraction), exponent - scale)
        };
        if digits.is_empty() {
            return Self { text, digits, exponent: 0, is_negative: false };
        }
        Self { text, digits, exponent, is_negative }
    }

    pub(crate) fn is_zero(self) -> bool {
        self.digits.is_empty()
    }

    /// Reports whether the value is whole, however it is written: `3.0` and `1e3` are.
    pub(crate) fn is_integer(self) -> bool {
        self.exponent >= 0
    }

    pub(crate) fn to_i128(self) -> Option<i128> {
        let magnitude = self.magnitude()?;
        if self.is_negative { 0_i128.checked_sub_unsigned(magnitude) } else { i128::try_from(magnitude).ok() }
    }

    pub(crate) fn to_u128(self) -> Option<u128> {
        if self.is_negative { None } else { self.magnitude() }
    }

    /// Returns the nearest float, which is infinite beyond the range of `f64`.
    pub(crate) fn to_f64(self) -> f64 {
        self.text.parse().unwrap_or(f64::NAN)
    }

    /// Returns the absolute value if it is whole and in range.
    fn magnitude(self) -> Option<u128> {
        let zeros = u32::try_from(self.exponent).ok()?;
        self.digits.to_u128()?.checked_mul(10_u128.checked_pow(zeros)?)
    }

    fn cmp_magnitude(self, other: Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self.places().cmp(&other.places()).then_with(|| self.digits.cmp(&other.digits)),
        }
    }

    /// Returns the power of ten just above the value.
    fn places(self) -> i64 {
        self.exponent.saturating_add(i64::try_from(self.digits.len()).unwrap_or(MAX_EXPONENT))
    }
}

impl Ord for Decimal<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.is_negative, other.is_negative) {
            (false, false) => self.cmp_magnitude(*other),
            (true, true) => other.cmp_magnitude(*self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Decimal<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for Decimal<'_> {}

impl PartialEq for Decimal<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.is_negative == other.is_negative && self.exponent == other.exponent && self.digits == other.digits
    }
}

impl Hash for Decimal<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.is_negative.hash(state);
        self.exponent.hash(state);
        self.digits.hash(state);
    }
}

/// Writes the number as in its text, shortened in the middle.
impl fmt::Display for Decimal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.text.len() <= SHOWN {
            return f.write_str(self.text);
        }
        let head = &self.text[..SHOWN - SHOWN_TAIL - 1];
        let tail = &self.text[self.text.len() - SHOWN_TAIL..];
        write!(f, "{head}…{tail}")
    }
}

impl fmt::Debug for Decimal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Decimal({self})")
    }
}

fn read_exponent(text: &str) -> i64 {
    let (is_negative, digits) = match text.as_bytes() {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    let mut exponent = 0_i64;
    for digit in digits {
        exponent = (exponent * 10 + i64::from(digit.wrapping_sub(b'0'))).min(MAX_EXPONENT);
    }
    if is_negative { -exponent } else { exponent }
}
