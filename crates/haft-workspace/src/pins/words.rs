//! The difference between two texts, word by word.

use similar::{ChangeTag, TextDiff};

/// The most bytes of two texts that are compared word by word. The work grows with the square of what differs.
const MAX_BYTES: usize = 64 * 1024;

/// A piece of two texts that are compared. The pieces that are not [added](Self::Added) are the old text, and those
/// that are not [removed](Self::Removed) the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPiece {
    /// Both texts have it.
    Same(String),
    /// Only the old text has it.
    Removed(String),
    /// Only the new text has it.
    Added(String),
}

/// Returns the pieces of two texts, split at words.
pub(super) fn pieces(old: &str, new: &str) -> Vec<TextPiece> {
    if old.len() + new.len() > MAX_BYTES {
        return joined([(ChangeTag::Delete, old), (ChangeTag::Insert, new)]);
    }
    let diff = TextDiff::from_words(old, new);
    joined(diff.iter_all_changes().map(|change| (change.tag(), change.value())))
}

/// Joins neighbours of the same sort.
fn joined<'t>(changes: impl IntoIterator<Item = (ChangeTag, &'t str)>) -> Vec<TextPiece> {
    let mut pieces: Vec<TextPiece> = Vec::new();
    for (tag, text) in changes.into_iter().filter(|(_, text)| !text.is_empty()) {
        match (tag, pieces.last_mut()) {
            (ChangeTag::Equal, Some(TextPiece::Same(last)))
            | (ChangeTag::Delete, Some(TextPiece::Removed(last)))
            | (ChangeTag::Insert, Some(TextPiece::Added(last))) => last.push_str(text),
            (ChangeTag::Equal, _) => pieces.push(TextPiece::Same(text.to_owned())),
            (ChangeTag::Delete, _) => pieces.push(TextPiece::Removed(text.to_owned())),
            (ChangeTag::Insert, _) => pieces.push(TextPiece::Added(text.to_owned())),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::TextPiece::{Added, Removed, Same};
    use super::*;

    #[test]
    fn the_changed_words_are_marked() {
        let owned = str::to_owned;
        assert_eq!(
            pieces("Searches the docs.", "Searches all docs."),
            [Same(owned("Searches ")), Removed(owned("the")), Added(owned("all")), Same(owned(" docs."))],
        );
        assert_eq!(pieces("", "new"), [Added(owned("new"))]);
        assert_eq!(pieces("old", ""), [Removed(owned("old"))]);
        assert_eq!(pieces("same", "same"), [Same(owned("same"))]);
    }

    #[test]
    fn huge_texts_are_not_compared_by_words() {
        let old = "a ".repeat(MAX_BYTES);
        assert_eq!(pieces(&old, "b"), [Removed(old.clone()), Added("b".to_owned())]);
    }
}
