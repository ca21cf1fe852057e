//! Replacements for member names that a provider rejects.

use std::collections::HashSet;

use crate::dialect::rules::Keys;

/// The longest name that any rule accepts.
const MAX_LENGTH: usize = 64;

impl Keys {
    /// Reports whether a name is accepted in an object at this depth.
    pub(crate) fn accept(self, name: &str, depth: usize) -> bool {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        match self {
            Self::PlainInRoot if depth == 0 => {
                (1..=MAX_LENGTH).contains(&name.len())
                    && name.bytes().all(|byte| is_word(byte) || matches!(byte, b'.' | b'-'))
            }
            Self::Any | Self::PlainInRoot => true,
            Self::Identifiers => {
                name.len() <= MAX_LENGTH
                    && name.bytes().all(is_word)
                    && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
            }
        }
    }

    /// Returns accepted names in the given order. They are distinct, and an accepted name stays.
    pub(crate) fn rename(self, names: &[&str], depth: usize) -> Vec<String> {
        let mut taken: HashSet<String> =
            names.iter().filter(|name| self.accept(name, depth)).map(|name| (*name).to_owned()).collect();
        let rename = |name: &&str| {
            if self.accept(name, depth) {
                return (*name).to_owned();
            }
            let base = identifier(name);
            let numbered = (2..).map(|number: usize| {
                let suffix = format!("_{number}");
                let room = MAX_LENGTH - suffix.len();
                format!("{}{suffix}", &base[..base.len().min(room)])
            });
            let free = std::iter::once(base.clone()).chain(numbered).find(|name| !taken.contains(name));
            let free = free.unwrap_or(base);
            taken.insert(free.clone());
            free
        };
        names.iter().map(rename).collect()
    }
}

fn identifier(name: &str) -> String {
    let is_digit_first = name.chars().next().is_none_or(|first| first.is_ascii_digit());
    let words = name.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '_' });
    is_digit_first.then_some('_').into_iter().chain(words).take(MAX_LENGTH).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_rejected_are_replaced_and_stay_apart() {
        let names = ["a b", "a_b", "a-b", "", "1st", "é", "ok"];
        let renamed = Keys::Identifiers.rename(&names, 3);
        assert_eq!(renamed, ["a_b_2", "a_b", "a_b_3", "_", "_1st", "__2", "ok"]);
        assert!(renamed.iter().all(|name| Keys::Identifiers.accept(name, 0)));
        assert_eq!(Keys::Any.rename(&names, 0), names);
    }

    #[test]
    fn only_the_members_of_the_root_are_plain() {
        assert_eq!(Keys::PlainInRoot.rename(&["a.b-c", "a b"], 0), ["a.b-c", "a_b"]);
        assert_eq!(Keys::PlainInRoot.rename(&["a b"], 1), ["a b"]);
        let long = "x".repeat(100);
        let renamed = Keys::PlainInRoot.rename(&[&long, &"x".repeat(99)], 0);
        assert_eq!((renamed[0].len(), renamed[1].len()), (64, 64));
        assert_ne!(renamed[0], renamed[1]);
    }
}
