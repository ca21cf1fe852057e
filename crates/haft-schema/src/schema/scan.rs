//! A scan over JSON text without parsing: it finds integers and measures nesting.
//!
//! It is meant for text that is valid JSON. For other text the result is unspecified, and the parser rejects the text.

use serde_json::{Number, Value};

use super::tree::number_token;
use crate::canonical::is_same_number;

/// Returns the first integer in `text` that a [`Value`] would round to another number.
///
/// A number with a fraction or an exponent is never returned: every reader rounds it to the nearest float.
#[must_use]
pub fn rounded_integer(text: &str) -> Option<&str> {
    wide_integers(text).find(|integer| {
        let read = serde_json::from_str::<Number>(integer);
        !read.is_ok_and(|read| is_same_number(&read.to_string(), integer))
    })
}

/// Returns the numbers in `text` as they are written, in their order.
pub fn numbers(text: &str) -> impl Iterator<Item = &str> {
    Tokens::new(text).filter_map(|token| token.number())
}

/// Returns the integers beyond 64 bits; none if this build's values keep every digit.
fn wide_integers(text: &str) -> impl Iterator<Item = &str> {
    let text = if number_token().is_some() { "" } else { text };
    numbers(text).filter(|number| is_wide(number))
}

/// Returns the nesting depth of arrays and objects in `text`.
pub(crate) fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for token in Tokens::new(text) {
        match token {
            Token::Open => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            Token::Close => depth = depth.saturating_sub(1),
            Token::Number(_) => {}
        }
    }
    deepest
}

/// Reports whether arrays and objects nest at most `levels` deep in a tree.
#[must_use]
pub fn nests_within(value: &Value, levels: usize) -> bool {
    let inside = |value| levels > 0 && nests_within(value, levels - 1);
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(inside),
        Value::Object(map) => levels > 0 && map.values().all(inside),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

fn is_wide(number: &str) -> bool {
    // Up to 18 digits always fit into 64 bits.
    let is_integer = !number.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    is_integer && number.len() > 18 && number.parse::<i64>().is_err() && number.parse::<u64>().is_err()
}

/// A token of a text; strings and words are skipped.
enum Token<'a> {
    Open,
    Close,
    Number(&'a str),
}

impl<'a> Token<'a> {
    fn number(&self) -> Option<&'a str> {
        match self {
            Self::Number(number) => Some(number),
            Self::Open | Self::Close => None,
        }
    }
}

/// The tokens of a text.
struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Skips the string whose opening quote was just read.
    fn pass_string(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            self.at += match byte {
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'\\' => 2,
                _ => 1,
            };
        }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let bytes = self.text.as_bytes();
        loop {
            let start = self.at;
            let byte = *bytes.get(start)?;
            self.at += 1;
            match byte {
                b'"' => self.pass_string(),
                b'[' | b'{' => return Some(Token::Open),
                b']' | b'}' => return Some(Token::Close),
                b'-' | b'0'..=b'9' => {
                    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                    self.at += bytes[self.at..].iter().take_while(|byte| is_part(byte)).count();
                    // All of these bytes are ASCII, so the slice ends at character boundaries.
                    return Some(Token::Number(self.text.get(start..self.at).unwrap_or_default()));
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_64_bits_are_not_wide() {
        for text in
            ["", "0", "-1", "18446744073709551615", "-9223372036854775808", "1e400", "0.5", r#""99999999999999999999""#]
        {
            assert_eq!(wide_integers(text).next(), None, "{text}");
        }
        for (text, wide) in [
            ("18446744073709551616", "18446744073709551616"),
            (r#"{"a\"":[1,-9223372036854775809]}"#, "-9223372036854775809"),
            (r#"["\\",100000000000000000000,"é"]"#, "100000000000000000000"),
        ] {
            assert_eq!(wide_integers(text).next(), Some(wide), "{text}");
        }
    }

    #[test]
    fn a_wide_integer_that_a_float_represents_exactly_is_not_rounded() {
        assert_eq!(rounded_integer("[100000000000000000000,123456789012345680000]"), None);
        assert_eq!(rounded_integer("[100000000000000000000,18446744073709551617]"), Some("18446744073709551617"));
        let huge = format!("[{}]", "9".repeat(400));
        assert_eq!(rounded_integer(&huge), Some(&huge[1..401]));
    }

    #[test]
    fn brackets_in_strings_do_not_nest() {
        let texts = ["1", r#""[[[\"{{""#, r#"["\\","[",{}]"#, r#"{"[\"":[[1],[]],"b":[]}"#];
        assert_eq!(texts.map(nesting), [0, 0, 2, 3]);
    }

    #[test]
    fn text_that_is_not_json_is_scanned_to_its_end() {
        for text in ["\"", "\"\\", "]]]", "-", "é\"é", "{\"a"] {
            assert_eq!(
                (wide_integers(text).next(), nesting(text)),
                (None, usize::from(text.starts_with('{'))),
                "{text}"
            );
        }
    }
}
