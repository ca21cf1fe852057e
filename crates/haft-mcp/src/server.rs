//! The settings of a server: how it is reached, and what it may do.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use haft_core::{Secret, Turn, TurnRequest};
use haft_executor::BoxError;
use haft_http::{AddressGuard, GuardedClient, HttpClient};
use serde_json::Value;

use crate::client::McpClient;
use crate::era::Era;
use crate::error::McpError;
use crate::limit::McpLimits;
use crate::log::LogHooks;
use crate::result_policy::ResultPolicy;
use crate::sampling::{self, SamplingHandler};
use crate::trace_context::{TraceContext, TraceSource};

/// The settings of an MCP server. [`connect`](Self::connect) starts it and lists its tools.
///
/// ```no_run
/// use haft_executor::{Dispatch, ToolSource};
/// use haft_mcp::McpServer;
///
/// # async fn example() -> Result<(), haft_mcp::McpError> {
/// let files = McpServer::command("npx", ["-y", "@modelcontextprotocol/server-filesystem", "/srv"])
///     .named("files")
///     .connect()
///     .await?;
/// for tool in files.snapshot().toolkit() {
///     assert!(!tool.name().is_empty());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "settings do nothing until you connect"]
pub struct McpServer {
    pub(crate) name: String,
    pub(crate) target: Target,
    pub(crate) era: Era,
    pub(crate) results: ResultPolicy,
    pub(crate) limits: McpLimits,
    pub(crate) roots: Vec<(String, Option<String>)>,
    pub(crate) sampling: Option<SamplingHandler>,
    pub(crate) trace: Option<TraceSource>,
    pub(crate) hooks: LogHooks,
}

/// The way to a server.
#[derive(Clone)]
pub(crate) enum Target {
    Command(ServerCommand),
    Http(ServerUrl),
}

/// A program that speaks over its standard input and output.
#[derive(Clone)]
pub(crate) struct ServerCommand {
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) variables: Vec<(OsString, OsString)>,
    pub(crate) secrets: Vec<(OsString, Secret)>,
    pub(crate) inherited: Vec<OsString>,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) state_folder: Option<PathBuf>,
}

/// A server behind a URL.
#[derive(Clone)]
pub(crate) struct ServerUrl {
    pub(crate) url: Arc<str>,
    pub(crate) bearer: Option<Secret>,
    pub(crate) headers: Vec<(String, Secret)>,
    pub(crate) client: Option<GuardedClient>,
    #[cfg(feature = "oauth")]
    pub(crate) oauth: Option<crate::oauth::OAuth>,
}

impl ServerUrl {
    /// Returns the client that was set, or one that connects to public addresses only.
    pub(crate) fn guarded_client(&self) -> GuardedClient {
        let guarded = || HttpClient::builder().guarded_on_use(AddressGuard::new());
        self.client.clone().unwrap_or_else(guarded)
    }
}

impl McpServer {
    /// Describes a server that is a program, which is started without a shell and speaks over its standard input and
    /// output. It is named after the program.
    ///
    /// The program gets the variables of the environment that programs need to run at all, such as `PATH` and `HOME`,
    /// and those you set with [`env`](Self::env), [`secret_env`](Self::secret_env) and [`inherit`](Self::inherit). No other variable reaches it.
    pub fn command<A: Into<OsString>>(program: impl Into<OsString>, arguments: impl IntoIterator<Item = A>) -> Self {
        let program = program.into();
        let name = std::path::Path::new(&program).file_name().unwrap_or(&program).to_string_lossy().into_owned();
        Self::of(
            name,
            Target::Command(ServerCommand {
                program,
                arguments: arguments.into_iter().map(Into::into).collect(),
                variables: Vec::new(),
                secrets: Vec::new(),
                inherited: Vec::new(),
                folder: None,
                state_folder: None,
            }),
        )
    }

    /// Describes a server behind an `http` or `https` URL. It is named after the host.
    ///
    /// It is connected to where the address guard permits it: by default at public addresses only. For a server on
    /// your own machine or network, set a [client](Self::http_client) whose guard permits it.
    pub fn http(url: impl Into<Arc<str>>) -> Self {
        let url = url.into();
        let host = url.split("://").nth(1).and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
        let name = host.rsplit('@').next().unwrap_or_default().to_owned();
        Self::of(
            name,
            Target::Http(ServerUrl {
                url,
                bearer: None,
                headers: Vec::new(),
                client: None,
                #[cfg(feature = "oauth")]
                oauth: None,
            }),
        )
    }

    fn of(name: String, target: Target) -> Self {
        let name = if name.is_empty() { "mcp".to_owned() } else { name };
        Self {
            name,
            target,
            era: Era::default(),
            results: ResultPolicy::default(),
            limits: McpLimits::default(),
            roots: Vec::new(),
            sampling: None,
            trace: None,
            hooks: LogHooks::default(),
        }
    }

    /// Sets the name, by which errors and logs identify the server.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets an environment variable of the program. Ignored for a URL.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        if let Target::Command(command) = &mut self.target {
            command.variables.push((name.into(), value.into()));
        }
        self
    }

    /// Sets an environment variable of the program to a secret, which is redacted in what the program logs. Ignored for
    /// a URL.
    pub fn secret_env(mut self, name: impl Into<OsString>, value: Secret) -> Self {
        if let Target::Command(command) = &mut self.target {
            command.secrets.push((name.into(), value));
        }
        self
    }

    /// Passes on a variable of this process's environment, if it is set. Ignored for a URL.
    pub fn inherit(mut self, name: impl Into<OsString>) -> Self {
        if let Target::Command(command) = &mut self.target {
            command.inherited.push(name.into());
        }
        self
    }

    /// Sets the working directory of the program. Ignored for a URL.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        if let Target::Command(command) = &mut self.target {
            command.folder = Some(folder.into());
        }
        self
    }

    /// Sets a folder in which running programs are recorded, so that the next process that uses the same folder ends those
    /// that this one leaves behind because it was killed. Ignored for a URL, and on systems without `/proc`.
    pub fn state_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        if let Target::Command(command) = &mut self.target {
            command.state_folder = Some(folder.into());
        }
        self
    }

    /// Sets the bearer token that is sent with every request. Ignored for a program.
    pub fn bearer(mut self, token: Secret) -> Self {
        if let Target::Http(http) = &mut self.target {
            http.bearer = Some(token);
        }
        self
    }

    /// Adds a header that is sent with every request. Its value is treated as a secret. Ignored for a program.
    pub fn header(mut self, name: impl Into<String>, value: Secret) -> Self {
        if let Target::Http(http) = &mut self.target {
            http.headers.push((name.into(), value));
        }
        self
    }

    /// Sets the HTTP client, with its address guard and connections. Ignored for a program.
    pub fn http_client(mut self, client: GuardedClient) -> Self {
        if let Target::Http(http) = &mut self.target {
            http.client = Some(client);
        }
        self
    }

    /// Sets the era of the server, if you know it. That saves a request, or ten seconds with a server that ignores it.
    pub fn era(mut self, era: Era) -> Self {
        self.era = era;
        self
    }

    /// Sets what the model reads of results that have both structured content and content parts.
    pub fn results(mut self, policy: ResultPolicy) -> Self {
        self.results = policy;
        self
    }

    /// Sets the bounds.
    pub fn limits(mut self, limits: McpLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Adds a root: a `file:` URI that the server may work in. Without any, the server is told that there are none.
    pub fn root(mut self, uri: impl Into<String>, name: impl Into<Option<String>>) -> Self {
        self.roots.push((uri.into(), name.into()));
        self
    }

    /// Sets a handler that answers the server's requests for a model's answer, which it makes at your expense. The model of
    /// the request is empty: choose one. Without a handler such requests are refused.
    ///
    /// ```
    /// use haft_core::{Finish, Item, Message, Role, Turn, TurnRequest};
    /// use haft_mcp::McpServer;
    ///
    /// let server = McpServer::command("my-server", ["--stdio"]).sampling(|request: TurnRequest| async move {
    ///     let text = format!("{} messages", request.history.len());
    ///     Ok::<_, std::io::Error>(Turn::new(vec![Item::Message(Message::text(Role::Assistant, text))], Finish::Stop))
    /// });
    /// ```
    pub fn sampling<F, Fut, E>(mut self, handler: F) -> Self
    where
        F: Fn(TurnRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Turn, E>> + Send + 'static,
        E: Into<BoxError>,
    {
        self.sampling = Some(sampling::erase(handler));
        self
    }

    /// Sets a function that returns the trace context of a call, which the server gets with it (as `traceparent` and
    /// `tracestate` of its `_meta`). It is called in the task of the call and within its span, so it can read the context
    /// from there, for example with `tracing-opentelemetry`.
    pub fn trace_context(mut self, context: impl Fn() -> Option<TraceContext> + Send + Sync + 'static) -> Self {
        self.trace = Some(Arc::new(context));
        self
    }

    /// Sets a function that removes secrets from what the server says besides its results: progress, questions, errors and
    /// its log. The exact texts of the secrets that are set here are removed without it.
    ///
    /// ```
    /// use haft_mcp::McpServer;
    ///
    /// let server = McpServer::command("my-server", ["--stdio"]).redact(|value| {
    ///     if value.as_str().is_some_and(|text| text.contains("s3cret")) {
    ///         *value = "[removed]".into();
    ///     }
    /// });
    /// ```
    pub fn redact(mut self, remove: impl Fn(&mut Value) + Send + Sync + 'static) -> Self {
        self.hooks.redact = Some(Arc::new(remove));
        self
    }

    /// Sets a function that gets each line of the server's log, without secrets: what it logs by the protocol, and what a
    /// program writes to its standard error. It is called where the server is read, so it must return soon.
    pub fn on_log(mut self, write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.hooks.sink = Some(Arc::new(write));
        self
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Starts the server or connects to it, and lists its tools. This requires a tokio runtime with I/O and time
    /// enabled, which drives the connection from then on.
    pub async fn connect(self) -> Result<McpClient, McpError> {
        McpClient::connect(self).await
    }

    /// Creates the tools from the definitions that the server listed before, without starting it.
    ///
    /// The server is started when one of them is first called. Its tools are listed then, and compared: a call of a
    /// tool whose definition has changed fails with `tool_changed`, one of a tool that is gone with `tool_removed`, and
    /// a new tool is not offered.
    pub fn pinned(self, definitions: impl IntoIterator<Item = Value>) -> McpClient {
        McpClient::pinned(self, definitions)
    }

    /// Returns the secrets, so that what the server writes can be redacted.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        match &self.target {
            Target::Command(command) => command.secrets.iter().map(|(_, value)| value.clone()).collect(),
            Target::Http(http) => {
                http.bearer.iter().chain(http.headers.iter().map(|(_, value)| value)).cloned().collect()
            }
        }
    }
}

/// Shows the program and the URL's origin and path, and neither arguments nor values, which may be secret.
impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("McpServer");
        debug.field("name", &self.name);
        match &self.target {
            Target::Command(command) => debug.field("program", &command.program),
            Target::Http(_) => debug.field("transport", &"http"),
        };
        debug.field("era", &self.era).field("results", &self.results).field("limits", &self.limits);
        debug.finish_non_exhaustive()
    }
}
