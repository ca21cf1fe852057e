//! A verdict on an approval request, as an item of a history.
//!
//! It is plain data. The executor checks whether it is valid (the right request, the right digest, not expired, signed)
//! before it acts on it. A decision that this version does not know must never count as an approval.

use haft_schema::JsonText;
use haft_schema::internal::tree;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::approval_request::{ApprovalId, RequestSignature};
use crate::call::CallId;
use crate::reading::present;
use crate::run_id::RunId;
use crate::timestamp::Timestamp;
use crate::version::FormatVersion;

/// A verdict on an [`ApprovalRequest`](crate::ApprovalRequest).
///
/// In JSON the decision is a word, and its data is a member beside it:
///
/// ```
/// use haft_core::{ApprovalDecision, Verdict};
/// use serde_json::json;
///
/// let verdict: Verdict = serde_json::from_value(json!({
///     "request_id": "q1", "decision": "edited", "arguments": {"cents": 4}, "scope": "these_arguments", "who": "ana"
/// }))?;
/// assert!(matches!(verdict.decision, ApprovalDecision::Edited(_)));
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Verdict {
    /// The format version.
    pub v: FormatVersion,
    /// The id of the approval request.
    pub request_id: ApprovalId,
    /// The call that the request is about.
    pub call_id: Option<CallId>,
    /// The decision.
    pub decision: ApprovalDecision,
    /// The calls that the decision holds for.
    pub scope: ApprovalScope,
    /// The digest that the verdict is for.
    pub digest: String,
    /// The reason.
    pub reason: Option<String>,
    /// The approver.
    pub who: Option<String>,
    /// The time of the decision.
    pub at: Option<Timestamp>,
    /// The expiry of the request, as the request stated it.
    pub expires_at: Option<Timestamp>,
    /// The run of the call, as the request stated it.
    pub run_id: Option<RunId>,
    /// The position of the call in its run, as the request stated it.
    pub index: Option<usize>,
    /// The signature of the request.
    pub signature: Option<RequestSignature>,
    /// Opaque data that must be returned to a provider with the verdict, by provider name.
    pub provider_data: Map<String, Value>,
    extra: Map<String, Value>,
}

/// The decision.
#[derive(Clone, Debug, PartialEq)]
pub enum ApprovalDecision {
    /// The call may run.
    Approved,
    /// The call must not run.
    Denied,
    /// The call may run with these arguments instead.
    Edited(JsonText),
    /// The call must not run: this is its result.
    Answered(JsonText),
    /// A decision that this version does not know, or one without its data. The call must not run.
    Other(String),
}

/// The calls that a decision holds for, written as its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum ApprovalScope {
    /// This call only.
    #[default]
    ThisCall,
    /// Every call of this tool with these arguments.
    TheseArguments,
    /// Every call of this tool. An edit or an answer holds for these arguments only.
    ThisTool,
    /// Every call of the same caller that requires approval. An edit or an answer holds for these arguments only.
    ThisSession,
    /// A scope that this version does not know: it holds for this call only.
    Other(String),
}

/// A verdict as it is written in JSON.
#[derive(Deserialize)]
struct VerdictForm {
    #[serde(default)]
    v: FormatVersion,
    request_id: ApprovalId,
    #[serde(default)]
    call_id: Option<CallId>,
    decision: String,
    #[serde(default, deserialize_with = "present")]
    arguments: Option<JsonText>,
    #[serde(default, deserialize_with = "present")]
    answer: Option<JsonText>,
    #[serde(default)]
    scope: ApprovalScope,
    #[serde(default)]
    digest: String,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    who: Option<String>,
    #[serde(default)]
    at: Option<Timestamp>,
    #[serde(default)]
    expires_at: Option<Timestamp>,
    #[serde(default)]
    run_id: Option<RunId>,
    #[serde(default)]
    index: Option<usize>,
    #[serde(default)]
    signature: Option<RequestSignature>,
    #[serde(default)]
    provider_data: Map<String, Value>,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

impl Verdict {
    /// Creates a verdict that names its request and nothing else. Where digests or signatures are checked, use
    /// [`ApprovalRequest::respond`](crate::ApprovalRequest::respond), which binds the verdict to the request.
    #[must_use]
    pub fn new(request_id: impl Into<ApprovalId>, decision: ApprovalDecision) -> Self {
        Self {
            v: FormatVersion::default(),
            request_id: request_id.into(),
            call_id: None,
            decision,
            scope: ApprovalScope::default(),
            digest: String::new(),
            reason: None,
            who: None,
            at: None,
            expires_at: None,
            run_id: None,
            index: None,
            signature: None,
            provider_data: Map::new(),
            extra: Map::new(),
        }
    }

    /// Sets the digest.
    #[must_use]
    pub fn digest(mut self, digest: impl Into<String>) -> Self {
        self.digest = digest.into();
        self
    }

    /// Sets the reason.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Sets the calls that the decision holds for.
    #[must_use]
    pub fn scope(mut self, scope: ApprovalScope) -> Self {
        self.scope = scope;
        self
    }

    /// Sets the approver and the time of the decision.
    #[must_use]
    pub fn decided(mut self, who: impl Into<String>, at: Timestamp) -> Self {
        self.who = Some(who.into());
        self.at = Some(at);
        self
    }
}

impl ApprovalDecision {
    /// Returns the name, as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Edited(_) => "edited",
            Self::Answered(_) => "answered",
            Self::Other(name) => name,
        }
    }
}

/// Creates a decision from its name alone. `edited` and `answered` need data and become [`Other`](Self::Other).
impl From<&str> for ApprovalDecision {
    fn from(name: &str) -> Self {
        match name {
            "approved" => Self::Approved,
            "denied" => Self::Denied,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl ApprovalScope {
    /// Returns the name, as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::ThisCall => "this_call",
            Self::TheseArguments => "these_arguments",
            Self::ThisTool => "this_tool",
            Self::ThisSession => "this_session",
            Self::Other(name) => name,
        }
    }
}

impl From<&str> for ApprovalScope {
    fn from(name: &str) -> Self {
        match name {
            "this_call" => Self::ThisCall,
            "these_arguments" => Self::TheseArguments,
            "this_tool" => Self::ThisTool,
            "this_session" => Self::ThisSession,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl Serialize for ApprovalScope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ApprovalScope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|name| Self::from(name.as_str()))
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("v", &self.v)?;
        map.serialize_entry("request_id", &self.request_id)?;
        if let Some(call_id) = &self.call_id {
            map.serialize_entry("call_id", call_id)?;
        }
        map.serialize_entry("decision", self.decision.as_str())?;
        match &self.decision {
            ApprovalDecision::Edited(arguments) => map.serialize_entry("arguments", arguments)?,
            ApprovalDecision::Answered(answer) => map.serialize_entry("answer", answer)?,
            ApprovalDecision::Approved | ApprovalDecision::Denied | ApprovalDecision::Other(_) => {}
        }
        if self.scope != ApprovalScope::ThisCall {
            map.serialize_entry("scope", &self.scope)?;
        }
        if !self.digest.is_empty() {
            map.serialize_entry("digest", &self.digest)?;
        }
        for (key, words) in [("reason", &self.reason), ("who", &self.who)] {
            if let Some(words) = words {
                map.serialize_entry(key, words)?;
            }
        }
        for (key, moment) in [("at", &self.at), ("expires_at", &self.expires_at)] {
            if let Some(moment) = moment {
                map.serialize_entry(key, moment)?;
            }
        }
        if let Some(run_id) = &self.run_id {
            map.serialize_entry("run_id", run_id)?;
        }
        if let Some(index) = &self.index {
            map.serialize_entry("index", index)?;
        }
        if let Some(signature) = &self.signature {
            map.serialize_entry("signature", signature)?;
        }
        if !self.provider_data.is_empty() {
            map.serialize_entry("provider_data", &self.provider_data)?;
        }
        for (key, value) in &self.extra {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Verdict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Read through a tree: serde's buffer of flattened fields loses numbers under `arbitrary_precision`.
        let written = VerdictForm::deserialize(tree(deserializer)?).map_err(serde::de::Error::custom)?;
        let VerdictForm { v, request_id, call_id, decision, mut arguments, mut answer, scope, digest, .. } = written;
        let VerdictForm { reason, who, at, expires_at, run_id, index, signature, provider_data, .. } = written;
        let mut extra = written.extra;
        let decision = match decision.as_str() {
            "edited" if arguments.is_some() => arguments.take().map(ApprovalDecision::Edited),
            "answered" if answer.is_some() => answer.take().map(ApprovalDecision::Answered),
            _ => None,
        }
        .unwrap_or_else(|| ApprovalDecision::from(decision.as_str()));
        // Data of another decision is kept, so that nothing is lost when the verdict is written again.
        for (key, left) in [("arguments", arguments), ("answer", answer)] {
            if let Some(left) = left {
                extra.insert(key.to_owned(), left.to_value());
            }
        }
        Ok(Self {
            v,
            request_id,
            call_id,
            decision,
            scope,
            digest,
            reason,
            who,
            at,
            expires_at,
            run_id,
            index,
            signature,
            provider_data,
            extra,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(response: &Value) -> Verdict {
        serde_json::from_value(response.clone()).unwrap()
    }

    #[test]
    fn fields_of_a_later_version_are_kept() {
        let response = json!({
            "v": 1, "request_id": "r1", "decision": "escalated", "arguments": {"amount": 3}, "to": ["ana"]
        });
        let response_read = read(&response);
        assert_eq!(response_read.decision, ApprovalDecision::Other("escalated".to_owned()));
        assert_eq!(serde_json::to_value(&response_read).unwrap(), response);
    }

    #[test]
    fn a_decision_without_its_data_is_unknown() {
        let edited = json!({"v": 1, "request_id": "r1", "decision": "edited", "arguments": null});
        assert_eq!(read(&edited).decision, ApprovalDecision::Edited(JsonText::null()));
        let answered = json!({"v": 1, "request_id": "r1", "decision": "answered", "answer": [1, 2]});
        assert_eq!(read(&answered).decision, ApprovalDecision::Answered(json!([1, 2]).into()));
        for word in ["edited", "answered"] {
            let bare = json!({"v": 1, "request_id": "r1", "decision": word});
            assert_eq!(read(&bare).decision, ApprovalDecision::Other(word.to_owned()));
            assert_eq!(serde_json::to_value(read(&bare)).unwrap(), bare);
        }
        let mixed = json!({"v": 1, "request_id": "r1", "decision": "approved", "arguments": {"a": 1}});
        assert_eq!(read(&mixed).decision, ApprovalDecision::Approved);
        assert_eq!(serde_json::to_value(read(&mixed)).unwrap(), mixed);
    }

    #[test]
    fn an_unknown_decision_is_not_an_approval() {
        for name in ["Approved", "approve", "yes", "", "edited"] {
            assert_ne!(ApprovalDecision::from(name), ApprovalDecision::Approved, "{name}");
        }
    }

    #[test]
    fn a_scope_is_a_word() {
        for scope in ["this_call", "these_arguments", "this_tool", "this_session", "this_planet"] {
            assert_eq!(ApprovalScope::from(scope).as_str(), scope);
        }
        assert_eq!(ApprovalScope::from("This_tool"), ApprovalScope::Other("This_tool".to_owned()));
    }
}
