//! The standard streams: which are terminals, how wide they are, and writing to them.
//!
//! Colours are removed where they are not wanted: no terminal, `NO_COLOR`, `TERM=dumb`. Only this file writes to the
//! standard streams directly, except for bars and prompts.

pub(crate) mod modes;

use std::borrow::Cow;
use std::fmt;
use std::io::{self, IsTerminal, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::error::CommandError;

/// The text width where the terminal's is unknown.
const DEFAULT_WIDTH: usize = 100;

/// The number of rows where the terminal's is unknown.
const DEFAULT_HEIGHT: usize = 24;

/// The process's standard streams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    /// True if results are read by a person.
    pub(crate) stdout: bool,
    /// True if a person reads bars and messages.
    pub(crate) stderr: bool,
    /// True if a person can answer.
    pub(crate) stdin: bool,
}

#[allow(clippy::unused_self, reason = "whoever writes has a terminal to write to")]
impl Terminal {
    pub(crate) fn detect() -> Self {
        Self {
            stdout: io::stdout().is_terminal(),
            stderr: io::stderr().is_terminal(),
            stdin: io::stdin().is_terminal(),
        }
    }

    /// Reports whether questions can be asked: prompts are written to standard error, and read from standard input.
    pub(crate) fn is_interactive(self) -> bool {
        self.stdin && self.stderr
    }

    /// Returns the width for text, in columns.
    pub(crate) fn width(self) -> usize {
        if let Some(columns) =
            std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).filter(|width| *width > 0)
        {
            return columns;
        }
        if !self.stdout && !self.stderr {
            return DEFAULT_WIDTH;
        }
        terminal_size::terminal_size().map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0))
    }

    /// Returns the width for messages to a person, or none where a program reads them line by line.
    pub(crate) fn message_width(self) -> Option<usize> {
        self.stderr.then(|| self.width())
    }

    /// Returns the number of rows.
    pub(crate) fn height(self) -> usize {
        terminal_size::terminal_size().map_or(DEFAULT_HEIGHT, |(_, height)| usize::from(height.0))
    }

    /// Writes text to standard output, and a line break after it.
    pub(crate) fn print(self, text: impl fmt::Display) -> Result<(), CommandError> {
        let mut out = anstream::stdout().lock();
        writeln!(out, "{text}").and_then(|()| out.flush()).map_err(CommandError::Output)
    }

    /// Writes JSON to standard output, and a line break after it. A person sees its deceptive characters escaped; a
    /// program gets it as it is.
    pub(crate) fn print_json(self, json: impl fmt::Display) -> Result<(), CommandError> {
        if self.stdout { self.print(escaped_json_text(&json.to_string())) } else { self.print(json) }
    }

    /// Writes text to standard output as it is.
    pub(crate) fn write(self, text: impl fmt::Display) -> Result<(), CommandError> {
        let mut out = anstream::stdout().lock();
        write!(out, "{text}").and_then(|()| out.flush()).map_err(CommandError::Output)
    }

    /// Writes text to standard output for a program, with all its control characters.
    pub(crate) fn write_data(self, text: &str) -> Result<(), CommandError> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(CommandError::Output)
    }

    /// Writes a message to standard error, and a line break after it. A message that can't be written is lost: there is
    /// nowhere else to report it.
    pub(crate) fn note(self, text: impl fmt::Display) {
        let mut out = anstream::stderr().lock();
        let _ = writeln!(out, "{text}");
    }

    /// Writes a part of a message to standard error as it is.
    pub(crate) fn write_note(self, text: impl fmt::Display) {
        let mut out = anstream::stderr().lock();
        let _ = write!(out, "{text}").and_then(|()| out.flush());
    }
}

/// Returns text with control characters, which could change what a terminal shows, replaced by their escapes. Line
/// breaks and tabs stay. Use it for everything that a model, a tool or a file wrote.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let is_harmful = |character: char| {
        (character.is_control() && !matches!(character, '\n' | '\t'))
            // These reorder the text around them.
            || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}')
    };
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let escape = |character: char| match character {
        character if is_harmful(character) => character.escape_unicode().to_string(),
        character => character.to_string(),
    };
    Cow::Owned(text.chars().map(escape).collect())
}

/// Reports whether a character could make a line look like another one, or like several: all white space but a single
/// space, control characters, and what reorders or hides text.
fn is_deceptive(character: char) -> bool {
    character.is_control()
        || (character.is_whitespace() && character != ' ')
        || matches!(character, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(character, '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
        || matches!(character, '\u{e0000}'..='\u{e0fff}')
}

/// Returns text as exactly one line that shows every character. Characters that could deceive a reader are escaped, and
/// so is each space after another one, which could look like a new line where a terminal wraps. Use it for facts that a
/// person decides by.
pub(crate) fn escaped(text: &str) -> String {
    let mut before = None;
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if is_deceptive(character) || (character == ' ' && before.is_none_or(|before| before == ' ')) {
            line.extend(character.escape_unicode());
        } else {
            line.push(character);
        }
        before = Some(character);
    }
    line
}

/// Returns JSON on one line with characters escaped that could deceive a reader.
pub(crate) fn escaped_json(value: &serde_json::Value) -> String {
    escaped_json_text(&value.to_string())
}

/// Returns JSON text, which may be indented, with characters escaped that could deceive a reader.
pub(crate) fn escaped_json_text(json: &str) -> String {
    let mut units = [0; 2];
    let mut text = String::with_capacity(json.len());
    // Such characters occur in strings only, beside the white space between tokens.
    for character in json.chars() {
        if is_deceptive(character) && !matches!(character, '\n' | '\r' | '\t') {
            text.extend(character.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            text.push(character);
        }
    }
    text
}

/// Returns a character, or a sign in place of one that could change what a terminal shows around it. Use it for
/// excerpts, in which characters have places.
pub(crate) fn replaced(character: char) -> char {
    if character != '\t' && is_deceptive(character) { '\u{fffd}' } else { character }
}

/// Returns text for one line: [`printable`], with line breaks and other white space as single spaces.
pub(crate) fn one_line(text: &str) -> String {
    let mut words = text.split_whitespace();
    let mut line = words.next().map(printable).unwrap_or_default().into_owned();
    for word in words {
        line.push(' ');
        line.push_str(&printable(word));
    }
    line
}

/// Returns text that takes at most this many columns. Where it was cut it ends with `…`.
pub(crate) fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    if text.len() <= columns || text.width() <= columns {
        return Cow::Borrowed(text);
    }
    let mut taken = 0;
    let end = text.char_indices().find_map(|(at, character)| {
        taken += character.width().unwrap_or(0);
        // One column is for the sign.
        (taken >= columns).then_some(at)
    });
    match columns {
        0 => Cow::Borrowed(""),
        _ => Cow::Owned(format!("{}…", &text[..end.unwrap_or(text.len())])),
    }
}

/// Returns text whose lines are broken between words. What follows a break is indented as its line, and this much more.
/// A word that is longer than the width stays whole.
pub(crate) fn wrapped(text: &str, width: usize, hang: usize) -> String {
    text.split('\n').map(|line| wrapped_line(line, width, hang)).collect::<Vec<_>>().join("\n")
}

fn wrapped_line(line: &str, width: usize, hang: usize) -> String {
    if line.width() <= width {
        return line.to_owned();
    }
    let start = line.len() - line.trim_start_matches(' ').len();
    // Half of the width is left for words, however deep the line is.
    let indent = (start + hang).min(width / 2);
    let mut broken = line[..start].to_owned();
    let mut taken = start;
    for piece in line[start..].split_inclusive(' ') {
        if taken + piece.trim_end().width() > width && taken > start.max(indent) {
            broken.truncate(broken.trim_end().len());
            broken.push('\n');
            broken.extend(std::iter::repeat_n(' ', indent));
            taken = indent;
            if piece == " " {
                continue;
            }
        }
        broken.push_str(piece);
        taken += piece.width();
    }
    broken
}

/// Returns text that takes exactly this many columns: cut, or padded with spaces.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    let mut text = cut(text, columns).into_owned();
    let missing = columns.saturating_sub(text.width());
    text.extend(std::iter::repeat_n(' ', missing));
    text
}

#[cfg(test)]
mod tests {
    use super::{cut, escaped, escaped_json, escaped_json_text, fit, one_line, printable, wrapped};

    #[test]
    fn control_characters_become_escapes_and_other_text_is_kept() {
        assert_eq!(printable("line\n\tnext – ü 字"), "line\n\tnext – ü 字");
        assert_eq!(printable("\u{1b}[2Jgone\r\u{7}"), "\\u{1b}[2Jgone\\u{d}\\u{7}");
        assert_eq!(printable("a\u{202e}b\u{9b}c\u{61c}"), "a\\u{202e}b\\u{9b}c\\u{61c}");
    }

    #[test]
    fn json_for_people_hides_nothing_and_means_the_same() {
        let json = "{\n  \"a\u{9b}2J\u{202e}\u{61c}\u{200b}\u{e0041}\": \"ü 字\"\n}";
        let shown = escaped_json_text(json);
        assert_eq!(shown, "{\n  \"a\\u009b2J\\u202e\\u061c\\u200b\\udb40\\udc41\": \"ü 字\"\n}");
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(read(&shown), read(json));
    }

    #[test]
    fn a_line_has_no_breaks_and_no_control_characters() {
        assert_eq!(one_line("a\n\n b\tc\u{1b}[0m\r\n"), "a b c\\u{1b}[0m");
        assert_eq!(one_line(" \n"), "");
    }

    #[test]
    fn an_escaped_text_is_one_line_that_hides_nothing() {
        assert_eq!(escaped("git log – ü 字"), "git log – ü 字");
        for hidden in
            ["\n", "\r", "\t", "\u{85}", "\u{2028}", "\u{2029}", "\u{202e}", "\u{2066}", "\u{200b}", "\u{feff}"]
        {
            let text = format!("a{hidden}b");
            let line = escaped(&text);
            assert!(line.is_ascii() && line.starts_with("a\\u{") && line.lines().count() == 1, "{line}");
            let json = escaped_json(&serde_json::json!({ "x": text }));
            assert!(
                json.is_ascii() && serde_json::from_str::<serde_json::Value>(&json).unwrap()["x"] == text,
                "{json}"
            );
        }
        assert_eq!(escaped("a   - b"), "a \\u{20}\\u{20}- b");
        assert_eq!(escaped("  - b"), "\\u{20}\\u{20}- b");
    }

    #[test]
    fn text_is_cut_by_columns_and_not_by_characters() {
        assert_eq!(cut("delete", 6), "delete");
        assert_eq!(cut("delete", 5), "dele…");
        assert_eq!(cut("字字字字", 8), "字字字字");
        assert_eq!(cut("字字字字", 7), "字字字…");
        assert_eq!(cut("字字字字", 6), "字字…");
        assert_eq!(cut("e\u{301}e\u{301}e\u{301}", 3), "e\u{301}e\u{301}e\u{301}");
        assert_eq!((cut("ab", 1), cut("ab", 0), cut("", 0)), ("…".into(), "".into(), "".into()));
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("one two three four", 9, 0), "one two\nthree\nfour");
        assert_eq!(wrapped("  one two three\nfour", 10, 2), "  one two\n    three\nfour");
        assert_eq!(wrapped("a extraordinary b", 5, 0), "a\nextraordinary\nb");
        assert_eq!(wrapped("字字 字字 字字", 9, 0), "字字 字字\n字字");
        assert_eq!(wrapped("x          y z", 9, 30), "x\n    y z");
        assert_eq!(wrapped("", 9, 2), "");
        assert_eq!(wrapped("fits\n", 4, 2), "fits\n");
    }

    #[test]
    fn text_fits_its_columns_exactly() {
        assert_eq!(fit("字", 4), "字  ");
        assert_eq!(fit("字字字", 4), "字… ");
    }
}
