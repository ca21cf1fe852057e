//! Images and audio in responses.

use haft_core::{ContentPart, MediaData};

/// The first bytes of common formats. If a body claims one of these types but begins otherwise, it is not such a medium, and a
/// provider would reject the whole request with it.
const BEGINNINGS: [(&str, &[&[u8]]); 10] = [
    ("image/png", &[b"\x89PNG\r\n\x1a\n"]),
    ("image/jpeg", &[b"\xff\xd8\xff"]),
    ("image/jpg", &[b"\xff\xd8\xff"]),
    ("image/gif", &[b"GIF87a", b"GIF89a"]),
    ("image/webp", &[b"RIFF"]),
    ("audio/wav", &[b"RIFF"]),
    ("audio/x-wav", &[b"RIFF"]),
    ("audio/mpeg", &[b"ID3", b"\xff"]),
    ("audio/ogg", &[b"OggS"]),
    ("audio/flac", &[b"fLaC"]),
];

/// Returns the part that a model reads instead of a body with this type, or `None` if it is neither an image nor audio.
pub(super) fn part(essence: &str, body: &[u8], base64: &str) -> Option<ContentPart> {
    let beginnings = BEGINNINGS.iter().find(|(known, _)| *known == essence).map(|(_, beginnings)| beginnings);
    if body.is_empty() || beginnings.is_some_and(|all| !all.iter().any(|beginning| body.starts_with(beginning))) {
        return None;
    }
    let data = || MediaData::Base64(base64.to_owned());
    match essence.split_once('/')? {
        ("image", _) => Some(ContentPart::image(essence, data())),
        ("audio", _) => Some(ContentPart::audio(essence, data())),
        _ => None,
    }
}
