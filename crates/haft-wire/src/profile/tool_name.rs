//! Tool names on a wire.
//!
//! Providers accept fewer names than haft: none takes all characters in a registry name such as `acme/billing/refund`.
//! A [`NameRule`] encodes each name by itself, whatever other tools there are. So a name looks the same in every
//! request, and a history that names a tool no longer offered keeps its meaning. The encoding is reversible, except for
//! names that are too long: they end in a digest, and the request's tools resolve them.
//!
//! ```text
//! valid characters       as they are
//! /                      --        where the provider accepts -
//! anything else          _x2E_     the code point in hexadecimal
//! ```
//!
//! Text that looks like one of these forms is itself escaped, so two names never have the same encoding.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

/// The length of a shortened name's digest, including its mark.
const DIGEST_CHARS: usize = 18;
/// The mark before a shortened name's digest.
const DIGEST_MARK: &str = "_h";

/// The tool names that a provider accepts, and the encoding for all others.
///
/// ```
/// use haft_wire::NameRule;
///
/// let rule = NameRule::new("_-", 64);
/// assert_eq!(rule.encode("get_weather"), "get_weather");
/// assert_eq!(rule.encode("acme/billing/refund"), "acme--billing--refund");
/// assert_eq!(rule.encode("spotify.play"), "spotify_x2E_play");
/// assert_eq!(rule.decode("spotify_x2E_play").as_deref(), Some("spotify.play"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NameRule {
    /// The accepted characters besides ASCII letters and digits.
    pub punctuation: &'static str,
    /// The most characters in a name.
    pub max_chars: usize,
    /// The characters that a name may start with.
    pub start: NameStart,
}

/// The characters that a name may start with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameStart {
    /// Any accepted character.
    Any,
    /// A letter or `_`.
    LetterOrUnderscore,
}

impl NameRule {
    /// Creates a rule that accepts ASCII letters, digits and this punctuation. The punctuation must contain `_`, and a
    /// name must be allowed at least 32 characters.
    #[must_use]
    pub const fn new(punctuation: &'static str, max_chars: usize) -> Self {
        Self { punctuation, max_chars, start: NameStart::Any }
    }

    /// Requires names to start with a letter or `_`.
    #[must_use]
    pub const fn letter_first(mut self) -> Self {
        self.start = NameStart::LetterOrUnderscore;
        self
    }

    /// Returns a name's wire form. A name that is valid there, and does not look encoded, is returned as it is.
    #[must_use]
    pub fn encode<'n>(&self, name: &'n str) -> Cow<'n, str> {
        let escaped = self.escape(name);
        if escaped.len() <= self.max_chars && !self.is_like_shortened(&escaped) {
            return escaped;
        }
        // All valid characters are ASCII, so a byte is a character.
        let kept = self.max_chars.saturating_sub(DIGEST_CHARS).min(escaped.len());
        Cow::Owned(format!("{}{DIGEST_MARK}{}", &escaped[..kept], digest(name)))
    }

    /// Returns the name that an encoded one stands for, or `None` if it ends in a digest.
    #[must_use]
    pub fn decode(&self, encoded: &str) -> Option<String> {
        if self.is_like_shortened(encoded) {
            return None;
        }
        let mut name = String::with_capacity(encoded.len());
        let mut rest = encoded;
        while let Some(character) = rest.chars().next() {
            if let Some((escaped, after)) = escape_at(rest) {
                name.push(escaped);
                rest = after;
            } else if let Some(after) = rest.strip_prefix("--").filter(|_| self.has_dash()) {
                name.push('/');
                rest = after;
            } else {
                name.push(character);
                rest = &rest[character.len_utf8()..];
            }
        }
        Some(name)
    }

    fn escape<'n>(&self, name: &'n str) -> Cow<'n, str> {
        let is_plain = |(at, character): (usize, char)| self.is_plain(name, at, character);
        if name.char_indices().all(is_plain) {
            return Cow::Borrowed(name);
        }
        let mut escaped = String::with_capacity(name.len() + 8);
        for (at, character) in name.char_indices() {
            if self.is_plain(name, at, character) {
                escaped.push(character);
            } else if character == '/' && at > 0 && self.has_dash() {
                escaped.push_str("--");
            } else {
                escaped.push_str(&format!("_x{:X}_", u32::from(character)));
            }
        }
        Cow::Owned(escaped)
    }

    /// Reports whether a name's character is written as it is.
    fn is_plain(&self, name: &str, at: usize, character: char) -> bool {
        let accepted = character.is_ascii_alphanumeric() || self.punctuation.contains(character);
        let starts = at > 0 || self.start == NameStart::Any || character.is_ascii_alphabetic() || character == '_';
        // A dash beside a dash or a slash would read as a slash, and an escape as what it stands for.
        let beside_dash = character == '-' && {
            let is_dash = |other: Option<char>| matches!(other, Some('-' | '/'));
            is_dash(name[..at].chars().next_back()) || is_dash(name[at + 1..].chars().next())
        };
        accepted && starts && !beside_dash && !self.is_like_escape(name, at)
    }

    /// Reports whether the encoding from here on would read as an escape: it ends in the name's own `_`, or in the `_`
    /// that starts the next character's escape.
    fn is_like_escape(&self, name: &str, at: usize) -> bool {
        let Some((_, rest)) = open_escape_at(&name[at..]) else { return false };
        let Some(next) = rest.chars().next() else { return false };
        let is_slash = next == '/' && self.has_dash();
        next == '_' || !(is_slash || self.is_plain(name, name.len() - rest.len(), next))
    }

    fn has_dash(&self) -> bool {
        self.punctuation.contains('-')
    }

    fn is_like_shortened(&self, encoded: &str) -> bool {
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        encoded.len() == self.max_chars
            && encoded.is_ascii()
            && encoded[encoded.len() - DIGEST_CHARS..].strip_prefix(DIGEST_MARK).is_some_and(digits)
    }
}

/// Reads the escaped character at a text's start and returns it with the rest.
fn escape_at(text: &str) -> Option<(char, &str)> {
    let (character, rest) = open_escape_at(text)?;
    Some((character, rest.strip_prefix('_')?))
}

/// Reads an escape that still lacks its final `_`, and returns its character with the rest.
fn open_escape_at(text: &str) -> Option<(char, &str)> {
    let text = text.strip_prefix("_x")?;
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'A'..=b'F').contains(&byte);
    let (digits, rest) = text.split_at(text.bytes().take_while(|byte| is_digit(*byte)).count());
    if digits.len() > 6 {
        return None;
    }
    let character = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)?;
    Some((character, rest))
}

/// Returns 16 hexadecimal digits from a name's digest.
fn digest(name: &str) -> String {
    let digest = Sha256::digest(name.as_bytes());
    let mut digits = String::with_capacity(DIGEST_CHARS);
    for byte in digest.iter().take((DIGEST_CHARS - DIGEST_MARK.len()) / 2) {
        digits.push_str(&format!("{byte:02x}"));
    }
    digits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OPENAI: NameRule = NameRule::new("_-", 64);
    const GEMINI: NameRule = NameRule::new("_.:-", 64).letter_first();

    #[test]
    fn names_have_their_form() {
        for (rule, name, encoded) in [
            (OPENAI, "add", "add"),
            (OPENAI, "math__add", "math__add"),
            (OPENAI, "a/b/c", "a--b--c"),
            (OPENAI, "a--b", "a_x2D__x2D_b"),
            (OPENAI, "a-/b", "a_x2D_--b"),
            (OPENAI, "/a", "_x2F_a"),
            (OPENAI, "a_x2F_b", "a_x5F_x2F_b"),
            // An escape may also begin in the name and end in the next escape.
            (OPENAI, "_x5F.", "_x5F_x5F_x2E_"),
            (OPENAI, "_x2E_", "_x5F_x2E_"),
            (OPENAI, "_x2D--", "_x5F_x2D_x2D__x2D_"),
            (OPENAI, "_x2D/b", "_x2D--b"),
            (OPENAI, "matrix_x2", "matrix_x2"),
            (OPENAI, "héllo", "h_xE9_llo"),
            (OPENAI, "", ""),
            (GEMINI, "1st", "_x31_st"),
            (GEMINI, "-a", "_x2D_a"),
            (GEMINI, "a.b:c", "a.b:c"),
        ] {
            assert_eq!(rule.encode(name), encoded, "{name}");
            assert_eq!(rule.decode(encoded).as_deref(), Some(name), "{encoded}");
        }
    }

    #[test]
    fn a_long_name_keeps_its_start_and_ends_in_a_digest() {
        let (long, other) = ("acme/".repeat(30), "acme/".repeat(31));
        let encoded = OPENAI.encode(&long);
        assert_eq!(encoded.len(), 64);
        assert!(encoded.starts_with("acme--acme--") && encoded.is_ascii());
        assert_ne!(encoded, OPENAI.encode(&other));
        assert_eq!(OPENAI.decode(&encoded), None);
        // A name that is like a shortened one is shortened itself.
        assert_ne!(OPENAI.encode(&encoded), encoded);
        assert_eq!(OPENAI.encode(&encoded).len(), 64);
    }

    proptest! {
        #[test]
        fn names_made_of_escapes_are_reversible(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "_", "x", "2", "E", "F", "_x", "2E", "5F", "_x5F", "_x2E_", "110000", "-", "/", ".", ":", "é",
                ]),
                0..8,
            ),
        ) {
            let name = pieces.concat();
            for rule in [OPENAI, GEMINI] {
                let encoded = rule.encode(&name);
                if !rule.is_like_shortened(&encoded) {
                    prop_assert_eq!(rule.decode(&encoded), Some(name.clone()), "{}", encoded);
                }
            }
        }

        #[test]
        fn encoding_is_valid_and_reversible(name in "[-a-zA-Z_x2F/.é:]{0,40}|.{0,20}") {
            for rule in [OPENAI, GEMINI] {
                let encoded = rule.encode(&name);
                prop_assert!(encoded.len() <= rule.max_chars);
                let accepted = |c: char| c.is_ascii_alphanumeric() || rule.punctuation.contains(c);
                prop_assert!(encoded.chars().all(accepted), "{}", encoded);
                if let Some(decoded) = rule.decode(&encoded) {
                    prop_assert_eq!(&decoded, &name);
                }
                prop_assert_eq!(rule.decode(&encoded).is_none(), rule.is_like_shortened(&encoded));
            }
        }
    }
}
