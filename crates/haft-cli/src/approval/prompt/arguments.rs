//! A call's arguments as people read and edit them.
//!
//! The text is indented and otherwise kept as it is: what you see is what the call will run with, even if a number has
//! more digits than a float or a key occurs twice.

/// One level's spaces.
const LEVEL: &str = "  ";

/// Returns JSON text with one line per member. Text that is not JSON is kept as well as possible.
pub(super) fn indented(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let mut depth = 0_usize;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                out.push('"');
                take_string(&mut characters, &mut out);
            }
            '{' | '[' => {
                out.push(character);
                while characters.next_if(char::is_ascii_whitespace).is_some() {}
                match characters.next_if(|next| matches!(next, '}' | ']')) {
                    Some(end) => out.push(end),
                    None => {
                        depth += 1;
                        break_line(&mut out, depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                break_line(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(',');
                break_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            space if space.is_ascii_whitespace() => {}
            other => out.push(other),
        }
    }
    out
}

/// Takes the rest of a string, with its end.
fn take_string(characters: &mut impl Iterator<Item = char>, out: &mut String) {
    let mut is_escaped = false;
    for character in characters {
        out.push(character);
        match character {
            '"' if !is_escaped => return,
            character => is_escaped = character == '\\' && !is_escaped,
        }
    }
}

fn break_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(LEVEL, depth));
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::indented;

    #[test]
    fn json_is_indented_as_people_write_it() {
        for value in [
            json!({}),
            json!([]),
            json!("a: {b}, \"c\" \\"),
            json!({"path": "a \"b\" {c}", "lines": [1, 2.5, {"deep": []}], "none": null}),
        ] {
            assert_eq!(indented(&value.to_string()), serde_json::to_string_pretty(&value).unwrap());
            let text = indented(&serde_json::to_string_pretty(&value).unwrap());
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        }
    }

    #[test]
    fn nothing_is_lost_of_numbers_keys_and_text_that_is_no_json() {
        assert_eq!(indented("[12345678901234567890123,1.50]"), "[\n  12345678901234567890123,\n  1.50\n]");
        assert_eq!(indented(r#"{"a":1,"a":2}"#), "{\n  \"a\": 1,\n  \"a\": 2\n}");
        assert_eq!(indented("}}\"open"), "\n}\n}\"open");
    }
}
