//! One finding from a check.

use serde::Serialize;

use crate::terminal::escaped;

/// A finding's severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CheckSeverity {
    /// A call to a tool may fail, or a rule has no effect.
    Warning,
    /// A provider does not express a part of a tool.
    Loss,
    /// An entry is set aside, a provider can't take a tool, or a rule can never apply.
    Fault,
    /// A part of the workspace could not be checked.
    Unchecked,
}

/// A finding: what, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(super) struct CheckFinding {
    pub(super) severity: CheckSeverity,
    /// The check that found it.
    check: &'static str,
    /// The tool, or the file's key.
    subject: String,
    /// The wires that it is about; empty if it is about none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) wires: Vec<&'static str>,
    /// The JSON Pointer in the tool's schema, or the place in the file.
    #[serde(skip_serializing_if = "String::is_empty")]
    at: String,
    message: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    advice: String,
}

impl CheckFinding {
    pub(super) fn new(
        severity: CheckSeverity,
        check: &'static str,
        subject: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        let (subject, message) = (subject.into(), message.into());
        Self { severity, check, subject, wires: Vec::new(), at: String::new(), message, advice: String::new() }
    }

    /// Returns the tool, or the file's key.
    pub(super) fn subject(&self) -> &str {
        &self.subject
    }

    /// Sets the place.
    pub(super) fn at(mut self, at: impl Into<String>) -> Self {
        self.at = at.into();
        self
    }

    /// Sets what to do.
    pub(super) fn advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = advice.into();
        self
    }

    /// Sets the wires.
    pub(super) fn wires(mut self, wires: Vec<&'static str>) -> Self {
        self.wires = wires;
        self
    }

    /// Returns this finding about several subjects at once, of which it names the first.
    pub(super) fn about(mut self, count: usize) -> Self {
        self.subject = format!("{} and {} more", self.subject, count - 1);
        self
    }

    /// Returns this finding without its subject.
    pub(super) fn without_subject(&self) -> Self {
        Self { subject: String::new(), ..self.clone() }
    }

    /// Returns the finding for people.
    pub(super) fn text(&self) -> String {
        let (style, word) = match self.severity {
            CheckSeverity::Warning => (anstyle::AnsiColor::Yellow, "warning"),
            CheckSeverity::Loss => (anstyle::AnsiColor::Cyan, "loss"),
            CheckSeverity::Fault => (anstyle::AnsiColor::Red, "fault"),
            CheckSeverity::Unchecked => (anstyle::AnsiColor::Red, "not checked"),
        };
        let style = style.on_default().bold();
        let mut text = self.subject.clone();
        if !self.at.is_empty() {
            text.push_str(&format!(" at {}", self.at));
        }
        if !self.wires.is_empty() {
            text.push_str(&format!(" ({})", self.wires.join(", ")));
        }
        text.push_str(&format!(": {}", self.message));
        if !self.advice.is_empty() {
            text.push_str(&format!("; {}", self.advice));
        }
        format!("{style}{word}{style:#}: {}", escaped(&text))
    }
}
