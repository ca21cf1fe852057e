//! Arguments that name resources, so that rules see one spelling for each.

use std::collections::BTreeMap;
use std::path::Path;

use haft_executor::{DefinitionError, Tool};
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

/// Brings the arguments into their canonical spelling before anything decides about a call.
pub(crate) fn with_resources(tool: Tool, resources: &BTreeMap<String, ResourceKind>) -> Result<Tool, EntryError> {
    let mut tool = tool;
    for (name, kind) in resources {
        let fault = |message: String| EntryError { faults: vec![EntryFault::at(member("/resources", name), message)] };
        let pointer = if name.starts_with('/') { name.clone() } else { member("", name) };
        let unknown = |_: DefinitionError| fault(format!("the tool has no argument `{name}`"));
        tool = match kind {
            ResourceKind::Url => tool.canonical_argument(&pointer, canonical_url).map_err(unknown)?,
            ResourceKind::Host => tool.canonical_argument(&pointer, canonical_host).map_err(unknown)?,
            ResourceKind::Path => {
                let preview = tool.annotations().get::<CallPreview>();
                let Some(folder) = preview.and_then(|preview| preview.template().folder()).map(Path::to_owned) else {
                    let message = "`path` is for tools that work in a folder, as commands do: this one opens no files";
                    return Err(fault(message.to_owned()));
                };
                tool.canonical_argument(&pointer, move |written| resolve_path(&folder, written)).map_err(unknown)?
            }
        };
    }
    Ok(tool)
}
