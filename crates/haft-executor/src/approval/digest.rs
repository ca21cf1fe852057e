//! Digests that bind an approval to a call.
//!
//! A digest covers the id of the tool, the digest of its definition and the decoded arguments, as one canonical text.
//! An approval is therefore independent of how the model spelled the arguments, and becomes invalid once an argument
//! has another value or the definition of the tool has changed.

use haft_core::internal::sha256;
use haft_schema::internal::nests_within;
use haft_schema::{JsonText, Limits, canonical_text};
use serde_json::{Value, json};

use crate::tool::Tool;
use crate::tool::arguments::Arguments;

impl Tool {
    /// Returns the [digest](haft_core::ToolDescriptor::digest) of the tool's definition. It is computed once.
    ///
    /// ```
    /// use haft_executor::Tool;
    ///
    /// let greet = Tool::new("greet").handler(|name: String, _cx| async move { name })?;
    /// assert!(greet.definition_digest().starts_with("sha256:"));
    /// assert_ne!(greet.definition_digest(), greet.with_name("meet")?.definition_digest());
    /// # Ok::<_, haft_executor::DefinitionError>(())
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
    fn the_digest_depends_on_values_and_not_on_spelling() {
        let digest = |text: &str| tool().approval_digest(&serde_json::from_str(text).unwrap());
        assert_eq!(digest(r#"{"a": 1, "b": 1e0}"#), digest(r#"{"b":1,"a":1.0}"#));
        assert_ne!(digest(r#"{"a": 1}"#), digest(r#"{"a": 2}"#));
        assert_ne!(digest(r#"{"a": 9007199254740993}"#), digest(r#"{"a": 9007199254740992}"#));
        assert_ne!(digest(r#"{"a": "1"}"#), digest(r#"{"a": 1}"#));
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
