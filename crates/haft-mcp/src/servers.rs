//! Several servers as one source.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::join_all;
use haft_executor::{Changed, Snapshot, SourceFault, ToolSource, Toolkit};

use crate::client::McpClient;
use crate::error::McpError;
use crate::server::McpServer;

/// The settings of several MCP servers. Their tools are one source, each behind the name of its server.
///
/// ```no_run
/// use haft_executor::ToolSource;
/// use haft_mcp::{McpServer, McpServers};
///
/// # async fn example() {
/// let servers = McpServers::new()
///     .with(McpServer::command("uvx", ["mcp-server-time"]).named("time"))
///     .with(McpServer::http("https://mcp.example.com/mcp").named("docs"));
/// let tools = servers.connect().await;
/// for fault in tools.failed() {
///     eprintln!("{fault}");
/// }
/// assert!(tools.snapshot().toolkit().get("time__convert_time").is_some());
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "settings do nothing until you connect"]
pub struct McpServers(Vec<McpServer>);

/// The tools of several servers: a live source. The name of a tool is that of its server, two underscores, and its own.
pub struct McpClients {
    clients: Vec<McpClient>,
    source: Box<dyn ToolSource>,
    /// The errors of the servers that can't be used, at the same positions.
    failed: Mutex<Vec<Option<Arc<McpError>>>>,
}

impl McpServers {
    /// Starts without any server.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a server.
    pub fn with(mut self, server: McpServer) -> Self {
        self.0.push(server);
        self
    }

    /// Starts all servers at once. One that can't be started is [reported](McpClients::failed), and its tools are
    /// missing; the others are not affected.
    pub async fn connect(self) -> McpClients {
        let clients: Vec<_> = self.0.into_iter().map(McpClient::unconnected).collect();
        let mut source: Box<dyn ToolSource> = Box::new(Toolkit::<()>::new());
        let mut failed = Vec::new();
        for (index, client) in clients.iter().enumerate() {
            let name = client.server().name();
            let is_taken = clients[..index].iter().any(|earlier| earlier.server().name() == name);
            let namespaced = client.clone().namespaced(name);
            failed.push(match namespaced {
                Ok(namespaced) if !is_taken => {
                    source = Box::new(source.composed(namespaced));
                    None
                }
                Ok(_) => Some("an earlier server has the same name".to_owned()),
                Err(error) => Some(error.to_string()),
            });
        }
        let failed = failed.into_iter().zip(&clients).map(|(reason, client)| {
            reason.map(|reason| Arc::new(McpError::Name { server: client.server().name().to_owned(), reason }))
        });
        let all = McpClients { failed: Mutex::new(failed.collect()), clients, source };
        all.retry().await;
        all
    }
}

impl McpClients {
    /// Starts the servers again that can't be used.
    pub async fn retry(&self) {
        let unusable = |error: &Option<Arc<McpError>>| matches!(error.as_deref(), Some(McpError::Name { .. }));
        let skipped: Vec<bool> = self.errors().iter().map(unusable).collect();
        let starting = self.clients.iter().zip(skipped).map(|(client, is_skipped)| async move {
            if is_skipped { None } else { Some(client.start().await.err().map(Arc::new)) }
        });
        let started = join_all(starting).await;
        for (known, result) in self.errors().iter_mut().zip(started) {
            if let Some(result) = result {
                *known = result;
            }
        }
    }

    /// Returns the errors of the servers that can't be used, and whose tools are missing.
    #[must_use]
    pub fn failed(&self) -> Vec<Arc<McpError>> {
        self.errors().iter().flatten().cloned().collect()
    }

    /// Returns the client of the server with this name.
    #[must_use]
    pub fn get(&self, server: &str) -> Option<&McpClient> {
        self.clients.iter().find(|client| client.server().name() == server)
    }

    /// Returns the clients of all servers.
    pub fn iter(&self) -> impl Iterator<Item = &McpClient> {
        self.clients.iter()
    }

    /// Ends all servers, and waits until they have ended.
    pub async fn close(&self) {
        join_all(self.clients.iter().map(McpClient::close)).await;
    }

    fn errors(&self) -> std::sync::MutexGuard<'_, Vec<Option<Arc<McpError>>>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToolSource for McpClients {
    /// Servers that can't be used are among the faults, under the name of the server.
    fn snapshot(&self) -> Snapshot {
        let failed = self.failed().into_iter();
        let faults = failed.map(|error| SourceFault::new(error.server().to_owned(), error.to_string()));
        self.source.snapshot().with_faults(faults)
    }

    fn changed(&self, after: u64) -> Changed<'_> {
        self.source.changed(after)
    }
}

impl fmt::Debug for McpClients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpClients")
            .field("clients", &self.clients)
            .field("failed", &self.failed())
            .finish_non_exhaustive()
    }
}
