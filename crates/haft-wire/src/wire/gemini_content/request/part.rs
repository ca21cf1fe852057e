//! The content parts to send.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::function_response::SentResponse;

/// A part: one written here, or the provider's own, sent back as it came.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum SentPart<'a> {
    Written(WrittenPart<'a>),
    Verbatim(&'a Value),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WrittenPart<'a> {
    #[serde(flatten)]
    content: PartContent<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    thought: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thought_signature: Option<&'a str>,
    /// The members beside the content in a provider's part, which are sent back.
    #[serde(flatten)]
    members: Option<&'a Map<String, Value>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum PartContent<'a> {
    Text(Cow<'a, str>),
    InlineData(InlineData<'a>),
    FileData(FileData<'a>),
    FunctionCall(SentFunctionCall<'a>),
    FunctionResponse(SentResponse<'a>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InlineData<'a> {
    pub(super) mime_type: &'a str,
    pub(super) data: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileData<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mime_type: Option<&'a str>,
    pub(super) file_uri: Cow<'a, str>,
}

#[derive(Serialize)]
pub(super) struct SentFunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<&'a str>,
    pub(super) name: Cow<'a, str>,
    pub(super) args: SentArguments<'a>,
}

/// A call's arguments, which must be an object.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum SentArguments<'a> {
    Borrowed(&'a RawValue),
    Owned(Box<RawValue>),
    /// Arguments that are no object.
    Wrapped {
        arguments: Cow<'a, str>,
    },
    None {},
}

impl<'a> SentPart<'a> {
    pub(super) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        PartContent::Text(text.into()).into()
    }

    /// Sets the signature, if there is one.
    pub(super) fn signed(mut self, signature: Option<&'a str>) -> Self {
        if let Self::Written(part) = &mut self {
            part.thought_signature = signature;
        }
        self
    }

    /// Sets the members beside the content, if there are any.
    pub(super) fn with_members(mut self, members: Option<&'a Map<String, Value>>) -> Self {
        if let Self::Written(part) = &mut self {
            part.members = members;
        }
        self
    }

    /// Marks the part as a thought.
    pub(super) fn thought(mut self) -> Self {
        if let Self::Written(part) = &mut self {
            part.thought = true;
        }
        self
    }

    /// Returns the part if it is a function call.
    pub(super) fn call_mut(&mut self) -> Option<&mut WrittenPart<'a>> {
        match self {
            Self::Written(part) => Some(part).filter(|part| matches!(part.content, PartContent::FunctionCall(_))),
            Self::Verbatim(_) => None,
        }
    }
}

impl<'a> From<PartContent<'a>> for SentPart<'a> {
    fn from(content: PartContent<'a>) -> Self {
        Self::Written(WrittenPart { content, thought: false, thought_signature: None, members: None })
    }
}

impl<'a> SentArguments<'a> {
    /// Converts argument text. Text that is not an object becomes a member of one.
    pub(super) fn of(text: Cow<'a, str>) -> Self {
        if text.trim().is_empty() {
            return Self::None {};
        }
        if !text.trim_start().starts_with('{') {
            return Self::Wrapped { arguments: text };
        }
        match text {
            Cow::Borrowed(text) => match serde_json::from_str(text) {
                Ok(object) => Self::Borrowed(object),
                Err(_) => Self::Wrapped { arguments: Cow::Borrowed(text) },
            },
            Cow::Owned(text) => match serde_json::from_str::<Box<RawValue>>(&text) {
                Ok(object) => Self::Owned(object),
                Err(_) => Self::Wrapped { arguments: Cow::Owned(text) },
            },
        }
    }
}
