//! Text in base64, which the API takes as text.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const FORGIVING: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Decodes UTF-8 text from base64, in the standard or the URL-safe alphabet, with or without padding.
pub(super) fn decode(data: &str) -> Option<String> {
    let written = data.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let digits: Vec<u8> = written.map(in_standard_alphabet).collect();
    String::from_utf8(FORGIVING.decode(digits).ok()?).ok()
}

fn in_standard_alphabet(digit: u8) -> u8 {
    match digit {
        b'-' => b'+',
        b'_' => b'/',
        _ => digit,
    }
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn decodes_text() {
        for (data, text) in [
            ("", Some("")),
            ("aGk=", Some("hi")),
            ("aGk", Some("hi")),
            ("aGkh\nYQ==", Some("hi!a")),
            ("w7_DvA", Some("ÿü")),
            ("/w==", None),
            ("a", None),
            ("a GkA", Some("hi\0")),
            ("ä", None),
        ] {
            assert_eq!(decode(data).as_deref(), text, "{data}");
        }
    }
}
