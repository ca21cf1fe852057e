//! Random patterns match the same texts in both engines and in the reference.

use proptest::prelude::*;

use super::{WorkBudget, compile, reference};
use crate::seeded::for_all;

const ATOMS: &[&str] = &[
    "a",
    "b",
    "é",
    "🐲",
    "1",
    "a",
    "b",
    "ab",
    ".",
    r"\d",
    r"\w",
    r"\W",
    r"\s",
    r"\S",
    r"\p{L}",
    r"\P{Lu}",
    "[ab]",
    "[^a]",
    "[a-é]",
    r"[^\w]",
    "[]",
    "[^]",
    r"[\s\d_-]",
    r"[^\p{L}]",
    r"[\u{1F400}-\u{1F4FF}]",
];
const CONDITIONS: &[&str] = &["^", "$", r"\b", r"\B", ""];
const LOOKS: &[&str] = &["(?=", "(?!", "(?<=", "(?<!"];
const QUANTIFIERS: &[&str] =
    &["", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{0}", "{1,}", "{2,}", "{0,2}", "{1,3}"];
const LONG_QUANTIFIERS: &[&str] = &["", "", "*", "+", "?", "{9,10}", "{2,12}", "{0,9}?", "{10,}"];
const REFERENCES: &[&str] = &[r"(?:\1)", r"(?:\2)", r"(?:\3)", "(a)", "(b|)", "(.)"];
/// Letters that patterns use, line terminators, and characters of two, three and four bytes.
const CHARACTERS: &[char] = &['a', 'b', '1', '_', ' ', '-', '\n', 'é', '\u{2028}', '🐲', 'a', 'b'];

/// Choices derived from bytes, so that fewer and smaller bytes result in simpler patterns. Without bytes the first is
/// chosen.
struct Choices<'b> {
    bytes: std::slice::Iter<'b, u8>,
    references: &'static [&'static str],
}

impl<'b> Choices<'b> {
    fn new(bytes: &'b [u8], references: &'static [&'static str]) -> Self {
        Self { bytes: bytes.iter(), references }
    }

    fn number(&mut self, below: usize) -> usize {
        self.bytes.next().map_or(0, |byte| usize::from(*byte) % below)
    }

    fn one<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.number(list.len())]
    }

    fn parts(&mut self, count: usize, depth: usize) -> String {
        (0..count).map(|_| self.part(depth)).collect()
    }

    fn part(&mut self, depth: usize) -> String {
        let kind = if depth == 0 { self.number(4) } else { self.number(14) };
        match kind {
            0 => format!("{}{}", self.one(ATOMS), self.one(QUANTIFIERS)),
            1 => format!("{}{}", self.one(ATOMS), self.one(LONG_QUANTIFIERS)),
            2 if !self.references.is_empty() => self.one(self.references).into(),
            2 => self.one(ATOMS).into(),
            3 => format!("(?:{})", self.one(CONDITIONS)),
            4..8 => {
                let count = self.number(3);
                let body = self.parts(count, depth - 1);
                let quantifier = self.one(QUANTIFIERS);
                format!("{}{body}){quantifier}", self.one(&["(", "(?:"]))
            }
            8 | 9 => format!("(?:{}|{})", self.part(depth - 1), self.part(depth - 1)),
            10 | 11 => format!("{}{})", self.one(LOOKS), self.part(depth - 1)),
            _ => {
                let count = 1 + self.number(3);
                self.parts(count, depth - 1)
            }
        }
    }

    fn pattern(&mut self) -> String {
        let (start, end) = (self.one(&["", "^"]), self.one(&["", "$"]));
        format!("{start}{}{end}", self.part(4))
    }

    fn text(&mut self) -> String {
        (0..self.number(9)).map(|_| self.one(CHARACTERS).to_string().repeat(self.one(&[1, 1, 1, 2, 9, 11]))).collect()
    }
}

/// Compares both engines with the reference.
fn compare(choices: &[u8], text: &[u8], references: &'static [&'static str]) -> Result<(), TestCaseError> {
    let mut choices = Choices::new(choices, references);
    // The groups at the end exist for references to groups that were not drawn.
    let source = format!("{}|[]()()()", choices.pattern());
    let valid = |source: &str| compile(source).map_err(|fault| TestCaseError::fail(format!("{source}: {fault}")));
    let pattern = valid(&source)?;
    // An alternative that never matches, but refers to a group: it forces backtracking.
    let forced = valid(&format!("{source}|[](?<none>)\\k<none>"))?;
    let mut texts = Choices::new(text, &[]);
    for _ in 0..6 {
        let text = &texts.text();
        let Ok(expected) = reference::is_match(&source, text) else { continue };
        let mut budget = WorkBudget::for_input(text.len());
        prop_assert_eq!(pattern.is_match(text, &mut budget), Ok(expected), "{} over {:?}", source, text);
        prop_assert_eq!(forced.is_match(text, &mut budget), Ok(expected), "{} over {:?}, forced", source, text);
    }
    Ok(())
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..100)
}

#[test]
fn generated_patterns_match_as_in_ecma_262() {
    for_all(2_000, (bytes(), bytes()), |(choices, text)| compare(&choices, &text, &[]));
}

#[test]
fn generated_backreferences_match_as_in_ecma_262() {
    for_all(2_000, (bytes(), bytes()), |(choices, text)| compare(&choices, &text, REFERENCES));
}

#[test]
fn arbitrary_patterns_are_rejected_or_match_as_in_ecma_262() {
    for_all(2_000, (r"[()\[\]{}|*+?^$.\\<>=!:,0-9a-fknpuxPL-]{0,30}", "[ab1é🐲 -]{0,9}"), |(source, text)| {
        if let Ok(pattern) = compile(&source) {
            let found = pattern.is_match(&text, &mut WorkBudget::for_input(text.len()));
            if let (Ok(found), Ok(expected)) = (found, reference::is_match(&source, &text)) {
                prop_assert_eq!(found, expected, "{} over {:?}", source, text);
            }
        }
        Ok(())
    });
}
