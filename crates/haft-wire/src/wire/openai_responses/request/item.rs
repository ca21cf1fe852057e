//! The `input` items, as written.

use std::borrow::Cow;
use std::fmt::Write;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::content::{InputPart, OutputPart};

/// A response item's member that requests do not take.
const CREATED_BY: &str = "created_by";

/// The most characters in a call id.
const ID_CHARS: usize = 64;
/// The digest bytes that replace an id.
const DIGEST_BYTES: usize = 16;

/// One `input` item.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub(super) enum InputItem<'r> {
    Message(MessageItem<'r>),
    Answer(AnswerItem<'r>),
    Reasoning(ReasoningItem<'r>),
    Call(CallItem<'r>),
    Output(OutputItem<'r>),
    ApprovalRequest(ApprovalRequestItem<'r>),
    ApprovalResponse(ApprovalResponseItem<'r>),
    /// An item that the provider sent, as it was.
    Echo(Echo<'r>),
    /// An item with its own type.
    Members(Map<String, Value>),
}

/// A message that has no id.
#[derive(serde::Serialize)]
pub(super) struct MessageItem<'r> {
    #[serde(rename = "type")]
    pub(super) item_type: &'static str,
    pub(super) role: &'static str,
    pub(super) content: MessageContent<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) phase: Option<&'r str>,
}

/// A message's content: one text, or parts.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub(super) enum MessageContent<'r> {
    Text(Cow<'r, str>),
    Parts(Vec<InputPart<'r>>),
}

/// A model message, with its id from the provider.
#[derive(serde::Serialize)]
pub(super) struct AnswerItem<'r> {
    #[serde(rename = "type")]
    pub(super) item_type: &'static str,
    pub(super) role: &'static str,
    pub(super) status: &'r str,
    pub(super) content: Vec<OutputPart<'r>>,
    #[serde(flatten)]
    pub(super) data: OwnMembers<'r>,
}

#[derive(serde::Serialize)]
pub(super) struct ReasoningItem<'r> {
    #[serde(rename = "type")]
    pub(super) item_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<&'r str>,
    pub(super) summary: Parts<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<Parts<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) encrypted_content: Option<&'r str>,
    #[serde(flatten)]
    pub(super) data: OwnMembers<'r>,
}

/// Reasoning parts: as the provider sent them, or made from texts.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub(super) enum Parts<'r> {
    Sent(&'r Value),
    Texts(Vec<ReasoningText<'r>>),
}

#[derive(serde::Serialize)]
pub(super) struct ReasoningText<'r> {
    #[serde(rename = "type")]
    pub(super) part_type: &'static str,
    pub(super) text: &'r str,
}

/// A function or custom tool call.
#[derive(serde::Serialize)]
pub(super) struct CallItem<'r> {
    #[serde(rename = "type")]
    pub(super) item_type: &'static str,
    pub(super) call_id: Cow<'r, str>,
    pub(super) name: Cow<'r, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) namespace: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<Cow<'r, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<Cow<'r, str>>,
    #[serde(flatten)]
    pub(super) data: OwnMembers<'r>,
}

/// A function's or custom tool's output.
#[derive(serde::Serialize)]
pub(super) struct OutputItem<'r> {
    #[serde(rename = "type")]
    pub(super) item_type: &'static str,
    pub(super) call_id: Cow<'r, str>,
    pub(super) output: MessageContent<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) caller: Option<&'r Value>,
    #[serde(flatten)]
    pub(super) data: OwnMembers<'r>,
}

#[derive(serde::Serialize)]
pub(super) struct ApprovalRequestItem<'r> {
    #[serde(rename = "type")]
    pub(super) item_type: &'static str,
    pub(super) id: &'r str,
    pub(super) name: &'r str,
    pub(super) arguments: &'r str,
    #[serde(flatten)]
    pub(super) data: OwnMembers<'r>,
}

#[derive(serde::Serialize)]
pub(super) struct ApprovalResponseItem<'r> {
    #[serde(rename = "type")]
    pub(super) item_type: &'static str,
    pub(super) approval_request_id: &'r str,
    pub(super) approve: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'r str>,
}

/// Returns a call id that the API accepts. Another provider's id that is too long is replaced by its digest, the same
/// in every request.
pub(super) fn sent_id(id: &str) -> Cow<'_, str> {
    if !id.is_empty() && id.chars().count() <= ID_CHARS {
        return Cow::Borrowed(id);
    }
    let digest = Sha256::digest(id.as_bytes());
    let mut replaced = String::from("call_");
    for byte in digest.iter().take(DIGEST_BYTES) {
        let _ = write!(replaced, "{byte:02x}");
    }
    Cow::Owned(replaced)
}

/// A provider's data without some members.
#[derive(Clone, Copy)]
pub(super) struct OwnMembers<'r> {
    data: Option<&'r Map<String, Value>>,
    except: &'static [&'static str],
}

impl<'r> OwnMembers<'r> {
    pub(super) fn none() -> Self {
        Self { data: None, except: &[] }
    }

    pub(super) fn of(data: Option<&'r Map<String, Value>>, except: &'static [&'static str]) -> Self {
        Self { data, except }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    fn iter(&self) -> impl Iterator<Item = (&'r String, &'r Value)> {
        let except = self.except;
        let is_sent = move |key: &&String| key.as_str() != CREATED_BY && !except.contains(&key.as_str());
        self.data.into_iter().flatten().filter(move |(key, _)| is_sent(key))
    }
}

impl Serialize for OwnMembers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// An item as the provider sent it, without the members that it does not take back.
pub(super) struct Echo<'r>(pub(super) &'r Map<String, Value>);

impl Serialize for Echo<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(item) = self;
        let is_shell_output = item.get("type").is_some_and(|item_type| item_type == "shell_call_output");
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in OwnMembers::of(Some(item), &[]).iter() {
            match value {
                Value::Array(outputs) if is_shell_output && key == "output" => {
                    map.serialize_entry(key, &EchoedOutputs(outputs))?;
                }
                _ => map.serialize_entry(key, value)?,
            }
        }
        map.end()
    }
}

/// The outputs of a shell that the provider ran.
struct EchoedOutputs<'r>(&'r [Value]);

impl Serialize for EchoedOutputs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut outputs = serializer.serialize_seq(Some(self.0.len()))?;
        for output in self.0 {
            match output.as_object() {
                Some(members) => outputs.serialize_element(&OwnMembers::of(Some(members), &[]))?,
                None => outputs.serialize_element(output)?,
            }
        }
        outputs.end()
    }
}
