//! The kind `mcp` of entries.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_core::{Destructive, Idempotent, OpenWorld, Readonly};
use haft_executor::{DefinitionError, Tool};
use haft_mcp::Listing;
use haft_registry::{
    Building, Built, Entry, EntryError, EntryFault, ImplementationKind, ImportLister, LiveSource, PinnedImport, Yields,
};
use serde_json::Value;

use super::import::McpImport;
use super::login::McpLogin;
use super::name::tool_names;
use super::preview::{HintOrigin, preview};
use super::server::ServerSettings;
use super::settings::{HintSettings, McpSettings, ToolChoice};
use super::source::{McpSource, NamedTool};

/// The most tools to name in a remark.
const MAX_NAMES: usize = 10;

/// The most remarks about single tools.
const MAX_REMARKS: usize = 20;

/// The kind `mcp`: an import is an MCP server, whose accepted tools are those of the lock.
///
/// The entry's author must be trusted, because a server's program can do whatever this process can.
#[derive(Clone, Debug, Default)]
pub struct McpKind {
    state_folder: Option<PathBuf>,
}

impl McpKind {
    /// Creates the kind.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the folder for what outlasts a process: the tokens of logins, the logs of servers, and records of running
    /// programs, so that the next process ends those that a killed one has left behind. Only the user can read what is
    /// in it. Without it there are neither logins nor logs.
    #[must_use]
    pub fn state_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.state_folder = Some(folder.into());
        self
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
        let state_folder = self.state_folder.clone();
        Box::pin(async move { build(&entry, state_folder.as_deref()) })
    }
}

fn build(entry: &Entry, state_folder: Option<&Path>) -> Result<Built, EntryError> {
    let (server, choice) = McpSettings::read(entry, state_folder)?;
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
    let mut built = built.with_lister(lister);
    if let Some(log) = server.log_path() {
        built = built.with_log(log);
    }
    if server.has_logins() {
        if !server.has_login() {
            remarks.push(EntryFault::at("/auth", missing(entry, built.live.as_deref())));
        }
        built = built.with_login(McpLogin(Arc::clone(&server)));
    }
    Ok(built.with_remarks(remarks))
}

/// Returns the remark on the tools that nobody can use before a login.
fn missing(entry: &Entry, source: Option<&dyn LiveSource>) -> String {
    let kit = source.map(|source| source.snapshot().into_toolkit()).unwrap_or_default();
    let mut names: Vec<String> = kit.names().take(MAX_NAMES).map(|name| format!("`{name}`")).collect();
    if let more @ 1.. = kit.len() - names.len() {
        names.push(format!("{more} more"));
    }
    let tools = if names.is_empty() {
        String::new()
    } else {
        format!("; until then these can't be called: {}", names.join(", "))
    };
    format!("the server of `{}` requires a login; run `haft mcp login {}`{tools}", entry.import, entry.import)
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
        let hints = choice.hints.get(&own);
        let origin = if hints.is_some_and(HintSettings::is_complete) { HintOrigin::Entry } else { HintOrigin::Server };
        let tool = hinted(tool, hints).annotate(preview(server, &own, origin));
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
