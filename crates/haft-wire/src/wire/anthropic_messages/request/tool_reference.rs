//! References to tools that a search has found.
//!
//! A conversation outlives its tools: one that was found may be gone in a later request, or a choice may not permit it.
//! The API rejects a reference to a tool that the request does not offer, so these are left out.

use haft_core::{ContentPart, ToolChoice};
use serde_json::Value;

use crate::profile::rendered_tools::RenderedTools;

/// A request's tools, as far as they are sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfferedTools<'r> {
    pub(super) tools: &'r RenderedTools,
    /// The choice, if only the tools that it permits are sent.
    pub(super) narrowed: Option<&'r ToolChoice>,
}

impl OfferedTools<'_> {
    fn has(&self, wire_name: &str) -> bool {
        let tool = self.tools.get_by_wire_name(wire_name);
        tool.is_some_and(|tool| self.narrowed.is_none_or(|choice| choice.permits(&tool.name)))
    }

    /// Reports whether a part refers to a tool that is not sent.
    pub(super) fn lacks(&self, part: &ContentPart) -> bool {
        match part {
            ContentPart::Unknown(part) if part["type"] == "tool_reference" => !self.refers(part),
            _ => false,
        }
    }

    /// Returns a search's result without the references to tools that are not sent, if it has any.
    pub(super) fn without_missing(&self, block: &Value) -> Option<Value> {
        let found = block.get("content")?.get("tool_references")?.as_array()?;
        let known: Vec<Value> = found.iter().filter(|reference| self.refers(reference)).cloned().collect();
        if known.len() == found.len() {
            return None;
        }
        let mut changed = block.clone();
        changed["content"]["tool_references"] = known.into();
        Some(changed)
    }

    fn refers(&self, reference: &Value) -> bool {
        reference.get("tool_name").and_then(Value::as_str).is_none_or(|name| self.has(name))
    }
}
