//! Content parts as blocks.
//!
//! A part that the API does not take is converted to text if that keeps its meaning, and left out otherwise.

use std::borrow::Cow;

use haft_core::{ContentPart, MediaData, MediaPart, ResourceContents, ResourceLinkPart, ResourcePart};
use serde_json::{Map, Value};

use super::base64_text;
use super::block::{BlockData, SentBlock, SentDocument, SentImage, SentSource, SentText};

/// The images that the API takes.
const IMAGES: &[&str] = &["image/jpeg", "image/png", "image/gif", "image/webp"];
const PDF: &str = "application/pdf";
/// The only text type, whatever the text's format.
const PLAIN: &str = "text/plain";

/// API blocks that an application may pass as parts with an unknown type.
const OWN_BLOCKS: &[&str] = &["search_result", "document", "tool_reference", "browser_state", "container_upload"];

/// A part that is left out.
#[derive(Debug)]
pub(super) struct LeftOut {
    /// The part's name.
    pub(super) part: &'static str,
    pub(super) reason: Cow<'static, str>,
}

/// Converts a part from a user message or an output. Returns `None` for empty text, which the API rejects.
pub(super) fn block<'r>(part: &'r ContentPart, provider: &str) -> Result<Option<SentBlock<'r>>, LeftOut> {
    match part {
        ContentPart::Text(text) => Ok(text_block(&text.text, extra(&text.provider_data, provider))),
        ContentPart::Refusal(refusal) => Ok(text_block(&refusal.text, extra(&refusal.provider_data, provider))),
        ContentPart::Image(media) => image(media, extra(&media.provider_data, provider)).map(Some),
        ContentPart::File(media) => file(media, extra(&media.provider_data, provider)),
        ContentPart::Audio(_) => Err(LeftOut::new("audio", "the API takes no audio")),
        ContentPart::Resource(resource) => self::resource(resource, extra(&resource.provider_data, provider)),
        ContentPart::ResourceLink(link) => Ok(Some(SentBlock::text(link_text(link)))),
        ContentPart::Unknown(value) if is_own_block(value) => Ok(Some(SentBlock::Own(value))),
        ContentPart::Unknown(_) => Err(LeftOut::new("content", "the API takes no content of this type")),
    }
}

/// Returns a part's provider data.
pub(super) fn extra<'r>(data: &'r Map<String, Value>, provider: &str) -> BlockData<'r> {
    data.get(provider).and_then(Value::as_object)
}

fn is_own_block(value: &Value) -> bool {
    value.get("type").and_then(Value::as_str).is_some_and(|tag| OWN_BLOCKS.contains(&tag))
}

fn text_block<'r>(text: &'r str, extra: BlockData<'r>) -> Option<SentBlock<'r>> {
    let block = SentText { text: Cow::Borrowed(text), citations: Vec::new(), extra };
    (!text.trim().is_empty()).then_some(SentBlock::Text(block))
}

fn image<'r>(media: &'r MediaPart, extra: BlockData<'r>) -> Result<SentBlock<'r>, LeftOut> {
    let source = match &media.data {
        MediaData::Base64(data) => image_data(media.media_type.as_deref(), data)?,
        MediaData::Url(url) => match data_url(url) {
            Some((media_type, data)) => image_data(Some(media_type), data)?,
            None => remote("image", url)?,
        },
        MediaData::FileId(file_id) => SentSource::File { file_id },
        _ => return Err(LeftOut::new("image", "its content is given in an unknown way")),
    };
    Ok(SentBlock::Image(SentImage { source, extra }))
}

fn image_data<'r>(media_type: Option<&str>, data: &'r str) -> Result<SentSource<'r>, LeftOut> {
    let written = essence(media_type.unwrap_or_default());
    let written = if written.eq_ignore_ascii_case("image/jpg") { "image/jpeg" } else { written };
    match IMAGES.iter().find(|known| known.eq_ignore_ascii_case(written)) {
        Some(media_type) => Ok(SentSource::Base64 { media_type, data }),
        None => Err(LeftOut::new("image", "the API takes JPEG, PNG, GIF and WebP images, and needs the media type")),
    }
}

/// Converts a file: PDF and text become documents, and images become images.
fn file<'r>(media: &'r MediaPart, extra: BlockData<'r>) -> Result<Option<SentBlock<'r>>, LeftOut> {
    let declared = media.media_type.as_deref().map(essence);
    if declared.is_some_and(is_image) {
        return image(media, extra).map(Some);
    }
    let source = match &media.data {
        MediaData::Base64(data) => file_data(declared.unwrap_or_default(), data)?,
        MediaData::Url(url) => match data_url(url) {
            Some((media_type, data)) if is_image(media_type) => image_data(Some(media_type), data).map(Some)?,
            Some((media_type, data)) => file_data(media_type, data)?,
            None if declared.is_none_or(|media_type| media_type == PDF) => Some(remote("file", url)?),
            None => return Err(LeftOut::new("file", "the API fetches images and PDF documents only")),
        },
        MediaData::FileId(file_id) => Some(SentSource::File { file_id }),
        _ => return Err(LeftOut::new("file", "its content is given in an unknown way")),
    };
    Ok(source.map(|source| match source {
        SentSource::Base64 { media_type, .. } if is_image(media_type) => SentBlock::Image(SentImage { source, extra }),
        source => document(source, media.name.as_deref(), extra),
    }))
}

/// Converts a file's content. Returns `None` for empty text.
fn file_data<'r>(media_type: &str, data: &'r str) -> Result<Option<SentSource<'r>>, LeftOut> {
    if media_type == PDF {
        return Ok(Some(SentSource::Base64 { media_type: PDF, data }));
    }
    if !is_text(media_type) {
        return Err(LeftOut::new("file", "the API takes PDF and text documents, and images"));
    }
    match base64_text::decode(data) {
        Some(text) if text.trim().is_empty() => Ok(None),
        Some(text) => Ok(Some(SentSource::Text { media_type: PLAIN, data: Cow::Owned(text) })),
        None => Err(LeftOut::new("file", "its content is not UTF-8 text in base64")),
    }
}

fn resource<'r>(resource: &'r ResourcePart, extra: BlockData<'r>) -> Result<Option<SentBlock<'r>>, LeftOut> {
    let media_type = resource.media_type.as_deref().map(essence).unwrap_or_default();
    let source = match &resource.contents {
        ResourceContents::Text(text) if text.trim().is_empty() => return Ok(None),
        ResourceContents::Text(text) => SentSource::Text { media_type: PLAIN, data: Cow::Borrowed(text) },
        ResourceContents::Blob(data) if is_image(media_type) => {
            let source = image_data(Some(media_type), data)?;
            return Ok(Some(SentBlock::Image(SentImage { source, extra })));
        }
        ResourceContents::Blob(data) => match file_data(media_type, data) {
            Ok(Some(source)) => source,
            Ok(None) => return Ok(None),
            Err(left_out) => return Err(LeftOut { part: "resource", ..left_out }),
        },
        _ => return Err(LeftOut::new("resource", "its content is given in an unknown way")),
    };
    Ok(Some(document(source, Some(&resource.uri), extra)))
}

fn document<'r>(source: SentSource<'r>, title: Option<&'r str>, extra: BlockData<'r>) -> SentBlock<'r> {
    let title = title.filter(|title| !title.is_empty() && extra.is_none_or(|extra| !extra.contains_key("title")));
    SentBlock::Document(SentDocument { source, title, extra })
}

/// Writes a link, which the model can only follow with a tool.
fn link_text(link: &ResourceLinkPart) -> String {
    let title = link.title.as_deref().unwrap_or(&link.name);
    let mut text = format!("{title}: {}", link.uri);
    for detail in [&link.media_type, &link.description].into_iter().flatten() {
        text.push('\n');
        text.push_str(detail);
    }
    text
}

fn remote<'r>(part: &'static str, url: &'r str) -> Result<SentSource<'r>, LeftOut> {
    let is_http = ["https://", "http://"]
        .iter()
        .any(|scheme| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    if is_http { Ok(SentSource::Url { url }) } else { Err(LeftOut::new(part, "the API fetches web addresses only")) }
}

/// Splits a base64 `data:` URL into its media type and content.
fn data_url(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    Some((essence(head.strip_suffix(";base64")?), data))
}

/// Returns a media type without its parameters.
fn essence(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}

fn is_image(media_type: &str) -> bool {
    media_type.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("image/"))
}

fn is_text(media_type: &str) -> bool {
    let formats = ["application/json", "application/xml", "application/yaml", "application/toml", "application/sql"];
    media_type.starts_with("text/")
        || formats.contains(&media_type)
        || media_type.ends_with("+json")
        || media_type.ends_with("+xml")
}

impl LeftOut {
    pub(super) fn new(part: &'static str, reason: &'static str) -> Self {
        Self { part, reason: Cow::Borrowed(reason) }
    }
}
