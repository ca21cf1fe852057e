//! Words in descriptions that address the model instead of describing a tool.

/// A sign that a text addresses the model behind a person's back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Instruction {
    /// Words that no description of a tool needs.
    Phrase(String),
    /// So many blank characters that what follows them is out of sight.
    Padding(usize),
}

/// The blank characters in a row from which the rest is out of sight.
const MAX_BLANK: usize = 200;

/// Words that give orders about other tools, about secrecy, or about what was said before. Lower case, one space
/// between words, and `'` as the apostrophe.
const PHRASES: [&str; 38] = [
    "<!--",
    "<important>",
    "<instruction",
    "<secret>",
    "<system",
    "before any other tool",
    "before calling any other",
    "before using any other",
    "before using other tools",
    "before using this tool, read",
    "call this tool before",
    "call this tool first",
    "disregard all",
    "disregard any",
    "disregard previous",
    "disregard the above",
    "do not inform the user",
    "do not let the user",
    "do not mention",
    "do not notify the user",
    "do not reveal",
    "do not show the user",
    "do not tell",
    "don't inform the user",
    "don't mention",
    "don't reveal",
    "don't tell",
    "ignore all previous",
    "ignore any previous",
    "ignore previous",
    "ignore prior",
    "ignore the above",
    "instead of any other tool",
    "instead of other tools",
    "never tell",
    "system prompt",
    "without informing the user",
    "without telling the user",
];

/// Returns the first sign in a text.
pub(super) fn instruction(text: &str) -> Option<Instruction> {
    let padding = padding(text);
    if padding > MAX_BLANK {
        return Some(Instruction::Padding(padding));
    }
    let text = normal(text);
    let phrase = PHRASES.iter().find(|phrase| text.contains(*phrase))?;
    Some(Instruction::Phrase((*phrase).to_owned()))
}

/// Returns the largest number of blank characters in a row.
fn padding(text: &str) -> usize {
    let is_visible = |character: char| !character.is_whitespace() && character != '\u{2800}';
    text.trim().split(is_visible).map(|blank| blank.chars().count()).max().unwrap_or_default()
}

/// Returns a text in lower case with one space between words.
fn normal(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(|word| word.to_lowercase().replace('’', "'")).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_found_in_any_case_and_spacing() {
        let found = |text: &str| match instruction(text) {
            Some(Instruction::Phrase(phrase)) => phrase,
            other => format!("{other:?}"),
        };
        assert_eq!(found("Adds. IGNORE\n  previous instructions"), "ignore previous");
        assert_eq!(found("Don’t tell anybody"), "don't tell");
        assert_eq!(found("<IMPORTANT> read this"), "<important>");
        assert_eq!(found("Reads the whole file, and ignores empty lines."), "None");
        assert_eq!(found("Important: paths are relative. Use it before you write."), "None");
    }

    #[test]
    fn padding_counts_only_between_visible_text() {
        let blank = " \n".repeat(150);
        assert_eq!(instruction(&format!("a{blank}b")), Some(Instruction::Padding(300)));
        assert_eq!(instruction(&format!("{blank}a{blank}")), None);
        assert_eq!(instruction(&" a".repeat(1_000)), None);
    }
}
