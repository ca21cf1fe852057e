//! The file names of conversations.
//!
//! An id may be any text: with slashes, dots, control characters, of any length, or different from another one in case
//! only. Its name begins with what is harmless of it, for people who look into the folder, and ends with its hash, which
//! alone tells conversations apart.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// The readable part, in characters.
const READABLE: usize = 40;
/// The bytes of the hash that are in a name.
const HASH: usize = 16;

/// Returns the name of a conversation's files, without an ending.
pub(super) fn file_name(id: &str) -> String {
    let harmless = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let mut name: String = id.chars().take(READABLE).map(harmless).collect();
    name.push('-');
    push_hex(&mut name, &Sha256::digest(id)[..HASH]);
    name
}

/// Returns the SHA-256 of bytes, in hexadecimal.
pub(super) fn hash_of(bytes: &[u8]) -> String {
    let mut text = String::new();
    push_hex(&mut text, &Sha256::digest(bytes));
    text
}

fn push_hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_name_is_harmless_and_differs_from_all_others() {
        let long = ["x".repeat(100_000), format!("{}y", "x".repeat(99_999))];
        let ids = ["", ".", "..", "/", "../../etc/passwd", "a", "A", "a\0", "a\n", "ä", "con", "-rf", "~", "a.", "a "];
        let ids = ids.iter().copied().chain(long.iter().map(String::as_str));
        let mut names = HashSet::new();
        for id in ids {
            let name = file_name(id);
            assert!(name.len() <= READABLE + 1 + 2 * HASH, "{name}");
            assert!(name.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-')), "{name}");
            assert!(names.insert(name), "{id:?}");
        }
        assert!(file_name("acme/42").starts_with("acme-42-"));
    }
}
