//! A growing buffer of JSON text.
//!
//! `serde_json` writes numbers and map keys that are not strings. Strings and separators are written here, as most of a
//! result consists of them: a string is scanned eight bytes at a time, and is copied as a whole unless something in it
//! must be escaped.

use serde::ser::{Serialize, Serializer};
use serde_json::Error;

/// The text written so far.
pub(super) struct JsonBuffer(String);

/// The initial capacity, enough for most results.
const FIRST: usize = 128;

impl JsonBuffer {
    pub(super) fn new() -> Self {
        Self(String::with_capacity(FIRST))
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }

    /// Returns the length of the text in bytes.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the text written since the buffer had this length.
    pub(super) fn since(&self, len: usize) -> &str {
        self.0.get(len..).unwrap_or_default()
    }

    /// Appends text that is JSON, or a fragment of JSON that belongs here.
    #[inline]
    pub(super) fn push(&mut self, json: &str) {
        self.0.push_str(json);
    }

    /// Appends the separator before an element or a member.
    #[inline]
    pub(super) fn separate(&mut self, is_first: bool) {
        if !is_first {
            self.0.push(',');
        }
    }

    #[inline]
    pub(super) fn string(&mut self, text: &str) {
        self.0.reserve(text.len() + 2);
        self.0.push('"');
        let plain = plain_prefix(text.as_bytes());
        if plain == text.len() {
            self.0.push_str(text);
        } else {
            self.escape(text, plain);
        }
        self.0.push('"');
    }

    /// Appends a number, as `serde_json` writes it.
    #[inline]
    pub(super) fn number(&mut self, number: impl Serialize) -> Result<(), Error> {
        // The longest numbers are 128-bit integers, of 40 characters.
        let mut digits = [0; 48];
        let mut rest = &mut digits[..];
        serde_json::to_writer(&mut rest, &number)?;
        let unused = rest.len();
        let used = digits.len() - unused;
        self.push(str::from_utf8(&digits[..used]).map_err(serde::ser::Error::custom)?);
        Ok(())
    }

    /// Appends a key that is not a string, such as a number, as `serde_json` writes it.
    pub(super) fn key<K: Serialize + ?Sized>(&mut self, key: &K) -> Result<(), Error> {
        let member = serde_json::to_string(&NullMember(key))?;
        self.push(member.strip_prefix('{').and_then(|rest| rest.strip_suffix("null}")).unwrap_or_default());
        Ok(())
    }

    /// Appends the rest of a string, from the first character that must be escaped.
    #[inline(never)]
    fn escape(&mut self, text: &str, mut plain: usize) {
        let mut rest = text;
        while let Some((before, from)) = rest.split_at_checked(plain) {
            self.0.push_str(before);
            let Some(escaped) = from.bytes().next() else { return };
            match escaped {
                b'"' => self.0.push_str("\\\""),
                b'\\' => self.0.push_str("\\\\"),
                b'\n' => self.0.push_str("\\n"),
                b'\r' => self.0.push_str("\\r"),
                b'\t' => self.0.push_str("\\t"),
                0x08 => self.0.push_str("\\b"),
                0x0c => self.0.push_str("\\f"),
                control => {
                    self.0.push_str("\\u00");
                    self.0.extend([control >> 4, control & 0xf].map(|digit| char::from(HEX[usize::from(digit)])));
                }
            }
            rest = &from[1..];
            plain = plain_prefix(rest.as_bytes());
        }
    }
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Returns the number of bytes from the start that need no escape in a JSON string.
#[inline]
fn plain_prefix(bytes: &[u8]) -> usize {
    let (words, _) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let marks = escapes(u64::from_le_bytes(*word));
        if marks != 0 {
            return index * 8 + (marks.trailing_zeros() / 8) as usize;
        }
    }
    if escapes(end(bytes)) == 0 {
        return bytes.len();
    }
    bytes.iter().position(|byte| is_escaped(*byte)).unwrap_or(bytes.len())
}

/// Returns the last bytes as one word, eight or as many as there are. Bytes that were already checked may be included
/// again, which is cheaper than a loop over a few.
#[inline]
fn end(bytes: &[u8]) -> u64 {
    if let Some(end) = bytes.last_chunk() {
        return u64::from_le_bytes(*end);
    }
    if let (Some(start), Some(end)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return u64::from(u32::from_le_bytes(*start)) << 32 | u64::from(u32::from_le_bytes(*end));
    }
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(b' ');
    u64::from_le_bytes([byte(0), byte(1), byte(2), b' ', b' ', b' ', b' ', b' '])
}

#[inline]
fn is_escaped(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Sets the top bit of bytes that must be escaped. The lowest set bit is exact; above it there may be false ones.
#[inline]
fn escapes(word: u64) -> u64 {
    const EACH: u64 = u64::MAX / 0xff;
    let control = word.wrapping_sub(EACH * 0x20) & !word;
    let is_zero = |bytes: u64| bytes.wrapping_sub(EACH) & !bytes;
    let quote = is_zero(word ^ (EACH * 0x22));
    let backslash = is_zero(word ^ (EACH * 0x5c));
    (control | quote | backslash) & (EACH * 0x80)
}

/// An object with one member, whose value is `null`.
struct NullMember<'k, K: ?Sized>(&'k K);

impl<K: Serialize + ?Sized> Serialize for NullMember<'_, K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.0, ())])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn string(text: &str) -> String {
        let mut out = JsonBuffer::new();
        out.string(text);
        out.into_string()
    }

    #[test]
    fn every_character_is_written_as_serde_json_writes_it_at_every_offset() {
        let non_finite = (0..=0x7f_u8).map(char::from).chain(['\u{80}', '\u{2028}', 'ß', '🦀', '\u{10ffff}']);
        for character in non_finite {
            for before in 0..20 {
                for after in [0, 1, 7, 8, 9] {
                    let text = format!("{}{character}{}", "x".repeat(before), "y".repeat(after));
                    assert_eq!(string(&text), serde_json::to_string(&text).unwrap(), "{text:?}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn a_string_is_written_as_serde_json_writes_it(text in "[\\x00-\\x7f\"\\\\aß🦀]{0,40}") {
            prop_assert_eq!(string(&text), serde_json::to_string(&text).unwrap());
        }

        #[test]
        fn any_string_is_written_as_serde_json_writes_it(text: String) {
            prop_assert_eq!(string(&text), serde_json::to_string(&text).unwrap());
        }
    }
}
