//! Errors of a state, and of answers and verdicts that are added to one.

use haft_core::{ApprovalId, CallId};
use haft_executor::VerdictFault;
use haft_schema::Issues;

/// The number of ids in a message; the others are counted.
const MOST_LISTED: usize = 5;

/// The error of a [`LoopState`](crate::LoopState), or of an answer or a verdict for it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// No open interaction has the id.
    #[error(
        "no open interaction has the call id `{call_id}`; a call that requires approval takes a verdict by `TurnLoop::verdict`"
    )]
    UnknownInteraction {
        /// The id.
        call_id: CallId,
    },
    /// The answer to an interaction is invalid by the tool's success schema. It was not added.
    #[error("the answer to the interaction `{call_id}` is invalid: {issues}")]
    Answer {
        /// The id.
        call_id: CallId,
        /// The issues of the answer.
        issues: Issues,
    },
    /// The answer can't be checked, as the loop has no interaction with the name of the tool.
    #[error(
        "the interaction `{call_id}` can't be answered: the loop has no interaction `{tool}`; add the tool, or close the interaction with `LoopState::close`"
    )]
    UnknownTool {
        /// The id.
        call_id: CallId,
        /// The name of the tool.
        tool: String,
    },
    /// The answer is that of another tool type.
    #[error("the interaction `{call_id}` is of the tool `{tool}`, and the answer is one of `{answered}`")]
    OtherTool {
        /// The id.
        call_id: CallId,
        /// The name of the tool that was called.
        tool: String,
        /// The name of the tool type.
        answered: String,
    },
    /// No pending approval request has the id. When a call finishes, its requests are removed from the history.
    #[error(
        "the approval request `{request_id}` is not pending: it is resolved already, or was never made here; {}",
        listed(.pending)
    )]
    UnknownApproval {
        /// The id.
        request_id: ApprovalId,
        /// The ids of the requests that are pending.
        pending: Vec<ApprovalId>,
    },
    /// The approval request has a verdict, and the first one counts.
    #[error("the approval request `{request_id}` already has a verdict")]
    AlreadyDecided {
        /// The id.
        request_id: ApprovalId,
    },
    /// The verdict is for another request: other arguments, or another definition of the tool.
    #[error(
        "the verdict on `{request_id}` is for other arguments or another definition of the tool: its digest differs"
    )]
    OtherDigest {
        /// The id.
        request_id: ApprovalId,
    },
    /// The verdict is rejected, and the approval request stays pending: its edit or answer is invalid, the tool
    /// has changed since, the signature is wrong, or the request is expired.
    #[error("the verdict on `{request_id}` is rejected: {fault}")]
    Verdict {
        /// The approval request.
        request_id: ApprovalId,
        /// The fault; that of an edit or an answer lists its issues.
        #[source]
        fault: VerdictFault,
    },
    /// An interaction is open, but the history contains no such call.
    #[error("the interaction `{call_id}` is open, but the history contains no such call")]
    MissingCall {
        /// The id.
        call_id: CallId,
    },
    /// The last turn is open, but the history does not contain all of its calls.
    #[error("the call `{call_id}` belongs to the open turn, but the history contains no such call")]
    MissingTurnCall {
        /// The id.
        call_id: CallId,
    },
    /// An approval request is about a call that does not precede it.
    #[error(
        "the approval request `{request_id}` is about the call `{call_id}`, but the history contains no such call before it"
    )]
    MissingAskedCall {
        /// The approval request.
        request_id: ApprovalId,
        /// The call.
        call_id: CallId,
    },
    /// A call asks a question, but the state that it goes on with is missing.
    #[error("the request `{request_id}` asks a question of the call `{call_id}`, but the state of the call is missing")]
    MissingWait {
        /// The request.
        request_id: ApprovalId,
        /// The call.
        call_id: CallId,
    },
    /// An interaction is open, but the history contains its output.
    #[error("the interaction `{call_id}` is open, but the history contains its output")]
    AnsweredCall {
        /// The id.
        call_id: CallId,
    },
    /// Two interactions have one id.
    #[error("two interactions have the call id `{call_id}`")]
    DuplicateInteraction {
        /// The id.
        call_id: CallId,
    },
    /// An interaction is open, but the history contains another call with its id.
    #[error(
        "the interaction `{call_id}` is open, but the call at {at} of the history has another tool or other arguments"
    )]
    OtherCall {
        /// The id.
        call_id: CallId,
        /// The position of the other call in the history.
        at: usize,
    },
    /// An interaction is open, but the open turn contains no such call.
    #[error("the interaction `{call_id}` is open, but the open turn contains no such call")]
    ForeignInteraction {
        /// The id.
        call_id: CallId,
    },
    /// The last turn is open, but empty.
    #[error("the open turn has no items")]
    EmptyTurn,
    /// The state is done, but its last turn is open.
    #[error("the state is done, but a turn is open")]
    DoneWhileOpen,
}

/// Lists the ids of pending requests.
fn listed(pending: &[ApprovalId]) -> String {
    let ids: Vec<String> = pending.iter().take(MOST_LISTED).map(|id| format!("`{id:.80}`")).collect();
    match (ids.is_empty(), pending.len().saturating_sub(MOST_LISTED)) {
        (true, _) => "none is pending".to_owned(),
        (false, 0) => format!("pending: {}", ids.join(", ")),
        (false, more) => format!("pending: {} and {more} more", ids.join(", ")),
    }
}
