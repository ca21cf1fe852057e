//! JSON that can be a Gemini structure without changing its meaning.
//!
//! Gemini reads results into protobuf structures: numbers become floats, nesting is limited, and the key `$ref` refers
//! to a file beside the result. Where that would change or break a result, it is sent as text instead.

/// The most levels that a result may nest.
const MAX_DEPTH: usize = 32;
/// The digits that a float keeps.
const MAX_DIGITS: usize = 15;
/// The longest exponent, with its sign, that every float may have.
const MAX_EXPONENT: usize = 3;
/// The keys that Gemini itself interprets.
const RESERVED_KEYS: [&str; 2] = ["$ref", "$defs"];
/// The keys that tell a result's output and error apart.
const RESULT_KEYS: [&str; 2] = ["output", "error"];

/// The kind of a JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Structure {
    /// An object that can be a result as it is.
    Object,
    /// A value that can be a member of a result.
    Value,
    /// A number, which text expresses better: `1.10` may be a version.
    Number,
    /// JSON that must be sent as text, for this reason.
    TextOnly(&'static str),
}

/// Returns the kind of a text that is valid JSON.
pub(super) fn structure(json: &str) -> Structure {
    let bytes = json.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    let mut has_result_key = false;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Structure::TextOnly("it nests too deeply");
                }
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            b'"' => {
                let end = end_of_string(bytes, at);
                let next = bytes[end..].iter().find(|byte| !byte.is_ascii_whitespace());
                if next == Some(&b':') {
                    let key = json.get(at..end).unwrap_or_default();
                    if is_one_of(key, RESERVED_KEYS) {
                        return Structure::TextOnly("it has the key `$ref` or `$defs`, which Gemini resolves");
                    }
                    has_result_key |= depth == 1 && is_one_of(key, RESULT_KEYS);
                }
                at = end;
            }
            b'-' | b'0'..=b'9' => {
                let length = bytes[at..].iter().take_while(|byte| is_of_number(**byte)).count();
                if depth > 0 && !is_float(&bytes[at..at + length]) {
                    return Structure::TextOnly("it has a number with more digits than a float keeps");
                }
                at += length;
            }
            _ => at += 1,
        }
    }
    // JSON can escape half a surrogate pair, which is not a character.
    if json.contains("\\u") && serde_json::from_str::<serde_json::Value>(json).is_err() {
        return Structure::TextOnly("it has an escape that is no character");
    }
    match json.trim_start().as_bytes().first() {
        Some(b'{') if !has_result_key => Structure::Object,
        Some(b'-' | b'0'..=b'9') => Structure::Number,
        _ => Structure::Value,
    }
}

/// Returns the position after a string.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Reports whether a quoted key is one of these, however it is written.
fn is_one_of(quoted: &str, keys: [&str; 2]) -> bool {
    if quoted.contains('\\') {
        return serde_json::from_str::<String>(quoted).is_ok_and(|key| keys.contains(&key.as_str()));
    }
    keys.contains(&quoted.trim_matches('"'))
}

fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E')
}

/// Reports whether a float keeps a number.
fn is_float(number: &[u8]) -> bool {
    let exponent = number.iter().rposition(|byte| matches!(byte, b'e' | b'E')).map_or(0, |at| number.len() - at - 1);
    exponent <= MAX_EXPONENT && significant_digits(number) <= MAX_DIGITS
}

/// Counts a number's digits from its first to its last non-zero digit.
fn significant_digits(number: &[u8]) -> usize {
    let mantissa = number.split(|byte| matches!(byte, b'e' | b'E')).next().unwrap_or_default();
    let is_digit = |byte: &u8| matches!(byte, b'1'..=b'9');
    let (Some(first), Some(last)) = (mantissa.iter().position(is_digit), mantissa.iter().rposition(is_digit)) else {
        return 0;
    };
    mantissa[first..=last].iter().filter(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_a_structure() {
        let object = Structure::Object;
        for (json, expected) in [
            ("{}", object),
            (r#"{"a": {"output": 1}}"#, object),
            (r#"{"a": "$ref", "b": "output"}"#, object),
            (r#"{"n": [1.5, -2e10, 1e-20, 0.1, 100000000000000000000]}"#, object),
            (r#"{"ref": "\"$ref\": 1"}"#, object),
            (r#"{"a": "\ud83d\ude00 \u00e9"}"#, object),
            (r#"{"output": 1}"#, Structure::Value),
            (r#"{"a":1, "error" : null}"#, Structure::Value),
            ("[1,2]", Structure::Value),
            ("null", Structure::Value),
            (r#""text""#, Structure::Value),
            ("1.10", Structure::Number),
            (" -9007199254740993", Structure::Number),
        ] {
            assert_eq!(structure(json), expected, "{json}");
        }
    }

    #[test]
    fn what_a_structure_would_change_is_text() {
        for json in [
            r##"{"$ref": "#/$defs/a"}"##,
            r#"{"a": [{"$defs" : {}}]}"#,
            r##"{"\u0024ref": "#"}"##,
            r#"{"id": 9007199254740993}"#,
            "[0.12345678901234567]",
            "[1e1000]",
            r#"{"a": "\ud800"}"#,
            r#"{"a": 1E-1000}"#,
            &("[".repeat(MAX_DEPTH + 1) + &"]".repeat(MAX_DEPTH + 1)),
        ] {
            assert!(matches!(structure(json), Structure::TextOnly(_)), "{json}");
        }
    }

    #[test]
    fn text_that_is_no_json_is_read_to_its_end() {
        for text in ["\"", "{\"a", "\\", "{\"a\\", "1e", "}}}", "é\"é", "\"\\"] {
            assert_eq!(structure(text) == Structure::Object, text.starts_with('{'), "{text}");
        }
    }
}
