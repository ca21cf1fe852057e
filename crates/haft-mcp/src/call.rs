//! The way of one call: connect if necessary, check the pin, send, and read the answer.
//!
//! A call is sent again only if nothing was sent, or if repeating it has no further effect. A call whose answer was
//! lost otherwise ends as `outcome_unknown`: nobody knows whether it took effect.

mod answer;
mod input;

use std::sync::Arc;

use haft_core::{FailureKind, ToolCall, ToolFailure, ToolOutput};
use haft_executor::{ForwardCx, Tool};
use rmcp::model::{ErrorCode, ErrorData};

use crate::error::McpError;
use crate::link::{Link, PinFault};
use crate::session::{CallFault, OutgoingCall, Session};

use self::answer::Reading;

/// The kind of a call whose tool is not the one that was pinned, or accepted in a lock file.
pub const TOOL_CHANGED: &str = "tool_changed";
/// The kind of a call whose pinned tool the server does not have any more.
pub const TOOL_REMOVED: &str = "tool_removed";
/// The kind of a call whose server requires a login, or one with more rights than the last.
pub const LOGIN_REQUIRED: &str = "login_required";

/// The times that a call is sent at most, in each round.
const MAX_ATTEMPTS: u32 = 3;
/// The times that a server may ask something before it answers.
const MAX_ROUNDS: u32 = 10;

/// Forwards one call to its server.
pub(crate) async fn forward(
    link: Arc<Link>,
    tool: Tool,
    call: ToolCall,
    cx: ForwardCx,
) -> Result<ToolOutput, ToolFailure> {
    cx.mark_unsent();
    let mut was_lost = false;
    let forwarded = exchange(&link, &tool, &call, &cx, &mut was_lost).await;
    // An attempt whose answer was lost may have taken effect, whatever became of the next.
    forwarded.map_err(|failure| if was_lost { failure.started() } else { failure })
}

/// Sends a call until it has an answer or may not be sent again. `was_lost` becomes true when an answer is lost.
async fn exchange(
    link: &Arc<Link>,
    tool: &Tool,
    call: &ToolCall,
    cx: &ForwardCx,
    was_lost: &mut bool,
) -> Result<ToolOutput, ToolFailure> {
    let _slot = link.slot().await;
    let arguments = if call.arguments.trim().is_empty() { "{}" } else { &*call.arguments };
    let (mut attempt, mut round) = (0, 0);
    let mut input = input::resumed(cx, link.server())?;
    loop {
        attempt += 1;
        let session = link.session().await.map_err(|error| unavailable(&error))?;
        link.check_pin(tool.name()).map_err(|fault| rejected_pin(link, tool, fault))?;
        let has_headers =
            link.listing().is_some_and(|listing| listing.get(tool.name()).is_some_and(|tool| tool.has_headers));
        cx.mark_sending()?;
        let server = link.server();
        let outgoing = OutgoingCall {
            tool: tool.name(),
            arguments,
            input: &input,
            has_headers,
            limits: &server.limits,
            trace: server.trace.as_ref(),
        };
        let fault = match session.call(outgoing, cx).await {
            Ok(answer) => match answer::read(&answer, tool, link.server())? {
                Reading::Output(output) => return Ok(output),
                Reading::InputRequired(required) => {
                    // The server has not begun: it keeps nothing until it gets the answers.
                    if !*was_lost {
                        cx.mark_waiting();
                    }
                    round += 1;
                    if round > MAX_ROUNDS {
                        return Err(input::too_many_rounds(link.server(), MAX_ROUNDS));
                    }
                    input = input::given(session.asking(), link.server(), required).await?;
                    attempt = 0;
                    continue;
                }
            },
            Err(fault) => fault,
        };
        let may_repeat = match &fault {
            CallFault::NotSent(_) => true,
            CallFault::Lost(_) => session.has_ended() && may_be_repeated(tool),
            _ => false,
        };
        *was_lost |= matches!(fault, CallFault::Lost(_));
        if attempt >= MAX_ATTEMPTS || !may_repeat {
            return Err(failure(link, &session, fault));
        }
        tracing::debug!(server = link.server().name, tool = tool.name(), attempt, "a call is sent again");
        if !*was_lost {
            cx.mark_waiting();
        }
    }
}

/// Reports whether repeating a call has no further effect, by what the tool states about itself.
fn may_be_repeated(tool: &Tool) -> bool {
    let annotations = tool.annotations();
    let states_idempotence = annotations.get::<haft_core::Idempotent>().is_some();
    annotations.idempotent() || (annotations.readonly() && !states_idempotence)
}

/// Returns the failure of a call that was not sent because its server can't be used.
fn unavailable(error: &McpError) -> ToolFailure {
    let kind = match error {
        McpError::LoginRequired { .. } => LOGIN_REQUIRED.into(),
        _ => FailureKind::ExecutionError,
    };
    let failure = ToolFailure::new(kind, error.to_string()).not_started();
    let failure = match error.retry_after() {
        Some(wait) => failure.retry_after(wait),
        None if error.retryable() => failure.retryable(),
        None => failure.not_retryable(),
    };
    match std::error::Error::source(error) {
        Some(source) => failure.cause(source.to_string()),
        None => failure,
    }
}

fn rejected_pin(link: &Link, tool: &Tool, fault: PinFault) -> ToolFailure {
    let (server, tool) = (&link.server().name, tool.name());
    let (kind, message) = match fault {
        PinFault::Changed => (
            TOOL_CHANGED,
            format!(
                "the MCP server `{server}` has changed the tool `{tool}`; it can't be called until a person accepts it"
            ),
        ),
        PinFault::Removed => {
            (TOOL_REMOVED, format!("the MCP server `{server}` does not have the tool `{tool}` any more"))
        }
    };
    ToolFailure::new(kind, message).not_started().not_retryable()
}

/// Returns the failure of a call that has no answer.
fn failure(link: &Link, session: &Session, fault: CallFault) -> ToolFailure {
    let server = &link.server().name;
    match fault {
        CallFault::NotSent(reason) => {
            let message = format!("the call was not sent: the MCP server `{server}` {reason}");
            ToolFailure::new(FailureKind::ExecutionError, message).not_started().retryable()
        }
        CallFault::Lost(reason) => {
            let message = format!(
                "the MCP server `{server}` {reason} before it answered: the call may have taken effect; check before \
                 calling again"
            );
            ToolFailure::new(FailureKind::OutcomeUnknown, message)
        }
        CallFault::TooLarge(limit) => {
            let message = format!(
                "the answer of the MCP server `{server}` has more than {limit} bytes and was not read; request less, \
                 for example with a filter or a smaller page"
            );
            ToolFailure::new(FailureKind::OutputTooLarge, message)
        }
        CallFault::TimedOut(after) => {
            let message = format!("the MCP server `{server}` did not answer within {after:?}");
            ToolFailure::new(FailureKind::TimedOut, message).started()
        }
        CallFault::LoginRequired => unavailable(&McpError::LoginRequired { server: server.clone() }),
        CallFault::Rejected(error) => rejected(server, session, &error),
    }
}

/// Returns the failure of a call that the server answered with an error of the protocol.
fn rejected(server: &str, session: &Session, error: &ErrorData) -> ToolFailure {
    let text = session.clean(&error.message);
    let message = format!("the MCP server `{server}` rejects the call: {text}");
    match error.code {
        ErrorCode::INVALID_PARAMS => ToolFailure::new(FailureKind::InputValidationError, message).not_started(),
        // The server does not even have the method, or could not read the request.
        ErrorCode::METHOD_NOT_FOUND | ErrorCode::INVALID_REQUEST | ErrorCode::PARSE_ERROR => {
            ToolFailure::new(FailureKind::ExecutionError, message).not_started().not_retryable()
        }
        _ => ToolFailure::new(FailureKind::ExecutionError, message).started().not_retryable(),
    }
}
