//! What is wrong with a state, or with what was done to one.

use haft_core::{ApprovalId, CallId, VerdictFault};

/// What is wrong with a [`LoopState`](crate::LoopState), or with an answer given to it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// No open interaction has the id.
    #[error("no open interaction has the call id `{call_id}`")]
    UnknownInteraction {
        /// The id.
        call_id: CallId,
    },
    /// No open question has the id. When a call is settled, the questions about it are taken out of the history.
    #[error("the question `{request_id}` is not open: it is settled already, or was never asked here")]
    UnknownApproval {
        /// The id.
        request_id: ApprovalId,
    },
    /// The question was answered before, and the first verdict counts.
    #[error("the approval `{request_id}` has its verdict already")]
    AlreadyDecided {
        /// The id.
        request_id: ApprovalId,
    },
    /// The verdict was given for another question: other arguments, or another definition of the tool.
    #[error("the verdict on `{request_id}` was given for another digest than was asked about")]
    OtherDigest {
        /// The id.
        request_id: ApprovalId,
    },
    /// The verdict does not count, and the question stays open: its edit or its answer fails the tool's checks, the tool
    /// has changed since, or it is not signed as the question was or came too late.
    #[error("the verdict on `{request_id}` is rejected: {fault}")]
    Verdict {
        /// The question.
        request_id: ApprovalId,
        /// The fault; that of an edit or an answer lists its issues.
        #[source]
        fault: VerdictFault,
    },
    /// An interaction is said to be open, and the history holds no such call.
    #[error("the interaction `{call_id}` is open, but the history holds no such call")]
    MissingCall {
        /// The id.
        call_id: CallId,
    },
    /// The last turn is not decided yet, and the history holds not all of its calls.
    #[error("the call `{call_id}` belongs to the turn that is open, but the history holds no such call")]
    MissingTurnCall {
        /// The id.
        call_id: CallId,
    },
    /// A question is about a call that does not stand before it.
    #[error("the question `{request_id}` is about the call `{call_id}`, but before it the history holds no such call")]
    MissingAskedCall {
        /// The question.
        request_id: ApprovalId,
        /// The call.
        call_id: CallId,
    },
    /// An interaction is said to be open, and the history holds its answer.
    #[error("the interaction `{call_id}` is open, but the history holds its answer")]
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
    /// An interaction is said to be open, and the history holds another call of its id.
    #[error(
        "the interaction `{call_id}` is open, but the call at {at} of the history is of another tool or has other arguments"
    )]
    OtherCall {
        /// The id.
        call_id: CallId,
        /// The place of the other call in the history.
        at: usize,
    },
    /// An interaction is said to be open, and is none of the calls of the turn that is open.
    #[error("the interaction `{call_id}` is open, but the turn that is open made no such call")]
    ForeignInteraction {
        /// The id.
        call_id: CallId,
    },
    /// The last turn is said to be open, and holds nothing.
    #[error("the turn that is open holds no items")]
    EmptyTurn,
    /// The model is said to be done, and its last turn to be open.
    #[error("the state is done, but a turn is open")]
    DoneWhileOpen,
}
