//! Text in base64, which the API takes as text.

/// Decodes UTF-8 text in base64, in the standard or the URL-safe alphabet, with or without padding.
pub(super) fn decode(data: &str) -> Option<String> {
    let digits = data.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    let (mut bits, mut count) = (0_u32, 0_u32);
    for digit in digits.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xFF).ok()?);
        }
        bits &= (1 << count) - 1;
    }
    // A single digit at the end is no byte.
    if count >= 6 {
        return None;
    }
    String::from_utf8(bytes).ok()
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
