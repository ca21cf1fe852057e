//! Byte encodings as text.

use data_encoding::{BASE32, BASE32_NOPAD, BASE64, BASE64_NOPAD, BASE64URL_NOPAD, DecodeKind, Encoding, HEXLOWER};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::standard::failure::StandardFailure;

/// An encoding of bytes as text, by RFC 4648; base64url is written without padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ByteEncoding {
    Base64,
    Base64url,
    Base32,
    Hex,
}

impl ByteEncoding {
    /// Encodes bytes.
    pub(super) fn encode(self, bytes: &[u8]) -> String {
        match self {
            Self::Base64 => BASE64.encode(bytes),
            Self::Base64url => BASE64URL_NOPAD.encode(bytes),
            Self::Base32 => BASE32.encode(bytes),
            Self::Hex => HEXLOWER.encode(bytes),
        }
    }

    /// Decodes a text without its white space and padding.
    pub(super) fn decode(self, text: &str) -> Result<Vec<u8>, StandardFailure> {
        // Each kept character's position, for messages.
        let kept: Vec<(usize, char)> = text.chars().enumerate().filter(|(_, c)| !c.is_whitespace()).collect();
        let end = match self {
            Self::Hex => kept.len(),
            _ => kept.iter().rposition(|(_, c)| *c != '=').map_or(0, |last| last + 1),
        };
        let position = |index: usize| kept.get(index).map_or(text.chars().count(), |(at, _)| *at) + 1;
        if let Some((at, found)) = kept[..end].iter().find(|(_, c)| !c.is_ascii()) {
            return Err(self.invalid(&format!("`{found}` is not a character of it"), at + 1));
        }
        let bytes: String = kept[..end].iter().map(|(_, c)| self.normalised(*c)).collect();
        self.alphabet().decode(bytes.as_bytes()).map_err(|error| {
            let problem = match error.kind {
                DecodeKind::Symbol => format!("`{}` is not a character of it", kept[error.position].1),
                DecodeKind::Length => "the text is cut off or has characters too many".to_owned(),
                DecodeKind::Trailing | DecodeKind::Padding => "its last character is not a complete byte".to_owned(),
            };
            self.invalid(&problem, position(error.position))
        })
    }

    fn alphabet(self) -> Encoding {
        match self {
            Self::Base64 => BASE64_NOPAD,
            Self::Base64url => BASE64URL_NOPAD,
            Self::Base32 => BASE32_NOPAD,
            Self::Hex => HEXLOWER,
        }
    }

    fn normalised(self, c: char) -> char {
        match self {
            Self::Base64 | Self::Base64url => c,
            Self::Base32 => c.to_ascii_uppercase(),
            Self::Hex => c.to_ascii_lowercase(),
        }
    }

    fn invalid(self, problem: &str, position: usize) -> StandardFailure {
        let name = match self {
            Self::Base64 => "base64",
            Self::Base64url => "base64url",
            Self::Base32 => "base32",
            Self::Hex => "hexadecimal",
        };
        StandardFailure::new("invalid_encoding", format!("the text is not {name}: {problem} (at character {position})"))
            .at(position)
    }
}
