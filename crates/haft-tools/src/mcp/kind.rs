//! The kind `mcp` of entries.

use std::sync::Arc;

use haft_core::{Destructive, Idempotent, OpenWorld, Readonly};
use haft_executor::{DefinitionError, Tool};
use haft_mcp::Listing;
use haft_registry::{
    Building, Built, Entry, EntryError, EntryFault, ImplementationKind, ImportLister, PinnedImport, Yields,
};
use serde_json::Value;

use super::import::McpImport;
use super::name::tool_names;
use super::settings::{HintSettings, McpSettings, ServerSettings, ToolChoice};
use super::source::{McpSource, NamedTool};

/// The most remarks about single tools.
const MAX_REMARKS: usize = 20;

/// The kind `mcp`: an import is an MCP server, whose accepted tools are those of the lock.
///
/// The entry's author must be trusted, because a server's program can do whatever this process can.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct McpKind;

impl McpKind {
    /// Creates the kind.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl ImplementationKind for McpKind {
    fn name(&self) -> &'static str {
        "mcp"
    }

    fn yields(&self) -> Yields {
        Yields::ManyTools
    }

    fn settings_schema(&self) -> Value {
        schemars::schema_for!(McpSettings).to_value()
    }

    fn build(&self, entry: Entry) -> Building {
        Box::pin(async move { build(&entry) })
    }
}

fn build(entry: &Entry) -> Result<Built, EntryError> {
    let (server, choice) = McpSettings::read(entry)?;
    let server = Arc::new(server);
    let reach = server.reach(entry)?;
    let lister = {
        let server = Arc::clone(&server);
        ImportLister::new(move |services| {
            let server = Arc::clone(&server);
            Box::pin(async move { server.list(&services).await })
        })
    };
    let mut remarks = Vec::new();
    let built = match accepted(entry, &server, &mut remarks) {
        Some(pinned) => Built::live(source(pinned, &server, &choice, &mut remarks)?, reach),
        None => Built::tools(Vec::new(), reach),
    };
    Ok(built.with_remarks(remarks).with_lister(lister))
}

/// Returns the definitions that were accepted, if they are those of this server.
fn accepted<'e>(entry: &'e Entry, server: &ServerSettings, remarks: &mut Vec<EntryFault>) -> Option<&'e PinnedImport> {
    let remark = match entry.pinned.as_deref() {
        Some(pinned) if *pinned.origin() == server.origin() => return Some(pinned),
        Some(_) => {
            "has no tools: those that were accepted are of another command or URL; compare and accept them again"
        }
        None => "has no tools: none was accepted yet; list and accept them",
    };
    remarks.push(EntryFault::at("", remark));
    None
}

/// Creates the source of the tools that were accepted and chosen.
fn source(
    pinned: &PinnedImport,
    server: &Arc<ServerSettings>,
    choice: &ToolChoice,
    remarks: &mut Vec<EntryFault>,
) -> Result<McpSource, EntryError> {
    let definitions: Vec<Value> = pinned.tools().map(|(_, tool)| tool.definition().clone()).collect();
    let listing = Listing::read(definitions.iter().cloned());
    let quarantined = listing.quarantined.iter().take(MAX_REMARKS);
    remarks.extend(quarantined.map(|tool| EntryFault::at("", format!("left out: {tool}"))));
    choice.check(|name| pinned.get(name).is_some(), remarks);
    let accepted = listing.tools.iter().chain(&listing.app_tools).map(|tool| tool.tool.name().to_owned()).collect();
    let chosen: Vec<Tool> =
        listing.tools.into_iter().map(|tool| tool.tool).filter(|tool| choice.has(tool.name())).collect();
    let names = tool_names(chosen.iter().map(Tool::name), &choice.rename)?;
    let import = Arc::new(McpImport::new(Arc::clone(server), definitions));
    let made = chosen.iter().zip(names).map(|(tool, name)| {
        let (own, import) = (tool.name().to_owned(), Arc::clone(&import));
        // The hints come first: they also decide whether a call whose answer was lost is sent again.
        let tool = hinted(tool, choice.hints.get(&own));
        let tool = tool.with_forward(move |tool, call, cx| Arc::clone(&import).call(tool, call, cx))?;
        Ok(NamedTool { own, tool: tool.with_name(name)? })
    });
    let tools = made.collect::<Result<_, DefinitionError>>()?;
    Ok(McpSource::new(import, tools, accepted))
}

/// Returns a tool with the hints of the file in place of the server's.
fn hinted(tool: &Tool, hints: Option<&HintSettings>) -> Tool {
    let Some(hints) = hints else { return tool.clone() };
    let mut tool = tool.clone();
    if let Some(value) = hints.readonly {
        tool = tool.annotate(Readonly(value));
    }
    if let Some(value) = hints.destructive {
        tool = tool.annotate(Destructive(value));
    }
    if let Some(value) = hints.idempotent {
        tool = tool.annotate(Idempotent(value));
    }
    if let Some(value) = hints.open_world {
        tool = tool.annotate(OpenWorld(value));
    }
    tool
}
