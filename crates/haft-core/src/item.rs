//! The items of a conversation.
//!
//! ```text
//! user ──────> Message ───────────┐
//! model ─────> Message, Reasoning,│
//!              ToolCall ──────────┤
//! gate ──────> ApprovalRequest ───┼──> history: Vec<Item> ──> the next request
//! approver ──> Verdict ───────────┤
//! executor ──> ToolOutput ────────┤
//! provider ──> ProviderCall ──────┘
//! ```
//!
//! A history is a plain list of items, in the order in which they happened. Items hold what every wire format needs and
//! the shape of none; data that only one provider understands (ids, signatures) is kept with its item as opaque
//! `provider_data`, so that it can be sent back. An item of an unknown type is kept whole: reading a history must never
//! lose a part of it. An item of a *known* type with invalid members is an error, not an unknown item.

mod approval_id;
mod approval_request;
mod author;
mod call_output;
mod decider;
mod message;
mod provider_call;
mod question;
mod reasoning;
mod verdict;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

pub use self::approval_request::{ApprovalId, ApprovalRequest, ApprovalRule, RequestSignature};
pub use self::author::Author;
pub use self::call_output::{CallOutputBody, ToolCallOutput};
pub use self::decider::Decider;
pub use self::message::{Message, Role};
pub use self::provider_call::ProviderCall;
pub use self::question::Question;
pub use self::reasoning::Reasoning;
pub use self::verdict::{ApprovalDecision, ApprovalScope, Verdict};
use crate::call::ToolCall;
use crate::result::ToolResult;
use crate::tagged::{self, ReadVariant, TaggedEnum, UnknownTag};

/// One item of a conversation, tagged by `type`.
///
/// ```
/// use haft_core::{Item, ToolCall, ToolResult};
/// use serde_json::json;
///
/// let call = ToolCall::new("c1", "add", r#"{"a":1,"b":2}"#);
/// let sum = ToolResult::ok(&call, json!(3));
/// let history = vec![Item::user("what is 1 + 2?"), Item::from(call), Item::from(&sum)];
/// assert_eq!(serde_json::to_value(&history)?[2]["type"], "tool_output");
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Item {
    /// A message.
    Message(Message),
    /// The reasoning of the model.
    Reasoning(Reasoning),
    /// A tool call of the model.
    ToolCall(ToolCall),
    /// The output of a tool call.
    ToolOutput(ToolCallOutput),
    /// A request for approval of a call.
    ApprovalRequest(ApprovalRequest),
    /// A verdict on an approval request.
    #[serde(rename = "approval_response")]
    Verdict(Verdict),
    /// A call that the provider made and executed.
    ProviderCall(ProviderCall),
    /// An item of a type that this version does not know, whole, with its `type`. An item that is built by hand with a
    /// known `type` is read back as that type.
    #[serde(untagged)]
    Unknown(Value),
}

impl Item {
    /// Creates a user message of one text.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::Message(Message::text(Role::User, text))
    }

    /// Creates an assistant message of one text.
    #[must_use]
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Message(Message::text(Role::Assistant, text))
    }

    /// Creates a system message of one text.
    #[must_use]
    pub fn system(text: impl Into<String>) -> Self {
        Self::Message(Message::text(Role::System, text))
    }
}

impl From<Message> for Item {
    fn from(message: Message) -> Self {
        Self::Message(message)
    }
}

impl From<Reasoning> for Item {
    fn from(reasoning: Reasoning) -> Self {
        Self::Reasoning(reasoning)
    }
}

impl From<ToolCall> for Item {
    fn from(call: ToolCall) -> Self {
        Self::ToolCall(call)
    }
}

impl From<ToolCallOutput> for Item {
    fn from(output: ToolCallOutput) -> Self {
        Self::ToolOutput(output)
    }
}

impl From<ApprovalRequest> for Item {
    fn from(request: ApprovalRequest) -> Self {
        Self::ApprovalRequest(request)
    }
}

impl From<Verdict> for Item {
    fn from(response: Verdict) -> Self {
        Self::Verdict(response)
    }
}

impl From<ProviderCall> for Item {
    fn from(call: ProviderCall) -> Self {
        Self::ProviderCall(call)
    }
}

/// Creates the output that the model reads from a result.
impl From<&ToolResult> for Item {
    fn from(result: &ToolResult) -> Self {
        Self::ToolOutput(result.to_call_output())
    }
}

impl TaggedEnum for Item {
    const VARIANTS: &'static [(&'static str, ReadVariant<Self>)] = &[
        ("message", |members| members.take_all().map(Self::Message)),
        ("reasoning", |members| members.take_all().map(Self::Reasoning)),
        ("tool_call", |members| members.take_all().map(Self::ToolCall)),
        ("tool_output", |members| members.take_all().map(Self::ToolOutput)),
        ("approval_request", |members| members.take_all().map(Self::ApprovalRequest)),
        ("approval_response", |members| members.take_all().map(Self::Verdict)),
        ("provider_call", |members| members.take_all().map(Self::ProviderCall)),
    ];
    const UNKNOWN: UnknownTag<Self> = UnknownTag::Kept(|object| Self::Unknown(object.into_json()));
}

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}
