//! The place of a client's key. It leaves the process in a header, and is removed from everything that comes back.

use std::env::VarError;
use std::ops::Range;

use haft_http::{Secret, SecretError};

use super::credential::{ApiKey, Authorization, CredentialError, UnsignedRequest};

/// The key, with the header that it is sent in.
#[derive(Clone)]
pub(super) enum Key {
    None,
    Bearer(ApiKey),
    Header(&'static str, ApiKey),
}

/// Returns the value of an environment variable. It is a parameter so that tests need not change the environment.
pub(super) type VariableLookup<'l> = dyn Fn(&str) -> Result<String, VarError> + 'l;

/// Reads a key.
pub(super) fn key(lookup: &VariableLookup<'_>, variable: &str) -> Result<Secret, SecretError> {
    Secret::from_variable(variable, lookup(variable))
}

/// Reads a setting. One that is empty is not set.
pub(super) fn setting(lookup: &VariableLookup<'_>, variable: &str) -> Option<String> {
    lookup(variable).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// Reads a key from the first of two variables that has one.
pub(super) fn either_key(lookup: &VariableLookup<'_>, variables: [&str; 2]) -> Result<Secret, SecretError> {
    let [first, second] = variables.map(|variable| key(lookup, variable));
    match (first, second) {
        (Ok(key), _) | (Err(_), Ok(key)) => Ok(key),
        (Err(SecretError::Missing { .. }), Err(SecretError::Missing { .. })) => {
            Err(SecretError::NoneSet { variables: variables.map(str::to_owned).into() })
        }
        (Err(SecretError::Missing { .. }), Err(error)) | (Err(error), Err(_)) => Err(error),
    }
}

impl Key {
    /// Reports whether there is a key, but without text. A provider would answer that the key is wrong.
    pub(super) fn is_blank(&self) -> bool {
        match self {
            Self::None => false,
            Self::Bearer(key) | Self::Header(_, key) => key.is_blank(),
        }
    }

    /// Returns the headers that authorise a request.
    pub(super) async fn authorize(&self, request: UnsignedRequest<'_>) -> Result<Authorization, CredentialError> {
        match self {
            Self::None => Ok(Authorization::default()),
            Self::Bearer(key) => key.authorize(request, Authorization::bearer).await,
            Self::Header(name, key) => key.authorize(request, |key| Authorization::header(*name, key)).await,
        }
    }

    /// Discards an authorization that the provider has rejected, and returns another one if there is.
    pub(super) async fn renewed(
        &self,
        rejected: &Authorization,
        request: UnsignedRequest<'_>,
    ) -> Result<Option<Authorization>, CredentialError> {
        let (Self::Bearer(key) | Self::Header(_, key)) = self else { return Ok(None) };
        if !key.discard(rejected).await {
            return Ok(None);
        }
        let next = self.authorize(request).await?;
        Ok(Some(next).filter(|next| !next.is_same(rejected)))
    }
}

impl Authorization {
    /// Removes the key, and the secrets in the body, from text that a provider sent: some quote what they reject. Each of its characters may be
    /// written as it is, escaped as in JSON or percent-encoded as in URLs.
    ///
    /// A key of fewer than [`LEAST_REMOVED`] characters is not removed: it occurs in words that have nothing to do with
    /// it, and no provider has one.
    ///
    /// Only the first [`MOST_BYTES`] bytes are kept: a provider must not decide how long the search takes. A key that
    /// begins within them is removed as a whole.
    pub(super) fn removed_from(&self, mut text: String) -> String {
        let longest = text.len().min(MOST_BYTES);
        let mut end = (0..=longest).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        for key in self.hidden().filter(|key| key.chars().count() >= LEAST_REMOVED) {
            let (mut kept, mut read) = (String::new(), 0);
            while let Some((at, length)) = found(&text, read..end, key) {
                kept.push_str(&text[read..at]);
                kept.push_str("[key]");
                read = at + length;
            }
            if read > 0 {
                kept.push_str(text.get(read..end).unwrap_or_default());
                let kept_bytes = kept.len();
                // What follows stays until the end: another key may begin before it.
                kept.push_str(&text[read.max(end)..]);
                (text, end) = (kept, kept_bytes);
            }
        }
        text.truncate(end);
        text
    }
}

/// The number of characters from which on a key is removed from texts.
const LEAST_REMOVED: usize = 4;
/// The number of bytes of a text that are searched and kept, far more than an error shows.
const MOST_BYTES: usize = 64 * 1024;

/// Returns the position and the length of the first key that begins in a range of a text, in any of its forms.
fn found(text: &str, range: Range<usize>, key: &str) -> Option<(usize, usize)> {
    let starts_key = |c: char| c == '%' || c == '\\' || key.starts_with(c);
    let start = range.start;
    let mut starts = text.get(range)?.char_indices().filter(|(_, c)| starts_key(*c));
    starts.find_map(|(at, _)| Some((start + at, length_of(&text[start + at..], key)?)))
}

/// Returns the length of the key at the start of a text. A `%` or a backslash of the key may stand for itself or begin an
/// escape, so that there may be several ways to read it.
fn length_of(text: &str, key: &str) -> Option<usize> {
    let mut ends = vec![0];
    for c in key.chars() {
        let mut next: Vec<usize> = Vec::new();
        for end in ends {
            next.extend(lengths_of(&text[end..], c).into_iter().flatten().map(|length| end + length));
        }
        if next.is_empty() {
            return None;
        }
        next.sort_unstable();
        next.dedup();
        ends = next;
    }
    ends.last().copied()
}

/// Returns the lengths of the forms of a character that a text starts with: itself, the two JSON escapes, and the
/// percent-encoding.
fn lengths_of(text: &str, c: char) -> [Option<usize>; 4] {
    let plain = text.starts_with(c).then(|| c.len_utf8());
    let escaped = text.strip_prefix('\\').filter(|rest| matches!(c, '/' | '"' | '\\') && rest.starts_with(c));
    let (mut units, mut bytes) = ([0; 2], [0; 4]);
    let units = c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}"));
    let bytes = c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02x}"));
    [plain, escaped.map(|_| 1 + c.len_utf8()), length_in_any_case(text, units), length_in_any_case(text, bytes)]
}

/// Returns the length of these escapes at the start of a text. Their digits may be in either case.
fn length_in_any_case(text: &str, mut escapes: impl Iterator<Item = String>) -> Option<usize> {
    escapes.try_fold(0, |start, escape| {
        let end = start + escape.len();
        text.get(start..end).filter(|found| found.eq_ignore_ascii_case(&escape)).map(|_| end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_key_is_removed() {
        let key = Authorization::bearer(Secret::new("k/+é\"%"));
        for form in [
            "k/+é\"%",
            r#"k\/+é\"%"#,
            r"k\u002f\u002B\u00e9\u0022%",
            r"k\u002F\u002b\u00E9\u0022\u0025",
            "k%2F%2B%C3%A9%22%25",
            "k%2f%2b%c3%a9%22%25",
            "%6b%2f+é\"%",
        ] {
            let text = format!("{form}, k/, {form}{form}%");
            assert_eq!(key.removed_from(text), "[key], k/, [key][key]%", "{form}");
        }
        for other in ["k/+e\"%", "k%2", r"k\u00", r"k\u002", "%", "\\", "k/+é\""] {
            assert_eq!(key.removed_from(other.to_owned()), other);
        }
    }

    #[test]
    fn a_key_that_looks_escaped_is_removed() {
        for text in ["a%25%25", r"a\\\\", r"a\u0025"] {
            let key = Authorization::header("x", Secret::new(text));
            assert_eq!(key.removed_from(format!("<{text}>")), "<[key]>");
        }
        let key = Authorization::header("x", Secret::new(r"a\\b"));
        assert_eq!(key.removed_from(r"a\\b a\\\\b a\b".to_owned()), r"[key] [key] a\b");
    }

    #[test]
    fn a_long_text_is_cut_and_contains_no_part_of_a_key() {
        let key = Authorization::header("x", Secret::new("xkcd-1")).and_header("y", Secret::new("k/+é"));
        for before in MOST_BYTES - 30..=MOST_BYTES {
            for form in ["k/+é", r"k\/\u002b\u00e9", "%6b%2f%2B%c3%a9"] {
                let clean = key.removed_from(format!("{}{form} more", "x".repeat(before)));
                let kept = clean.trim_start_matches('x');
                assert!(kept.is_empty() || kept.starts_with("[key]"), "{before}: {kept}");
                assert!(clean.len() <= MOST_BYTES + "[key]".len(), "{before}: {} bytes", clean.len());
            }
        }
        let long = "é".repeat(MOST_BYTES);
        assert_eq!(key.removed_from(long.clone()).len(), MOST_BYTES);
        assert_eq!(Authorization::default().removed_from(long).len(), MOST_BYTES);
    }

    #[test]
    fn a_short_key_and_no_key_leave_texts_as_they_are() {
        let short = Authorization::bearer(Secret::new("abc")).and_header("x", Secret::new(""));
        for key in [short, Authorization::default()] {
            assert_eq!(key.removed_from("abc %61".to_owned()), "abc %61");
        }
    }
}
