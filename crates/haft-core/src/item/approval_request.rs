//! A question to a person about one call, as an item of a history.
//!
//! It is plain data that may travel far: to a browser, into a database, to another process. What binds it to its call is
//! the digest, and what proves on return that it was ours is the signature; whoever acts on an answer checks both.
//! Nothing here decides anything. Fields a later version adds are kept.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::approval_response::{ApprovalDecision, ApprovalResponse};
use crate::call::{CallId, ToolCall};
use crate::json_text::JsonText;
use crate::text_id::text_id;
use crate::timestamp::Timestamp;
use crate::version::FormatVersion;

text_id! {
    /// The id of a question to a person. Cheap to clone.
    ApprovalId
}

/// May this call run?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The format version.
    #[serde(default)]
    pub v: FormatVersion,
    /// What the answer must name.
    pub request_id: ApprovalId,
    /// The call that waits.
    pub call_id: CallId,
    /// The name of the tool.
    pub tool: String,
    /// The arguments in question, as text.
    pub arguments: String,
    /// What binds the answer to exactly this tool and these arguments; empty when nothing does.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// What demanded that somebody is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<ApprovalRule>,
    /// When the question lapses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// What proves that the question was asked here. The answer must give it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<RequestSignature>,
    /// What a provider wants back with the question, by the provider's name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

/// What demanded that somebody is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ApprovalRule {
    /// The tool's own policy.
    ToolPolicy,
    /// The policy of the run.
    RunPolicy,
    /// A policy that failed to decide.
    PolicyFailed,
    /// A question that was asked before and is still open.
    StillOpen,
}

/// What proves that a question was asked by somebody who holds a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RequestSignature {
    /// Which key.
    pub key_id: String,
    /// The HMAC-SHA-256 of the question, in hexadecimal.
    pub mac: String,
}

impl ApprovalRequest {
    /// A question about a call, bound by nothing and open for ever until said otherwise.
    #[must_use]
    pub fn new(request_id: impl Into<ApprovalId>, call: &ToolCall) -> Self {
        Self {
            v: FormatVersion::default(),
            request_id: request_id.into(),
            call_id: call.call_id.clone(),
            tool: call.name.clone(),
            arguments: call.arguments.clone(),
            digest: String::new(),
            rule: None,
            expires_at: None,
            signature: None,
            provider_data: Map::new(),
            extra: Map::new(),
        }
    }

    /// The answer yes, to this question and its digest.
    ///
    /// ```
    /// use haft_core::{ApprovalRequest, ApprovalScope, ToolCall};
    /// use serde_json::json;
    ///
    /// let request = ApprovalRequest::new("q1", &ToolCall::new("c1", "pay", r#"{"cents":5}"#));
    /// assert_eq!(request.approve().request_id, "q1");
    /// assert_eq!(request.deny("too much").reason.as_deref(), Some("too much"));
    /// assert_eq!(request.edit(json!({"cents": 4})).decision.as_str(), "edited");
    /// assert_eq!(request.answer(json!("paid by hand")).decision.as_str(), "answered");
    /// let always = request.approve().scope(ApprovalScope::ThisTool);
    /// assert_eq!(serde_json::to_value(&always)?["scope"], "this_tool");
    /// # Ok::<_, serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn approve(&self) -> ApprovalResponse {
        self.respond(ApprovalDecision::Approved)
    }

    /// The answer no. The model reads the reason.
    #[must_use]
    pub fn deny(&self, reason: impl Into<String>) -> ApprovalResponse {
        self.respond(ApprovalDecision::Denied).reason(reason)
    }

    /// The answer yes, with other arguments. They are checked like any others before the call runs.
    #[must_use]
    pub fn edit(&self, arguments: impl Into<JsonText>) -> ApprovalResponse {
        self.respond(ApprovalDecision::Edited(arguments.into()))
    }

    /// A person's own result in the tool's place: the tool is not run. It is checked as the tool's own would be.
    #[must_use]
    pub fn answer(&self, value: impl Into<JsonText>) -> ApprovalResponse {
        self.respond(ApprovalDecision::Answered(value.into()))
    }

    /// Any answer to this question, with everything that binds it: its id and call, digest, end and signature.
    #[must_use]
    pub fn respond(&self, decision: ApprovalDecision) -> ApprovalResponse {
        let mut response = ApprovalResponse::new(&self.request_id, decision).digest(self.digest.as_str());
        response.call_id = Some(self.call_id.clone());
        response.expires_at = self.expires_at;
        response.signature.clone_from(&self.signature);
        response
    }

    /// Whether an answer was given for this very call, with these arguments.
    pub(crate) fn binds(&self, response: &ApprovalResponse) -> bool {
        let names_other_call = response.call_id.as_ref().is_some_and(|call_id| *call_id != self.call_id);
        response.digest == self.digest && !names_other_call
    }

    /// The question about a call that a verdict says it answers.
    pub(crate) fn answered_by(call: &ToolCall, verdict: &ApprovalResponse) -> Self {
        let mut request = Self::new(&verdict.request_id, call).digest(verdict.digest.as_str());
        request.expires_at = verdict.expires_at;
        request.signature.clone_from(&verdict.signature);
        request
    }

    /// The same question, bound by a digest.
    #[must_use]
    pub fn digest(mut self, digest: impl Into<String>) -> Self {
        self.digest = digest.into();
        self
    }

    /// The same question, open until a moment.
    #[must_use]
    pub fn expires_at(mut self, moment: Timestamp) -> Self {
        self.expires_at = Some(moment);
        self
    }

    /// Whether the question has lapsed by a moment.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }
}

impl fmt::Display for ApprovalRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ToolPolicy => "tool_policy",
            Self::RunPolicy => "run_policy",
            Self::PolicyFailed => "policy_failed",
            Self::StillOpen => "still_open",
        })
    }
}
