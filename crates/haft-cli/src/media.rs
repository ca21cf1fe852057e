//! Images, audio and files in a tool's output: a line about each, and files that they are saved in.
//!
//! A name that a tool chose is only a name, never a path, and no file is overwritten.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use haft::conversation::{ContentPart, MediaData, MediaPart, ResourceContents};

use crate::error::Fault;

/// The most names to try for a file.
const MAX_TRIES: usize = 10_000;

/// The longest file name in bytes, without the number that may be added.
const MAX_NAME: usize = 100;

/// Reads base64 with and without padding.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Extensions for common types.
const EXTENSIONS: [(&str, &str); 18] = [
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("image/svg+xml", "svg"),
    ("audio/wav", "wav"),
    ("audio/x-wav", "wav"),
    ("audio/mpeg", "mp3"),
    ("audio/ogg", "ogg"),
    ("video/mp4", "mp4"),
    ("application/pdf", "pdf"),
    ("application/json", "json"),
    ("application/zip", "zip"),
    ("text/plain", "txt"),
    ("text/html", "html"),
    ("text/csv", "csv"),
    ("text/markdown", "md"),
    ("application/octet-stream", "bin"),
];

/// A part of an output that is not text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Media {
    /// A name for people.
    pub(crate) name: String,
    #[allow(clippy::struct_field_names, reason = "the usual name of a MIME type")]
    media_type: Option<String>,
    data: Data,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Data {
    Bytes(Vec<u8>),
    /// It is elsewhere, such as at a URL.
    Elsewhere(String),
    /// The tool did not encode it as it should.
    Invalid,
}

impl Media {
    /// Returns a part's media, or `None` if it is text.
    pub(crate) fn of(part: &ContentPart) -> Option<Self> {
        match part {
            ContentPart::Image(media) => Some(Self::of_media(media, "image")),
            ContentPart::Audio(media) => Some(Self::of_media(media, "audio")),
            ContentPart::File(media) => Some(Self::of_media(media, "file")),
            ContentPart::Resource(resource) => {
                let name = resource.uri.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("resource");
                let data = match &resource.contents {
                    ResourceContents::Text(text) => Data::Bytes(text.clone().into_bytes()),
                    ResourceContents::Blob(base64) => decode(base64),
                    _ => Data::Invalid,
                };
                Some(Self { name: name.to_owned(), media_type: resource.media_type.clone(), data })
            }
            ContentPart::ResourceLink(link) => Some(Self {
                name: link.name.clone(),
                media_type: link.media_type.clone(),
                data: Data::Elsewhere(link.uri.clone()),
            }),
            _ => None,
        }
    }

    fn of_media(media: &MediaPart, fallback: &str) -> Self {
        let data = match &media.data {
            MediaData::Base64(base64) => decode(base64),
            MediaData::Url(url) => match url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
                Some((_, base64)) => decode(base64),
                None => Data::Elsewhere(url.clone()),
            },
            MediaData::FileId(id) => Data::Elsewhere(format!("file {id}")),
            _ => Data::Invalid,
        };
        let name = media.name.clone().unwrap_or_else(|| fallback.to_owned());
        Self { name, media_type: media.media_type.clone(), data }
    }

    /// Returns a line: the name, the type and the size or the place.
    pub(crate) fn line(&self) -> String {
        let mut parts = vec![self.name.clone()];
        parts.extend(self.media_type.clone());
        parts.push(match &self.data {
            Data::Bytes(bytes) => size(bytes.len()),
            Data::Elsewhere(place) => place.clone(),
            Data::Invalid => "invalid base64".to_owned(),
        });
        parts.join(", ")
    }

    /// Saves the media in a folder, under its own name. Returns `None` if there is nothing to save.
    pub(crate) fn save(&self, folder: &Path) -> Result<Option<PathBuf>, Fault> {
        let Data::Bytes(bytes) = &self.data else { return Ok(None) };
        fs::create_dir_all(folder).map_err(|error| Fault::file(folder, "create", &error))?;
        let (stem, extension) = file_name(&self.name, self.media_type.as_deref());
        for number in 1..=MAX_TRIES {
            let number = if number == 1 { String::new() } else { format!("-{number}") };
            let path = folder.join(format!("{stem}{number}.{extension}"));
            // Fails for whatever exists under the name, also a link.
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    file.write_all(bytes).map_err(|error| Fault::file(&path, "write", &error))?;
                    return Ok(Some(path));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Fault::file(&path, "write", &error)),
            }
        }
        Err(Fault::new(format!("there is no free name for `{stem}.{extension}` in `{}`", folder.display())))
    }
}

fn decode(base64: &str) -> Data {
    let compact: String = base64.chars().filter(|character| !character.is_ascii_whitespace()).collect();
    let decoded = STANDARD.decode(&compact).or_else(|_| LENIENT.decode(&compact));
    decoded.map_or(Data::Invalid, Data::Bytes)
}

/// Returns a stem and an extension that are safe on every system.
fn file_name(name: &str, media_type: Option<&str>) -> (String, String) {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = name.chars().map(|character| if is_safe(character) { character } else { '_' }).collect();
    let clean = clean.trim_matches(['.', ' ', '_', '-']);
    let known = media_type.and_then(|media_type| {
        let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        EXTENSIONS.iter().find(|(known, _)| *known == essence).map(|(_, extension)| *extension)
    });
    let (stem, extension) = match clean.rsplit_once('.') {
        Some((stem, extension))
            if extension.len() <= 10 && extension.bytes().all(|byte| byte.is_ascii_alphanumeric()) =>
        {
            (stem, extension)
        }
        _ => (clean, known.unwrap_or("bin")),
    };
    let mut stem = stem.trim_matches(['.', ' ', '_', '-']).to_owned();
    while stem.len() > MAX_NAME {
        stem.pop();
    }
    // Windows reads these as devices.
    let device = ["con", "prn", "aux", "nul"].contains(&stem.to_lowercase().as_str())
        || matches!(stem.to_lowercase().as_bytes(), [b'c', b'o', b'm', _] | [b'l', b'p', b't', _]);
    if stem.is_empty() || device {
        stem = format!("output{}{stem}", if stem.is_empty() { "" } else { "-" });
    }
    (stem, extension.to_owned())
}

fn is_safe(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '.' | '-' | '_' | ' ')
}

/// Returns a size for people.
pub(crate) fn size(bytes: usize) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes == 1 {
        return "1 byte".to_owned();
    }
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    #[allow(clippy::cast_precision_loss, reason = "one digit is shown")]
    let mut amount = bytes as f64 / 1024.0;
    let mut unit = 0;
    while amount >= 1024.0 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    format!("{amount:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(name: &str) -> Media {
        let part = MediaPart::new(MediaData::Base64("aWNvbg==".to_owned())).media_type("image/png").name(name);
        Media::of(&ContentPart::Image(part)).unwrap()
    }

    #[test]
    fn media_are_described_without_their_content() {
        assert_eq!(image("icon.png").line(), "icon.png, image/png, 4 bytes");
        let link = ContentPart::resource_link("https://example.org/a", "a");
        assert_eq!(Media::of(&link).unwrap().line(), "a, https://example.org/a");
        let broken = ContentPart::audio("audio/wav", MediaData::Base64("%%".to_owned()));
        assert_eq!(Media::of(&broken).unwrap().line(), "audio, audio/wav, invalid base64");
        assert_eq!(Media::of(&ContentPart::text("text")), None);
        assert_eq!(
            (size(0), size(1), size(1024), size(1_572_864)),
            ("0 bytes".into(), "1 byte".into(), "1.0 KiB".into(), "1.5 MiB".into())
        );
    }

    #[test]
    fn files_are_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let into = folder.path().join("new");
        let names: Vec<String> = (0..3)
            .map(|_| {
                image("icon.png").save(&into).unwrap().unwrap().file_name().unwrap().to_string_lossy().into_owned()
            })
            .collect();
        assert_eq!(names, ["icon.png", "icon-2.png", "icon-3.png"]);
        assert_eq!(fs::read(into.join("icon.png")).unwrap(), b"icon");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        std::os::unix::fs::symlink(&target, folder.path().join("icon.png")).unwrap();
        assert!(image("icon.png").save(folder.path()).unwrap().unwrap().ends_with("icon-2.png"));
        assert!(!target.exists());
    }

    #[test]
    fn no_name_leaves_the_folder() {
        for (name, expected) in [
            ("../../etc/passwd", "passwd.png"),
            ("..\\..\\boot.ini", "boot.ini"),
            ("/", "output.png"),
            ("..", "output.png"),
            ("", "output.png"),
            (".bashrc", "bashrc.png"),
            ("con", "output-con.png"),
            ("a\u{0}b\n.png", "a_b.png"),
            ("Übersicht 1.PNG", "Übersicht 1.PNG"),
            ("a:b|c?.jpg", "a_b_c.jpg"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let saved = image(name).save(folder.path()).unwrap().unwrap();
            assert_eq!(saved.parent().unwrap(), folder.path(), "{name}");
            assert_eq!(saved.file_name().unwrap().to_string_lossy(), expected, "{name}");
        }
        let long = image(&format!("{}.png", "ü".repeat(300))).save(tempfile::tempdir().unwrap().path());
        assert!(long.unwrap().unwrap().file_name().unwrap().len() <= MAX_NAME + 4);
    }

    #[test]
    fn resources_and_data_urls_are_saved_too() {
        let folder = tempfile::tempdir().unwrap();
        let text = ContentPart::resource("file:///a/notes.txt", ResourceContents::Text("hi".to_owned()));
        let path = Media::of(&text).unwrap().save(folder.path()).unwrap().unwrap();
        assert_eq!((fs::read(&path).unwrap(), path.ends_with("notes.txt")), (b"hi".to_vec(), true));
        let url = ContentPart::image("image/gif", MediaData::Url("data:image/gif;base64,aWNvbg".to_owned()));
        let path = Media::of(&url).unwrap().save(folder.path()).unwrap().unwrap();
        assert_eq!((fs::read(&path).unwrap(), path.ends_with("image.gif")), (b"icon".to_vec(), true));
        let elsewhere = ContentPart::image("image/gif", MediaData::Url("https://example.org/a.gif".to_owned()));
        assert_eq!(Media::of(&elsewhere).unwrap().save(folder.path()).unwrap(), None);
    }
}
