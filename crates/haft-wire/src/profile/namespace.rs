//! Registry namespaces as provider tools that contain other tools.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::profile::rendered_tools::{RenderedTool, ToolMode, ToolNamespace};
use crate::profile::tool_name::NameRule;

/// The number of tools listed in a description made from their names.
const LISTED_TOOLS: usize = 20;

/// The namespaces that are sent as such.
#[derive(Clone, Debug, Default)]
pub(super) struct NamespaceRule {
    /// Set for all namespaces, rather than the described ones.
    pub(super) all: bool,
    /// The descriptions, by namespace.
    pub(super) described: BTreeMap<String, String>,
}

impl NamespaceRule {
    /// Puts tools into their namespaces. A tool stays flat if another one already has its wire name.
    pub(super) fn assign(&self, tools: &mut [RenderedTool], names: NameRule) {
        if !self.all && self.described.is_empty() {
            return;
        }
        let taken: HashSet<&str> =
            tools.iter().filter(|tool| self.of(tool).is_none()).map(|tool| tool.wire_name.as_str()).collect();
        let mut members: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for tool in tools.iter() {
            if let Some((namespace, name)) = self.of(tool) {
                members.entry(namespace).or_default().push(name);
            }
        }
        let mut namespaces = BTreeMap::new();
        for (namespace, tools) in members {
            let name = names.encode(namespace).into_owned();
            if !taken.contains(name.as_str()) {
                let given = self.described.get(namespace).filter(|text| !text.trim().is_empty());
                let description = given.cloned().unwrap_or_else(|| listed(namespace, &tools));
                namespaces.insert(namespace.to_owned(), Arc::new(ToolNamespace { name, description }));
            }
        }
        for tool in tools {
            tool.namespace = self.of(tool).and_then(|(namespace, _)| namespaces.get(namespace).cloned());
        }
    }

    /// Returns a tool's namespace and its name there.
    fn of<'t>(&self, tool: &'t RenderedTool) -> Option<(&'t str, &'t str)> {
        let parts = tool.name.rsplit_once('/').filter(|_| tool.mode != ToolMode::BuiltIn)?;
        (self.all || self.described.contains_key(parts.0)).then_some(parts)
    }
}

/// Describes a namespace by its tools' names.
fn listed(namespace: &str, tools: &[&str]) -> String {
    let shown = tools.iter().take(LISTED_TOOLS).copied().collect::<Vec<_>>().join(", ");
    let more = tools.len().saturating_sub(LISTED_TOOLS);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("The tools of `{namespace}`: {shown}{rest}.")
}
