//! Serving tools to MCP clients.
//!
//! ```text
//! client ─> transport ─> handler ─> call ─> run of the executor ─> result
//!           stdio, HTTP  rmcp       name, limits, state    permission, arguments, approval, limits
//! ```
//!
//! [`serve`] takes any source of tools: a toolkit, a live source, the executor of a registry. What a tool is and what may be
//! called is decided where it always is, in the run. This side adds who a request is from, whom to ask, and the forms of the
//! protocol, in both eras.

#![expect(
    deprecated,
    reason = "the new era has no sessions, no log levels and no sampling, and the old one is served too"
)]

mod access;
mod approvers;
mod asking;
mod beside;
mod call;
mod client_link;
mod form;
mod handler;
mod http;
mod lifecycle;
mod limit;
mod listing;
mod live_call;
mod parked;
mod reply;
mod server_state;
mod session;
mod state;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use haft_core::Decider;
use haft_executor::{RunOptions, ToolSource};
use haft_schema::isolation::Isolated;
#[doc(no_inline)]
pub use rmcp;
use rmcp::model::{Implementation, ServerConfig, ToolsCapability};
use rmcp::service::{QuitReason, ServerInitializeError, serve_server_with_ct};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio_pipes;
use rmcp::{RoleServer, ServerHandler};
use tokio::io::{AsyncRead, AsyncWrite};

use self::access::Authenticator;
pub use self::access::{Authenticate, BearerTokens, CallerAccess, IntoAccess};
use self::approvers::AnyApprovers;
pub use self::approvers::{Approvers, CallKey, EarlierRun, PendingRun};
use self::beside::{Alone, Beside};
pub use self::client_link::{AskClientError, LogLevel, ServedClient};
use self::handler::{RequestOrigin, ServedHandler};
use self::http::HttpAccess;
pub use self::http::{McpBody, McpHttp};
use self::lifecycle::Lifecycle;
pub use self::lifecycle::Shutdown;
pub use self::limit::ServeLimits;
use self::limit::Turnstile;
use self::listing::ToolCache;
use self::parked::ParkedCalls;
use self::server_state::ServerState;
use self::state::Seal;
pub use self::state::StateKeys;

/// The names of this machine.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
/// The origins of pages of this machine.
const LOOPBACK_ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "http://127.0.0.1:*",
    "http://[::1]:*",
    "https://localhost:*",
    "https://127.0.0.1:*",
    "https://[::1]:*",
];

/// Serves the tools of a source to MCP clients.
///
/// ```no_run
/// use haft_executor::{Tool, Toolkit};
/// use haft_mcp::serve::serve;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools: Toolkit = Toolkit::from_iter([Tool::new("ping").handler(|(), _cx| async { "pong" })?]);
/// serve(tools).named("ping", "1.0").stdio().await?;
/// # Ok(())
/// # }
/// ```
pub fn serve(source: impl ToolSource + 'static) -> Serve {
    Serve {
        source: Arc::new(source),
        name: ("haft".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        instructions: None,
        options: RunOptions::new(),
        caller: CallerAccess::everyone(),
        authenticator: None,
        anonymous: None,
        hosts: Vec::new(),
        origins: Vec::new(),
        decider: None,
        approvers: None,
        beside: Arc::new(Alone),
        keys: StateKeys::random(),
        limits: ServeLimits::default(),
        page_size: 200,
        ttl: Duration::from_secs(30),
        lifecycle: Lifecycle::new(),
    }
}

/// A server before it begins. See [`serve`].
#[must_use = "a server does nothing until it serves: call `stdio`, `over` or `http`"]
pub struct Serve {
    source: Arc<dyn ToolSource>,
    name: (String, String),
    instructions: Option<String>,
    options: RunOptions,
    caller: CallerAccess,
    authenticator: Option<Arc<dyn Authenticator>>,
    anonymous: Option<CallerAccess>,
    hosts: Vec<String>,
    origins: Vec<String>,
    decider: Option<Decider>,
    approvers: Option<Arc<dyn AnyApprovers>>,
    beside: Arc<dyn Beside>,
    keys: StateKeys,
    limits: ServeLimits,
    page_size: usize,
    ttl: Duration,
    lifecycle: Arc<Lifecycle>,
}

/// A server can't begin, or has lost its client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Hosts beyond this machine are allowed, and nobody decides who may call.
    #[error("the host `{host}` is beyond this machine: set an authenticator first")]
    NoAuthenticator {
        /// The host.
        host: String,
    },
    /// The client's first message is none that begins a connection.
    #[error("the client does not begin as MCP clients do: {reason}")]
    Handshake {
        /// The reason.
        reason: String,
    },
    /// The connection ended by a fault.
    #[error("the connection failed: {reason}")]
    Connection {
        /// The reason.
        reason: String,
    },
}

impl Serve {
    /// Sets the name and the version that clients read.
    pub fn named(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.name = (name.into(), version.into());
        self
    }

    /// Sets what clients tell their models about the tools as a whole.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Sets the options of all calls: permits, limits, services, observers. The approver is the server's own: see
    /// [`approvers`](Self::approvers).
    pub fn options(mut self, options: RunOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets who the client on stdio is. By default it has no name and may call every tool.
    pub fn caller(mut self, access: impl Into<CallerAccess>) -> Self {
        self.caller = access.into();
        self
    }

    /// Sets the authenticator of HTTP requests.
    pub fn authenticate(mut self, authenticator: impl Authenticate) -> Self {
        self.authenticator = Some(Arc::new(Isolated::new(authenticator)));
        self
    }

    /// Lets HTTP requests in that are from nobody known. By default they are rejected with 401.
    pub fn anonymous(mut self, access: impl Into<CallerAccess>) -> Self {
        self.anonymous = Some(access.into());
        self
    }

    /// Sets the hosts that HTTP requests may name, in place of this machine's: `mcp.example.org`, or with a port. Hosts
    /// beyond this machine need an authenticator.
    pub fn hosts(mut self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.hosts = hosts.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the origins of web pages that may send HTTP requests, in place of this machine's: `https://app.example.org:443`.
    pub fn origins(mut self, origins: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.origins = origins.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the party that decides about calls whose rule names none. By default it is the client's user on stdio, and the
    /// [approvers](Self::approvers) over HTTP.
    pub fn decided_by(mut self, decider: Decider) -> Self {
        self.decider = Some(decider);
        self
    }

    /// Sets the approvers, which decide about calls that the client's user does not decide about.
    pub fn approvers(mut self, approvers: impl Approvers) -> Self {
        self.approvers = Some(Arc::new(Isolated::new(approvers)));
        self
    }

    /// Adds a handler of [`rmcp`] for everything that is no tool: prompts, resources, completion. Its tools are not served.
    ///
    /// ```
    /// use haft_executor::Toolkit;
    /// use haft_mcp::serve::rmcp::ServerHandler;
    /// use haft_mcp::serve::rmcp::model::{ServerCapabilities, ServerConfig};
    /// use haft_mcp::serve::serve;
    ///
    /// struct Prompts;
    ///
    /// impl ServerHandler for Prompts {
    ///     fn get_info(&self) -> ServerConfig {
    ///         ServerConfig::new(ServerCapabilities::builder().enable_prompts().build())
    ///     }
    /// }
    ///
    /// let server = serve(Toolkit::new()).beside(Prompts);
    /// # let _ = server;
    /// ```
    pub fn beside(mut self, handler: impl ServerHandler) -> Self {
        self.beside = Arc::new(handler);
        self
    }

    /// Sets the keys that seal what clients keep for calls that wait. By default they are random.
    pub fn keys(mut self, keys: StateKeys) -> Self {
        self.keys = keys;
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: ServeLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the number of tools in a page; 200 by default.
    pub fn page_size(mut self, tools: usize) -> Self {
        self.page_size = tools;
        self
    }

    /// Sets the time for which clients may keep the list of tools; 30 seconds by default. They are told about changes.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// Returns the means to end the server.
    #[must_use]
    pub fn shutdown(&self) -> Shutdown {
        Shutdown(Arc::clone(&self.lifecycle))
    }

    /// Serves the client on standard input and output, until it closes them or the server is [shut down](Self::shutdown).
    /// Nothing else may write to standard output.
    pub async fn stdio(self) -> Result<(), ServeError> {
        let (reader, writer) = stdio_pipes();
        Box::pin(self.over(reader, writer)).await
    }

    /// Serves one client over a connection of lines, such as a pipe, until it closes it or the server is
    /// [shut down](Self::shutdown).
    pub async fn over(
        self,
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), ServeError> {
        let decider = self.decider.unwrap_or(Decider::Client);
        let caller = self.caller.clone();
        let (server, _) = self.split();
        let ended = server.lifecycle.ended().clone();
        let most = server.limits.message;
        let handler = ServedHandler::new(server, RequestOrigin::Connection(caller), decider);
        let transport = AsyncRwTransport::<RoleServer, _, _>::new(reader, writer).with_max_line_length(most);
        let running = match serve_server_with_ct(handler, transport, ended).await {
            Ok(running) => running,
            // A client that never began has not lost anything.
            Err(ServerInitializeError::Cancelled | ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::Handshake { reason: kind_of(&error).to_owned() }),
        };
        match running.waiting().await {
            Ok(QuitReason::Closed | QuitReason::Cancelled) => Ok(()),
            Ok(other) => Err(ServeError::Connection { reason: format!("{other:?}") }),
            Err(error) => Err(ServeError::Connection { reason: error.to_string() }),
        }
    }

    /// Returns the server as a service for HTTP, for clients of both eras.
    pub fn http(self) -> Result<McpHttp, ServeError> {
        let is_local = |host: &String| LOOPBACK.iter().any(|local| is_host(host, local));
        if self.authenticator.is_none()
            && let Some(host) = self.hosts.iter().find(|host| !is_local(host))
        {
            return Err(ServeError::NoAuthenticator { host: host.clone() });
        }
        let decider = self.decider.unwrap_or(Decider::Approvers);
        let (server, access) = self.split();
        Ok(McpHttp::new(server, access, decider))
    }

    fn split(self) -> (Arc<ServerState>, HttpAccess) {
        let Self { source, name, instructions, options, caller: _, authenticator, anonymous, .. } = self;
        let Self { hosts, origins, decider: _, approvers, beside, keys, limits, page_size, ttl, lifecycle, .. } = self;
        let has_callers = authenticator.is_some();
        let or = |given: Vec<String>, usual: &[&str]| {
            if given.is_empty() { usual.iter().map(|&usual| usual.to_owned()).collect() } else { given }
        };
        let (hosts, origins) = (or(hosts, &LOOPBACK), or(origins, &LOOPBACK_ORIGINS));
        let server = ServerState {
            source,
            options,
            config: config(&*beside, name, instructions),
            beside,
            approvers,
            page_size,
            ttl,
            has_callers,
            cache: ToolCache::new(),
            calls: Turnstile::new(limits.in_flight),
            streams: Turnstile::new(limits.sessions),
            limits,
            parked: Arc::<ParkedCalls>::default(),
            seal: Seal::new(&keys),
            lifecycle,
        };
        (Arc::new(server), HttpAccess { authenticator, anonymous, hosts, origins })
    }
}

/// Returns what the server says about itself.
fn config(beside: &dyn Beside, (name, version): (String, String), instructions: Option<String>) -> ServerConfig {
    let mut config = beside.config();
    let mut tools = ToolsCapability::default();
    tools.list_changed = Some(true);
    config.capabilities.tools = Some(tools);
    config.capabilities.logging = Some(serde_json::Map::new());
    config.server_info = Implementation::new(name, version);
    config.instructions = instructions.or(config.instructions);
    config
}

/// Reports whether a host with or without a port is this one.
fn is_host(given: &str, host: &str) -> bool {
    let given = given.strip_prefix('[').map_or(given, |rest| rest.split(']').next().unwrap_or(rest));
    given == host || given.strip_prefix(host).is_some_and(|port| port.starts_with(':') && host != "::1")
}

/// Returns why a connection could not begin, without what the client has sent.
fn kind_of(error: &ServerInitializeError) -> &'static str {
    match error {
        ServerInitializeError::ExpectedInitializeRequest(_) => "its first message is no request to begin with",
        ServerInitializeError::InitializeFailed(_) => "no revision of the protocol is supported by both",
        ServerInitializeError::TransportError { .. } => "it is gone",
        _ => "the handshake failed",
    }
}

impl fmt::Debug for Serve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, hosts, limits, .. } = self;
        f.debug_struct("Serve")
            .field("name", name)
            .field("hosts", hosts)
            .field("limits", limits)
            .finish_non_exhaustive()
    }
}
