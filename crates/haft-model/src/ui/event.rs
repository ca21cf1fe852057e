//! Conversation events that a user may see.

use haft_core::{ApprovalId, CallId, FormatVersion, Question, Timestamp};
use haft_schema::JsonText;
use serde::Serialize;

/// One event that a user may see, tagged by `type`.
///
/// All pieces with the same `part` form one text, and all with the same `call_id` one call. Both are unique in a stream, except
/// that a call which waited appears again in the stream that resumes it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum UiEvent {
    /// A stream begins. A stream that a client reads again starts from the beginning, so the client removes
    /// what it shows of this answer.
    Started,
    /// The user's message. Only in a [history](super::history()).
    UserMessage {
        /// The text.
        text: String,
        /// The images and other files.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        files: Vec<UiFile>,
    },
    /// The model is asked.
    StepStarted {
        /// The step's number.
        step: u32,
    },
    /// Everything that was shown since the start of this step is void.
    StepReset {
        /// The step's number.
        step: u32,
    },
    /// The step ended: all its calls have outputs.
    StepEnded {
        /// The step's number.
        step: u32,
    },
    /// More text from the model.
    TextDelta {
        /// The part that it belongs to.
        part: String,
        /// The text that was added.
        text: String,
    },
    /// More reasoning from the model.
    ReasoningDelta {
        /// The part that it belongs to.
        part: String,
        /// The text that was added.
        text: String,
    },
    /// This part is complete.
    PartEnded {
        /// The part.
        part: String,
    },
    /// A source that the model cites.
    Source {
        /// The page's URL.
        url: String,
        /// The page's title.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// An image or another file that the model wrote.
    Media {
        /// The file.
        #[serde(flatten)]
        file: UiFile,
    },
    /// The model begins to write a call.
    CallStarted {
        /// The call's id.
        call_id: CallId,
        /// The tool's name.
        tool: String,
        /// True if the model's provider executes the call.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        by_provider: bool,
    },
    /// More argument text for a call.
    ArgumentsDelta {
        /// The call's id.
        call_id: CallId,
        /// The text that was added.
        text: String,
    },
    /// The model made a call, or one that waited is resumed.
    Called {
        /// The call's id.
        call_id: CallId,
        /// The tool's name.
        tool: String,
        /// The arguments; a string if the model wrote no JSON.
        arguments: JsonText,
        /// True if the model's provider executes the call.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        by_provider: bool,
    },
    /// The tool reports progress.
    Progress {
        /// The call's id.
        call_id: CallId,
        /// The tool's name.
        tool: String,
        /// The value that the tool emitted, such as `{"done": 3.0, "total": 4.0}`.
        data: JsonText,
    },
    /// A preliminary output, which the next one replaces.
    Preliminary {
        /// The call's id.
        call_id: CallId,
        /// The tool's name.
        tool: String,
        /// The output.
        output: JsonText,
    },
    /// A call's output.
    Output {
        /// The call's id.
        call_id: CallId,
        /// The tool's name.
        tool: String,
        /// The output as the model reads it.
        output: JsonText,
        /// True if the model's provider executed the call.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        by_provider: bool,
    },
    /// The call failed.
    CallFailed {
        /// The call's id.
        call_id: CallId,
        /// The tool's name.
        tool: String,
        /// The failure's kind, such as `denied` or `timed_out`.
        kind: String,
        /// The message as the model reads it.
        message: String,
        /// True if the model's provider executed the call.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        by_provider: bool,
    },
    /// A call requires approval.
    ApprovalRequested {
        /// The request's id, which a verdict must name.
        request_id: ApprovalId,
        /// The call's id.
        call_id: CallId,
        /// The tool's name.
        tool: String,
        /// The arguments that are to be approved.
        arguments: JsonText,
        /// The question that the call asks, if it runs already: show this one. With an `approval` in it, a call inside
        /// requires approval.
        #[serde(skip_serializing_if = "Option::is_none")]
        question: Option<Box<Question>>,
        /// The digest of tool, definition and arguments. A verdict that repeats it holds for exactly what was shown.
        #[serde(skip_serializing_if = "String::is_empty")]
        digest: String,
        /// The time at which the request expires, in milliseconds since the Unix epoch.
        #[serde(skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
        /// True if the model's provider executes the call.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        by_provider: bool,
    },
    /// An approval request was resolved.
    ApprovalResolved {
        /// The request's id.
        request_id: ApprovalId,
        /// The call's id.
        call_id: CallId,
        /// The decision: `approved`, `denied`, `edited` or `answered`.
        decision: String,
        /// The reason.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A verdict does not count: the request has expired, the tool has changed, or another verdict was first.
    VerdictRejected {
        /// The request's id.
        request_id: ApprovalId,
    },
    /// A call waits for the user's answer.
    AnswerRequested {
        /// The call's id, which the answer must name.
        call_id: CallId,
        /// The tool's name.
        tool: String,
        /// The arguments.
        arguments: JsonText,
    },
    /// The answer ended. The last event, unless the answer failed.
    Ended {
        /// The reason.
        end: UiEnd,
    },
    /// The answer failed. The last event.
    Failed {
        /// The error's kind, such as `model`.
        kind: String,
        /// A text for the user, which never quotes the error itself.
        message: String,
    },
}

/// An image or another file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UiFile {
    /// The MIME type.
    pub media_type: String,
    /// The content's URL, or the content as a `data:` URL.
    pub url: String,
    /// The file's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// The reason why an answer ended, written as its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UiEnd {
    /// The model finished.
    Stopped,
    /// The answer was cut off.
    Truncated,
    /// Calls wait for a verdict or an answer.
    Waiting,
    /// The turn limit is reached.
    MaxTurns,
    /// The budget is spent.
    Budget,
    /// A call failed in a class that ends the loop.
    CallsFailed,
    /// The model repeated one call too often.
    RepeatedCalls,
    /// The answer was cancelled.
    Cancelled,
}

/// An event as it is written, with its format version.
#[derive(Serialize)]
pub(super) struct VersionedEvent<'a> {
    v: FormatVersion,
    #[serde(flatten)]
    event: &'a UiEvent,
}

impl UiEvent {
    /// Returns the event's name, which is its `type` in JSON.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::UserMessage { .. } => "user_message",
            Self::StepStarted { .. } => "step_started",
            Self::StepReset { .. } => "step_reset",
            Self::StepEnded { .. } => "step_ended",
            Self::TextDelta { .. } => "text_delta",
            Self::ReasoningDelta { .. } => "reasoning_delta",
            Self::PartEnded { .. } => "part_ended",
            Self::Source { .. } => "source",
            Self::Media { .. } => "media",
            Self::CallStarted { .. } => "call_started",
            Self::ArgumentsDelta { .. } => "arguments_delta",
            Self::Called { .. } => "called",
            Self::Progress { .. } => "progress",
            Self::Preliminary { .. } => "preliminary",
            Self::Output { .. } => "output",
            Self::CallFailed { .. } => "call_failed",
            Self::ApprovalRequested { .. } => "approval_requested",
            Self::ApprovalResolved { .. } => "approval_resolved",
            Self::VerdictRejected { .. } => "verdict_rejected",
            Self::AnswerRequested { .. } => "answer_requested",
            Self::Ended { .. } => "ended",
            Self::Failed { .. } => "failed",
        }
    }

    /// Writes the event as a server-sent event.
    pub(super) fn to_sse(&self) -> String {
        let written = VersionedEvent { v: FormatVersion::default(), event: self };
        // Every part of an event is JSON already or text.
        let json = serde_json::to_string(&written).unwrap_or_default();
        format!("event: v{}.{}\ndata: {json}\n\n", FormatVersion::CURRENT, self.name())
    }
}

impl UiEnd {
    /// Returns the name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Truncated => "truncated",
            Self::Waiting => "waiting",
            Self::MaxTurns => "max_turns",
            Self::Budget => "budget",
            Self::CallsFailed => "calls_failed",
            Self::RepeatedCalls => "repeated_calls",
            Self::Cancelled => "cancelled",
        }
    }
}
