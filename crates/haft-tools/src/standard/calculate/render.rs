//! Numbers as decimal text.
//!
//! Integers are whole, whatever their length. A fraction is whole if it ends within [`MAX_PLACES`] places. Otherwise it
//! is rounded to [`ROUNDED_DIGITS`] digits, and its text is no longer the exact value.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};

use super::number::{Number, NumberValue, power_of_ten};

/// The places after the point that are written in full.
const MAX_PLACES: u32 = 60;
/// A rounded fraction's significant digits.
const ROUNDED_DIGITS: i64 = 34;
/// The longest fraction to write beside its rounded form.
const MAX_FRACTION: usize = 60;

/// A number as text.
#[derive(Debug, PartialEq)]
pub(super) struct RenderedNumber {
    pub(super) text: String,
    /// True if the text is exactly the number.
    pub(super) whole: bool,
    /// The number as a fraction, if the text is rounded and the fraction is short.
    pub(super) fraction: Option<String>,
}

/// Writes a number.
pub(super) fn render(number: &Number) -> RenderedNumber {
    match &number.value {
        NumberValue::Float(value) => RenderedNumber { text: float(*value), whole: true, fraction: None },
        NumberValue::Fraction(value) => fraction(value),
    }
}

fn float(value: f64) -> String {
    // Negative zero is zero.
    let value = if value == 0.0 { 0.0 } else { value };
    let size = value.abs();
    if size != 0.0 && !(1e-7..1e21).contains(&size) { format!("{value:e}") } else { format!("{value}") }
}

fn fraction(value: &BigRational) -> RenderedNumber {
    if value.is_integer() {
        return RenderedNumber { text: value.to_integer().to_string(), whole: true, fraction: None };
    }
    let sign = if value.is_negative() { "-" } else { "" };
    let size = value.abs();
    let scale = power_of_ten(MAX_PLACES);
    if (&scale % size.denom()).is_zero() {
        let digits = size.numer() * (scale / size.denom());
        let text = format!("{sign}{}", plain(&digits.to_string(), -i64::from(MAX_PLACES)));
        return RenderedNumber { text, whole: true, fraction: None };
    }
    let (digits, exponent, whole) = rounded(&size);
    let text = format!("{sign}{}", decimal(digits.to_string().trim_end_matches('0'), exponent));
    let fraction = (!whole).then(|| value.to_string()).filter(|fraction| fraction.len() <= MAX_FRACTION);
    RenderedNumber { text, whole, fraction }
}

/// Rounds a positive number to its leading digits. Returns them, the first digit's power of ten, and whether they are
/// the whole number.
fn rounded(value: &BigRational) -> (BigInt, i64, bool) {
    let mut exponent = estimated_exponent(value);
    loop {
        let scaled = scaled(value, ROUNDED_DIGITS - 1 - exponent);
        let digits = scaled.round().to_integer();
        let length = i64::try_from(digits.to_string().len()).unwrap_or(ROUNDED_DIGITS);
        if length == ROUNDED_DIGITS {
            let whole = (scaled.numer() % scaled.denom()).is_zero();
            return (digits, exponent, whole);
        }
        // The estimate is one off at most, or rounding has led to one more digit.
        exponent += length - ROUNDED_DIGITS;
    }
}

fn estimated_exponent(value: &BigRational) -> i64 {
    let bits = |value: &BigInt| value.bits().to_f64().unwrap_or(0.0);
    ((bits(value.numer()) - bits(value.denom())) * std::f64::consts::LOG10_2).floor().to_i64().unwrap_or(0)
}

fn scaled(value: &BigRational, places: i64) -> BigRational {
    let scale = power_of_ten(u32::try_from(places.unsigned_abs()).unwrap_or(0));
    // Only the rounded value matters, so skip reducing the fraction.
    if places >= 0 {
        BigRational::new_raw(value.numer() * scale, value.denom().clone())
    } else {
        BigRational::new_raw(value.numer().clone(), value.denom() * scale)
    }
}

/// Writes digits whose first one stands for this power of ten.
fn decimal(digits: &str, exponent: i64) -> String {
    let length = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    if (-7..ROUNDED_DIGITS).contains(&exponent) {
        return plain(digits, exponent - length + 1);
    }
    let (first, rest) = digits.split_at(1);
    if rest.is_empty() { format!("{first}e{exponent}") } else { format!("{first}.{rest}e{exponent}") }
}

/// Writes digits whose last one stands for this power of ten, without a fraction's trailing zeros.
fn plain(digits: &str, exponent: i64) -> String {
    let Ok(places) = usize::try_from(-exponent) else {
        return format!("{digits}{}", "0".repeat(usize::try_from(exponent).unwrap_or(0)));
    };
    let padded = format!("{}{digits}", "0".repeat((places + 1).saturating_sub(digits.len())));
    let (whole, fraction) = padded.split_at(padded.len() - places);
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}
