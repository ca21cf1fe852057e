//! A response body's type: JSON, text or anything else, and its bytes as text.
//!
//! Tools that send requests and the standard tool `fetch` both read bodies this way. The declared type decides. It is
//! only guessed from the bytes if there is none.

use haft_http::HeaderMap;

/// Text types that neither begin with `text/` nor end with a text suffix.
const TEXTS: [&str; 11] = [
    "application/ecmascript",
    "application/graphql",
    "application/javascript",
    "application/jsonl",
    "application/toml",
    "application/x-javascript",
    "application/x-ndjson",
    "application/x-www-form-urlencoded",
    "application/x-yaml",
    "application/xml",
    "application/yaml",
];

/// The windows-1252 characters from 0x80 to 0x9F. The five undefined ones are control characters.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// A body's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MediaType {
    Json,
    Text(Charset),
    Binary,
}

/// A text's encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Charset {
    /// UTF-8, or one that is unknown.
    Utf8,
    /// Windows-1252, which browsers read ISO 8859-1 as, too.
    Latin1,
}

impl MediaType {
    /// Returns the type of a body with this `content-type`. Without one, UTF-8 without NUL is text.
    pub(crate) fn of(content_type: &str, body: &[u8]) -> Self {
        let essence = essence(content_type);
        let has_suffix = |suffixes: &[&str]| suffixes.iter().any(|suffix| essence.ends_with(suffix));
        match essence.as_str() {
            "" if !body.contains(&0) && std::str::from_utf8(body).is_ok() => Self::Text(Charset::Utf8),
            "application/json" | "text/json" => Self::Json,
            _ if has_suffix(&["+json"]) => Self::Json,
            known if TEXTS.contains(&known) => Self::Text(Charset::of(content_type)),
            text if text.starts_with("text/") || has_suffix(&["+xml", "+yaml"]) => {
                Self::Text(Charset::of(content_type))
            }
            _ => Self::Binary,
        }
    }

    /// Returns a text body's encoding.
    pub(crate) fn charset(self) -> Option<Charset> {
        match self {
            Self::Json => Some(Charset::Utf8),
            Self::Text(charset) => Some(charset),
            Self::Binary => None,
        }
    }
}

impl Charset {
    fn of(content_type: &str) -> Self {
        let mut parameters = content_type.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
        let charset = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
        let charset = charset.map(|(_, value)| value.trim().trim_matches('"').to_ascii_lowercase());
        match charset.as_deref() {
            Some("iso-8859-1" | "latin1" | "windows-1252") => Self::Latin1,
            _ => Self::Utf8,
        }
    }

    /// Decodes a text, without a byte order mark. Invalid bytes become U+FFFD.
    pub(crate) fn decode(self, body: &[u8]) -> String {
        match self {
            Self::Utf8 => String::from_utf8_lossy(body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body)).into_owned(),
            Self::Latin1 => body.iter().map(|byte| latin1(*byte)).collect(),
        }
    }
}

/// Returns the type without its parameters, in lower case.
pub(crate) fn essence(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Returns a compressed body's encoding, although the client asks for no compression. The compressed size limits
/// nothing.
pub(crate) fn compression(headers: &HeaderMap) -> Option<String> {
    let encodings = headers.get_all("content-encoding").iter();
    let mut others = encodings.filter(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"));
    others.next().map(|encoding| String::from_utf8_lossy(encoding.as_bytes()).into_owned())
}

fn latin1(byte: u8) -> char {
    let special = byte.checked_sub(0x80).and_then(|index| WINDOWS_1252.get(usize::from(index)));
    special.copied().unwrap_or(char::from(byte))
}

#[cfg(test)]
mod tests {
    use super::{Charset, MediaType};

    #[test]
    fn the_declared_type_decides() {
        let text = MediaType::Text(Charset::Utf8);
        for (declared, expected) in [
            ("application/json", MediaType::Json),
            ("Application/LD+json; charset=x", MediaType::Json),
            ("text/plain", text),
            ("TEXT/html; charset=x", text),
            ("image/svg+xml", text),
            ("application/toml", text),
            ("text/html; x=y; Charset=\"ISO-8859-1\"", MediaType::Text(Charset::Latin1)),
            ("application/octet-stream", MediaType::Binary),
            ("image/png", MediaType::Binary),
            ("application/pdf", MediaType::Binary),
            ("", text),
            (" ; charset=utf-8", text),
        ] {
            assert_eq!(MediaType::of(declared, b"abc"), expected, "{declared}");
        }
        for body in [&b"a\0b"[..], b"a\xff"] {
            assert_eq!(MediaType::of("", body), MediaType::Binary);
        }
    }

    #[test]
    fn texts_are_decoded() {
        assert_eq!(Charset::Utf8.decode(b"\xEF\xBB\xBFa\xFFb"), "a\u{fffd}b");
        assert_eq!(Charset::Latin1.decode(b"caf\xE9 \x93x\x94 \x80"), "café “x” €");
    }
}
