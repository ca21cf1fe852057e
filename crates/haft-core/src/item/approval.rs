//! A question to a person about one call, and its answer, as items of a history.
//!
//! Both are plain data: deciding who is asked, checking digests and expiry, and acting on an answer are the executor's
//! business. Fields a later version adds are kept, and an answer this version does not know is not a yes.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::call::{CallId, ToolCall};
use crate::text_id::text_id;
use crate::timestamp::Timestamp;
use crate::version::FormatVersion;

text_id! {
    /// The id of a question to a person. Cheap to clone.
    ApprovalId
}

impl ApprovalId {
    /// An id that nobody can guess: the outputs of a keyed hash whose keys the process drew at random.
    pub(crate) fn random() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        static KEYS: OnceLock<[RandomState; 2]> = OnceLock::new();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let [high, low] = KEYS.get_or_init(Default::default).each_ref().map(|keys| keys.hash_one(count));
        Self::from(format!("approval_{high:016x}{low:016x}"))
    }
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
    /// What binds the answer to exactly this tool and these arguments; empty when nothing does. The executor asks and
    /// acts on the answer within one run, and leaves it empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// When the question lapses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// What a provider wants back with the question, by the provider's name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

/// The answer to an [`ApprovalRequest`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalResponse {
    /// The format version.
    #[serde(default)]
    pub v: FormatVersion,
    /// The question this answers.
    pub request_id: ApprovalId,
    /// What was decided.
    pub decision: ApprovalDecision,
    /// The digest the answer was given for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// When it was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// What a provider wants back with the answer, by the provider's name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

/// What was decided. Written as its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ApprovalDecision {
    /// The call may run.
    Approved,
    /// The call must not run.
    Denied,
    /// A decision this version does not know. The call must not run.
    Other(String),
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
            expires_at: None,
            provider_data: Map::new(),
            extra: Map::new(),
        }
    }

    /// The answer yes, to this question and its digest.
    ///
    /// ```
    /// use haft_core::{ApprovalRequest, ToolCall};
    ///
    /// let request = ApprovalRequest::new("q1", &ToolCall::new("c1", "pay", r#"{"cents":5}"#));
    /// assert_eq!(request.approve().request_id, "q1");
    /// assert_eq!(request.deny("too much").reason.as_deref(), Some("too much"));
    /// ```
    #[must_use]
    pub fn approve(&self) -> ApprovalResponse {
        ApprovalResponse::new(&self.request_id, ApprovalDecision::Approved).digest(self.digest.as_str())
    }

    /// The answer no, to this question and its digest. The model reads the reason.
    #[must_use]
    pub fn deny(&self, reason: impl Into<String>) -> ApprovalResponse {
        let denied = ApprovalResponse::new(&self.request_id, ApprovalDecision::Denied);
        denied.digest(self.digest.as_str()).reason(reason)
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
}

impl ApprovalResponse {
    /// An answer.
    #[must_use]
    pub fn new(request_id: impl Into<ApprovalId>, decision: ApprovalDecision) -> Self {
        Self {
            v: FormatVersion::default(),
            request_id: request_id.into(),
            decision,
            digest: String::new(),
            reason: None,
            who: None,
            at: None,
            provider_data: Map::new(),
            extra: Map::new(),
        }
    }

    /// The same answer, given for a digest.
    #[must_use]
    pub fn digest(mut self, digest: impl Into<String>) -> Self {
        self.digest = digest.into();
        self
    }

    /// The same answer with a reason.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// The same answer, saying who decided and when.
    #[must_use]
    pub fn decided(mut self, who: impl Into<String>, at: Timestamp) -> Self {
        self.who = Some(who.into());
        self.at = Some(at);
        self
    }
}

impl ApprovalDecision {
    /// The name, as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Other(name) => name,
        }
    }
}

impl From<&str> for ApprovalDecision {
    fn from(name: &str) -> Self {
        match name {
            "approved" => Self::Approved,
            "denied" => Self::Denied,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl Serialize for ApprovalDecision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ApprovalDecision {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|name| Self::from(name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_of_a_later_version_are_kept() {
        let response = json!({
            "v": 1, "request_id": "r1", "decision": "edited", "arguments": {"amount": 3}, "scope": "this_call"
        });
        let read: ApprovalResponse = serde_json::from_value(response.clone()).unwrap();
        assert_eq!(read.decision, ApprovalDecision::Other("edited".to_owned()));
        assert_eq!(serde_json::to_value(&read).unwrap(), response);
    }

    #[test]
    fn an_unknown_decision_is_not_a_yes() {
        for name in ["Approved", "approve", "yes", "", "edited"] {
            assert_ne!(ApprovalDecision::from(name), ApprovalDecision::Approved, "{name}");
        }
    }
}
