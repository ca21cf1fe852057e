//! What messages and tool outputs are made of.
//!
//! One vocabulary for what users send, what models answer and what tools give back, wide enough for every wire: text
//! with its citations, refusals, pictures, sound, files, embedded resources and links to them. A part of a type that
//! is not known yet is kept as it came, so that reading a conversation never loses any of it.
//!
//! Nothing here fetches a URL or decodes base64: parts are handed on, not looked into.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::citation::Citation;
use crate::schema::nests_within;
use crate::tagged::{self, ReadVariant, TaggedEnum, UnknownTag};

/// One part of a message or of a tool's output. Told apart by `type`.
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
#[non_exhaustive]
pub enum ContentPart {
    /// Text.
    Text(TextPart),
    /// The model's words for not answering.
    Refusal(RefusalPart),
    /// A picture.
    Image(MediaPart),
    /// Sound.
    Audio(MediaPart),
    /// A document or any other file, video included.
    File(MediaPart),
    /// A resource, embedded whole.
    Resource(ResourcePart),
    /// A resource, named by where it can be read.
    ResourceLink(ResourceLinkPart),
    /// A part of a type this version does not know, with its `type`, as it came.
    #[serde(untagged)]
    Unknown(Value),
}

/// Text, and what it rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TextPart {
    /// The text.
    pub text: String,
    /// What the text cites.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Citation>,
    /// What a provider wants back with the part, by the provider's name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
}

/// The model's words for not answering.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RefusalPart {
    /// What the model said.
    pub text: String,
    /// What a provider wants back with the part, by the provider's name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
}

/// A picture, sound or file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MediaPart {
    /// The MIME type, for example `image/png`, when it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// The content, or where it is.
    pub data: MediaData,
    /// A file name to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What a provider wants back with the part, by the provider's name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
}

/// The content of a picture, sound or file, or where it is.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MediaData {
    /// The content, in base64.
    Base64(String),
    /// Where the content can be fetched.
    Url(String),
    /// The id of a file uploaded to the provider before.
    FileId(String),
}

/// A resource, embedded whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResourcePart {
    /// What names the resource.
    pub uri: String,
    /// The MIME type, when it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// What the resource holds.
    pub contents: ResourceContents,
    /// What a provider wants back with the part, by the provider's name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
}

/// What an embedded resource holds.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResourceContents {
    /// Text, as it is.
    Text(String),
    /// Bytes, in base64.
    Blob(String),
}

/// A resource, named by where it can be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResourceLinkPart {
    /// Where the resource can be read.
    pub uri: String,
    /// Its name, for programs.
    pub name: String,
    /// Its name, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The MIME type, when it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Its size in bytes, when it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// What a provider wants back with the part, by the provider's name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub provider_data: Map<String, Value>,
}

impl ContentPart {
    /// Reports whether the free-form data in it nests at most so many levels.
    pub(crate) fn nests_within(&self, levels: usize) -> bool {
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

    /// Text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextPart::new(text))
    }

    /// The model's words for not answering.
    #[must_use]
    pub fn refusal(text: impl Into<String>) -> Self {
        Self::Refusal(RefusalPart { text: text.into(), provider_data: Map::new() })
    }

    /// A picture.
    #[must_use]
    pub fn image(media_type: impl Into<String>, data: MediaData) -> Self {
        Self::Image(MediaPart::new(data).media_type(media_type))
    }

    /// Sound.
    #[must_use]
    pub fn audio(media_type: impl Into<String>, data: MediaData) -> Self {
        Self::Audio(MediaPart::new(data).media_type(media_type))
    }

    /// A file.
    #[must_use]
    pub fn file(media_type: impl Into<String>, data: MediaData) -> Self {
        Self::File(MediaPart::new(data).media_type(media_type))
    }

    /// An embedded resource.
    #[must_use]
    pub fn resource(uri: impl Into<String>, contents: ResourceContents) -> Self {
        Self::Resource(ResourcePart::new(uri, contents))
    }

    /// A link to a resource.
    #[must_use]
    pub fn resource_link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::ResourceLink(ResourceLinkPart::new(uri, name))
    }

    /// The text, when this is a text part.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(part) = self { Some(&part.text) } else { None }
    }
}

impl TextPart {
    /// Text that cites nothing.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The same text with one more source.
    #[must_use]
    pub fn cite(mut self, citation: Citation) -> Self {
        self.citations.push(citation);
        self
    }
}

impl MediaPart {
    /// Media of an unknown type.
    #[must_use]
    pub fn new(data: MediaData) -> Self {
        Self { media_type: None, data, name: None, provider_data: Map::new() }
    }

    /// The same media with its MIME type.
    #[must_use]
    pub fn media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = Some(media_type.into());
        self
    }

    /// The same media with a file name to show.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }
}

impl ResourcePart {
    /// A resource of an unknown type.
    #[must_use]
    pub fn new(uri: impl Into<String>, contents: ResourceContents) -> Self {
        Self { uri: uri.into(), media_type: None, contents, provider_data: Map::new() }
    }

    /// The same resource with its MIME type.
    #[must_use]
    pub fn media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = Some(media_type.into());
        self
    }
}

impl ResourceLinkPart {
    /// A link of which only the name is known.
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

/// Shows the length of the content instead of the content, which may be megabytes.
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

/// Shows the length of bytes instead of the bytes.
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
    fn a_part_of_an_unknown_type_is_kept_as_it_came() {
        let hologram = json!({"type": "hologram", "depth": 3, "nested": {"a": [null]}});
        let part: ContentPart = serde_json::from_value(hologram.clone()).unwrap();
        assert_eq!(part, ContentPart::Unknown(hologram.clone()));
        assert_eq!(serde_json::to_value(&part).unwrap(), hologram);
    }

    #[test]
    fn a_known_part_with_a_mistake_is_an_error() {
        for wrong in
            [json!({"type": "text"}), json!({"type": "image", "data": "x"}), json!({"text": "hi"}), json!("hi")]
        {
            assert!(serde_json::from_value::<ContentPart>(wrong.clone()).is_err(), "{wrong}");
        }
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
