//! The text of a failed call, for wires without a flag for it.
//!
//! It is the form that the executor gives to failures, so that a model reads all of them in one form.

use std::borrow::Cow;

use serde_json::json;

/// The start of the text of a failure, in the form that the executor writes.
const FAILURE_START: &str = r#"{"error":"#;

/// Returns the text of an output, in the form of a failure if it is one.
pub(crate) fn marked(text: Cow<'_, str>, is_error: bool) -> Cow<'_, str> {
    if !is_error || is_failure(&text) { text } else { Cow::Owned(failure(&text)) }
}

/// Reports whether a text has the form of a failure.
pub(crate) fn is_failure(text: &str) -> bool {
    text.starts_with(FAILURE_START)
}

/// Returns the form of a failure with this message.
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
