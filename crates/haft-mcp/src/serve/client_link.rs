//! The way from a running call to its client: log messages, questions, requests for a model's answer.
//!
//! Everything is handed to the task that answers the request and sent from there, whatever task the handler runs in: the
//! protocol requires that it belongs to the request.

use std::fmt;
use std::sync::Arc;

use haft_core::FailureKind;
use haft_core::ToolFailure;
use rmcp::model::{
    ClientCapabilities, CreateMessageRequest, ElicitRequest, InputRequest, LoggingLevel,
    LoggingMessageNotificationParam,
};
use serde_json::Value;
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
pub struct ServedClient(Arc<LinkState>);

struct LinkState {
    outgoing: mpsc::Sender<Outgoing>,
    name: Option<String>,
    capabilities: Option<ClientCapabilities>,
    /// The least level that the client wants; unset if it wants no messages.
    level: Option<LogLevel>,
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
        (Self(Arc::new(LinkState { outgoing, name, capabilities, level })), sent)
    }

    /// Returns the name that the client states.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.0.name.as_deref()
    }

    /// Sends a log message, if the client wants messages of this level.
    pub async fn log(&self, level: LogLevel, data: impl Into<Value> + Send) {
        if self.0.level.is_some_and(|least| level >= least) {
            let message = LoggingMessageNotificationParam::new(level.into(), data.into());
            drop(self.0.outgoing.send(Outgoing::Log(message)).await);
        }
    }

    /// Sends an `elicitation/create` with these `params` and returns its result: the user's `action`, and the `content` if
    /// they accept. Prefer [`Cx::ask`](haft_executor::Cx::ask).
    pub async fn elicit(&self, params: Value) -> Result<Value, AskClientError> {
        if self.capabilities().is_none_or(|capabilities| capabilities.elicitation.is_none()) {
            return Err(AskClientError::Unsupported { what: "elicitation" });
        }
        let params = serde_json::from_value(params).map_err(|error| malformed(&error))?;
        self.ask(InputRequest::Elicitation(ElicitRequest::new(params))).await
    }

    /// Sends a `sampling/createMessage` with these `params` and returns its result: a message of the client's model.
    pub async fn sample(&self, params: Value) -> Result<Value, AskClientError> {
        if self.capabilities().is_none_or(|capabilities| capabilities.sampling.is_none()) {
            return Err(AskClientError::Unsupported { what: "sampling" });
        }
        let params = serde_json::from_value(params).map_err(|error| malformed(&error))?;
        self.ask(InputRequest::CreateMessage(CreateMessageRequest::new(params))).await
    }

    pub(super) fn capabilities(&self) -> Option<&ClientCapabilities> {
        self.0.capabilities.as_ref()
    }

    pub(super) async fn ask(&self, request: InputRequest) -> Result<Value, AskClientError> {
        let (reply, answer) = oneshot::channel();
        let sent = self.0.outgoing.send(Outgoing::Ask(Ask { request, reply })).await;
        sent.map_err(|_| AskClientError::Gone)?;
        answer.await.unwrap_or(Err(AskClientError::Gone))
    }
}

impl fmt::Debug for ServedClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServedClient").field("name", &self.0.name).finish_non_exhaustive()
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
