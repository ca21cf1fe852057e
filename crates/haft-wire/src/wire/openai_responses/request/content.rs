//! Content parts as the API takes them: text, images and files.
//!
//! Resources and links are written as text if they are text. Everything else is reported.

use std::borrow::Cow;
use std::fmt;

use haft_core::{ContentPart, MediaData, MediaPart, ResourceContents, ResourceLinkPart, ResourcePart, TextPart};
use serde::ser::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::item::OwnMembers;

/// A part of an output, or of a message that the model did not write.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub(super) enum InputPart<'r> {
    Text(TextContent<'r>),
    Image(ImageContent<'r>),
    File(FileContent<'r>),
}

/// A part of a model's message.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub(super) enum OutputPart<'r> {
    Text {
        #[serde(rename = "type")]
        part_type: &'static str,
        text: &'r str,
        annotations: Vec<&'r Value>,
    },
    Refusal {
        #[serde(rename = "type")]
        part_type: &'static str,
        refusal: &'r str,
    },
    Echo(&'r Map<String, Value>),
}

#[derive(serde::Serialize)]
pub(super) struct TextContent<'r> {
    #[serde(rename = "type")]
    part_type: &'static str,
    pub(super) text: Cow<'r, str>,
    #[serde(flatten)]
    data: OwnMembers<'r>,
}

impl TextContent<'_> {
    /// Returns whether the part is nothing but text.
    pub(super) fn is_plain(&self) -> bool {
        self.data.is_empty()
    }
}

#[derive(serde::Serialize)]
pub(super) struct ImageContent<'r> {
    #[serde(rename = "type")]
    part_type: &'static str,
    detail: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    image_url: Option<Location<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_id: Option<&'r str>,
    #[serde(flatten)]
    data: OwnMembers<'r>,
}

#[derive(serde::Serialize)]
pub(super) struct FileContent<'r> {
    #[serde(rename = "type")]
    part_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_data: Option<Location<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_url: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_id: Option<&'r str>,
    #[serde(flatten)]
    data: OwnMembers<'r>,
}

/// A URL, or content as a `data:` URL that is never built in memory.
#[derive(Clone, Copy)]
enum Location<'r> {
    Url(&'r str),
    Data { media_type: &'r str, base64: &'r str },
}

/// A part that the API can't take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UnsendablePart {
    pub(super) part: &'static str,
    pub(super) reason: &'static str,
}

/// Writes a part of an output, or of a message that the model did not write.
pub(super) fn input_part<'r>(provider: &str, part: &'r ContentPart) -> Result<InputPart<'r>, UnsendablePart> {
    match part {
        ContentPart::Text(text) => Ok(text_part(provider, text)),
        ContentPart::Refusal(refusal) => Ok(InputPart::text(&refusal.text)),
        ContentPart::Image(image) => image_part(image.media_type.as_deref(), &image.data, own(provider, image)),
        ContentPart::File(file) => {
            file_part(file.media_type.as_deref(), file.name.as_deref(), &file.data, own(provider, file))
        }
        ContentPart::Resource(resource) => resource_part(resource),
        ContentPart::ResourceLink(link) => Ok(InputPart::text(link_text(link))),
        ContentPart::Audio(_) => Err(UnsendablePart { part: "audio", reason: "the Responses API takes no audio" }),
        ContentPart::Unknown(_) => Err(UnsendablePart { part: "content", reason: "the type of the part is unknown" }),
    }
}

/// Returns the text of a model message's part without an id, or `None` if the part is not text.
pub(super) fn spoken(part: &ContentPart) -> Option<Cow<'_, str>> {
    match part {
        ContentPart::Text(text) => Some(Cow::Borrowed(&text.text)),
        ContentPart::Refusal(refusal) => Some(Cow::Borrowed(&refusal.text)),
        ContentPart::Resource(ResourcePart { uri, contents: ResourceContents::Text(text), .. }) => {
            Some(Cow::Owned(resource_text(uri, text)))
        }
        ContentPart::ResourceLink(link) => Some(Cow::Owned(link_text(link))),
        _ => None,
    }
}

/// Returns a part type's name, for reports.
pub(super) fn part_name(part: &ContentPart) -> &'static str {
    match part {
        ContentPart::Text(_) => "text",
        ContentPart::Refusal(_) => "refusal",
        ContentPart::Image(_) => "image",
        ContentPart::Audio(_) => "audio",
        ContentPart::File(_) => "file",
        ContentPart::Resource(_) => "resource",
        ContentPart::ResourceLink(_) => "resource_link",
        ContentPart::Unknown(_) => "content",
    }
}

impl<'r> InputPart<'r> {
    pub(super) fn text(text: impl Into<Cow<'r, str>>) -> Self {
        Self::Text(TextContent { part_type: "input_text", text: text.into(), data: OwnMembers::none() })
    }

    /// Returns a part's text.
    pub(super) fn as_text(&self) -> Option<&str> {
        if let Self::Text(content) = self { Some(&content.text) } else { None }
    }
}

fn text_part<'r>(provider: &str, text: &'r TextPart) -> InputPart<'r> {
    let data = text.provider_data.get(provider).and_then(Value::as_object);
    // What came beside a model's text has no place in another author's message.
    let data = OwnMembers::of(data, &["type", "text", "annotations", "logprobs"]);
    InputPart::Text(TextContent { part_type: "input_text", text: Cow::Borrowed(&text.text), data })
}

fn image_part<'r>(
    media_type: Option<&'r str>,
    data: &'r MediaData,
    own: Option<&'r Map<String, Value>>,
) -> Result<InputPart<'r>, UnsendablePart> {
    let media_type = media_type.unwrap_or("image/png");
    let (image_url, file_id) = match data {
        MediaData::Base64(base64) => (Some(Location::Data { media_type, base64 }), None),
        MediaData::Url(url) => (Some(Location::Url(url)), None),
        MediaData::FileId(id) => (None, Some(id.as_str())),
        _ => return Err(UnsendablePart { part: "image", reason: "its data is of an unknown form" }),
    };
    let detail = own.and_then(|own| own.get("detail")).and_then(Value::as_str).unwrap_or("auto");
    let data = OwnMembers::of(own, &["type", "detail", "image_url", "file_id"]);
    Ok(InputPart::Image(ImageContent { part_type: "input_image", detail, image_url, file_id, data }))
}

fn file_part<'r>(
    media_type: Option<&'r str>,
    name: Option<&'r str>,
    data: &'r MediaData,
    own: Option<&'r Map<String, Value>>,
) -> Result<InputPart<'r>, UnsendablePart> {
    let media_type = media_type.unwrap_or("application/octet-stream");
    let mut content = FileContent {
        part_type: "input_file",
        filename: None,
        file_data: None,
        file_url: None,
        file_id: None,
        data: OwnMembers::of(own, &["type", "filename", "file_data", "file_url", "file_id"]),
    };
    match data {
        MediaData::Base64(base64) => {
            content.file_data = Some(Location::Data { media_type, base64 });
            // The API requires a name with data, and reads the file type from it.
            content.filename = Some(name.unwrap_or_else(|| default_name(media_type)));
        }
        MediaData::Url(url) if url.starts_with("data:") => {
            content.file_data = Some(Location::Url(url));
            content.filename = Some(name.unwrap_or_else(|| default_name(media_type)));
        }
        MediaData::Url(url) => content.file_url = Some(url),
        MediaData::FileId(id) => content.file_id = Some(id),
        _ => return Err(UnsendablePart { part: "file", reason: "its data is of an unknown form" }),
    }
    Ok(InputPart::File(content))
}

fn resource_part(resource: &ResourcePart) -> Result<InputPart<'_>, UnsendablePart> {
    let blob = match &resource.contents {
        ResourceContents::Text(text) => return Ok(InputPart::text(resource_text(&resource.uri, text))),
        ResourceContents::Blob(blob) => blob,
        _ => return Err(UnsendablePart { part: "resource", reason: "its contents are of an unknown form" }),
    };
    let media_type = resource.media_type.as_deref().unwrap_or("application/octet-stream");
    let location = Location::Data { media_type, base64: blob };
    if media_type.starts_with("image/") {
        return Ok(InputPart::Image(ImageContent {
            part_type: "input_image",
            detail: "auto",
            image_url: Some(location),
            file_id: None,
            data: OwnMembers::none(),
        }));
    }
    if media_type.starts_with("audio/") || media_type.starts_with("video/") {
        return Err(UnsendablePart { part: "resource", reason: "the Responses API takes no audio and no video" });
    }
    let name = resource.uri.rsplit('/').next().filter(|name| name.contains('.'));
    Ok(InputPart::File(FileContent {
        part_type: "input_file",
        filename: Some(name.unwrap_or_else(|| default_name(media_type))),
        file_data: Some(location),
        file_url: None,
        file_id: None,
        data: OwnMembers::none(),
    }))
}

fn resource_text(uri: &str, text: &str) -> String {
    format!("{uri}\n\n{text}")
}

fn link_text(link: &ResourceLinkPart) -> String {
    let title = link.title.as_deref().unwrap_or(&link.name);
    match &link.description {
        Some(description) => format!("{title}: {}\n{description}", link.uri),
        None => format!("{title}: {}", link.uri),
    }
}

/// Returns this provider's data for a media part.
fn own<'r>(provider: &str, part: &'r MediaPart) -> Option<&'r Map<String, Value>> {
    part.provider_data.get(provider).and_then(Value::as_object)
}

fn default_name(media_type: &str) -> &'static str {
    match media_type {
        "application/pdf" => "file.pdf",
        "application/json" => "file.json",
        "text/plain" => "file.txt",
        "text/markdown" => "file.md",
        "text/csv" => "file.csv",
        "text/html" => "file.html",
        _ => "file",
    }
}

impl fmt::Display for Location<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => f.write_str(url),
            Self::Data { media_type, base64 } => write!(f, "data:{media_type};base64,{base64}"),
        }
    }
}

impl Serialize for Location<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Url(url) => serializer.serialize_str(url),
            Self::Data { .. } => serializer.collect_str(self),
        }
    }
}
