//! A secret within base64.
//!
//! Three bytes become four characters, so a secret's form depends on where it begins: at the first, second or third
//! byte of a group. The characters that it shares with its neighbours are not compared.

use std::ops::Range;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// The shortest form that may be part of something longer. Shorter ones may be there by chance.
const MIN_PART: usize = 8;

/// The base64 characters that a secret becomes.
pub(super) struct Base64Form {
    /// In the URL alphabet.
    text: Vec<u8>,
    extent: Extent,
}

/// The part of a text that is removed with a form.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// The form alone, with its padding.
    Form,
    /// All base64 around it.
    Whole,
}

impl Base64Form {
    /// Returns a secret's forms, as it is and escaped, as OAuth 2 has it in the header `authorization`.
    pub(super) fn all_of(secret: &str) -> Vec<Self> {
        let whole = BASE64_STANDARD.encode(secret);
        let mut all = vec![Self::new(whole.trim_end_matches('='), Extent::Form)];
        for text in [secret.to_owned(), escaped(secret, "-._~", "%20"), escaped(secret, "*-._", "+")] {
            for before in 0..3 {
                let encoded = BASE64_STANDARD.encode([&vec![0; before], text.as_bytes()].concat());
                let (start, end) = ((before * 8).div_ceil(6), (before + text.len()) / 3 * 4);
                let part = encoded.get(start..end).filter(|part| part.len() >= MIN_PART);
                let form = part.map(|part| Self::new(part, Extent::Whole));
                all.extend(form.filter(|form| !all.iter().any(|known| known.is_same(form))));
            }
        }
        all
    }

    fn new(text: &str, extent: Extent) -> Self {
        Self { text: text.bytes().map(in_urls).collect(), extent }
    }

    /// Returns the bytes that the form may begin with.
    pub(super) fn first_bytes(&self) -> impl Iterator<Item = u8> {
        let first = self.text.first().copied();
        let other = first.and_then(|byte| match byte {
            b'-' => Some(b'+'),
            b'_' => Some(b'/'),
            _ => None,
        });
        first.into_iter().chain(other)
    }

    fn is_same(&self, other: &Self) -> bool {
        self.text == other.text && self.extent == other.extent
    }

    /// Returns the range to remove if the form is at this place.
    pub(super) fn match_at(&self, text: &[u8], at: usize) -> Option<Range<usize>> {
        let end = at + self.text.len();
        if !text.get(at..end)?.iter().map(|byte| in_urls(*byte)).eq(self.text.iter().copied()) {
            return None;
        }
        let is_base64 = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'+' | b'/' | b'-' | b'_');
        let (before, after) = match self.extent {
            Extent::Form => (0, 0),
            Extent::Whole => (
                text[..at].iter().rev().take_while(is_base64).count(),
                text[end..].iter().take_while(is_base64).count(),
            ),
        };
        let end = end + after;
        let padding = text[end..].iter().take(2).take_while(|byte| **byte == b'=').count();
        Some(at - before..end + padding)
    }

    /// Reports whether a text ends within the form, which begins at this place.
    pub(super) fn begins_at_end(&self, text: &[u8], at: usize) -> bool {
        let rest = text.get(at..).unwrap_or_default();
        !rest.is_empty()
            && rest.len() < self.text.len()
            && rest.iter().map(|byte| in_urls(*byte)).zip(&self.text).all(|(byte, own)| byte == *own)
    }
}

/// Returns a base64 character in the URL alphabet.
fn in_urls(byte: u8) -> u8 {
    match byte {
        b'+' => b'-',
        b'/' => b'_',
        other => other,
    }
}

/// Escapes all bytes but letters, digits and the listed ones.
fn escaped(text: &str, kept: &str, space: &str) -> String {
    let escape = |byte: u8| match byte {
        b' ' => space.to_owned(),
        byte if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}
