//! Call results as Gemini takes them: an object, with media beside it.

use std::borrow::Cow;

use haft_core::{CallOutputBody, ContentPart, ToolCallOutput};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::media;
use super::part::{InlineData, PartContent};
use super::structure::{Structure, structure};
use crate::wire::Dropped;

/// The MIME types that results may contain.
const MEDIA_TYPES: [&str; 5] = ["image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"];

#[derive(Serialize)]
pub(super) struct SentResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: Cow<'a, str>,
    response: ResponseObject<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<ResponsePart<'a>>,
}

/// An object with the result.
#[derive(Serialize)]
#[serde(untagged)]
enum ResponseObject<'a> {
    Plain(&'a RawValue),
    Output { output: ResponseValue<'a> },
    Error { error: ResponseValue<'a> },
}

#[derive(Serialize)]
#[serde(untagged)]
enum ResponseValue<'a> {
    Json(&'a RawValue),
    Text(Cow<'a, str>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResponsePart<'a> {
    inline_data: InlineData<'a>,
}

/// The place for media that a tool returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MediaPlace {
    /// In the result.
    Inside,
    /// In user parts after all results, for a model that takes none in results.
    Behind,
}

/// A result part that can't be sent: its name, and the reason.
type Unsendable = (&'static str, &'static str);

/// Writes a call's result. Media that belong after it are added to `behind`. Parts that can't be sent are reported.
pub(super) fn write<'a>(
    id: Option<&'a str>,
    name: Cow<'a, str>,
    (at, output): (usize, &'a ToolCallOutput),
    (place, behind): (MediaPlace, &mut Vec<PartContent<'a>>),
    dropped: &mut Vec<Dropped>,
) -> SentResponse<'a> {
    let mut parts = Vec::new();
    let text = match &output.output {
        CallOutputBody::Text(text) => Cow::Borrowed(text.as_str()),
        CallOutputBody::Parts(content) => {
            let mut texts: Vec<Cow<'a, str>> = Vec::new();
            for part in content {
                match (result_content(part, place), place) {
                    (Ok(PartContent::Text(text)), _) => texts.push(text),
                    (Ok(PartContent::InlineData(inline_data)), MediaPlace::Inside) => {
                        parts.push(ResponsePart { inline_data });
                    }
                    (Ok(media), _) => behind.push(media),
                    (Err((part, reason)), _) => dropped.push(Dropped::item(at, part, reason)),
                }
            }
            match texts.len() {
                1 => texts.swap_remove(0),
                _ => Cow::Owned(texts.join("\n")),
            }
        }
    };
    SentResponse { id, name, response: response(text, output.is_error, at, dropped), parts }
}

fn response<'a>(text: Cow<'a, str>, is_error: bool, at: usize, dropped: &mut Vec<Dropped>) -> ResponseObject<'a> {
    let value = match text {
        Cow::Borrowed(text) => match serde_json::from_str::<&RawValue>(text) {
            Err(_) => ResponseValue::Text(Cow::Borrowed(text)),
            Ok(json) => match structure(json.get()) {
                Structure::Object if !is_error => return ResponseObject::Plain(json),
                // It has the form that an error has at Gemini already.
                Structure::Value if is_error && is_error_object(json) => return ResponseObject::Plain(json),
                Structure::Object | Structure::Value => ResponseValue::Json(json),
                Structure::Number => ResponseValue::Text(Cow::Borrowed(text)),
                Structure::TextOnly(reason) => {
                    dropped.push(Dropped::item(at, "structure", format!("the result is sent as text: {reason}")));
                    ResponseValue::Text(Cow::Borrowed(text))
                }
            },
        },
        text @ Cow::Owned(_) => ResponseValue::Text(text),
    };
    if is_error { ResponseObject::Error { error: value } } else { ResponseObject::Output { output: value } }
}

/// Reports whether this is an object with the single key `error`.
fn is_error_object(json: &RawValue) -> bool {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct ErrorObject {
        #[serde(rename = "error")]
        _error: IgnoredAny,
    }
    // An array with one element is read as well.
    json.get().starts_with('{') && serde_json::from_str::<ErrorObject>(json.get()).is_ok()
}

fn result_content(part: &ContentPart, place: MediaPlace) -> Result<PartContent<'_>, Unsendable> {
    let (name, content) = match part {
        ContentPart::Text(text) => return Ok(PartContent::Text(text.text.as_str().into())),
        ContentPart::Refusal(refusal) => return Ok(PartContent::Text(refusal.text.as_str().into())),
        ContentPart::ResourceLink(part) => return Ok(PartContent::Text(media::link(part).into())),
        ContentPart::Image(part) => ("image", media::media(part)),
        ContentPart::Audio(part) => ("audio", media::media(part)),
        ContentPart::File(part) => ("file", media::media(part)),
        ContentPart::Resource(part) => ("resource", media::resource(part)),
        ContentPart::Unknown(_) => return Err(("content", "it is of an unknown kind")),
    };
    match (content, place) {
        (Err(reason), _) => Err((name, reason)),
        (Ok(content @ PartContent::Text(_)), _) | (Ok(content), MediaPlace::Behind) => Ok(content),
        (Ok(content), MediaPlace::Inside) => embedded(name, content),
    }
}

/// Accepts content that the request itself contains, with a type that results take.
fn embedded<'a>(name: &'static str, content: PartContent<'a>) -> Result<PartContent<'a>, Unsendable> {
    match content {
        PartContent::InlineData(data) if MEDIA_TYPES.iter().any(|known| media::is_type(data.mime_type, known)) => {
            Ok(PartContent::InlineData(data))
        }
        PartContent::InlineData(_) => {
            Err((name, "results of Gemini take png, jpeg and webp images, PDF files and plain text only"))
        }
        _ => Err((name, "results of Gemini contain their files, and can't refer to them by a URL or an id")),
    }
}
