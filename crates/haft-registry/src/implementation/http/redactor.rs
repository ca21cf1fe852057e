//! The removal of secrets from texts that leave.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use haft_core::Secret;
use serde_json::Value;

use super::template::escaped;

/// The text that takes the place of a secret.
const REMOVED: &str = "[removed]";

/// Removes the secrets of a call from texts, as they are, escaped as in URLs and in JSON, and encoded as base64.
#[derive(Default)]
pub(super) struct Redactor {
    /// The longest first, as one may contain another.
    forms: Vec<String>,
}

impl Redactor {
    /// Adds a secret.
    pub(super) fn add(&mut self, secret: &Secret) {
        let text = secret.expose();
        if text.is_empty() {
            return;
        }
        let json = Value::from(text).to_string();
        let in_json = json.get(1..json.len() - 1).unwrap_or_default();
        for form in [text, &escaped(text), &in_json.replace('/', "\\/"), in_json, &BASE64_STANDARD.encode(text)] {
            if !self.forms.iter().any(|known| known == form) {
                self.forms.push(form.to_owned());
            }
        }
        self.forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    }

    /// Removes all secrets.
    pub(super) fn redact(&self, text: &str) -> String {
        self.forms.iter().fold(text.to_owned(), |text, form| text.replace(form.as_str(), REMOVED))
    }

    /// Removes all secrets from a text that was cut off, and with them its end, which may be the beginning of one.
    pub(super) fn redact_cut(&self, text: &str) -> String {
        let mut text = self.redact(text);
        let longest = self.forms.first().map_or(0, String::len);
        let mut end = text.len().saturating_sub(longest);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use haft_core::Secret;

    use super::Redactor;

    fn redactor(secrets: &[&str]) -> Redactor {
        let mut redactor = Redactor::default();
        for secret in secrets {
            redactor.add(&Secret::new(*secret));
        }
        redactor
    }

    #[test]
    fn every_form_of_a_secret_is_removed() {
        let redactor = redactor(&["a/b \"c\"", "a/b", ""]);
        for text in
            ["a/b \"c\"", "a%2Fb%20%22c%22", r#"a/b \"c\""#, r#"a\/b \"c\""#, "YS9iICJjIg==", "a/b", "a%2Fb", "YS9i"]
        {
            assert_eq!(redactor.redact(&format!("<{text}>")), "<[removed]>", "{text}");
        }
        assert_eq!(redactor.redact("nothing"), "nothing");
        assert!(!format!("{redactor:?}").contains("a/b"));
    }

    #[test]
    fn the_end_of_a_cut_text_goes_with_the_secret_that_may_begin_there() {
        let redactor = redactor(&["sk-123456"]);
        let cut = redactor.redact_cut("the key is sk-123");
        assert!(!cut.contains("sk-"), "{cut}");
        assert_eq!(self::redactor(&[]).redact_cut("kept"), "kept");
        assert_eq!(redactor.redact_cut("ä"), "");
    }
}
