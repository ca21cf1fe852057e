//! The text of an error that a provider reported.
//!
//! It is shown to people and written to logs, so it is short, and contains no key: providers repeat keys in the errors
//! about them.

/// The number of bytes of a message.
const MESSAGE_BYTES: usize = 2_000;
/// The starts of keys.
const KEY_STARTS: [&str; 6] = ["sk-", "sk_", "AIza", "gsk_", "xai-", "Bearer "];
/// The least number of characters after its start that a key has.
const KEY_CHARS: usize = 4;

/// Returns a text of a provider without keys, and at most as long as a message may be.
pub(crate) fn message(text: &str) -> String {
    let mut message = String::with_capacity(text.len().min(MESSAGE_BYTES));
    let mut rest = text.trim();
    while let Some(character) = rest.chars().next() {
        if message.len() >= MESSAGE_BYTES {
            message.push('…');
            break;
        }
        let at_word = !message.ends_with(is_key_char);
        match key_at(rest).filter(|_| at_word) {
            Some(length) => {
                message.push_str("[key]");
                rest = &rest[length..];
            }
            None => {
                message.push(character);
                rest = &rest[character.len_utf8()..];
            }
        }
    }
    message
}

/// Returns the message for a body that contains no error in the form of the provider.
pub(crate) fn unreadable(status: u16, body: &str) -> String {
    let body = body.trim();
    if body.is_empty() {
        format!("the server responded with status {status} and an empty body")
    } else if body.starts_with('<') {
        format!("the server responded with status {status} and a page of HTML")
    } else {
        message(&format!("the server responded with status {status}: {body}"))
    }
}

/// Returns the number of bytes of the key at the start of a text.
fn key_at(text: &str) -> Option<usize> {
    let start = KEY_STARTS.into_iter().find(|start| text.starts_with(start))?;
    let length = text[start.len()..].find(|character| !is_key_char(character)).unwrap_or(text.len() - start.len());
    (length >= KEY_CHARS).then_some(start.len() + length)
}

fn is_key_char(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '*' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_removed() {
        let text = "Incorrect API key provided: sk-proj-abc***xyz. See task-list and risk-free (Bearer abcd1234).";
        assert_eq!(message(text), "Incorrect API key provided: [key] See task-list and risk-free ([key]).");
        assert_eq!(message("sk- is the start"), "sk- is the start");
    }

    #[test]
    fn long_and_foreign_bodies_are_short_messages() {
        assert!(message(&"é".repeat(5_000)).len() <= MESSAGE_BYTES + 4);
        assert_eq!(unreadable(502, " \n"), "the server responded with status 502 and an empty body");
        assert_eq!(unreadable(502, "<html>"), "the server responded with status 502 and a page of HTML");
        assert_eq!(unreadable(500, "oops"), "the server responded with status 500: oops");
    }
}
