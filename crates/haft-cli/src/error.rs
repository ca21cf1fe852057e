//! The errors that end a command.
//!
//! An error states what failed and where; its advice states what to do. [`report`](crate::report) writes it.

use std::io;
use std::ops::Range;
use std::path::PathBuf;

use haft::workspace::FileError;

use crate::exit::ExitStatus;

/// An error that ends a command.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// A workspace file is invalid.
    Workspace(Box<FileError>),
    /// An input, an argument or the surroundings are invalid.
    Invalid(Box<Fault>),
    /// An input has several faults.
    InvalidInput(Vec<Fault>),
    /// The output can't be written.
    Output(io::Error),
    /// The person or the system interrupted the command.
    Interrupted,
}

/// One fault, with its place and advice.
#[derive(Debug, Default)]
pub(crate) struct Fault {
    /// The failure, in a sentence.
    pub(crate) message: String,
    /// The place in a text that was read.
    pub(crate) excerpt: Option<Box<Excerpt>>,
    /// The underlying reasons, the nearest first.
    pub(crate) causes: Vec<String>,
    /// Advice on what to do.
    pub(crate) advice: Vec<String>,
}

/// A place in a text.
#[derive(Debug)]
pub(crate) struct Excerpt {
    /// The text's name: a path, or `standard input`.
    pub(crate) origin: String,
    /// The whole text.
    pub(crate) text: String,
    /// The bytes that the label is about.
    pub(crate) span: Range<usize>,
    /// A few words about them.
    pub(crate) label: String,
}

impl Fault {
    /// Creates a fault without a place.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// Creates the fault for a file that can't be read or written.
    pub(crate) fn file(path: impl Into<PathBuf>, doing: &str, error: &io::Error) -> Self {
        Self::new(format!("can't {doing} `{}`", path.into().display())).cause(error)
    }

    /// Sets the place.
    pub(crate) fn excerpt(mut self, excerpt: Excerpt) -> Self {
        self.excerpt = Some(Box::new(excerpt));
        self
    }

    /// Adds an error and its sources.
    pub(crate) fn cause(mut self, error: &dyn std::error::Error) -> Self {
        let mut next = Some(error);
        while let Some(error) = next {
            let text = error.to_string();
            // Some errors repeat their source in their own message.
            if self.causes.last().is_none_or(|last| !last.ends_with(&text)) {
                self.causes.push(text);
            }
            next = error.source();
        }
        self
    }

    /// Adds advice.
    pub(crate) fn advice(mut self, advice: impl Into<String>) -> Self {
        self.advice.push(advice.into());
        self
    }
}

impl CommandError {
    /// Returns the exit status.
    pub(crate) fn status(&self) -> ExitStatus {
        match self {
            Self::Workspace(_) | Self::Invalid(_) | Self::InvalidInput(_) | Self::Output(_) => ExitStatus::Invalid,
            Self::Interrupted => ExitStatus::Interrupted,
        }
    }

    /// Reports whether the output's reader is gone, which is fine: `haft tools | head -1`.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl From<Fault> for CommandError {
    fn from(fault: Fault) -> Self {
        Self::Invalid(Box::new(fault))
    }
}

impl From<Vec<Fault>> for CommandError {
    fn from(faults: Vec<Fault>) -> Self {
        Self::InvalidInput(faults)
    }
}

impl From<FileError> for CommandError {
    fn from(error: FileError) -> Self {
        Self::Workspace(Box::new(error))
    }
}
