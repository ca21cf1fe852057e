//! Messages and their blocks as written, borrowing from the request.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A conversation message.
#[derive(Debug, Serialize)]
pub(super) struct SentMessage<'r> {
    pub(super) role: SentRole,
    pub(super) content: Vec<SentBlock<'r>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SentRole {
    User,
    Assistant,
    System,
}

/// A message block.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum SentBlock<'r> {
    Text(SentText<'r>),
    Image(SentImage<'r>),
    Document(SentDocument<'r>),
    Thinking {
        thinking: &'r str,
        signature: &'r str,
    },
    RedactedThinking {
        data: &'r str,
    },
    ToolUse(SentCall<'r>),
    ToolResult(SentResult<'r>),
    /// A block in the provider's own form.
    #[serde(untagged)]
    Own(&'r Value),
    /// A block in the provider's own form, without what this request rejects.
    #[serde(untagged)]
    Changed(Value),
}

/// Provider data that is added to a block as members, such as `cache_control`.
pub(super) type BlockData<'r> = Option<&'r Map<String, Value>>;

#[derive(Debug, Serialize)]
pub(super) struct SentText<'r> {
    pub(super) text: Cow<'r, str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) citations: Vec<SentCitation<'r>>,
    #[serde(flatten)]
    pub(super) extra: BlockData<'r>,
}

/// A citation as the provider sent it, without the file it names: requests have no such member.
#[derive(Debug)]
pub(super) struct SentCitation<'r>(pub(super) &'r Value);

#[derive(Debug, Serialize)]
pub(super) struct SentImage<'r> {
    pub(super) source: SentSource<'r>,
    #[serde(flatten)]
    pub(super) extra: BlockData<'r>,
}

#[derive(Debug, Serialize)]
pub(super) struct SentDocument<'r> {
    pub(super) source: SentSource<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<&'r str>,
    #[serde(flatten)]
    pub(super) extra: BlockData<'r>,
}

/// An image's or document's content.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum SentSource<'r> {
    Base64 { media_type: &'r str, data: &'r str },
    Text { media_type: &'static str, data: Cow<'r, str> },
    Url { url: &'r str },
    File { file_id: &'r str },
}

#[derive(Debug, Serialize)]
pub(super) struct SentCall<'r> {
    pub(super) id: Cow<'r, str>,
    pub(super) name: Cow<'r, str>,
    pub(super) input: SentInput<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) caller: Option<&'r Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) toolset_name: Option<&'r Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_control: Option<&'r Value>,
}

/// A call's arguments, which must be an object.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum SentInput<'r> {
    /// An object that the request contains.
    Object(&'r RawValue),
    /// An object that was converted.
    Converted(Box<RawValue>),
    /// Text that is no object.
    Text { arguments: Cow<'r, str> },
}

#[derive(Debug, Serialize)]
pub(super) struct SentResult<'r> {
    pub(super) tool_use_id: Cow<'r, str>,
    #[serde(skip_serializing_if = "SentOutput::is_empty")]
    pub(super) content: SentOutput<'r>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) toolset_name: Option<&'r Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_control: Option<&'r Value>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum SentOutput<'r> {
    Text(&'r str),
    Blocks(Vec<SentBlock<'r>>),
}

impl Serialize for SentCitation<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(members) => serializer.collect_map(members.iter().filter(|(key, _)| *key != "file_id")),
            other => other.serialize(serializer),
        }
    }
}

/// Returns text as JSON if it is an object.
pub(super) fn object(text: &str) -> Option<&RawValue> {
    serde_json::from_str::<&RawValue>(text).ok().filter(|raw| raw.get().starts_with('{'))
}

impl<'r> SentBlock<'r> {
    /// Creates a text block without citations.
    pub(super) fn text(text: impl Into<Cow<'r, str>>) -> Self {
        Self::Text(SentText { text: text.into(), citations: Vec::new(), extra: None })
    }

    /// Reports whether this is reasoning, which must not end a message.
    pub(super) fn is_thinking(&self) -> bool {
        matches!(self, Self::Thinking { .. } | Self::RedactedThinking { .. })
    }
}

impl SentOutput<'_> {
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.trim().is_empty(),
            Self::Blocks(blocks) => blocks.is_empty(),
        }
    }
}
