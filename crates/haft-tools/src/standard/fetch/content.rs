//! Returned bodies: text or bytes.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::http::media_type::{Charset, MediaType, essence};

/// A body in its returned form.
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

/// Returns a body's form. The declared type decides; without one, valid UTF-8 without NUL is text. A compressed body is
/// never text.
pub(super) fn read_content(
    content_type: Option<&str>,
    compression: Option<&str>,
    mut body: Vec<u8>,
    truncated: bool,
) -> FetchedContent {
    if body.is_empty() {
        return FetchedContent::None;
    }
    // If the limit cuts a character, the server is not at fault.
    let complete = if truncated { complete(&body) } else { body.len() };
    let media_type = MediaType::of(content_type.unwrap_or_default(), &body[..complete]);
    match media_type.charset().filter(|_| compression.is_none()) {
        None => FetchedContent::Base64(BASE64_STANDARD.encode(&body)),
        Some(Charset::Latin1) => FetchedContent::Text { text: Charset::Latin1.decode(&body), lossy: false },
        Some(Charset::Utf8) => {
            body.truncate(complete);
            let lossy = std::str::from_utf8(&body).is_err();
            FetchedContent::Text { text: Charset::Utf8.decode(&body), lossy }
        }
    }
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

/// Returns the body's length without an incomplete character at its end.
fn complete(body: &[u8]) -> usize {
    match std::str::from_utf8(body) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        // Valid, or invalid at another place; an invalid text's end stays as it is.
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
    fn the_declared_type_and_the_compression_decide_about_text() {
        let read = |declared, compression| read_content(declared, compression, b"abc".to_vec(), false);
        for declared in [Some("text/plain"), Some("application/json"), Some("image/svg+xml"), Some(""), None] {
            assert_eq!(read(declared, None), text("abc", false), "{declared:?}");
            assert_eq!(read(declared, Some("gzip")), FetchedContent::Base64("YWJj".to_owned()), "{declared:?}");
        }
        assert_eq!(read(Some("image/png"), None), FetchedContent::Base64("YWJj".to_owned()));
        assert_eq!(read_content(Some("text/plain"), None, Vec::new(), false), FetchedContent::None);
        let latin1 = Some("text/html; charset=iso-8859-1");
        assert_eq!(read_content(latin1, None, b"\xe4\x80".to_vec(), true), text("ä€", false));
        // Not text, so that nothing is cut off.
        let cut = read_content(Some("image/png"), None, b"a\xc3".to_vec(), true);
        assert_eq!(cut, FetchedContent::Base64("YcM=".to_owned()));
    }

    #[test]
    fn a_character_that_the_limit_cuts_is_left_out() {
        let body = "aä€😀".as_bytes();
        for (length, expected) in [(1, "a"), (2, "a"), (3, "aä"), (5, "aä"), (6, "aä€"), (9, "aä€"), (10, "aä€😀")]
        {
            assert_eq!(
                read_content(Some("text/plain"), None, body[..length].to_vec(), true),
                text(expected, false),
                "{length}"
            );
        }
        // If the body itself ends there, the server is at fault.
        assert_eq!(read_content(Some("text/plain"), None, body[..2].to_vec(), false), text("a\u{fffd}", true));
    }

    #[test]
    fn invalid_bytes_are_replaced_and_reported() {
        assert_eq!(read_content(Some("text/plain"), None, b"a\xffb".to_vec(), false), text("a\u{fffd}b", true));
        assert_eq!(read_content(Some("text/plain"), None, b"\xef\xbb\xbfab".to_vec(), false), text("ab", false));
    }

    #[test]
    fn pages_are_recognised() {
        assert!(is_html(Some("Text/HTML; charset=utf-8"), "") && is_html(Some("application/xhtml+xml"), ""));
        assert!(is_html(None, " <!DOCTYPE html>") && is_html(None, "<html lang='en'>"));
        assert!(!is_html(Some("text/plain"), "<html>") && !is_html(None, "<svg/>") && !is_html(None, "€€€€"));
    }
}
