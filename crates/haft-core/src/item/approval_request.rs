//! A request for approval of one call, as an item of a history.
//!
//! It is plain data that may leave the process: to a browser, a database, another server. The digest binds it to its
//! call, and the signature proves that it was created here; the executor checks both before it acts on a verdict.
//! Nothing here decides about a call. Fields that a later version adds are kept.

use haft_schema::JsonText;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::decider::Decider;
use super::question::Question;
use super::verdict::{ApprovalDecision, Verdict};
use crate::call::{CallId, ToolCall};
use crate::run_id::RunId;
use crate::text_id::text_id;
use crate::timestamp::Timestamp;
use crate::version::FormatVersion;

text_id! {
    /// The id of an approval request. Cheap to clone.
    ApprovalId
}

/// A request for approval of one call, or a [question](Self::question) of one that runs.
///
/// A verdict in JSON, as a user interface writes it, returns the members that bind it unchanged: `request_id`,
/// `call_id`, `digest`, and `expires_at`, `run_id`, `index` and `signature` if the request has them. It adds `decision`, which is
/// `approved`, `denied` (with a `reason`), `edited` (with `arguments`, a JSON value and not text) or `answered` (with
/// an `answer`), and optionally `scope` (`this_call`, `these_arguments`, `this_tool`, `this_session`), `who` and `at`
/// (Unix milliseconds). A server that receives verdicts should set `who` and `scope` itself and must not trust the
/// client with them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The format version.
    #[serde(default)]
    pub v: FormatVersion,
    /// The id that a verdict must name.
    pub request_id: ApprovalId,
    /// The call that waits.
    pub call_id: CallId,
    /// The name of the tool.
    pub tool: String,
    /// The arguments of the call, as text.
    pub arguments: String,
    /// The digest that binds a verdict to exactly this tool and these arguments; empty if unset.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// The rule that required approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<ApprovalRule>,
    /// The party that decides, if the rule names it. It says whom to ask: no verdict is bound to it.
    /// [`decider`](Self::decider) includes the calls inside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decider: Option<Decider>,
    /// The question that the call asks. Without one, the call has not run and requires approval. With one, it has, and
    /// the verdict answers the question: see [`Question`] for the decisions that it accepts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Box<Question>>,
    /// The time at which the request expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The run of the call, and with the call's id its idempotency key. Set in signed requests; a verdict must return it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The position of the call in its run. Set in signed requests; a verdict must return it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// The proof that the request was created here. A verdict must return it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<RequestSignature>,
    /// Opaque data that must be returned to a provider with the request, by provider name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

/// The rule that required approval, written as its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ApprovalRule {
    /// The tool's own policy.
    ToolPolicy,
    /// The policy of the run.
    RunPolicy,
    /// A policy that failed to decide.
    PolicyFailed,
    /// An earlier request for the same call that is still pending.
    StillOpen,
    /// An earlier request for the same call, made before the definition of the tool changed.
    DefinitionChanged,
    /// A rule with another name, of the application or of a later version.
    Other(String),
}

/// The proof that an approval request was created by a holder of the key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RequestSignature {
    /// The id of the key.
    pub key_id: String,
    /// The HMAC-SHA-256 of the request, in hexadecimal.
    pub mac: String,
}

impl RequestSignature {
    /// Creates a signature that was made with the key of this id.
    #[must_use]
    pub fn new(key_id: impl Into<String>, mac: impl Into<String>) -> Self {
        Self { key_id: key_id.into(), mac: mac.into() }
    }
}

impl ApprovalRequest {
    /// Creates a request for approval of a call, without a digest and without an expiry.
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
            decider: None,
            question: None,
            expires_at: None,
            run_id: None,
            index: None,
            signature: None,
            provider_data: Map::new(),
            extra: Map::new(),
        }
    }

    /// Sets the question that the call asks.
    #[must_use]
    pub fn asking(mut self, question: Question) -> Self {
        self.question = Some(Box::new(question));
        self
    }

    /// Names the party that decides.
    #[must_use]
    pub fn decided_by(mut self, decider: Decider) -> Self {
        self.decider = Some(decider);
        self
    }

    /// Returns the party that decides; unset if neither this request nor that of a call inside names one. Approvers
    /// decide if any of them requires it.
    #[must_use]
    pub fn decider(&self) -> Option<Decider> {
        let inside = match self.question.as_deref() {
            Some(Question::Approval { request }) => request.decider(),
            Some(_) | None => None,
        };
        self.decider.max(inside)
    }

    /// Returns the request that a person decides about: that of the call inside which requires approval or asks a
    /// question, or this one. Show its tool and its arguments, and give the verdict on this one.
    ///
    /// ```
    /// use haft_core::{ApprovalRequest, Question, ToolCall};
    ///
    /// let inner = ApprovalRequest::new("q1", &ToolCall::new("i1", "delete_page", r#"{"page":7}"#));
    /// let outer = ToolCall::new("c1", "tidy_up", r#"{"task":"remove old pages"}"#);
    /// let request = ApprovalRequest::new("q2", &outer).asking(Question::approval(inner));
    /// assert_eq!(request.subject().tool, "delete_page");
    /// assert_eq!(request.approve().request_id, "q2");
    /// ```
    #[must_use]
    pub fn subject(&self) -> &Self {
        let mut subject = self;
        while let Some(Question::Approval { request }) = subject.question.as_deref() {
            subject = request;
        }
        subject
    }

    /// Creates the verdict that approves the call, bound to this request.
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
    pub fn approve(&self) -> Verdict {
        self.respond(ApprovalDecision::Approved)
    }

    /// Creates the verdict that denies the call. The model reads the reason.
    #[must_use]
    pub fn deny(&self, reason: impl Into<String>) -> Verdict {
        self.respond(ApprovalDecision::Denied).reason(reason)
    }

    /// Creates the verdict that approves the call with other arguments. They are validated before the call runs.
    #[must_use]
    pub fn edit(&self, arguments: impl Into<JsonText>) -> Verdict {
        self.respond(ApprovalDecision::Edited(arguments.into()))
    }

    /// Creates the verdict that supplies the result of the call: the tool is not run. The value is validated as the
    /// tool's own.
    #[must_use]
    pub fn answer(&self, value: impl Into<JsonText>) -> Verdict {
        self.respond(ApprovalDecision::Answered(value.into()))
    }

    /// Creates a verdict with everything that binds it to this request: id, call, digest, expiry, run and signature.
    #[must_use]
    pub fn respond(&self, decision: ApprovalDecision) -> Verdict {
        let mut response = Verdict::new(&self.request_id, decision).digest(self.digest.as_str());
        response.call_id = Some(self.call_id.clone());
        response.expires_at = self.expires_at;
        response.run_id.clone_from(&self.run_id);
        response.index = self.index;
        response.signature.clone_from(&self.signature);
        response
    }

    /// Reports whether a verdict is for this call with these arguments.
    #[must_use]
    pub fn binds(&self, response: &Verdict) -> bool {
        let names_other_call = response.call_id.as_ref().is_some_and(|call_id| *call_id != self.call_id);
        response.digest == self.digest && !names_other_call
    }

    /// Recreates the request that a verdict on a call claims to answer.
    #[must_use]
    pub fn answered_by(call: &ToolCall, verdict: &Verdict) -> Self {
        let mut request = Self::new(&verdict.request_id, call).digest(verdict.digest.as_str());
        request.expires_at = verdict.expires_at;
        request.run_id.clone_from(&verdict.run_id);
        request.index = verdict.index;
        request.signature.clone_from(&verdict.signature);
        request
    }

    /// Sets the digest.
    #[must_use]
    pub fn digest(mut self, digest: impl Into<String>) -> Self {
        self.digest = digest.into();
        self
    }

    /// Sets the time at which the request expires.
    #[must_use]
    pub fn expires_at(mut self, moment: Timestamp) -> Self {
        self.expires_at = Some(moment);
        self
    }

    /// Reports whether the request is expired at a time.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }
}

impl ApprovalRule {
    /// Returns the name, as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::ToolPolicy => "tool_policy",
            Self::RunPolicy => "run_policy",
            Self::PolicyFailed => "policy_failed",
            Self::StillOpen => "still_open",
            Self::DefinitionChanged => "definition_changed",
            Self::Other(name) => name,
        }
    }
}

impl From<&str> for ApprovalRule {
    fn from(name: &str) -> Self {
        match name {
            "tool_policy" => Self::ToolPolicy,
            "run_policy" => Self::RunPolicy,
            "policy_failed" => Self::PolicyFailed,
            "still_open" => Self::StillOpen,
            "definition_changed" => Self::DefinitionChanged,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl Serialize for ApprovalRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ApprovalRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|name| Self::from(name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_of_a_later_version_is_read_and_kept() {
        let call = ToolCall::new("c1", "pay", "5");
        let mut written = serde_json::to_value(ApprovalRequest::new("q1", &call)).unwrap();
        written["rule"] = "office_hours".into();
        written["urgency"] = "high".into();
        let read: ApprovalRequest = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(read.rule, Some(ApprovalRule::Other("office_hours".into())));
        assert_eq!(serde_json::to_value(&read).unwrap(), written);
    }

    #[test]
    fn approvers_decide_if_a_call_inside_requires_it() {
        let asked = |decider: Option<Decider>| {
            let request = ApprovalRequest::new("q1", &ToolCall::new("c1", "pay", "5"));
            decider.map_or(request.clone(), |decider| request.decided_by(decider))
        };
        let (client, approvers) = (Some(Decider::Client), Some(Decider::Approvers));
        let table = [(None, client, client), (client, approvers, approvers), (approvers, client, approvers)];
        for (outer, inner, expected) in table {
            assert_eq!(asked(outer).asking(Question::approval(asked(inner))).decider(), expected);
        }
    }

    #[test]
    fn every_rule_has_its_name() {
        for name in ["tool_policy", "run_policy", "policy_failed", "still_open", "definition_changed", "another"] {
            assert_eq!(ApprovalRule::from(name).as_str(), name);
        }
    }
}
