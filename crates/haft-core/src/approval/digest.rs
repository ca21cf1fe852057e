//! Digests that bind an approval to a call.
//!
//! A digest covers the id of the tool, the digest of its definition and the decoded arguments, as one canonical text.
//! An approval is therefore independent of how the model spelled the arguments, and becomes invalid once an argument
//! has another value or the definition of the tool has changed.

use haft_schema::internal::{nests_within, read_tree, rounded_integer};
use haft_schema::{JsonText, Limits, canonical_text};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::arguments::Arguments;
use crate::call::ToolCall;
use crate::secret::Secret;
use crate::tool::{SchemaJson, Tool, ToolDescriptor};

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
    /// use haft_core::{Readonly, Tool};
    ///
    /// let greet = Tool::new("greet").handler(|name: String, _cx| async move { name })?;
    /// let digest = greet.descriptor().digest();
    /// assert_eq!(Tool::from_descriptor(&greet.descriptor())?.descriptor().digest(), digest);
    /// assert_ne!(greet.annotate(Readonly(true)).descriptor().digest(), digest);
    /// # Ok::<_, haft_core::DefinitionError>(())
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

impl Tool {
    /// Returns the [digest](ToolDescriptor::digest) of the tool's definition. It is computed once.
    ///
    /// ```
    /// use haft_core::Tool;
    ///
    /// let greet = Tool::new("greet").handler(|name: String, _cx| async move { name })?;
    /// assert!(greet.definition_digest().starts_with("sha256:"));
    /// assert_ne!(greet.definition_digest(), greet.with_name("meet")?.definition_digest());
    /// # Ok::<_, haft_core::DefinitionError>(())
    /// ```
    #[must_use]
    pub fn definition_digest(&self) -> &str {
        self.cached_definition_digest(|| self.descriptor().digest())
    }

    /// Returns the digest that binds an approval to a call of this tool with these decoded arguments.
    #[must_use]
    pub fn approval_digest(&self, arguments: &Value) -> String {
        if nests_within(arguments, Limits::DEEPEST) {
            return self.bound_digest("arguments", arguments);
        }
        // No call has arguments that are nested this deeply, and no recursive code may visit them.
        self.bound_digest("written", &Value::from(JsonText::from(arguments).as_str()))
    }

    /// Returns the same digest for arguments that were read from text. Arguments that no `Value` can hold are hashed as
    /// text.
    pub(super) fn approval_digest_of(&self, arguments: &Arguments, written: &str) -> String {
        match arguments {
            Arguments::Exact(tree) => self.approval_digest(tree),
            Arguments::TextOnly => self.bound_digest("written", &Value::from(written)),
        }
    }

    fn bound_digest(&self, key: &str, arguments: &Value) -> String {
        sha256(&canonical_text(&json!({
            "v": 1,
            "tool": self.id().as_str(),
            "definition": self.definition_digest(),
            key: arguments,
        })))
    }
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

fn sha256(text: &str) -> String {
    let mut written = PREFIX.to_owned();
    push_hex(&mut written, &Sha256::digest(text));
    written
}

/// Appends bytes as lowercase hexadecimal digits.
pub(crate) fn push_hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        text.extend([byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16).unwrap_or('0')));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use haft_schema::{Schema, Validation, Validator};

    use super::*;
    use crate::tool::Tool;

    fn tool() -> Tool {
        Tool::new("pay").handler(|cents: u64, _cx| async move { cents }).unwrap()
    }

    #[test]
    fn the_hash_is_sha_256() {
        assert_eq!(sha256("abc"), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn the_digest_depends_on_values_and_not_on_spelling() {
        let digest = |text: &str| tool().approval_digest(&serde_json::from_str(text).unwrap());
        assert_eq!(digest(r#"{"a": 1, "b": 1e0}"#), digest(r#"{"b":1,"a":1.0}"#));
        assert_ne!(digest(r#"{"a": 1}"#), digest(r#"{"a": 2}"#));
        assert_ne!(digest(r#"{"a": 9007199254740993}"#), digest(r#"{"a": 9007199254740992}"#));
        assert_ne!(digest(r#"{"a": "1"}"#), digest(r#"{"a": 1}"#));
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

    #[test]
    fn a_changed_declared_failure_changes_the_digest() {
        let declaring = tool().set_failure(Schema::of_output::<bool>().unwrap());
        assert_ne!(tool().definition_digest(), declaring.definition_digest());
        assert_ne!(tool().approval_digest(&json!(5)), declaring.approval_digest(&json!(5)));
    }

    /// The model reads the same schema in all modes, but another mode would let forbidden arguments reach the handler.
    #[test]
    fn a_changed_validation_mode_changes_the_digest() {
        let shown = json!({"type": "integer", "maximum": 100});
        let check = || Validator::new(|_| Ok(()));
        let modes = [Validation::Full, Validation::FullThen(check()), Validation::With(check()), Validation::None];
        let schemas = modes.map(|mode| Schema::json_with(shown.clone(), mode).unwrap());
        for changed in [Tool::set_parameters, Tool::set_success, Tool::set_failure] {
            let digests =
                schemas.each_ref().map(|schema| changed(&tool(), schema.clone()).definition_digest().to_owned());
            assert_eq!(HashSet::from(digests).len(), 4);
        }
    }

    #[test]
    fn a_changed_definition_changes_the_digest() {
        let arguments = json!(5);
        let renamed = tool().with_name("refund").unwrap();
        assert_ne!(tool().approval_digest(&arguments), renamed.approval_digest(&arguments));
        assert_eq!(tool().approval_digest(&arguments), tool().approval_digest(&arguments));
        let described = Tool::new("pay").describe("Pays.").handler(|cents: u64, _cx| async move { cents }).unwrap();
        assert_ne!(tool().definition_digest(), described.definition_digest());
    }
}
