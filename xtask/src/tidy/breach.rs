//! One broken rule at one position.

use std::fmt;

/// A position and a message. Orders by position.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Breach {
    path: String,
    line: usize,
    message: String,
}

impl Breach {
    /// Creates a breach at a line, counted from one.
    pub(super) fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }

    /// Returns the line, counted from one.
    #[cfg(test)]
    pub(super) fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}
