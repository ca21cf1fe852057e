//! Error responses in general: a status's meaning, and a message with limited length and no keys. Providers repeat
//! keys in errors about them, and messages are logged.

use crate::wire::ErrorResponse;
use crate::wire_error::{ErrorCause, ErrorReport};

/// The number of characters kept from a provider's message.
const MESSAGE_CHARS: usize = 2_000;
/// Key prefixes.
const KEY_STARTS: [&str; 6] = ["sk-", "sk_", "AIza", "gsk_", "xai-", "Bearer "];
/// The fewest characters that a key has after its prefix.
const KEY_CHARS: usize = 4;

/// Returns the cause for a status, where the body says nothing more precise.
pub(crate) fn of_status(status: u16) -> ErrorCause {
    match status {
        401 => ErrorCause::Authentication,
        402 => ErrorCause::QuotaExceeded,
        403 => ErrorCause::Permission,
        404 => ErrorCause::UnknownModel,
        408 | 504 => ErrorCause::TimedOut,
        413 => ErrorCause::TooLarge,
        429 => ErrorCause::RateLimited,
        // 409: a lock or another request was in the way. OpenAI's and Anthropic's SDKs retry it too.
        409 | 500..=599 => ErrorCause::Unavailable,
        _ => ErrorCause::InvalidRequest,
    }
}

/// Returns the cause for a code that is a status number, as gateways write into streams.
pub(crate) fn status_code(code: &str) -> Option<ErrorCause> {
    code.parse().ok().filter(|status| (400..=599).contains(status)).map(of_status)
}

/// Tells an unknown model from an unknown path: both have status 404, but the latter does not mention a model.
pub(crate) fn model_or_path(mut report: ErrorReport, response: &ErrorResponse<'_>) -> ErrorReport {
    if response.status != 404 || report.cause != ErrorCause::UnknownModel {
        return report;
    }
    let is_page = response.body.trim_start().starts_with('<');
    if is_page || !response.body.to_ascii_lowercase().contains("model") {
        report.cause = ErrorCause::InvalidRequest;
        report.message.push_str("; the address may be wrong: check the base URL");
    }
    report
}

/// Returns the provider's message, or a description of the response if it contains none.
pub(crate) fn message_or_status(message: String, response: &ErrorResponse<'_>) -> String {
    if !message.trim().is_empty() {
        return capped(message);
    }
    match response.body.trim() {
        "" => format!("status {} without a body", response.status),
        page if page.starts_with('<') => format!("status {} with a page of HTML", response.status),
        body => capped(format!("status {}: {body}", response.status)),
    }
}

/// Limits a message's length and removes keys.
pub(crate) fn capped(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(MESSAGE_CHARS) {
        message.truncate(end);
        message.push('…');
    }
    without_keys(message)
}

fn without_keys(message: String) -> String {
    if !KEY_STARTS.iter().any(|start| message.contains(start)) {
        return message;
    }
    let mut clean = String::with_capacity(message.len());
    let mut rest = message.as_str();
    while let Some(character) = rest.chars().next() {
        // A key starts where a word does: `risk-free` contains none.
        let length = if clean.ends_with(is_key_char) { None } else { key_at(rest) };
        match length {
            Some(length) => {
                clean.push_str("[key]");
                rest = &rest[length..];
            }
            None => {
                clean.push(character);
                rest = &rest[character.len_utf8()..];
            }
        }
    }
    clean
}

/// Returns the length in bytes of the key at a text's start.
fn key_at(text: &str) -> Option<usize> {
    let start = KEY_STARTS.into_iter().find(|start| text.starts_with(start))?;
    let length = text[start.len()..].find(|character| !is_key_char(character)).unwrap_or(text.len() - start.len());
    (length >= KEY_CHARS).then_some(start.len() + length)
}

fn is_key_char(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '*' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_removed() {
        let text = "Incorrect API key provided: sk-proj-abc***xyz. See task-list and risk-free (Bearer abcd1234).";
        let clean = "Incorrect API key provided: [key] See task-list and risk-free ([key]).";
        assert_eq!(capped(text.to_owned()), clean);
        for plain in ["sk- is the start", "ask-me-anything", "", "é sk-é"] {
            assert_eq!(capped(plain.to_owned()), plain);
        }
    }

    #[test]
    fn a_body_of_another_form_is_described() {
        let described = |body| message_or_status(String::new(), &ErrorResponse::new(502, body));
        assert_eq!(described(" \n"), "status 502 without a body");
        assert_eq!(described("<html>…</html>"), "status 502 with a page of HTML");
        assert_eq!(described("Bearer abcd1234 is wrong"), "status 502: [key] is wrong");
        assert_eq!(described(&"é".repeat(5_000)).chars().count(), MESSAGE_CHARS + 1);
    }
}
