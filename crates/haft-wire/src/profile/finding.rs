//! Findings about tools rendered with a profile: faults, losses, exceeded limits and missing descriptions.
//!
//! The rendering itself produces the findings, so they report what happened.

use std::fmt;

use haft_core::{Loss, LossKind, RenderFault};
use serde::Serialize;

/// One finding about a tool sent with a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The tool's name.
    pub tool: String,
    /// The cause.
    pub kind: FindingKind,
    /// The JSON Pointer into the input schema; empty for the whole tool.
    pub pointer: String,
    /// A description for people.
    pub message: String,
    /// The change that removes the finding.
    pub advice: String,
}

/// A finding's cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FindingKind {
    /// The tool can't be sent, and is left out.
    LeftOut,
    /// The tool is sent without strict mode: its schema or the provider's limit does not allow it.
    NotStrict,
    /// The tool states `strict`, but the provider has no strict mode for it. The flag is left off.
    NoStrictMode,
    /// The tool states `strict` and the provider has the mode, but the tool can't be strict. A request with it fails.
    StrictUnmet,
    /// Another process sealed a secret in the tool's settings. A request with the tool fails.
    SealedSecret,
    /// The provider's schema form can't express a part of the tool's schema.
    Loss(LossKind),
    /// The tool has no description, so the model has to guess its purpose.
    NoDescription,
    /// A parameter has no description.
    NoParameterDescription,
    /// The description is longer than the provider is known to accept.
    LongDescription,
}

/// A finding's severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The tool works as defined, but the model would do better with the change.
    Warning,
    /// The model sees less than the tool defines. Arguments are still checked in full.
    Loss,
    /// The tool is not sent, or a request with it fails.
    Fault,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warning => "warning",
            Self::Loss => "loss",
            Self::Fault => "fault",
        })
    }
}

impl Finding {
    /// Creates a finding about a whole tool.
    #[must_use]
    pub fn new(
        tool: impl Into<String>,
        kind: FindingKind,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        let (tool, message, advice) = (tool.into(), message.into(), advice.into());
        Self { tool, kind, pointer: String::new(), message, advice }
    }

    /// Sets the pointer into the schema.
    #[must_use]
    pub fn at(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = pointer.into();
        self
    }

    pub(crate) fn left_out(tool: &str, fault: &RenderFault) -> Self {
        Self::new(tool, FindingKind::LeftOut, &fault.message, &fault.remedy).at(&fault.pointer)
    }

    pub(crate) fn loss(tool: &str, loss: &Loss) -> Self {
        let advice = "the arguments are checked in full; simplify the schema if the model gets this wrong";
        Self::new(tool, FindingKind::Loss(loss.kind), &loss.message, advice).at(&loss.pointer)
    }

    /// Returns the finding's severity.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self.kind {
            FindingKind::LeftOut | FindingKind::StrictUnmet | FindingKind::SealedSecret => Severity::Fault,
            FindingKind::NotStrict | FindingKind::Loss(_) => Severity::Loss,
            FindingKind::NoStrictMode
            | FindingKind::NoDescription
            | FindingKind::NoParameterDescription
            | FindingKind::LongDescription => Severity::Warning,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, pointer, message, advice, .. } = self;
        write!(f, "`{tool}`")?;
        if !pointer.is_empty() {
            write!(f, " at {pointer}")?;
        }
        write!(f, ": {message}; {advice}")
    }
}
