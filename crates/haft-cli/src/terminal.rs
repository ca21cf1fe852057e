//! The standard streams: which of them are terminals, how wide they are, and writing to them.
//!
//! Colours are removed where they are not wanted: no terminal, `NO_COLOR`, `TERM=dumb`. Only this file writes to the
//! standard streams directly, except for bars and prompts.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, IsTerminal, Write};

use crate::error::CommandError;

/// The width of text where the terminal's is not known.
const DEFAULT_WIDTH: usize = 100;

/// The standard streams of the process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    /// True if results are read by a person.
    pub(crate) stdout: bool,
    /// True if bars and messages are read by a person.
    pub(crate) stderr: bool,
    /// True if a person can answer.
    pub(crate) stdin: bool,
}

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
        if let Some(columns) = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).filter(|width| *width > 0) {
            return columns;
        }
        if !self.stdout && !self.stderr {
            return DEFAULT_WIDTH;
        }
        terminal_size::terminal_size().map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0))
    }

    /// Writes text to standard output, and a line break after it.
    pub(crate) fn print(self, text: impl fmt::Display) -> Result<(), CommandError> {
        let mut out = anstream::stdout().lock();
        writeln!(out, "{text}").and_then(|()| out.flush()).map_err(CommandError::Output)
    }

    /// Writes text to standard output as it is.
    pub(crate) fn write(self, text: impl fmt::Display) -> Result<(), CommandError> {
        let mut out = anstream::stdout().lock();
        write!(out, "{text}").and_then(|()| out.flush()).map_err(CommandError::Output)
    }

    /// Writes a message to standard error, and a line break after it. A message that can't be written is lost: there is
    /// nowhere else to report it.
    pub(crate) fn note(self, text: impl fmt::Display) {
        let mut out = anstream::stderr().lock();
        let _ = writeln!(out, "{text}");
    }
}

/// Returns text in which control characters, which could change what a terminal shows, are replaced by their escapes.
/// Line breaks and tabs are kept. For everything that was written by a model, a tool or a file.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let is_harmful = |character: char| {
        (character.is_control() && !matches!(character, '\n' | '\t'))
            // These reorder the text around them.
            || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
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

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn control_characters_become_escapes_and_other_text_is_kept() {
        assert_eq!(printable("line\n\tnext – ü 字"), "line\n\tnext – ü 字");
        assert_eq!(printable("\u{1b}[2Jgone\r\u{7}"), "\\u{1b}[2Jgone\\u{d}\\u{7}");
        assert_eq!(printable("a\u{202e}b\u{9b}c"), "a\\u{202e}b\\u{9b}c");
    }
}
