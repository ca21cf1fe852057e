//! The call ids that a server accepts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

use sha2::{Digest, Sha256};

/// The call ids that a server accepts.
///
/// A history may come from another provider, whose ids look different. An id that the server would reject is replaced
/// by an accepted one, the same in every request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallIdRule {
    /// Any text.
    Any,
    /// One to 40 characters, as OpenAI demands.
    #[default]
    FortyCharacters,
    /// Nine letters and digits, as Mistral demands.
    NineAlphanumerics,
}

/// The call ids in one request.
pub(super) struct CallIds {
    rule: CallIdRule,
    /// The ids that replace others, by themselves.
    taken: HashMap<String, String>,
}

const LENGTH: usize = 9;
const MAX_CHARS: usize = 40;
/// The digest bytes that replace a long id.
const DIGEST_BYTES: usize = 16;
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

impl CallIds {
    pub(super) fn new(rule: CallIdRule) -> Self {
        Self { rule, taken: HashMap::new() }
    }

    /// Returns the id to send for a call or its output.
    pub(super) fn sent<'c>(&mut self, id: &'c str) -> Cow<'c, str> {
        match self.rule {
            CallIdRule::Any => Cow::Borrowed(id),
            CallIdRule::FortyCharacters if (1..=MAX_CHARS).contains(&id.chars().count()) => Cow::Borrowed(id),
            CallIdRule::FortyCharacters => Cow::Owned(shortened(id)),
            CallIdRule::NineAlphanumerics if is_accepted(id) => Cow::Borrowed(id),
            CallIdRule::NineAlphanumerics => Cow::Owned(self.replacement(id)),
        }
    }

    /// Returns an id's replacement. Two ids with the same digest get different ones.
    fn replacement(&mut self, id: &str) -> String {
        let mut text = id.to_owned();
        loop {
            let candidate = digest(&text);
            match self.taken.get(&candidate) {
                Some(owner) if owner == id => return candidate,
                Some(_) => text.push('+'),
                None => {
                    self.taken.insert(candidate.clone(), id.to_owned());
                    return candidate;
                }
            }
        }
    }
}

fn is_accepted(id: &str) -> bool {
    id.len() == LENGTH && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn shortened(id: &str) -> String {
    let digest = Sha256::digest(id.as_bytes());
    let mut replaced = String::from("call_");
    for byte in digest.iter().take(DIGEST_BYTES) {
        let _ = write!(replaced, "{byte:02x}");
    }
    replaced
}

fn digest(id: &str) -> String {
    let digest = Sha256::digest(id.as_bytes());
    digest.iter().take(LENGTH).map(|byte| char::from(DIGITS[usize::from(*byte) % DIGITS.len()])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_empty_ids_are_replaced_by_short_ones() {
        let mut ids = CallIds::new(CallIdRule::default());
        let forty = "ä".repeat(40);
        assert_eq!(ids.sent(&forty), forty);
        for id in ["", &"a".repeat(41), &"b".repeat(41)] {
            let sent = ids.sent(id).into_owned();
            assert!(sent.starts_with("call_") && sent.len() <= 40, "{sent}");
            assert_eq!(CallIds::new(CallIdRule::default()).sent(id), sent, "the same in every request");
        }
        assert_ne!(ids.sent(&"a".repeat(41)), ids.sent(&"b".repeat(41)));
    }

    #[test]
    fn ids_have_the_form_that_the_server_accepts() {
        let mut ids = CallIds::new(CallIdRule::NineAlphanumerics);
        assert_eq!(ids.sent("abcdeFG12"), "abcdeFG12");
        let sent = ids.sent("call_1").into_owned();
        assert!(is_accepted(&sent));
        assert_eq!(ids.sent("call_1"), sent);
        assert_ne!(ids.sent("call_2"), sent);
        assert_eq!(CallIds::new(CallIdRule::NineAlphanumerics).sent("call_1"), sent);
        assert_eq!(CallIds::new(CallIdRule::Any).sent("call_1"), "call_1");
    }

    #[test]
    fn a_taken_replacement_is_not_used_twice() {
        let mut ids = CallIds::new(CallIdRule::NineAlphanumerics);
        ids.taken.insert(digest("call_1"), "another".to_owned());
        assert_ne!(ids.sent("call_1"), digest("call_1"));
    }
}
