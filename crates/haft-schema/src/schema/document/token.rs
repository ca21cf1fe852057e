//! The extents of strings and numbers in a text.

use super::super::decimal::Decimal;
use super::escape::{read_pair, read_unit};

/// A string, from its first to its last quote.
pub(super) struct StringToken {
    pub(super) end: usize,
    pub(super) is_escaped: bool,
}

/// A number.
pub(super) struct NumberToken {
    pub(super) end: usize,
    /// Set if it is written with a point or an exponent.
    pub(super) is_float: bool,
    /// Set if it is written with a point or an exponent, and whole.
    pub(super) is_integral_float: bool,
    pub(super) is_in_range: bool,
}

/// The offset at which a token violates the grammar.
pub(super) struct TokenFault {
    pub(super) at: usize,
}

/// The power of ten below which a number is in the range of `f64`.
const SAFE_PLACES: usize = 308;

/// Finds the end of the string whose opening quote is at `start`.
#[inline]
pub(super) fn string(bytes: &[u8], start: usize) -> Result<StringToken, TokenFault> {
    let mut at = start + 1;
    let mut is_escaped = false;
    loop {
        at = skip_plain(bytes, at);
        match bytes.get(at) {
            Some(b'"') => return Ok(StringToken { end: at + 1, is_escaped }),
            Some(b'\\') => {
                is_escaped = true;
                at = escape(bytes, at).ok_or(TokenFault { at })?;
            }
            Some(_) | None => return Err(TokenFault { at }),
        }
    }
}

/// Returns the end of the escape at an offset.
fn escape(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at + 1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 2),
        b'u' => match char::from_u32(read_unit(bytes, at + 2)?) {
            Some(_) => Some(at + 6),
            None => read_pair(bytes, at + 2).map(|_| at + 12),
        },
        _ => None,
    }
}

/// Skips the bytes of a string that are neither quotes, escapes nor control characters, eight at a time.
#[inline]
fn skip_plain(bytes: &[u8], mut at: usize) -> usize {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    while let Some(&chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(chunk);
        // A byte's highest bit is set in `x.wrapping_sub(LOW) & !x` where the byte is zero; the lowest such bit is
        // exact, and only the lowest is used.
        let quote = word ^ (LOW * 0x22);
        let backslash = word ^ (LOW * 0x5c);
        let special = (quote.wrapping_sub(LOW) & !quote)
            | (backslash.wrapping_sub(LOW) & !backslash)
            | (word.wrapping_sub(LOW * 0x20) & !word);
        let special = special & HIGH;
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20)) {
        at += 1;
    }
    at
}

/// Finds the end of the number at `start`.
#[inline]
pub(super) fn number(text: &str, start: usize) -> Result<NumberToken, TokenFault> {
    let bytes = text.as_bytes();
    let whole = if bytes.get(start) == Some(&b'-') { start + 1 } else { start };
    let mut at = match bytes.get(whole) {
        Some(b'0') => whole + 1,
        Some(b'1'..=b'9') => skip_digits(bytes, whole + 1),
        _ => return Err(TokenFault { at: whole }),
    };
    let places = at - whole;
    match bytes.get(at) {
        Some(b'.' | b'e' | b'E') => {}
        _ => {
            let is_in_range = places <= SAFE_PLACES || is_finite(&text[start..at]);
            return Ok(NumberToken { end: at, is_float: false, is_integral_float: false, is_in_range });
        }
    }
    if bytes[at] == b'.' {
        at = digits(bytes, at + 1)?;
    }
    let mut is_in_range = places <= SAFE_PLACES;
    let has_exponent = matches!(bytes.get(at), Some(b'e' | b'E'));
    if has_exponent {
        let sign = at + 1;
        let first = if matches!(bytes.get(sign), Some(b'+' | b'-')) { sign + 1 } else { sign };
        at = digits(bytes, first)?;
        is_in_range = exponent_bound(&bytes[sign..at]).is_some_and(|exponent| places + exponent <= SAFE_PLACES);
    }
    let is_in_range = is_in_range || is_finite(&text[start..at]);
    let may_be_whole = has_exponent || bytes[at - 1] == b'0';
    let is_integral_float = may_be_whole && Decimal::parse(&text[start..at]).is_integer();
    Ok(NumberToken { end: at, is_float: true, is_integral_float, is_in_range })
}

/// Returns an upper bound of an exponent with its sign: 0 if it is negative, `None` if it is large.
fn exponent_bound(text: &[u8]) -> Option<usize> {
    match text {
        [b'-', ..] => Some(0),
        [b'+', digits @ ..] | digits => {
            if digits.len() > 3 {
                return None;
            }
            Some(digits.iter().fold(0, |value, digit| value * 10 + usize::from(digit.wrapping_sub(b'0'))))
        }
    }
}

fn is_finite(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Skips at least one digit.
fn digits(bytes: &[u8], start: usize) -> Result<usize, TokenFault> {
    let end = skip_digits(bytes, start);
    if end == start { Err(TokenFault { at: start }) } else { Ok(end) }
}

#[inline]
fn skip_digits(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}
