//! A server behind the tools of an import.
//!
//! The server is created at the first call, because its secrets are read then and not before. Whoever calls later must
//! bring the same secrets and the same HTTP client, or gets a connection of their own: nobody's call runs with the
//! credentials of others.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use haft_core::{FailureKind, ToolCall, ToolFailure, ToolOutput};
use haft_executor::{BoxError, ForwardCx, Services, Tool};
use haft_mcp::{Listing, McpClient};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::timeout;

use super::given::Given;
use super::redact::ServerSecrets;
use super::server::ServerSettings;

/// The longest time to end a server. It covers the time in which a server may leave by itself.
const CLOSE: Duration = Duration::from_secs(15);

/// An import's server, which runs once one of its tools was called.
#[derive(Debug)]
pub(super) struct McpImport {
    server: Arc<ServerSettings>,
    /// The definitions that were accepted.
    definitions: Vec<Value>,
    state: Mutex<State>,
    /// The tools that the server listed last.
    listed: watch::Sender<Option<Arc<Listing>>>,
}

#[derive(Debug)]
enum State {
    Unused,
    Used(Arc<Connected>),
    Closed,
}

/// A client, and what it was created with.
#[derive(Debug)]
struct Connected {
    client: McpClient,
    given: Given,
    secrets: ServerSecrets,
}

/// A server that can't be created.
#[derive(Debug, thiserror::Error)]
enum SetupError {
    #[error("the MCP server `{server}` was closed with its workspace")]
    Closed { server: String },
    #[error("the MCP server `{server}` can't be set up")]
    Unusable { server: String, source: BoxError },
}

impl McpImport {
    pub(super) fn new(server: Arc<ServerSettings>, definitions: Vec<Value>) -> Self {
        Self { server, definitions, state: Mutex::new(State::Unused), listed: watch::Sender::new(None) }
    }

    /// Forwards a call to the server.
    pub(super) async fn call(
        self: Arc<Self>,
        tool: Tool,
        call: ToolCall,
        cx: ForwardCx,
    ) -> Result<ToolOutput, ToolFailure> {
        cx.mark_unsent();
        let connected = self.connected(cx.services()).map_err(|error| {
            let failure = ToolFailure::new(FailureKind::ExecutionError, error.to_string());
            failure.not_started().not_retryable().cause(error)
        })?;
        match connected.client.forward(tool, call, cx).await {
            Ok(output) => Ok(connected.secrets.output(output)),
            Err(failure) => Err(connected.secrets.failure(failure)),
        }
    }

    /// Lists the tools again. The server is started if it does not run.
    pub(super) async fn refresh(self: &Arc<Self>, services: &Services) -> Result<(), BoxError> {
        let listing = self.connected(services)?.client.refresh().await?;
        self.listed.send_replace(Some(listing));
        Ok(())
    }

    /// Ends the server, and waits until it has ended.
    pub(super) async fn close(&self) {
        let before = std::mem::replace(&mut *self.state(), State::Closed);
        if let State::Used(connected) = before
            && timeout(CLOSE, connected.client.close()).await.is_err()
        {
            tracing::warn!(
                server = self.server.name(),
                "an MCP server takes too long to end, and is left to its guard"
            );
        }
    }

    /// Returns the tools that the server listed last.
    pub(super) fn listing(&self) -> Option<Arc<Listing>> {
        self.listed.borrow().clone()
    }

    /// Returns a receiver of the lists that the server gives.
    pub(super) fn listings(&self) -> watch::Receiver<Option<Arc<Listing>>> {
        self.listed.subscribe()
    }

    /// Returns the client for callers with these services.
    fn connected(self: &Arc<Self>, services: &Services) -> Result<Arc<Connected>, SetupError> {
        let unusable = |source| SetupError::Unusable { server: self.server.name().to_owned(), source };
        let given = self.server.given(services).map_err(unusable)?;
        let mut state = self.state();
        match &*state {
            State::Closed => return Err(SetupError::Closed { server: self.server.name().to_owned() }),
            State::Used(connected) if connected.given == given => return Ok(Arc::clone(connected)),
            State::Used(_) | State::Unused => {}
        }
        let client = self.server.server(&given).map_err(unusable)?.pinned(self.definitions.iter().cloned());
        tokio::spawn(follow(client.listings(), Arc::downgrade(self)));
        let connected = Arc::new(Connected { client, secrets: given.redactor(), given });
        let before = std::mem::replace(&mut *state, State::Used(Arc::clone(&connected)));
        drop(state);
        // Calls under way still use it; without any, its server ends here.
        drop(before);
        Ok(connected)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Passes on the lists of one client until it is dropped.
async fn follow(mut listings: watch::Receiver<Option<Arc<Listing>>>, import: Weak<McpImport>) {
    while listings.changed().await.is_ok() {
        let Some(import) = import.upgrade() else { return };
        let listing = listings.borrow_and_update().clone();
        import.listed.send_replace(listing);
    }
}
