//! The way from a running call to its client: log messages, questions, requests for a model's answer.
//!
//! Everything is handed to the task that answers the request and sent from there, whatever task the handler runs in: the
//! protocol requires that it belongs to the request.

use std::fmt;
use std::sync::{Arc, OnceLock};

use haft_core::FailureKind;
use haft_core::ToolFailure;
use rmcp::model::{
    ClientCapabilities, CreateMessageRequest, ElicitRequest, InputRequest, ListRootsRequest, LoggingLevel,
    LoggingMessageNotificationParam,
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

/// The messages that wait to be sent. A handler that sends more waits.
const BUFFERED: usize = 16;

/// The client of a served call: a [service](haft_executor::Cx::service) of its run.
///
/// ```
/// use haft_executor::{Cx, Tool};
/// use haft_mcp::serve::{LogLevel, ServedClient};
///
/// let tool = Tool::new("import").handler(|(), cx: Cx| async move {
///     if let Ok(client) = cx.service::<ServedClient>() {
///         client.log(LogLevel::Info, "3 rows were skipped").await;
///     }
/// })?;
/// # let _ = tool;
/// # Ok::<_, haft_executor::DefinitionError>(())
/// ```
///
/// To ask the user, [`Cx::ask`](haft_executor::Cx::ask) and [resumable](haft_executor::ToolBuilder::resumable) handlers are the
/// better choice: they work wherever the tool runs.
#[derive(Clone)]
pub struct ServedClient {
    link: Arc<LinkState>,
    key: Option<Arc<str>>,
}

struct LinkState {
    outgoing: mpsc::Sender<Outgoing>,
    name: Option<String>,
    capabilities: Option<ClientCapabilities>,
    /// The least level that the client wants; unset if it wants no messages.
    level: Option<LogLevel>,
    /// The capability that the call needs and the client has not.
    missing: OnceLock<ClientCapabilities>,
}

/// The level of a log message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// Details for debugging.
    Debug,
    /// General information.
    Info,
    /// A normal event that matters.
    Notice,
    /// A warning.
    Warning,
    /// An error.
    Error,
    /// A critical error.
    Critical,
    /// A state in which somebody must act at once.
    Alert,
    /// The system is unusable.
    Emergency,
}

/// A message of a call.
pub(super) enum Outgoing {
    Log(LoggingMessageNotificationParam),
    Ask(Ask),
}

/// A request to the client.
pub(super) struct Ask {
    /// The name of the request, for a client that is asked by results.
    pub(super) key: Option<Arc<str>>,
    pub(super) request: InputRequest,
    pub(super) reply: oneshot::Sender<Result<Value, AskClientError>>,
}

/// A request to a client has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AskClientError {
    /// The client does not support it.
    #[error("the client does not support {what}")]
    Unsupported {
        /// The capability.
        what: &'static str,
    },
    /// The request is malformed.
    #[error("the request is malformed: {reason}")]
    Malformed {
        /// The reason.
        reason: String,
    },
    /// The client answered with an error.
    #[error("the client answered with an error: {message}")]
    Rejected {
        /// The client's message.
        message: String,
    },
    /// The client is gone, or its call has ended.
    #[error("the client is gone")]
    Gone,
}

impl ServedClient {
    pub(super) fn new(
        name: Option<String>,
        capabilities: Option<ClientCapabilities>,
        level: Option<LogLevel>,
    ) -> (Self, mpsc::Receiver<Outgoing>) {
        let (outgoing, sent) = mpsc::channel(BUFFERED);
        let link = LinkState { outgoing, name, capabilities, level, missing: OnceLock::new() };
        (Self { link: Arc::new(link), key: None }, sent)
    }

    /// Returns the name that the client states.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.link.name.as_deref()
    }

    /// Names the requests that are made with the returned client. A client of the new era reads the name, and may answer a
    /// request by its name before it is asked.
    #[must_use]
    pub fn keyed(&self, key: impl Into<String>) -> Self {
        Self { link: Arc::clone(&self.link), key: Some(key.into().into()) }
    }

    /// Sends a log message, if the client wants messages of this level.
    pub async fn log(&self, level: LogLevel, data: impl Into<Value> + Send) {
        if self.link.level.is_some_and(|least| level >= least) {
            let message = LoggingMessageNotificationParam::new(level.into(), data.into());
            drop(self.link.outgoing.send(Outgoing::Log(message)).await);
        }
    }

    /// Sends an `elicitation/create` with these `params` and returns its result: the user's `action`, and the `content` if
    /// they accept. Prefer [`Cx::ask`](haft_executor::Cx::ask).
    pub async fn elicit(&self, params: Value) -> Result<Value, AskClientError> {
        self.require("elicitation", |client| client.elicitation.is_some())?;
        let params = serde_json::from_value(params).map_err(|error| malformed(&error))?;
        self.ask(InputRequest::Elicitation(ElicitRequest::new(params))).await
    }

    /// Sends a `sampling/createMessage` with these `params` and returns its result: a message of the client's model.
    pub async fn sample(&self, params: Value) -> Result<Value, AskClientError> {
        self.require("sampling", |client| client.sampling.is_some())?;
        let params = serde_json::from_value(params).map_err(|error| malformed(&error))?;
        self.ask(InputRequest::CreateMessage(CreateMessageRequest::new(params))).await
    }

    /// Sends a `roots/list` and returns its result: the folders that the client offers.
    pub async fn roots(&self) -> Result<Value, AskClientError> {
        self.require("roots", |client| client.roots.is_some())?;
        self.ask(InputRequest::ListRoots(ListRootsRequest::default())).await
    }

    fn require(&self, what: &'static str, has: impl Fn(&ClientCapabilities) -> bool) -> Result<(), AskClientError> {
        if self.capabilities().is_some_and(has) {
            return Ok(());
        }
        if let Ok(missing) = serde_json::from_value(json!({what: {}})) {
            // The first one that is missing is reported.
            let _ = self.link.missing.set(missing);
        }
        Err(AskClientError::Unsupported { what })
    }

    /// Returns the capability that the call needs and the client has not.
    pub(super) fn missing(&self) -> Option<&ClientCapabilities> {
        self.link.missing.get()
    }

    pub(super) fn capabilities(&self) -> Option<&ClientCapabilities> {
        self.link.capabilities.as_ref()
    }

    pub(super) async fn ask(&self, request: InputRequest) -> Result<Value, AskClientError> {
        let (reply, answer) = oneshot::channel();
        let sent = self.link.outgoing.send(Outgoing::Ask(Ask { key: self.key.clone(), request, reply })).await;
        sent.map_err(|_| AskClientError::Gone)?;
        answer.await.unwrap_or(Err(AskClientError::Gone))
    }
}

impl fmt::Debug for ServedClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServedClient").field("name", &self.link.name).finish_non_exhaustive()
    }
}

impl From<AskClientError> for ToolFailure {
    fn from(error: AskClientError) -> Self {
        Self::new(FailureKind::InputRequired, error.to_string())
    }
}

fn malformed(error: &serde_json::Error) -> AskClientError {
    AskClientError::Malformed { reason: error.to_string() }
}

impl From<LogLevel> for LoggingLevel {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Debug => Self::Debug,
            LogLevel::Info => Self::Info,
            LogLevel::Notice => Self::Notice,
            LogLevel::Warning => Self::Warning,
            LogLevel::Error => Self::Error,
            LogLevel::Critical => Self::Critical,
            LogLevel::Alert => Self::Alert,
            LogLevel::Emergency => Self::Emergency,
        }
    }
}

impl From<LoggingLevel> for LogLevel {
    fn from(level: LoggingLevel) -> Self {
        match level {
            LoggingLevel::Debug => Self::Debug,
            LoggingLevel::Info => Self::Info,
            LoggingLevel::Notice => Self::Notice,
            LoggingLevel::Warning => Self::Warning,
            LoggingLevel::Error => Self::Error,
            LoggingLevel::Critical => Self::Critical,
            LoggingLevel::Alert => Self::Alert,
            LoggingLevel::Emergency => Self::Emergency,
        }
    }
}
