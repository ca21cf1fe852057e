//! JSON as editors write it: with comments, and commas after last items.

/// Returns a text with spaces in place of comments and of commas that nothing follows, so that all places in it stay
/// the same. Texts in quotes stay as they are.
pub(super) fn without_comments(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    // The last comma that only white space and comments have followed.
    let mut comma = None;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at = string_end(&bytes, at);
                comma = None;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                let end = bytes[at..].iter().position(|byte| matches!(byte, b'\n' | b'\r'));
                at = blank(&mut bytes, at, end.map_or(text.len(), |end| at + end));
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let end = bytes[at + 2..].windows(2).position(|pair| pair == b"*/");
                at = blank(&mut bytes, at, end.map_or(text.len(), |end| at + 2 + end + 2));
            }
            b',' => {
                comma = Some(at);
                at += 1;
            }
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
                at += 1;
            }
            byte => {
                if !byte.is_ascii_whitespace() {
                    comma = None;
                }
                at += 1;
            }
        }
    }
    // Only whole characters were replaced.
    String::from_utf8(bytes).unwrap_or_default()
}

/// Returns the place after the text in quotes that begins here.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Replaces a range by spaces, except for line breaks, and returns its end.
fn blank(bytes: &mut [u8], start: usize, end: usize) -> usize {
    for byte in &mut bytes[start..end] {
        if !matches!(*byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::without_comments;

    fn value(text: &str) -> Value {
        let plain = without_comments(text);
        assert_eq!(plain.len(), text.len());
        serde_json::from_str(&plain).unwrap_or_else(|error| panic!("{error}: {plain}"))
    }

    #[test]
    fn comments_and_last_commas_are_removed() {
        assert_eq!(value("{// a \"ü\"\n\"a\": [1, /* 2, */ 3, // end\r\n ], /**/ }"), json!({"a": [1, 3]}));
        assert_eq!(value("[1] // no line end"), json!([1]));
        assert_eq!(value("{\"a\": {\"b\": 1,},}"), json!({"a": {"b": 1}}));
    }

    #[test]
    fn texts_in_quotes_stay() {
        let text = r#"{"url": "https://a.example/*x*/", "b": "\"// no\\", "c": ",]"}"#;
        assert_eq!(without_comments(text), text);
    }

    #[test]
    fn broken_texts_stay_broken() {
        for text in ["[1,,2]", "[,]x", "/* open", "{\"a", "\"\\", "[1 2]", "/"] {
            assert!(serde_json::from_str::<Value>(&without_comments(text)).is_err(), "{text}");
        }
    }
}
