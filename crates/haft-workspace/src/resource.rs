//! Arguments that name resources, so that rules see one spelling for each.

use std::collections::BTreeMap;
use std::path::Path;

use haft_executor::Tool;
use haft_http::{canonical_host, canonical_url};
use haft_registry::{CallPreview, EntryError, EntryFault};
use haft_tools::standard::resolve_path;
use schemars::JsonSchema;
use serde::Deserialize;

use super::document::member;

/// The kind of resource that an argument names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ResourceKind {
    /// A path below the working directory of a command. Symbolic links are resolved, and paths that lead out are
    /// rejected.
    Path,
    /// An `http` or `https` URL.
    Url,
    /// A host name or address.
    Host,
}

/// The treatment of a tool that lacks an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingArgument {
    /// It is a fault: the entry is about this tool alone.
    Rejected,
    /// Another tool of the import has it.
    Skipped,
}

/// Returns the faults for arguments that none of an import's tools has.
pub(crate) fn unused_resources(tools: &[&Tool], resources: &BTreeMap<String, ResourceKind>) -> Vec<EntryFault> {
    let is_unused = |name: &&String| {
        let pointer = pointer(name);
        !tools
            .iter()
            .any(|tool| tool.canonical_argument(&pointer, |written| Ok::<_, String>(written.to_owned())).is_ok())
    };
    let unused = resources.keys().filter(|_| !tools.is_empty()).filter(is_unused);
    unused.map(|name| EntryFault::at(member("/resources", name), format!("no tool has an argument `{name}`"))).collect()
}

fn pointer(name: &str) -> String {
    if name.starts_with('/') { name.to_owned() } else { member("", name) }
}

/// Brings the arguments into their canonical spelling before anything decides about a call.
pub(crate) fn with_resources(
    tool: Tool,
    resources: &BTreeMap<String, ResourceKind>,
    missing: MissingArgument,
) -> Result<Tool, EntryError> {
    let mut tool = tool;
    for (name, kind) in resources {
        let fault = |message: String| EntryError { faults: vec![EntryFault::at(member("/resources", name), message)] };
        let pointer = pointer(name);
        let changed = match kind {
            ResourceKind::Url => tool.canonical_argument(&pointer, canonical_url),
            ResourceKind::Host => tool.canonical_argument(&pointer, canonical_host),
            ResourceKind::Path => {
                let preview = tool.annotations().get::<CallPreview>();
                let Some(folder) = preview.and_then(|preview| preview.template().folder()).map(Path::to_owned) else {
                    let message = "`path` is for tools that work in a folder, as commands do: this one opens no files";
                    return Err(fault(message.to_owned()));
                };
                tool.canonical_argument(&pointer, move |written| resolve_path(&folder, written))
            }
        };
        tool = match (changed, missing) {
            (Ok(changed), _) => changed,
            (Err(_), MissingArgument::Skipped) => tool,
            (Err(_), MissingArgument::Rejected) => return Err(fault(format!("the tool has no argument `{name}`"))),
        };
    }
    Ok(tool)
}
