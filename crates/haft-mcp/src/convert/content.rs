//! Content parts of results.
//!
//! A part that this version does not know is kept whole, as is one whose members are malformed: it does not lose the
//! others. What the protocol attaches to a part, `annotations` and `_meta`, is kept as the part's provider data under
//! [`PROVIDER`], and written back from there.

use haft_core::{ContentPart, MediaData, MediaPart, ResourceContents, ResourceLinkPart, ResourcePart, TextPart};
use serde_json::{Map, Value, json};

/// The key of the protocol's own data among a part's provider data.
pub const PROVIDER: &str = "mcp";

/// Reads the `content` of a result. Anything but a list has no parts.
#[must_use]
pub fn read_all(content: &Value) -> Vec<ContentPart> {
    content.as_array().map(|parts| parts.iter().map(read).collect()).unwrap_or_default()
}

/// Reads one part.
#[must_use]
pub fn read(part: &Value) -> ContentPart {
    known(part).unwrap_or_else(|| ContentPart::Unknown(part.clone()))
}

fn known(part: &Value) -> Option<ContentPart> {
    let text = |name: &str| part.get(name).and_then(Value::as_str).map(str::to_owned);
    let provider_data = provider_data(part);
    Some(match part.get("type")?.as_str()? {
        "text" => {
            let mut read = TextPart::new(text("text")?);
            read.provider_data = provider_data;
            ContentPart::Text(read)
        }
        kind @ ("image" | "audio") => {
            let mut read = MediaPart::new(MediaData::Base64(text("data")?)).media_type(text("mimeType")?);
            read.provider_data = provider_data;
            if kind == "image" { ContentPart::Image(read) } else { ContentPart::Audio(read) }
        }
        "resource" => ContentPart::Resource(resource(part.get("resource")?, provider_data)?),
        "resource_link" => {
            let mut read = ResourceLinkPart::new(text("uri")?, text("name")?);
            read.title = text("title");
            read.description = text("description");
            read.media_type = text("mimeType");
            read.size = part.get("size").and_then(Value::as_u64);
            read.provider_data = provider_data;
            ContentPart::ResourceLink(read)
        }
        _ => return None,
    })
}

fn resource(resource: &Value, provider_data: Map<String, Value>) -> Option<ResourcePart> {
    let text = |name: &str| resource.get(name).and_then(Value::as_str).map(str::to_owned);
    let contents = text("text").map(ResourceContents::Text).or_else(|| text("blob").map(ResourceContents::Blob))?;
    let mut read = ResourcePart::new(text("uri")?, contents);
    read.media_type = text("mimeType");
    read.provider_data = provider_data;
    Some(read)
}

fn provider_data(part: &Value) -> Map<String, Value> {
    let mut own = Map::new();
    for name in ["annotations", "_meta"] {
        if let Some(Value::Object(members)) = part.get(name)
            && !members.is_empty()
        {
            own.insert(name.to_owned(), members.clone().into());
        }
    }
    if own.is_empty() { own } else { Map::from_iter([(PROVIDER.to_owned(), own.into())]) }
}

/// Writes a part. The protocol has no files and no refusals: a file becomes a resource or a link to one, and a refusal
/// a text. `None` means that the protocol can't express the part: media that is the id of a provider's file.
#[must_use]
pub fn write(part: &ContentPart) -> Option<Value> {
    let (mut written, provider_data) = match part {
        ContentPart::Text(text) => (json!({"type": "text", "text": text.text}), &text.provider_data),
        ContentPart::Refusal(refusal) => (json!({"type": "text", "text": refusal.text}), &refusal.provider_data),
        ContentPart::Image(media) => (write_media("image", "image/*", media)?, &media.provider_data),
        ContentPart::Audio(media) => (write_media("audio", "audio/*", media)?, &media.provider_data),
        ContentPart::File(media) => (write_file(media)?, &media.provider_data),
        ContentPart::Resource(resource) => (write_resource(resource), &resource.provider_data),
        ContentPart::ResourceLink(link) => (write_link(link), &link.provider_data),
        ContentPart::Unknown(part) => return Some(part.clone()),
    };
    if let (Some(Value::Object(own)), Some(members)) = (provider_data.get(PROVIDER), written.as_object_mut()) {
        members.extend(own.clone());
    }
    Some(written)
}

fn write_media(kind: &str, any: &str, media: &MediaPart) -> Option<Value> {
    match &media.data {
        MediaData::Base64(data) => {
            let media_type = media.media_type.as_deref().unwrap_or(any);
            Some(json!({"type": kind, "data": data, "mimeType": media_type}))
        }
        _ => write_file(media),
    }
}

fn write_file(media: &MediaPart) -> Option<Value> {
    let name = media.name.as_deref().unwrap_or("file");
    match &media.data {
        MediaData::Base64(data) => {
            let mut resource = ResourcePart::new(format!("file:///{name}"), ResourceContents::Blob(data.clone()));
            resource.media_type.clone_from(&media.media_type);
            Some(write_resource(&resource))
        }
        MediaData::Url(url) => {
            let mut link = ResourceLinkPart::new(url, name);
            link.media_type.clone_from(&media.media_type);
            Some(write_link(&link))
        }
        _ => None,
    }
}

fn write_resource(part: &ResourcePart) -> Value {
    let mut resource = json!({"uri": part.uri});
    if let Some(media_type) = &part.media_type {
        resource["mimeType"] = media_type.as_str().into();
    }
    match &part.contents {
        ResourceContents::Text(text) => resource["text"] = text.as_str().into(),
        ResourceContents::Blob(data) => resource["blob"] = data.as_str().into(),
        // A form of contents that is added later has no form here yet.
        _ => {}
    }
    json!({"type": "resource", "resource": resource})
}

fn write_link(link: &ResourceLinkPart) -> Value {
    let mut written = json!({"type": "resource_link", "uri": link.uri, "name": link.name});
    for (name, text) in [("title", &link.title), ("description", &link.description), ("mimeType", &link.media_type)] {
        if let Some(text) = text {
            written[name] = text.as_str().into();
        }
    }
    if let Some(size) = link.size {
        written["size"] = size.into();
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_the_protocol_is_read_and_written_back() {
        for part in [
            json!({"type": "text", "text": "hi", "annotations": {"audience": ["user"]}, "_meta": {"a": 1}}),
            json!({"type": "image", "data": "aWNvbg==", "mimeType": "image/png"}),
            json!({"type": "audio", "data": "aWNvbg==", "mimeType": "audio/wav"}),
            json!({"type": "resource", "resource": {"uri": "a://b", "mimeType": "text/plain", "text": "t"}}),
            json!({"type": "resource", "resource": {"uri": "a://b", "blob": "aWNvbg=="}}),
            json!({"type": "resource_link", "uri": "a://b", "name": "n", "title": "T", "size": 3}),
            json!({"type": "hologram", "depth": 3}),
            json!({"type": "text"}),
            json!(17),
        ] {
            assert_eq!(write(&read(&part)), Some(part));
        }
        assert_eq!(read(&json!({"type": "text"})), ContentPart::Unknown(json!({"type": "text"})));
    }

    #[test]
    fn parts_without_a_form_in_the_protocol_get_the_nearest() {
        let of = |part: ContentPart| write(&part);
        assert_eq!(of(ContentPart::refusal("no")), Some(json!({"type": "text", "text": "no"})));
        let data = || MediaData::Base64("aWNvbg==".to_owned());
        assert_eq!(
            of(ContentPart::file("application/pdf", data())),
            Some(json!({"type": "resource", "resource":
                {"uri": "file:///file", "mimeType": "application/pdf", "blob": "aWNvbg=="}}))
        );
        let linked = ContentPart::image("image/png", MediaData::Url("https://a.example/x.png".to_owned()));
        let link =
            json!({"type": "resource_link", "uri": "https://a.example/x.png", "name": "file", "mimeType": "image/png"});
        assert_eq!(of(linked), Some(link));
        assert_eq!(of(ContentPart::image("image/png", MediaData::FileId("f1".to_owned()))), None);
    }
}
