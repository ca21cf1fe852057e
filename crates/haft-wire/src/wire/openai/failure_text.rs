//! A failed call's text, for wires without a failure flag.
//!
//! It looks like the executor's failures, so that a model reads all failures in one form.

use std::borrow::Cow;

use serde_json::json;

/// The start of a failure text, as the executor writes it.
const FAILURE_START: &str = r#"{"error":"#;

/// Returns an output's text, as a failure text if it is an error.
pub(crate) fn marked(text: Cow<'_, str>, is_error: bool) -> Cow<'_, str> {
    if !is_error || is_failure(&text) { text } else { Cow::Owned(failure(&text)) }
}

/// Reports whether a text looks like a failure.
pub(crate) fn is_failure(text: &str) -> bool {
    text.starts_with(FAILURE_START)
}

/// Returns a failure text with this message.
pub(crate) fn failure(message: &str) -> String {
    json!({"error": {"message": message}}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_text_of_a_failure_is_marked_and_only_once() {
        let sent = r#"{"error":{"message":"no \"a\""}}"#;
        assert_eq!(marked(r#"no "a""#.into(), true), sent);
        assert_eq!(marked(sent.into(), true), sent);
        assert_eq!(marked("no".into(), false), "no");
    }
}
