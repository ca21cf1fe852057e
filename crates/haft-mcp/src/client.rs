//! A server's tools, as a source.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use haft_core::{ToolCall, ToolFailure, ToolOutput};
use haft_executor::{
    Changed, DefinitionError, ExecutionLimits, ForwardCx, SharedToolkit, Snapshot, Tool, ToolSource, Toolkit,
};
use serde_json::Value;
use tokio::sync::watch;

use crate::call;
use crate::error::McpError;
use crate::link::Link;
use crate::listing::{Listing, McpTool, QuarantinedTool};
use crate::server::McpServer;
use crate::session::McpServerInfo;

/// The tools of an MCP server: a live source. Clones share the server.
///
/// The tools change when the server reports that they have, and when it is started again. A server that has ended is
/// started again by the next call of one of its tools. It ends when this client, its clones and all snapshots are
/// dropped; [`close`](Self::close) ends it at once.
#[derive(Clone)]
pub struct McpClient(Arc<ClientState>);

pub(crate) struct ClientState {
    link: Arc<Link>,
    tools: SharedToolkit,
    offered: Mutex<Offered>,
}

/// The tools that are offered. They differ from those that the server lists if they are pinned.
struct Offered {
    listing: Arc<Listing>,
    app_tools: Toolkit,
}

impl McpClient {
    pub(crate) async fn connect(server: McpServer) -> Result<Self, McpError> {
        let client = Self::unconnected(server);
        client.start().await?;
        Ok(client)
    }

    /// Creates a client without tools, which it gets once the server is started.
    pub(crate) fn unconnected(server: McpServer) -> Self {
        Self::new(Link::new(server, None), Listing::default())
    }

    pub(crate) async fn start(&self) -> Result<(), McpError> {
        self.0.link.session().await.map(drop)
    }

    pub(crate) fn pinned(server: McpServer, definitions: impl IntoIterator<Item = Value>) -> Self {
        let listing = Listing::read(definitions);
        let all = listing.tools.iter().chain(&listing.app_tools);
        let pins = all.map(|tool| (tool.tool.name().to_owned(), Arc::clone(&tool.digest))).collect();
        Self::new(Link::new(server, Some(pins)), listing)
    }

    fn new(link: Link, listing: Listing) -> Self {
        let link = Arc::new(link);
        let (tools, app_tools) = (toolkit(&link, &listing.tools), toolkit(&link, &listing.app_tools));
        let offered = Mutex::new(Offered { listing: Arc::new(listing), app_tools });
        let state = Arc::new(ClientState { link, tools: SharedToolkit::new(tools), offered });
        state.link.set_client(Arc::downgrade(&state));
        Self(state)
    }

    /// Returns the settings of the server.
    pub fn server(&self) -> &McpServer {
        self.0.link.server()
    }

    /// Returns what the server says about itself, once it was connected to.
    #[must_use]
    pub fn info(&self) -> Option<McpServerInfo> {
        self.0.link.info()
    }

    /// Returns the tools that are offered, with their definitions.
    #[must_use]
    pub fn offered(&self) -> Arc<Listing> {
        Arc::clone(&self.0.offered().listing)
    }

    /// Returns the tools that the server listed last, if it was connected to. They differ from those that are
    /// [offered](Self::offered) if tools are pinned.
    #[must_use]
    pub fn listed(&self) -> Option<Arc<Listing>> {
        self.0.link.listing()
    }

    /// Returns a receiver of every list that the server gives from now on, for example to report what of pinned tools has
    /// changed. It does not keep the server running, and ends with the client.
    #[must_use]
    pub fn listings(&self) -> watch::Receiver<Option<Arc<Listing>>> {
        self.0.link.listings()
    }

    /// Returns the tools that are set aside, with the reasons.
    #[must_use]
    pub fn quarantined(&self) -> Vec<QuarantinedTool> {
        self.offered().quarantined.clone()
    }

    /// Returns the tools that the server means for apps and not for models, by `_meta.ui.visibility`. They are not part
    /// of the source.
    pub fn app_tools(&self) -> Toolkit {
        self.0.offered().app_tools.clone()
    }

    /// Lists the tools again, and returns them. The server is started if it does not run.
    pub async fn refresh(&self) -> Result<Arc<Listing>, McpError> {
        let session = self.0.link.session().await?;
        self.0.link.relist(&session).await?;
        Ok(self.listed().unwrap_or_default())
    }

    /// Forwards one call of a tool that this client lists or offers, connecting if necessary. Use it in a handler of your
    /// own, for example when the tools have other names: the tool is the one with the server's name.
    pub async fn forward(&self, tool: Tool, call: ToolCall, cx: ForwardCx) -> Result<ToolOutput, ToolFailure> {
        call::forward(Arc::clone(&self.0.link), tool, call, cx).await
    }

    /// Ends the server, and waits until it has ended. Later calls fail.
    pub async fn close(&self) {
        self.0.link.close().await;
    }
}

impl ClientState {
    /// Offers the tools of a list, unless they are offered already.
    pub(crate) fn offer(&self, listing: &Arc<Listing>) {
        let mut offered = self.offered();
        let (old, new) = (&offered.listing, listing);
        let is_same = is_same(&old.tools, &new.tools) && is_same(&old.app_tools, &new.app_tools);
        let app_tools = if is_same { offered.app_tools.clone() } else { toolkit(&self.link, &new.app_tools) };
        *offered = Offered { listing: Arc::clone(listing), app_tools };
        drop(offered);
        if !is_same {
            let tools = toolkit(&self.link, &listing.tools);
            let Ok(_) = self.tools.update(|_| Ok::<_, std::convert::Infallible>(tools.clone()));
        }
    }

    fn offered(&self) -> std::sync::MutexGuard<'_, Offered> {
        self.offered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_same(old: &[McpTool], new: &[McpTool]) -> bool {
    old.len() == new.len() && old.iter().zip(new).all(|(old, new)| old.digest == new.digest)
}

/// Creates the tools that forward their calls.
fn toolkit(link: &Arc<Link>, tools: &[McpTool]) -> Toolkit {
    let tools = tools.iter().filter_map(|tool| {
        limited(&tool.tool, link.server())
            .inspect_err(|error| tracing::error!(server = link.server().name, %error, "a tool can't be offered"))
            .ok()
    });
    let link = Arc::clone(link);
    let forward = move |tool: Tool, call: ToolCall, cx: ForwardCx| call::forward(Arc::clone(&link), tool, call, cx);
    // The names differ and dynamic tools take handlers, so there is no error.
    Toolkit::dynamic(tools).forward(forward).unwrap_or_default()
}

fn limited(tool: &Tool, server: &McpServer) -> Result<Tool, DefinitionError> {
    match server.limits.output_cap {
        Some(cap) => tool.with_limits(ExecutionLimits::new().output_cap(cap)),
        None => Ok(tool.clone()),
    }
}

impl ToolSource for McpClient {
    fn snapshot(&self) -> Snapshot {
        self.0.tools.snapshot()
    }

    fn changed(&self, after: u64) -> Changed<'_> {
        self.0.tools.changed(after)
    }
}

impl fmt::Debug for McpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpClient")
            .field("server", self.server())
            .field("info", &self.info())
            .field("offered", &self.offered())
            .finish()
    }
}
