//! Doc comments that open with a bare clause.
//!
//! *Whether the call ended* leaves open whether the item returns, stores or decides it. The house style opens the comment of a function with
//! a verb in the third person and that of everything else with a noun phrase, as the standard library does. Only the
//! first word of a comment is checked: reviewers judge the rest.

use super::breach::Breach;
use super::source::Source;

const NOUN: &str = "the noun itself: `The result …`, `A call …`";
const VERB: &str = "a noun phrase, or for a function a verb: `Returns …`, `Creates …`";
const ACTOR: &str = "the actor or the thing by its name: `The caller …`, `A handler …`";

/// The words that must not open a doc comment, each with an opening that may.
const BARE_CLAUSES: [(&str, &str); 14] = [
    ("What", VERB),
    ("Whether", "`Returns whether …` for a function, `True if …` for a field"),
    ("Who", ACTOR),
    ("Whoever", ACTOR),
    ("How", "the quantity or the manner: `The number of …`, `The order in which …`, or a verb: `Computes …`"),
    ("When", "the moment or the condition: `The time at which …`, `The condition for …`"),
    ("Where", "the location: `The path of …`, `The position of …`"),
    ("Why", "the reason: `The reason for …`"),
    ("Which", NOUN),
    ("That", NOUN),
    ("Something", NOUN),
    ("Somebody", ACTOR),
    ("Nobody", ACTOR),
    ("Anything", NOUN),
];

/// Returns every doc comment that opens with one of the words.
pub(super) fn check(source: &Source<'_>) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for comment in source.doc_comments() {
        let first = comment.text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        if let Some((word, instead)) = BARE_CLAUSES.iter().find(|(word, _)| *word == first) {
            let message = format!("a doc comment opens with the bare clause `{word} …`; write {instead}");
            breaches.push(Breach::new(source.path(), comment.line, message));
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::source::Source;

    fn breaches(text: &str) -> Vec<String> {
        check(&Source::new("src/a.rs", text)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_bare_clause_is_reported_with_an_opening_to_write_instead() {
        let found = breaches("//! What it is.\n\n/// Whether it ended.\nfn f() {}\n");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].starts_with("src/a.rs:1: a doc comment opens with the bare clause `What …`; write "),
            "{found:?}"
        );
        assert!(found[1].starts_with("src/a.rs:3: ") && found[1].contains("`Returns whether …`"), "{found:?}");
    }

    #[test]
    fn only_the_first_line_of_a_comment_is_checked() {
        assert!(breaches("/// Returns the name.\n///\n/// What is left stays.\nfn f() {}\n").is_empty());
        assert_eq!(breaches("/// One.\nstruct A {\n    /// How many.\n    b: u8,\n}\n").len(), 1);
        assert_eq!(breaches("//! One.\n/// Whose.\n/// Why.\nfn f() {}\n/// That's it.\nfn g() {}\n").len(), 1);
    }

    #[test]
    fn longer_words_and_other_texts_are_ignored() {
        assert!(breaches("/// Whatever.\n/// Howling.\nfn f() {}\n").is_empty());
        assert!(breaches("// What for.\n//// What for.\n/* What for. */\nfn f() {}\n").is_empty());
        assert!(breaches("const A: &str = \"\n/// What for.\n\";\n").is_empty());
    }
}
