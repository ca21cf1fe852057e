//! What an approval is bound to.
//!
//! The digest is taken over the id of the tool, the digest of its definition and the arguments as they were decoded, in
//! one canonical text. So a yes holds however the model spelled the arguments, and no longer holds once one of them has
//! another value, or the tool promises something else than when it was shown.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::canonical::canonical_text;
use crate::tool::Tool;

/// What every digest begins with, so that another way to make them can't be mistaken for this one.
const PREFIX: &str = "sha256:";

impl Tool {
    /// A digest of everything that is said about the tool: name, descriptions, schemas, annotations. Computed once.
    ///
    /// ```
    /// use haft_core::Tool;
    ///
    /// let greet = Tool::new("greet").run(|name: String, _cx| async move { name })?;
    /// assert!(greet.definition_digest().starts_with("sha256:"));
    /// assert_ne!(greet.definition_digest(), greet.with_name("meet")?.definition_digest());
    /// # Ok::<_, haft_core::DefinitionError>(())
    /// ```
    #[must_use]
    pub fn definition_digest(&self) -> &str {
        self.cached_definition_digest(|| {
            // Descriptors are plain data and always serialise; one that did not would match no other.
            let described = serde_json::to_value(&*self.descriptor()).unwrap_or_default();
            sha256(&canonical_text(&described))
        })
    }

    /// What binds an approval to a call of this tool with these decoded arguments.
    #[must_use]
    pub fn approval_digest(&self, arguments: &Value) -> String {
        sha256(&canonical_text(&json!({
            "v": 1,
            "tool": self.id().as_str(),
            "definition": self.definition_digest(),
            "arguments": arguments,
        })))
    }
}

fn sha256(text: &str) -> String {
    let mut written = PREFIX.to_owned();
    push_hex(&mut written, &Sha256::digest(text));
    written
}

/// Appends bytes as lowercase hexadecimal digits.
pub(super) fn push_hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        text.extend([byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16).unwrap_or('0')));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Tool;

    fn tool() -> Tool {
        Tool::new("pay").run(|cents: u64, _cx| async move { cents }).unwrap()
    }

    #[test]
    fn the_hash_is_sha_256() {
        assert_eq!(sha256("abc"), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn spelling_does_not_matter_and_values_do() {
        let digest = |text: &str| tool().approval_digest(&serde_json::from_str(text).unwrap());
        assert_eq!(digest(r#"{"a": 1, "b": 1e0}"#), digest(r#"{"b":1,"a":1.0}"#));
        assert_ne!(digest(r#"{"a": 1}"#), digest(r#"{"a": 2}"#));
        assert_ne!(digest(r#"{"a": 9007199254740993}"#), digest(r#"{"a": 9007199254740992}"#));
        assert_ne!(digest(r#"{"a": "1"}"#), digest(r#"{"a": 1}"#));
    }

    #[test]
    fn another_definition_is_another_digest() {
        let arguments = json!(5);
        let renamed = tool().with_name("refund").unwrap();
        assert_ne!(tool().approval_digest(&arguments), renamed.approval_digest(&arguments));
        assert_eq!(tool().approval_digest(&arguments), tool().approval_digest(&arguments));
        let described = Tool::new("pay").describe("Pays.").run(|cents: u64, _cx| async move { cents }).unwrap();
        assert_ne!(tool().definition_digest(), described.definition_digest());
    }
}
