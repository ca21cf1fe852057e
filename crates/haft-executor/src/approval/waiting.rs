//! Calls that wait for answers to their questions, as data.
//!
//! Such a call is stored as its handler's state, the order of its questions, and the answers so far. The open questions
//! are stored beside it, as approval requests. None of this is trusted when the call goes on: each question is compared
//! with its digest, and each answer with its question.

use haft_core::{ApprovalId, ApprovalRequest, ToolCall, Verdict};
use haft_schema::JsonText;
use serde::{Deserialize, Serialize};

use super::question::AskingCall;

/// A call that waits for answers to its questions, with the state that its handler goes on with. Opaque data, for an
/// application that stores calls one by one: see [`Suspended::with_waiting`](crate::Suspended::with_waiting).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaitingCall {
    /// With the arguments that it runs with.
    pub(crate) call: ToolCall,
    pub(crate) wait: StoredWait,
}

/// The state of a call that waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredWait {
    /// The number of times that it has waited, from one.
    pub(crate) round: u32,
    /// Set if it may have had effects already.
    pub(crate) started: bool,
    /// A string of JSON: it comes back to the byte, however deeply it is nested.
    #[serde(with = "text")]
    pub(crate) state: JsonText,
    /// The requests of its questions, in order.
    pub(crate) questions: Vec<ApprovalId>,
    /// The questions that were answered, while others are open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) answers: Vec<StoredAnswer>,
}

/// A question that was answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredAnswer {
    pub(crate) request: ApprovalRequest,
    pub(crate) verdict: Verdict,
}

impl WaitingCall {
    /// Returns the call, with the arguments that it runs with.
    #[must_use]
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// Reports whether a request is one of its open questions.
    #[must_use]
    pub fn asks(&self, request_id: &ApprovalId) -> bool {
        let is_answered = || self.wait.answers.iter().any(|answer| answer.request.request_id == *request_id);
        self.wait.questions.contains(request_id) && !is_answered()
    }
}

impl StoredWait {
    /// Returns what the digests of the questions cover. `call` is the digest of the call.
    pub(crate) fn asking<'a>(&'a self, call: &'a str) -> AskingCall<'a> {
        let questions = self.questions.len();
        AskingCall { call, round: self.round, started: self.started, state: &self.state, questions }
    }
}

/// JSON as a string.
mod text {
    use haft_schema::JsonText;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(text: &JsonText, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(text.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<JsonText, D::Error> {
        JsonText::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
