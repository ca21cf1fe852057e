//! The content parts of messages and tool outputs.
//!
//! One vocabulary for what users send, models answer and tools return, wide enough for every wire format: text
//! with its citations, refusals, images, audio, files, embedded resources and links to them. A part of an unknown type
//! is kept whole, so that reading a conversation never loses any of it.
//!
//! Nothing here may fetch a URL or decode base64: parts are passed on without inspection.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;

use haft_schema::internal::nests_within;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::base64;
use crate::citation::Citation;
use crate::tagged::{self, ReadVariant, TaggedEnum, UnknownTag};

/// One part of a message or of a tool's output, tagged by `type`.
///
/// ```
/// use haft_core::{ContentPart, MediaData};
/// use serde_json::json;
///
/// let part = ContentPart::image("image/png", MediaData::Base64("aWNvbg==".to_owned()));
/// assert_eq!(
///     serde_json::to_value(&part)?,
///     json!({"type": "image", "media_type": "image/png", "data": {"base64": "aWNvbg=="}})
/// );
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentPart {
    /// Text.
    Text(TextPart),
    /// A refusal of the model to answer.
    Refusal(RefusalPart),
    /// An image.
    Image(MediaPart),
    /// Audio.
    Audio(MediaPart),
    /// A document or any other file, including video.
    File(MediaPart),
    /// An embedded resource.
    Resource(ResourcePart),
    /// A link to a resource.
    ResourceLink(ResourceLinkPart),
    /// A part of a type that this version does not know, whole, with its `type`.
    #[serde(untagged)]
    Unknown(Value),
}

/// Text and its citations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TextPart {
    /// The text.
    pub text: String,
    /// The citations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Citation>,
    /// Opaque data that must be returned to a provider with the part, by provider name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
}

/// A refusal of the model to answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RefusalPart {
    /// The text of the refusal.
    pub text: String,
    /// Opaque data that must be returned to a provider with the part, by provider name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
}

/// An image, audio or a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MediaPart {
    /// The MIME type, for example `image/png`, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// The content, or its location.
    pub data: MediaData,
    /// A file name for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Opaque data that must be returned to a provider with the part, by provider name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
}

/// The content of an image, audio or a file, or its location.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MediaData {
    /// The content, in base64.
    Base64(String),
    /// The URL of the content.
    Url(String),
    /// The provider's id of a file that was uploaded before.
    FileId(String),
}

/// An embedded resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResourcePart {
    /// The URI of the resource.
    pub uri: String,
    /// The MIME type, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// The contents.
    pub contents: ResourceContents,
    /// Opaque data that must be returned to a provider with the part, by provider name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
}

/// The contents of an embedded resource.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResourceContents {
    /// Text.
    Text(String),
    /// Bytes, in base64.
    Blob(String),
}

/// A link to a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResourceLinkPart {
    /// The URI of the resource.
    pub uri: String,
    /// The name, for programs.
    pub name: String,
    /// The title, for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The MIME type, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// The size in bytes, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Opaque data that must be returned to a provider with the part, by provider name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
}

/// An object with a `type`: the parts that a tool returns are read by models and clients, which know their members.
impl JsonSchema for ContentPart {
    fn schema_name() -> Cow<'static, str> {
        "ContentPart".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "object", "properties": {"type": {"type": "string"}}, "required": ["type"]})
    }
}

impl ContentPart {
    /// Returns the parts of a success value that consists of content: the model reads them as they are.
    #[inline]
    #[doc(hidden)]
    #[must_use]
    pub fn parts_of(value: &dyn Any) -> Option<&[Self]> {
        let one = || value.downcast_ref().map(std::slice::from_ref);
        value.downcast_ref::<Vec<Self>>().map(Vec::as_slice).or_else(one)
    }

    /// Reports whether the free-form data of the part nests at most this many levels.
    #[doc(hidden)]
    #[must_use]
    pub fn nests_within(&self, levels: usize) -> bool {
        let (data, citations) = match self {
            Self::Text(part) => (&part.provider_data, &*part.citations),
            Self::Refusal(part) => (&part.provider_data, &[][..]),
            Self::Image(part) | Self::Audio(part) | Self::File(part) => (&part.provider_data, &[][..]),
            Self::Resource(part) => (&part.provider_data, &[][..]),
            Self::ResourceLink(part) => (&part.provider_data, &[][..]),
            Self::Unknown(value) => return nests_within(value, levels),
        };
        let cited = citations.iter().map(|citation| &citation.provider_data);
        cited.chain([data]).flat_map(Map::values).all(|value| nests_within(value, levels))
    }

    /// Creates a text part.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextPart::new(text))
    }

    /// Creates a refusal.
    #[must_use]
    pub fn refusal(text: impl Into<String>) -> Self {
        Self::Refusal(RefusalPart { text: text.into(), provider_data: Map::new() })
    }

    /// Creates an image part.
    #[must_use]
    pub fn image(media_type: impl Into<String>, data: MediaData) -> Self {
        Self::Image(MediaPart::new(data).media_type(media_type))
    }

    /// Creates an image part from the bytes of the image.
    ///
    /// ```
    /// use haft_core::{ContentPart, MediaData};
    ///
    /// let icon = ContentPart::image_bytes("image/png", b"icon");
    /// assert_eq!(icon, ContentPart::image("image/png", MediaData::Base64("aWNvbg==".to_owned())));
    /// ```
    #[must_use]
    pub fn image_bytes(media_type: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self::image(media_type, MediaData::bytes(bytes))
    }

    /// Creates an audio part.
    #[must_use]
    pub fn audio(media_type: impl Into<String>, data: MediaData) -> Self {
        Self::Audio(MediaPart::new(data).media_type(media_type))
    }

    /// Creates an audio part from the bytes of the audio.
    #[must_use]
    pub fn audio_bytes(media_type: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self::audio(media_type, MediaData::bytes(bytes))
    }

    /// Creates a file part.
    #[must_use]
    pub fn file(media_type: impl Into<String>, data: MediaData) -> Self {
        Self::File(MediaPart::new(data).media_type(media_type))
    }

    /// Creates a file part from the bytes of the file.
    #[must_use]
    pub fn file_bytes(media_type: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self::file(media_type, MediaData::bytes(bytes))
    }

    /// Creates an embedded resource.
    #[must_use]
    pub fn resource(uri: impl Into<String>, contents: ResourceContents) -> Self {
        Self::Resource(ResourcePart::new(uri, contents))
    }

    /// Creates an embedded resource from its MIME type and its bytes.
    #[must_use]
    pub fn resource_bytes(uri: impl Into<String>, media_type: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self::Resource(ResourcePart::new(uri, ResourceContents::bytes(bytes)).media_type(media_type))
    }

    /// Creates a link to a resource.
    #[must_use]
    pub fn resource_link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::ResourceLink(ResourceLinkPart::new(uri, name))
    }

    /// Returns the text, if this is a text part.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(part) = self { Some(&part.text) } else { None }
    }
}

impl MediaData {
    /// Encodes bytes in base64.
    #[must_use]
    pub fn bytes(bytes: impl AsRef<[u8]>) -> Self {
        Self::Base64(base64::encode(bytes.as_ref()))
    }
}

impl ResourceContents {
    /// Encodes bytes in base64.
    #[must_use]
    pub fn bytes(bytes: impl AsRef<[u8]>) -> Self {
        Self::Blob(base64::encode(bytes.as_ref()))
    }
}

impl TextPart {
    /// Creates text without citations.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Adds a citation.
    #[must_use]
    pub fn cite(mut self, citation: Citation) -> Self {
        self.citations.push(citation);
        self
    }
}

impl MediaPart {
    /// Creates media without a MIME type.
    #[must_use]
    pub fn new(data: MediaData) -> Self {
        Self { media_type: None, data, name: None, provider_data: Map::new() }
    }

    /// Sets the MIME type.
    #[must_use]
    pub fn media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = Some(media_type.into());
        self
    }

    /// Sets the file name for display.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

impl ResourcePart {
    /// Creates a resource without a MIME type.
    #[must_use]
    pub fn new(uri: impl Into<String>, contents: ResourceContents) -> Self {
        Self { uri: uri.into(), media_type: None, contents, provider_data: Map::new() }
    }

    /// Sets the MIME type.
    #[must_use]
    pub fn media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = Some(media_type.into());
        self
    }
}

impl ResourceLinkPart {
    /// Creates a link with a name only.
    #[must_use]
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self { uri: uri.into(), name: name.into(), ..Self::default() }
    }
}

impl From<&str> for ContentPart {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ContentPart {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

/// Writes the length of the content instead of the content, which may be megabytes.
impl fmt::Debug for MediaData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Base64(data) => write!(f, "Base64({} bytes)", data.len()),
            Self::Url(url) if url.starts_with("data:") => write!(f, "Url(data: {} bytes)", url.len()),
            Self::Url(url) => f.debug_tuple("Url").field(url).finish(),
            Self::FileId(id) => f.debug_tuple("FileId").field(id).finish(),
        }
    }
}

/// Writes the length of the bytes instead of the bytes.
impl fmt::Debug for ResourceContents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.debug_tuple("Text").field(text).finish(),
            Self::Blob(data) => write!(f, "Blob({} bytes)", data.len()),
        }
    }
}

impl TaggedEnum for ContentPart {
    const VARIANTS: &'static [(&'static str, ReadVariant<Self>)] = &[
        ("text", |members| members.take_all().map(Self::Text)),
        ("refusal", |members| members.take_all().map(Self::Refusal)),
        ("image", |members| members.take_all().map(Self::Image)),
        ("audio", |members| members.take_all().map(Self::Audio)),
        ("file", |members| members.take_all().map(Self::File)),
        ("resource", |members| members.take_all().map(Self::Resource)),
        ("resource_link", |members| members.take_all().map(Self::ResourceLink)),
    ];
    const UNKNOWN: UnknownTag<Self> = UnknownTag::Kept(|object| Self::Unknown(object.into_json()));
}

impl<'de> Deserialize<'de> for ContentPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_part_of_an_unknown_type_is_kept_whole() {
        let hologram = json!({"type": "hologram", "depth": 3, "nested": {"a": [null]}});
        let part: ContentPart = serde_json::from_value(hologram.clone()).unwrap();
        assert_eq!(part, ContentPart::Unknown(hologram.clone()));
        assert_eq!(serde_json::to_value(&part).unwrap(), hologram);
    }

    #[test]
    fn a_known_part_with_invalid_members_is_an_error() {
        for wrong in
            [json!({"type": "text"}), json!({"type": "image", "data": "x"}), json!({"text": "hi"}), json!("hi")]
        {
            assert!(serde_json::from_value::<ContentPart>(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn parts_are_created_from_bytes() {
        let base64 = || MediaData::Base64("Zm9v".to_owned());
        assert_eq!(ContentPart::image_bytes("image/png", b"foo"), ContentPart::image("image/png", base64()));
        assert_eq!(
            ContentPart::audio_bytes("audio/wav", vec![b'f', b'o', b'o']),
            ContentPart::audio("audio/wav", base64())
        );
        assert_eq!(ContentPart::file_bytes("text/csv", "foo"), ContentPart::file("text/csv", base64()));
        let blob = ResourcePart::new("file:///a", ResourceContents::Blob("Zm9v".to_owned())).media_type("text/csv");
        assert_eq!(ContentPart::resource_bytes("file:///a", "text/csv", b"foo"), ContentPart::Resource(blob));
    }

    #[test]
    fn debug_does_not_print_content() {
        let data = "QUJD".repeat(1000);
        let part = ContentPart::image("image/png", MediaData::Base64(data.clone()));
        let inline = ContentPart::image("image/png", MediaData::Url(format!("data:image/png;base64,{data}")));
        let blob = ContentPart::resource("file:///a", ResourceContents::Blob(data));
        for part in [part, inline, blob] {
            assert!(!format!("{part:?}").contains("QUJDQUJD"));
        }
    }
}
