//! The removal of secrets from texts that leave.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use haft_core::Secret;
use serde_json::Value;

use super::template::escaped;

/// The text that takes the place of a secret.
const REMOVED: &str = "[removed]";

/// The minimum length of a secret that is removed from results, in bytes. A shorter one is likely to be a word of them.
const MIN_IN_VALUES: usize = 8;

/// Removes the secrets of a call from texts, as they are, escaped as in URLs and in JSON, and encoded as base64.
#[derive(Default)]
pub(super) struct Redactor {
    secrets: Vec<Secret>,
}

impl Redactor {
    /// Adds a secret.
    pub(super) fn add(&mut self, secret: &Secret) {
        if !secret.expose().is_empty() {
            self.secrets.push(secret.clone());
        }
    }

    /// Removes all secrets.
    pub(super) fn redact(&self, text: &str) -> String {
        removed(text, &self.forms(1))
    }

    /// Removes all secrets from the texts of a value, except very short ones.
    pub(super) fn redact_value(&self, value: &mut Value) {
        let forms = self.forms(MIN_IN_VALUES);
        if !forms.is_empty() {
            remove_from_value(value, &forms);
        }
    }

    /// Removes all secrets from a text that was cut off, and with them its end, which may be the beginning of one.
    pub(super) fn redact_cut(&self, text: &str) -> String {
        let forms = self.forms(1);
        let mut text = removed(text, &forms);
        let longest = forms.first().map_or(0, String::len);
        let mut end = text.len().saturating_sub(longest);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text
    }

    /// Returns all forms of the secrets with at least this length, the longest first, as one may contain another.
    fn forms(&self, min: usize) -> Vec<String> {
        let mut forms = Vec::new();
        for text in self.secrets.iter().map(Secret::expose).filter(|text| text.len() >= min) {
            let json = Value::from(text).to_string();
            let in_json = json.get(1..json.len() - 1).unwrap_or_default();
            forms.extend([text.to_owned(), escaped(text), in_json.replace('/', "\\/"), in_json.to_owned()]);
            forms.push(BASE64_STANDARD.encode(text));
        }
        forms.sort_unstable_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        forms.dedup();
        forms
    }
}

fn removed(text: &str, forms: &[String]) -> String {
    forms.iter().fold(text.to_owned(), |text, form| text.replace(form.as_str(), REMOVED))
}

/// Removes secrets from the texts of a value. The recursion is as deep as the value, whose parser limits it.
fn remove_from_value(value: &mut Value, forms: &[String]) {
    match value {
        Value::String(text) if forms.iter().any(|form| text.contains(form.as_str())) => *text = removed(text, forms),
        Value::Array(list) => list.iter_mut().for_each(|value| remove_from_value(value, forms)),
        Value::Object(members) => members.values_mut().for_each(|value| remove_from_value(value, forms)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
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
    use serde_json::json;

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
    fn secrets_are_removed_from_all_texts_of_a_value_unless_they_are_words() {
        let redactor = redactor(&["sk-12345678", "short"]);
        let mut value = json!({"a": ["Bearer sk-12345678", 1], "b": {"c": "short"}, "d": "c2stMTIzNDU2Nzg="});
        redactor.redact_value(&mut value);
        assert_eq!(value, json!({"a": ["Bearer [removed]", 1], "b": {"c": "short"}, "d": "[removed]"}));
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
