//! The arguments of a tool that name resources, each with a function that returns the resource's one spelling.
//!
//! ```text
//! look up ─► permit ─► schema ─► canonical ─► refine ─► schema, canonical ─► permits_arguments ─► approve ─► slot ─► handler
//! ```
//!
//! A path, a URL or a host can be written in many ways, and a rule about one of them must not be dodged by writing
//! another. So permits, policies, digests, approvers, middlewares and handlers get the canonical spelling, and never what
//! was written. That holds for arguments that a person edited, that a refine function returned and that a middleware put
//! in as well. A call whose argument has no canonical spelling fails.

use std::fmt;
use std::sync::Arc;

use haft_schema::isolation::Isolated;
use haft_schema::{DecodeOptions, Decoded, Issue, Issues, JsonText, Repair};
use serde_json::Value;

use crate::tool::Tool;

/// The keyword of issues about arguments that have no canonical spelling.
const KEYWORD: &str = "canonical";

/// An argument that names a resource.
#[derive(Clone)]
pub(crate) struct ResourceArgument {
    pointer: Arc<str>,
    canonical: Arc<CanonicalFn>,
}

/// The canonical spelling of a text, or the sentence that the model reads.
type CanonicalFn = dyn Fn(&str) -> Result<String, String> + Send + Sync;

/// Valid arguments whose resources have their canonical spelling, which differs from what was written.
pub(crate) struct CanonicalArguments {
    pub(crate) text: JsonText,
    /// The repairs of the arguments that were written. The text needs none.
    pub(crate) repairs: Vec<Repair>,
}

impl ResourceArgument {
    pub(crate) fn new<E: fmt::Display>(
        pointer: &str,
        canonical: impl Fn(&str) -> Result<String, E> + Send + Sync + 'static,
    ) -> Self {
        let canonical = Isolated::new(canonical);
        let canonical = move |written: &str| canonical(written).map_err(|error| error.to_string());
        Self { pointer: pointer.into(), canonical: Arc::new(canonical) }
    }

    /// Brings the texts at the pointer into their canonical spelling. Returns whether one of them has changed.
    fn apply(&self, arguments: &mut Value, issues: &mut Vec<Issue>) -> bool {
        arguments.pointer_mut(&self.pointer).is_some_and(|found| self.rewrite(found, &self.pointer, issues))
    }

    fn rewrite(&self, value: &mut Value, pointer: &str, issues: &mut Vec<Issue>) -> bool {
        match value {
            Value::String(written) => match (self.canonical)(written) {
                Ok(canonical) if canonical == *written => false,
                Ok(canonical) => {
                    *written = canonical;
                    true
                }
                Err(message) => {
                    issues.push(Issue::new(pointer, KEYWORD, message));
                    false
                }
            },
            Value::Array(items) => {
                let mut has_changed = false;
                for (at, item) in items.iter_mut().enumerate() {
                    has_changed |= self.rewrite(item, &format!("{pointer}/{at}"), issues);
                }
                has_changed
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
        }
    }
}

impl Tool {
    /// Checks arguments and brings the resources among them into their canonical spelling. Returns `None` if the
    /// arguments are canonical as they were written.
    pub(crate) fn canonical_arguments(
        &self,
        written: &str,
        options: &DecodeOptions,
    ) -> Result<Option<CanonicalArguments>, Issues> {
        let resources = self.resources();
        if resources.is_empty() {
            return Ok(None);
        }
        let Decoded { value: mut tree, repairs } = self.parameters().decode_exactly::<Value>(written, options)?;
        let mut issues = Vec::new();
        let mut has_changed = false;
        for resource in resources {
            has_changed |= resource.apply(&mut tree, &mut issues);
        }
        if !issues.is_empty() {
            return Err(Issues::new(issues));
        }
        Ok(has_changed.then(|| CanonicalArguments { text: JsonText::from(&tree), repairs }))
    }
}

/// Reports whether a schema rules out that arguments have anything at a pointer, which is then a mistake. What the schema
/// leaves open, or decides by references and combinations, is possible.
pub(crate) fn is_ruled_out(schema: &Value, pointer: &str) -> bool {
    let Some(path) = pointer.strip_prefix('/') else { return !pointer.is_empty() };
    let mut schema = schema;
    for token in path.split('/') {
        let token = token.replace("~1", "/").replace("~0", "~");
        let Value::Object(keywords) = schema else { return *schema == Value::Bool(false) };
        match keywords.get("properties").and_then(|properties| properties.get(&token)) {
            Some(property) => schema = property,
            None => {
                let is_closed = keywords.get("additionalProperties") == Some(&Value::Bool(false));
                return is_closed && !keywords.contains_key("patternProperties");
            }
        }
    }
    false
}

impl fmt::Debug for ResourceArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ResourceArgument").field(&self.pointer).finish()
    }
}
