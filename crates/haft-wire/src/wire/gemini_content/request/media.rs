//! Images, audio and files as Gemini takes them: with their content, or by file URI.

use std::borrow::Cow;

use haft_core::{MediaData, MediaPart, ResourceContents, ResourceLinkPart, ResourcePart};

use super::part::{FileData, InlineData, PartContent};

/// The prefix of an uploaded file's URI, followed by its name, `files/…`.
const FILES: &str = "https://generativelanguage.googleapis.com/v1beta/";

/// MIME types by how the content starts, in base64.
const CONTENT_STARTS: [(&str, &str); 4] =
    [("iVBORw0KGgo", "image/png"), ("/9j/", "image/jpeg"), ("R0lGOD", "image/gif"), ("JVBERi", "application/pdf")];

/// The prefixes of addresses that Gemini fetches.
const FETCHED: [&str; 3] = ["https://", "http://", "gs://"];

/// Converts media, or returns the reason why they can't be sent.
pub(super) fn media(part: &MediaPart) -> Result<PartContent<'_>, &'static str> {
    let stated = part.media_type.as_deref().filter(|stated| !stated.is_empty());
    match &part.data {
        MediaData::Base64(data) => inline(stated, data),
        MediaData::Url(url) => match url.strip_prefix("data:") {
            Some(content) => {
                let (of_url, data) = inline_content(content)?;
                inline(of_url.or(stated), data)
            }
            None if FETCHED.iter().any(|scheme| starts_with(url, scheme)) => {
                Ok(PartContent::FileData(FileData { mime_type: stated, file_uri: url.into() }))
            }
            None => Err("Gemini fetches web addresses and `gs://` only; send the content instead"),
        },
        MediaData::FileId(id) if id.starts_with("files/") => {
            let file_uri = Cow::Owned(format!("{FILES}{id}"));
            Ok(PartContent::FileData(FileData { mime_type: stated, file_uri }))
        }
        MediaData::FileId(id) if id.contains("://") => {
            Ok(PartContent::FileData(FileData { mime_type: stated, file_uri: id.into() }))
        }
        MediaData::FileId(_) => Err("the file id is not one of Google's, which are `files/…` or a URI"),
        _ => Err("the location of the content is of an unknown kind"),
    }
}

/// Converts an embedded resource, or returns the reason why it can't be sent.
pub(super) fn resource(part: &ResourcePart) -> Result<PartContent<'_>, &'static str> {
    match &part.contents {
        ResourceContents::Text(text) => Ok(PartContent::Text(text.into())),
        ResourceContents::Blob(data) => inline(part.media_type.as_deref(), data),
        _ => Err("the contents are of an unknown kind"),
    }
}

/// Writes a link as text.
pub(super) fn link(part: &ResourceLinkPart) -> String {
    let mut text = format!("[{}]({})", part.title.as_deref().unwrap_or(&part.name), part.uri);
    if let Some(description) = &part.description {
        text.push_str(": ");
        text.push_str(description);
    }
    text
}

fn inline<'m>(media_type: Option<&'m str>, data: &'m str) -> Result<PartContent<'m>, &'static str> {
    let by_content =
        || CONTENT_STARTS.iter().find(|(start, _)| data.starts_with(start)).map(|(_, media_type)| *media_type);
    let mime_type = media_type.filter(|stated| !stated.is_empty()).or_else(by_content);
    let mime_type = mime_type.ok_or("Gemini requires the MIME type; set `media_type`")?;
    // A frequent mistake, which Gemini rejects.
    let mime_type = if is_type(mime_type, "image/jpg") { "image/jpeg" } else { mime_type };
    Ok(PartContent::InlineData(InlineData { mime_type, data }))
}

/// Reports whether a MIME type is this one, whatever its case and parameters.
pub(super) fn is_type(mime_type: &str, known: &str) -> bool {
    mime_type.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case(known))
}

fn starts_with(url: &str, scheme: &str) -> bool {
    url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

/// Reads a `data:` URL's content.
fn inline_content(content: &str) -> Result<(Option<&str>, &str), &'static str> {
    let (kind, data) = content.split_once(',').ok_or("the `data:` URL has no content")?;
    let media_type = kind.strip_suffix(";base64").ok_or("the `data:` URL is not in base64")?;
    Ok((media_type.split(';').next().filter(|media_type| !media_type.is_empty()), data))
}
