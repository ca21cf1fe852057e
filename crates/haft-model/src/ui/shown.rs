//! Values of a conversation in the form in which a user sees them.
//!
//! One form for events and histories: an output that was shown while it arrived looks the same after a reload. It is made
//! of what the model reads. Data that belongs to a provider or to the application is never part of it.

use haft_core::{
    ApprovalRequest, CallOutputBody, ContentPart, MediaData, MediaPart, ResourceContents, ToolCall, ToolCallOutput,
};
use haft_schema::JsonText;
use serde::Serialize;
use serde_json::Value;

use super::event::{UiEvent, UiFile};

/// The kind of a failure whose kind is not known.
pub(super) const UNKNOWN_KIND: &str = "failed";

/// A part of an output that has several.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ShownPart<'a> {
    Text { text: &'a str },
    Media { media_type: &'a str, url: String },
    Link { url: &'a str, title: &'a str },
}

/// Returns argument text as JSON: an empty object if it is blank, and a string if it is not JSON.
pub(super) fn arguments(text: &str) -> JsonText {
    if text.trim().is_empty() { JsonText::from(Value::Object(serde_json::Map::new())) } else { json_or_text(text) }
}

/// Returns the event of a call.
pub(super) fn called(call: &ToolCall) -> UiEvent {
    UiEvent::Called {
        call_id: call.call_id.clone(),
        tool: call.name.clone(),
        arguments: arguments(&call.arguments),
        by_provider: call.provider_executed,
    }
}

/// Returns the event of an approval request.
pub(super) fn approval_requested(request: &ApprovalRequest) -> UiEvent {
    UiEvent::ApprovalRequested {
        request_id: request.request_id.clone(),
        call_id: request.call_id.clone(),
        tool: request.tool.clone(),
        arguments: arguments(&request.arguments),
        question: request.question.clone(),
        digest: request.digest.clone(),
        expires_at: request.expires_at,
        by_provider: !request.provider_data.is_empty(),
    }
}

/// Returns the event of an output of a call that is run here; `tool` is the name that its call has.
pub(super) fn output(output: &ToolCallOutput, tool: &str) -> UiEvent {
    let by_provider = false;
    let (call_id, tool) = (output.call_id.clone(), output.tool.as_deref().unwrap_or(tool).to_owned());
    if output.is_error {
        let (kind, message) = failure(&output.output);
        return UiEvent::CallFailed { call_id, tool, kind, message, by_provider };
    }
    let output = match &output.output {
        CallOutputBody::Text(text) => json_or_text(text),
        CallOutputBody::Parts(parts) => encoded(&parts.iter().filter_map(shown_part).collect::<Vec<_>>()),
    };
    UiEvent::Output { call_id, tool, output, by_provider }
}

/// Returns a file of a message, unless only its provider has the content.
pub(super) fn file(part: &ContentPart) -> Option<UiFile> {
    match part {
        ContentPart::Image(media) | ContentPart::Audio(media) | ContentPart::File(media) => {
            let (media_type, url) = located(media)?;
            Some(UiFile { media_type: media_type.to_owned(), url, name: media.name.clone() })
        }
        _ => None,
    }
}

/// Returns the kind and the message of a failure, as the model reads them.
fn failure(body: &CallOutputBody) -> (String, String) {
    let text = match body {
        CallOutputBody::Text(text) => text.clone(),
        CallOutputBody::Parts(parts) => parts.iter().find_map(ContentPart::as_text).unwrap_or_default().to_owned(),
    };
    let written: Option<Value> = serde_json::from_str(&text).ok();
    let member = |name: &str| Some(written.as_ref()?.get("error")?.get(name)?.as_str()?.to_owned());
    match (member("kind"), member("message")) {
        (Some(kind), Some(message)) => (kind, message),
        _ => (UNKNOWN_KIND.to_owned(), text),
    }
}

fn shown_part(part: &ContentPart) -> Option<ShownPart<'_>> {
    match part {
        ContentPart::Text(text) => Some(ShownPart::Text { text: &text.text }),
        ContentPart::Refusal(refusal) => Some(ShownPart::Text { text: &refusal.text }),
        ContentPart::Image(media) | ContentPart::Audio(media) | ContentPart::File(media) => {
            located(media).map(|(media_type, url)| ShownPart::Media { media_type, url })
        }
        ContentPart::Resource(resource) => match &resource.contents {
            ResourceContents::Text(text) => Some(ShownPart::Text { text }),
            ResourceContents::Blob(base64) => {
                let media_type = resource.media_type.as_deref().unwrap_or(BYTES);
                Some(ShownPart::Media { media_type, url: data_url(media_type, base64) })
            }
            _ => None,
        },
        ContentPart::ResourceLink(link) => {
            Some(ShownPart::Link { url: &link.uri, title: link.title.as_deref().unwrap_or(&link.name) })
        }
        ContentPart::Unknown(_) => None,
    }
}

/// The MIME type of content whose type is not known.
const BYTES: &str = "application/octet-stream";

/// Returns the MIME type and the URL of content.
fn located(media: &MediaPart) -> Option<(&str, String)> {
    let media_type = media.media_type.as_deref().unwrap_or(BYTES);
    match &media.data {
        MediaData::Base64(base64) => Some((media_type, data_url(media_type, base64))),
        MediaData::Url(url) => Some((media_type, url.clone())),
        _ => None,
    }
}

fn data_url(media_type: &str, base64: &str) -> String {
    format!("data:{media_type};base64,{base64}")
}

fn json_or_text(text: &str) -> JsonText {
    JsonText::parse(text).unwrap_or_else(|_| encoded(text))
}

/// Encodes a value that is always JSON.
fn encoded<T: Serialize + ?Sized>(value: &T) -> JsonText {
    JsonText::encode(value).unwrap_or_else(|_| JsonText::null())
}
