//! The chunks of the protocol.

use haft_core::{ApprovalId, CallId, Question, Timestamp};
use haft_schema::JsonText;
use serde::Serialize;

/// A chunk, as it is written.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(super) enum Chunk<'a> {
    Start {
        #[serde(skip_serializing_if = "Option::is_none")]
        message_id: Option<&'a str>,
    },
    StartStep,
    ResetStep,
    FinishStep,
    TextStart {
        id: &'a str,
    },
    TextDelta {
        id: &'a str,
        delta: &'a str,
    },
    TextEnd {
        id: &'a str,
    },
    ReasoningStart {
        id: &'a str,
    },
    ReasoningDelta {
        id: &'a str,
        delta: &'a str,
    },
    ReasoningEnd {
        id: &'a str,
    },
    SourceUrl {
        source_id: &'a str,
        url: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
    },
    File {
        url: &'a str,
        media_type: &'a str,
    },
    ToolInputStart {
        tool_call_id: &'a CallId,
        tool_name: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        provider_executed: bool,
    },
    ToolInputDelta {
        tool_call_id: &'a CallId,
        input_text_delta: &'a str,
    },
    ToolInputAvailable {
        tool_call_id: &'a CallId,
        tool_name: &'a str,
        input: &'a JsonText,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        provider_executed: bool,
    },
    ToolApprovalRequest {
        approval_id: &'a ApprovalId,
        tool_call_id: &'a CallId,
        #[serde(skip_serializing_if = "Option::is_none")]
        approval_descriptor: Option<ApprovalDescriptor<'a>>,
    },
    ToolApprovalResponse {
        approval_id: &'a ApprovalId,
        approved: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'a str>,
    },
    ToolOutputAvailable {
        tool_call_id: &'a CallId,
        output: &'a JsonText,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        preliminary: bool,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        provider_executed: bool,
    },
    ToolOutputError {
        tool_call_id: &'a CallId,
        error_text: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        provider_executed: bool,
    },
    ToolOutputDenied {
        tool_call_id: &'a CallId,
    },
    /// The progress of a tool. It is no part of the message: the browser gets it by `onData`.
    #[serde(rename = "data-tool-progress")]
    ToolProgress {
        id: &'a CallId,
        data: ProgressData<'a>,
        transient: bool,
    },
    /// A verdict that does not count. It is no part of the message either.
    #[serde(rename = "data-verdict-rejected")]
    VerdictRejected {
        id: &'a ApprovalId,
        data: RejectedData<'a>,
        transient: bool,
    },
    Abort {
        reason: &'a str,
    },
    Error {
        error_text: &'a str,
    },
    Finish {
        finish_reason: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        message_metadata: Option<EndMetadata<'a>>,
    },
}

/// The digest and the expiry of an approval request, which the browser keeps and posts back, and its question.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ApprovalDescriptor<'a> {
    pub(super) digest: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) question: Option<&'a Question>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProgressData<'a> {
    pub(super) tool_name: &'a str,
    pub(super) progress: &'a JsonText,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RejectedData<'a> {
    pub(super) approval_id: &'a ApprovalId,
}

/// The reason of an end that the protocol has no word for.
#[derive(Serialize)]
pub(super) struct EndMetadata<'a> {
    pub(super) end: &'a str,
}

impl Chunk<'_> {
    /// Writes the chunk as a server-sent event.
    pub(super) fn to_sse(&self) -> String {
        // Every part of a chunk is JSON already or text.
        format!("data: {}\n\n", serde_json::to_string(self).unwrap_or_default())
    }
}
