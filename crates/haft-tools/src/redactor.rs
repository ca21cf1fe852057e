//! Removes secrets from texts that leave.
//!
//! Servers and commands repeat what they were sent, in their own forms: as it is, escaped for URLs, JSON, HTML or a
//! program's strings, once or several times, or within base64. Every form is found, whatever its letter case, because
//! host names and hexadecimal digits have none. Removing a part without need is better than leaving a secret.

mod base64_form;
mod escape;

use std::fmt;
use std::ops::Range;

use haft_core::{FailureKind, Secret, ToolFailure};
use haft_executor::Cx;
use haft_schema::{Issues, JsonText};
use serde_json::Value;

use self::base64_form::Base64Form;
use self::escape::{Match, match_escaped};

/// The text that replaces a secret.
pub(super) const REMOVED: &str = "[removed]";

/// The shortest secret to remove from results, in bytes.
const MIN_IN_VALUES: usize = 8;

/// The longest escaped character, in bytes.
const MAX_ESCAPE: usize = 12;

/// Removes a call's secrets from texts.
#[derive(Default)]
pub(super) struct Redactor {
    secrets: Vec<Secret>,
    encoded: Vec<Base64Form>,
    /// The bytes that a secret's form may begin with, one bit for each: most bytes in a text begin none.
    first_bytes: [u64; 4],
}

/// The error for an invalid result whose issues contain a secret.
#[derive(Debug, thiserror::Error)]
#[error("the issues of the result are withheld, as the result contains a secret of the tool")]
struct WithheldIssues;

impl Redactor {
    /// Adds a secret.
    pub(super) fn add(&mut self, secret: &Secret) {
        let text = secret.expose();
        if !text.is_empty() && !self.secrets.iter().any(|known| known.expose() == text) {
            self.secrets.push(secret.clone());
            let encoded = Base64Form::all_of(text);
            let first_bytes =
                text.bytes().take(1).chain(*b"%\\&+").chain(encoded.iter().flat_map(Base64Form::first_bytes));
            for byte in first_bytes.flat_map(|byte| [byte.to_ascii_lowercase(), byte.to_ascii_uppercase()]) {
                self.first_bytes[usize::from(byte >> 6)] |= 1 << (byte & 63);
            }
            self.encoded.extend(encoded);
        }
    }

    /// Removes all secrets.
    pub(super) fn redact(&self, text: &str) -> String {
        let mut redacted = String::with_capacity(text.len());
        let mut end = 0;
        for found in self.find(text.as_bytes()) {
            redacted.push_str(text.get(end..found.start).unwrap_or_default());
            redacted.push_str(REMOVED);
            end = found.end;
        }
        redacted.push_str(text.get(end..).unwrap_or_default());
        redacted
    }

    /// Removes all secrets from a truncated text, and its end if that is the beginning of one.
    pub(super) fn redact_cut(&self, text: &str) -> String {
        let bytes = text.as_bytes();
        let last = self.find(bytes).last().map_or(0, |found| found.end);
        let is_beginning = |at: &usize| {
            let of_secret = |secret: &Secret| match_escaped(secret.expose(), bytes, *at) == Match::Beginning;
            self.secrets.iter().any(of_secret) || self.encoded.iter().any(|form| form.begins_at_end(bytes, *at))
        };
        let end = (last..bytes.len()).filter(|at| text.is_char_boundary(*at)).find(is_beginning);
        self.redact(&text[..end.unwrap_or(bytes.len())])
    }

    /// Removes all secrets from a value's texts and keys, except very short ones, which are likely to be words. The
    /// recursion is as deep as the value, whose parser limits it.
    pub(super) fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(redacted) = self.redact_long(text) {
                    *text = redacted;
                }
            }
            Value::Array(list) => list.iter_mut().for_each(|value| self.redact_value(value)),
            Value::Object(members) => {
                members.values_mut().for_each(|value| self.redact_value(value));
                if members.keys().any(|key| self.redact_long(key).is_some()) {
                    let redacted = |(key, value): (String, Value)| (self.redact_long(&key).unwrap_or(key), value);
                    *members = std::mem::take(members).into_iter().map(redacted).collect();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Removes all secrets as [`redact_value`](Self::redact_value) does. JSON without a secret keeps its exact text.
    pub(super) fn redact_json(&self, json: JsonText) -> JsonText {
        if self.redact_long(json.as_str()).is_none() {
            return json;
        }
        let mut value = json.to_value();
        self.redact_value(&mut value);
        value.into()
    }

    /// Removes the secrets that are too long to be words, or returns `None` if the text contains none.
    fn redact_long(&self, text: &str) -> Option<String> {
        let is_long = |secret: &&Secret| secret.expose().len() >= MIN_IN_VALUES;
        if !self.secrets.iter().any(|secret| is_long(&secret)) || self.find(text.as_bytes()).is_empty() {
            return None;
        }
        let mut long = Self::default();
        self.secrets.iter().filter(is_long).for_each(|secret| long.add(secret));
        (!long.find(text.as_bytes()).is_empty()).then(|| long.redact(text))
    }

    /// Returns all secrets' places, in order and without overlaps.
    pub(super) fn find(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut places: Vec<Range<usize>> = Vec::new();
        let mut at = 0;
        let may_begin = |byte: &u8| self.first_bytes[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1;
        while let Some(skipped) = text.get(at..).and_then(|rest| rest.iter().position(may_begin)) {
            at += skipped;
            let escaped = self.secrets.iter().filter_map(|secret| match match_escaped(secret.expose(), text, at) {
                Match::Until(end) => Some(at..end),
                Match::Beginning | Match::None => None,
            });
            let encoded = self.encoded.iter().filter_map(|form| form.match_at(text, at));
            match escaped.chain(encoded).max_by_key(|place| place.end) {
                Some(place) => {
                    let start = place.start.max(places.last().map_or(0, |last| last.end));
                    at = place.end;
                    places.push(start..place.end);
                }
                None => at += 1,
            }
        }
        places
    }

    /// Returns the longest form, in bytes, that a secret usually has in a text.
    pub(super) fn longest(&self) -> usize {
        self.secrets.iter().map(|secret| secret.expose().chars().count() * MAX_ESCAPE).max().unwrap_or(0)
    }

    /// Checks a call's result before the run does, if it was read from a text that contains a secret: the run's issues
    /// quote the result.
    pub(super) fn check_result<T>(&self, read: &[u8], result: &T, cx: &Cx) -> Result<(), ToolFailure>
    where
        T: Clone + Into<JsonText>,
    {
        let Some(tool) = cx.tool().filter(|_| !self.find(read).is_empty()) else { return Ok(()) };
        tool.check_answer(&result.clone().into()).map_err(|issues| {
            // The issues themselves are about the schema. Their cause, which is left out, is about the result.
            let issues = Issues::new(issues.into_vec());
            ToolFailure::with_issues(FailureKind::OutputValidationError, issues).cause(WithheldIssues)
        })
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
    use haft_schema::JsonText;

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
        for text in [
            "a/b \"c\"",
            "a%2Fb%20%22c%22",
            "a%2fb%20%22c%22",
            "a%252Fb%2520%2522c%2522",
            "a/b+%22c%22",
            "A/B%20%22C%22",
            r#"a/b \"c\""#,
            r#"a\/b \"c\""#,
            r#"a\\\/b \\\"c\\\""#,
            r"a\u002fb\u0020\u0022c\u0022",
            r"a\x2Fb \u{22}c\x22",
            "a&#47;b &quot;c&#x22;",
            r"a/b \&quot;c\\%22",
            "YS9iICJjIg==",
            "YS9iICJjIg",
            "a/b",
            "a%2Fb",
            "YS9i",
        ] {
            assert_eq!(redactor.redact(&format!("<{text}>")), "<[removed]>", "{text}");
        }
        assert_eq!(redactor.redact("nothing"), "nothing");
        assert_eq!(redactor.redact("ä a/ba/b ö"), "ä [removed][removed] ö");
        assert!(!format!("{redactor:?}").contains("a/b"));
    }

    #[test]
    fn secrets_are_removed_from_all_texts_of_a_value_unless_they_are_words() {
        let redactor = redactor(&["sk-12345678", "short"]);
        let mut value =
            serde_json::json!({"a": ["Bearer sk-12345678", 1], "b": {"c": "short"}, "d": "c2stMTIzNDU2Nzg="});
        redactor.redact_value(&mut value);
        assert_eq!(value, serde_json::json!({"a": ["Bearer [removed]", 1], "b": {"c": "short"}, "d": "[removed]"}));
        let mut keys = serde_json::json!({"a sk-12345678": {"short": 1}, "b": 2});
        redactor.redact_value(&mut keys);
        assert_eq!(keys, serde_json::json!({"a [removed]": {"short": 1}, "b": 2}));
    }

    #[test]
    fn json_without_a_secret_keeps_its_text() {
        let redactor = redactor(&["sk-\"12345678", "short"]);
        let redacted = |text: &str| redactor.redact_json(JsonText::parse(text).unwrap()).as_str().to_owned();
        for text in ["123456789012345678901234567890.0", r#"{"b":1.00,"a":"short"}"#, "null"] {
            assert_eq!(redacted(text).replace(' ', ""), text);
        }
        assert_eq!(redacted(r#"["sk-\"12345678",1]"#), r#"["[removed]",1]"#);
    }

    #[test]
    fn characters_beyond_ascii_are_found_in_every_form() {
        let redactor = redactor(&["pö😀\\"]);
        for text in
            ["pö😀\\", "p%C3%B6%F0%9F%98%80%5c", r"p\u00F6\ud83d\uDE00\\", r"p\u{f6}\u{1f600}\\", "p&#246;&#x1F600;\\"]
        {
            assert!(redactor.redact(&format!("<{text}>")).starts_with("<[removed]"), "{text}");
        }
    }

    #[test]
    fn base64_with_other_content_is_removed_as_a_whole() {
        let redactor = redactor(&["s3cret/token~1"]);
        // The texts `user:…`, `ab:…:c` and `abc:s3cret%2Ftoken~1`, and one in the URL alphabet.
        for text in [
            "dXNlcjpzM2NyZXQvdG9rZW5+MQ==",
            "YWI6czNjcmV0L3Rva2VufjE6Yw==",
            "YWJjOnMzY3JldCUyRnRva2VufjE=",
            "dXNlcjpzM2NyZXQvdG9rZW5-MQ",
        ] {
            assert_eq!(redactor.redact(&format!("Basic {text}, x")), "Basic [removed], x", "{text}");
        }
    }

    #[test]
    fn the_end_of_a_cut_text_goes_with_the_secret_that_may_begin_there() {
        let redactor = redactor(&["sk-\"23456"]);
        for end in ["s", "sk-\"23", r"sk-\", "sk-%2", "sk-&quo", r#"sk-\"2"#, "c2st", "c2stIjIzNDU"] {
            assert_eq!(redactor.redact_cut(&format!("the key is {end}")), "the key is ", "{end}");
        }
        assert_eq!(self::redactor(&[]).redact_cut("kept"), "kept");
        assert_eq!(redactor.redact_cut("sk-\"23456 ä"), "[removed] ä");
    }
}
