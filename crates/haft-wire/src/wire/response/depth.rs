//! A limit on how deep responses may nest.
//!
//! A turn adds levels around what it keeps from a response, and a stored history must be readable: JSON is read up to
//! 128 levels. No provider comes close to the limit.

use crate::wire_error::ReadError;

const MAX_DEPTH: usize = 100;

/// Rejects a body or event that nests too deep.
pub(crate) fn check(json: &str) -> Result<(), ReadError> {
    // Nearly all are too short, or have too few brackets, which shows without reading strings.
    if json.len() <= 2 * MAX_DEPTH {
        return Ok(());
    }
    let brackets: usize = json.as_bytes().chunks(usize::from(u8::MAX)).map(|chunk| usize::from(brackets(chunk))).sum();
    if brackets <= MAX_DEPTH || depth(json) <= MAX_DEPTH {
        return Ok(());
    }
    Err(ReadError::invalid(format!("the response is nested more than {MAX_DEPTH} levels deep")))
}

/// Counts the opening brackets in at most 255 bytes, in a form that the compiler vectorises.
fn brackets(bytes: &[u8]) -> u8 {
    // The two differ in this bit only.
    bytes.iter().map(|byte| u8::from(byte | 0x20 == b'{')).sum()
}

fn depth(json: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_string, mut is_escaped) = (false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_are_text() {
        for (json, expected) in
            [("1", 0), (r#"{"a":[{}],"b":[[]]}"#, 3), (r#"["[[[", "\"[[", "\\", [1]]"#, 2), ("]][", 1)]
        {
            assert_eq!(depth(json), expected, "{json}");
        }
    }

    #[test]
    fn only_deep_responses_are_rejected() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(check(&nested(MAX_DEPTH)).is_ok());
        assert!(check(&nested(MAX_DEPTH + 1)).is_err());
        assert!(check(&format!("[{}1]", "[],".repeat(1_000))).is_ok());
        assert!(check(&format!("\"{}\"", "[".repeat(1_000))).is_ok());
    }
}
