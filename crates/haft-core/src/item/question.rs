//! A question that a running call asks.
//!
//! It is a part of an [`ApprovalRequest`], so that it is shown, stored, signed and answered like one. A question of a
//! type that a later version adds is kept, and can only be declined: an answer that nobody can check must not reach
//! the call.

use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::approval_request::ApprovalRequest;
use crate::tagged::{self, ReadVariant, TaggedEnum, UnknownTag};

/// A question that a running call asks a person, tagged by `type`. It is answered by a [`Verdict`](crate::Verdict) on its
/// [request](ApprovalRequest::question).
///
/// | question | accepted decisions |
/// |---|---|
/// | `Input` | `answered` with a value that the schema accepts, `denied` |
/// | `Visit` | `approved` when the person was there, `denied` |
/// | `Approval` | those that the request inside accepts |
/// | `Unknown` | `denied` |
///
/// A denial does not end the call: it learns that the person declined, and the reason.
///
/// ```
/// use haft_core::{ApprovalRequest, Question, ToolCall};
/// use serde_json::json;
///
/// let call = ToolCall::new("c1", "book", r#"{"to":"Rome"}"#);
/// let request = ApprovalRequest::new("q1", &call).asking(Question::input::<u8>("How many passengers?"));
/// let answer = request.answer(json!(2));
/// assert_eq!(answer.decision.as_str(), "answered");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Question {
    /// A value is needed.
    #[non_exhaustive]
    Input {
        /// The question for the person.
        message: String,
        /// The JSON Schema of the answer.
        schema: Value,
    },
    /// The person is asked to visit a page, for example to sign in there. What they do there stays between them and
    /// the page.
    #[non_exhaustive]
    Visit {
        /// The reason, for the person.
        message: String,
        /// The address of the page.
        url: String,
    },
    /// A call inside of this one, such as one of a sub-agent, requires approval or asks a question itself.
    #[non_exhaustive]
    Approval {
        /// The request of the call inside. A verdict must not be given on it, but on the request around it.
        request: Box<ApprovalRequest>,
    },
    /// A question of a type that this version does not know, whole, with its `type`.
    #[serde(untagged)]
    Unknown(Value),
}

impl Question {
    /// Creates a question for a value of the type `T`.
    #[must_use]
    pub fn input<T: JsonSchema>(message: impl Into<String>) -> Self {
        Self::input_json(message, SchemaGenerator::default().into_root_schema_for::<T>().to_value())
    }

    /// Creates a question for a value that a JSON Schema describes. A call that asks with an invalid schema fails.
    #[must_use]
    pub fn input_json(message: impl Into<String>, schema: Value) -> Self {
        Self::Input { message: message.into(), schema }
    }

    /// Creates a request to visit a page.
    #[must_use]
    pub fn visit(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self::Visit { message: message.into(), url: url.into() }
    }

    /// Creates a question that passes on the request of a call inside.
    #[must_use]
    pub fn approval(request: ApprovalRequest) -> Self {
        Self::Approval { request: Box::new(request) }
    }
}

impl TaggedEnum for Question {
    const VARIANTS: &'static [(&'static str, ReadVariant<Self>)] = &[
        ("input", |members| Ok(Self::Input { message: members.take("message")?, schema: members.take("schema")? })),
        ("visit", |members| Ok(Self::Visit { message: members.take("message")?, url: members.take("url")? })),
        ("approval", |members| Ok(Self::Approval { request: members.take("request")? })),
    ];
    const UNKNOWN: UnknownTag<Self> = UnknownTag::Kept(|object| Self::Unknown(object.into_json()));
}

impl<'de> Deserialize<'de> for Question {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::call::ToolCall;

    fn request() -> ApprovalRequest {
        ApprovalRequest::new("q1", &ToolCall::new("c1", "book", "{}"))
    }

    #[test]
    fn every_question_round_trips_in_its_request() {
        let inner = request().asking(Question::visit("Sign in", "https://example.com"));
        for question in [
            Question::input::<u8>("How many?"),
            Question::input_json("Which?", json!({"enum": ["a", "b"]})),
            Question::visit("Sign in", "https://example.com/oauth"),
            Question::approval(request()),
            Question::approval(inner),
        ] {
            let asked = request().asking(question);
            let stored = serde_json::to_string(&asked).unwrap();
            assert_eq!(serde_json::from_str::<ApprovalRequest>(&stored).unwrap(), asked, "{stored}");
        }
    }

    #[test]
    fn a_question_of_a_later_version_is_kept_whole() {
        let poll = json!({"type": "poll", "options": ["a", {"b": [null]}]});
        let read: Question = serde_json::from_value(poll.clone()).unwrap();
        assert_eq!(read, Question::Unknown(poll.clone()));
        assert_eq!(serde_json::to_value(&read).unwrap(), poll);
    }

    #[test]
    fn a_known_question_without_its_members_is_an_error() {
        for wrong in [json!({"type": "input", "message": "?"}), json!({"type": "visit", "url": 1}), json!("?")] {
            assert!(serde_json::from_value::<Question>(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_subject_is_the_innermost_request() {
        let innermost = ApprovalRequest::new("q0", &ToolCall::new("i", "pay", "5"));
        let middle = ApprovalRequest::new("q1", &ToolCall::new("m", "buy", "{}"));
        let outer = request().asking(Question::approval(middle.asking(Question::approval(innermost.clone()))));
        assert_eq!(outer.subject(), &innermost);
        assert_eq!(innermost.subject(), &innermost);
        let asks = request().asking(Question::input::<u8>("How many?"));
        assert_eq!(asks.subject(), &asks);
    }
}
