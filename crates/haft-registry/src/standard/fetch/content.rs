//! Text or bytes: the form in which a body is returned.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// A body in the form in which it is returned.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FetchedContent {
    /// There is no body.
    None,
    /// The body is text.
    Text {
        /// The text without a byte order mark.
        text: String,
        /// True if the bytes are not valid UTF-8.
        lossy: bool,
    },
    /// The body is not text.
    Base64(String),
}

/// Returns the form of a body. The declared type decides; without one, valid UTF-8 without NUL is text.
pub(super) fn read_content(content_type: Option<&str>, mut body: Vec<u8>, truncated: bool) -> FetchedContent {
    if body.is_empty() {
        return FetchedContent::None;
    }
    if truncated {
        // The character that the limit has cut is no fault of the server.
        body.truncate(complete(&body));
    }
    let is_text = match content_type {
        Some(declared) => is_text_type(&essence(declared)),
        None => !body.contains(&0) && std::str::from_utf8(&body).is_ok(),
    };
    if !is_text {
        return FetchedContent::Base64(BASE64_STANDARD.encode(&body));
    }
    let (mut text, lossy) = match String::from_utf8(body) {
        Ok(text) => (text, false),
        Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
    };
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    FetchedContent::Text { text, lossy }
}

/// Reports whether a text is an HTML page.
pub(super) fn is_html(content_type: Option<&str>, text: &str) -> bool {
    match content_type {
        Some(declared) => matches!(essence(declared).as_str(), "text/html" | "application/xhtml+xml"),
        None => {
            let start = text.trim_start().get(..9).unwrap_or_default().to_ascii_lowercase();
            start == "<!doctype" || start.starts_with("<html")
        }
    }
}

/// Returns the type without its parameters, in lower case.
fn essence(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn is_text_type(essence: &str) -> bool {
    const TEXTS: [&str; 12] = [
        "application/ecmascript",
        "application/graphql",
        "application/javascript",
        "application/json",
        "application/jsonl",
        "application/toml",
        "application/x-javascript",
        "application/x-ndjson",
        "application/x-www-form-urlencoded",
        "application/x-yaml",
        "application/xml",
        "application/yaml",
    ];
    let is_suffixed = ["+json", "+xml", "+yaml"].iter().any(|suffix| essence.ends_with(suffix));
    essence.starts_with("text/") || is_suffixed || TEXTS.contains(&essence)
}

/// Returns the length of the body without an incomplete character at its end.
fn complete(body: &[u8]) -> usize {
    match std::str::from_utf8(body) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        // Valid, or invalid at another place; the end of an invalid text stays as it is.
        _ => body.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::{FetchedContent, is_html, read_content};

    fn text(text: &str, lossy: bool) -> FetchedContent {
        FetchedContent::Text { text: text.to_owned(), lossy }
    }

    #[test]
    fn the_declared_type_decides_about_text() {
        for declared in
            ["text/plain", "TEXT/html; charset=x", "application/json", "image/svg+xml", "application/ld+json"]
        {
            assert_eq!(read_content(Some(declared), b"abc".to_vec(), false), text("abc", false), "{declared}");
        }
        for declared in ["application/octet-stream", "image/png", "", "application/pdf"] {
            let content = read_content(Some(declared), b"abc".to_vec(), false);
            assert_eq!(content, FetchedContent::Base64("YWJj".to_owned()), "{declared}");
        }
        assert_eq!(read_content(None, b"abc".to_vec(), false), text("abc", false));
        for body in [&b"a\0b"[..], b"a\xff"] {
            assert!(matches!(read_content(None, body.to_vec(), false), FetchedContent::Base64(_)));
        }
        assert_eq!(read_content(Some("text/plain"), Vec::new(), false), FetchedContent::None);
    }

    #[test]
    fn a_character_that_the_limit_cuts_is_left_out() {
        let body = "aä€😀".as_bytes();
        for (length, expected) in [(1, "a"), (2, "a"), (3, "aä"), (5, "aä"), (6, "aä€"), (9, "aä€"), (10, "aä€😀")]
        {
            assert_eq!(
                read_content(Some("text/plain"), body[..length].to_vec(), true),
                text(expected, false),
                "{length}"
            );
        }
        // A body that ends there is the fault of the server.
        assert_eq!(read_content(Some("text/plain"), body[..2].to_vec(), false), text("a\u{fffd}", true));
    }

    #[test]
    fn invalid_bytes_are_replaced_and_reported() {
        assert_eq!(read_content(Some("text/plain"), b"a\xffb".to_vec(), false), text("a\u{fffd}b", true));
        assert_eq!(read_content(Some("text/plain"), b"\xef\xbb\xbfab".to_vec(), false), text("ab", false));
    }

    #[test]
    fn pages_are_recognised() {
        assert!(is_html(Some("Text/HTML; charset=utf-8"), "") && is_html(Some("application/xhtml+xml"), ""));
        assert!(is_html(None, " <!DOCTYPE html>") && is_html(None, "<html lang='en'>"));
        assert!(!is_html(Some("text/plain"), "<html>") && !is_html(None, "<svg/>") && !is_html(None, "€€€€"));
    }
}
