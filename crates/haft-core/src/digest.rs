//! Digests of definitions and of arguments.
//!
//! A digest covers values as one canonical text, so it is independent of how the model spelled them.

use haft_schema::internal::{read_tree, rounded_integer};
use haft_schema::{Limits, canonical_text};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::call::ToolCall;
use crate::descriptor::{SchemaJson, ToolDescriptor};
use crate::secret::Secret;

/// The prefix of every digest. It names the algorithm, so that digests of another one are never mistaken for these.
const PREFIX: &str = "sha256:";

/// The version of what a digest of a definition covers.
const DEFINITION: u8 = 3;

impl ToolDescriptor {
    /// Returns a digest of the definition: what the model reads of the tool, what people decide by, and how values are
    /// checked. These are the name, the title, the description, the kind, the hints, the examples, and the schemas of
    /// parameters, results and declared failures, each with its enforcement.
    ///
    /// The id and the version are not covered, because a tool with another one may be the same; nor are the icons, the
    /// options for providers, the strict mode, the annotations of the application, the metadata and the schema of
    /// emitted values, which affect no decision here and may change at any time.
    ///
    /// A tool that is rebuilt from its descriptor has the same digest, in any process. A changed digest means that the
    /// tool must be reviewed again.
    ///
    /// ```
    /// use haft_core::ToolDescriptor;
    /// use haft_schema::Schema;
    ///
    /// let mut greet = ToolDescriptor::new("greet", Schema::of_params::<String>()?);
    /// let digest = greet.digest();
    /// greet.version = Some("2.0".to_owned());
    /// assert_eq!(greet.digest(), digest);
    /// greet.hints.readonly = true;
    /// assert_ne!(greet.digest(), digest);
    /// # Ok::<_, haft_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn digest(&self) -> String {
        let Self {
            name,
            title,
            description,
            kind,
            input_schema,
            output_schema,
            failure_schema,
            hints,
            examples,
            // The id is bound to an approval beside this digest.
            id: _,
            // Values that a call emits while it runs affect neither its arguments nor its result.
            emits: _,
            version: _,
            icons: _,
            provider_options: _,
            strict: _,
            annotations: _,
            meta: _,
        } = self;
        // A tool reads these three in the same way whether they are stated or left out.
        let described = input_schema.as_json().get("description").and_then(Value::as_str);
        let output_schema = output_schema.as_ref().filter(|schema| !schema.is_unrestricted());
        let failure_schema = failure_schema.as_ref().filter(|schema| !schema.accepts_nothing());
        // Each process seals the secrets of settings in its own way.
        let mut kind = json!(kind);
        Secret::mask_sealed(&mut kind);
        sha256(&canonical_text(&json!({
            "v": DEFINITION,
            "name": name,
            "title": title,
            "description": description.as_deref().or(described),
            "kind": kind,
            "hints": hints,
            "examples": examples,
            "input": digested(input_schema),
            "output": output_schema.map(digested),
            "failure": failure_schema.map(digested),
        })))
    }
}

fn digested(schema: &SchemaJson) -> Value {
    json!({"schema": schema.as_json(), "enforcement": schema.enforcement()})
}

impl ToolCall {
    /// Returns a digest of the arguments by which equal calls are recognised, independent of the order of keys and the
    /// spelling of numbers. Blank arguments are the empty object. Arguments without a unique meaning are hashed as they
    /// are written: text that is not JSON or that no tool accepts, and integers beyond 64 bits that no float
    /// represents.
    ///
    /// The digest does not depend on the tool, so no approval is bound to it.
    ///
    /// ```
    /// use haft_core::ToolCall;
    ///
    /// let digest = |arguments: &str| ToolCall::new("c1", "pay", arguments).argument_digest();
    /// assert_eq!(digest(r#"{"cents": 5, "to": "Ann"}"#), digest(r#"{"to":"Ann","cents":5.0}"#));
    /// assert_ne!(digest(r#"{"cents": 5}"#), digest(r#"{"cents": 6}"#));
    /// ```
    #[must_use]
    pub fn argument_digest(&self) -> String {
        let written = match self.arguments.trim() {
            "" => "{}",
            text => text,
        };
        match read_tree(written.as_bytes(), &Limits::default()) {
            (Some(arguments), faults) if faults.is_empty() && rounded_integer(written).is_none() => {
                sha256(&canonical_text(&arguments))
            }
            _ => sha256(written),
        }
    }
}

/// Returns the digest of a text.
#[must_use]
pub fn sha256(text: &str) -> String {
    let mut written = PREFIX.to_owned();
    push_hex(&mut written, &Sha256::digest(text));
    written
}

/// Appends bytes as lowercase hexadecimal digits.
pub fn push_hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        text.extend([byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16).unwrap_or('0')));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_sha_256() {
        assert_eq!(sha256("abc"), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    fn digest(arguments: &str) -> String {
        ToolCall::new("c1", "t", arguments).argument_digest()
    }

    #[test]
    fn equal_arguments_have_the_same_digest() {
        for (this, other) in [
            ("", " {} "),
            ("1", "1.0"),
            ("[1e2]", "[100]"),
            (r#"{"a": 1, "b": [{"y": 2, "x": 1}]}"#, r#" {"b":[{"x":1,"y":2}],"a":1.0} "#),
            (r#""\u0041""#, r#""A""#),
        ] {
            assert_eq!(digest(this), digest(other), "{this} {other}");
        }
    }

    #[test]
    fn different_arguments_have_different_digests() {
        for (this, other) in [
            ("18446744073709551617", "18446744073709551618"),
            ("-9223372036854775809", "-9223372036854775810"),
            (r#"{"a":[18446744073709551617]}"#, r#"{"a":[18446744073709551618]}"#),
            ("9007199254740993", "9007199254740992"),
            ("[]", "{}"),
            ("1", "\"1\""),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
        ] {
            assert_ne!(digest(this), digest(other), "{this} {other}");
        }
    }

    #[test]
    fn arguments_that_no_tool_accepts_are_hashed_as_text() {
        let deep = "[".repeat(100_000);
        assert_eq!(digest(&deep), sha256(&deep));
        assert_eq!(digest("{\"a\": "), sha256("{\"a\":"));
        assert_ne!(digest("{\"a\""), digest("{\"a\":"));
    }
}
