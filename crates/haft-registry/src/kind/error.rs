//! Entry faults.

use std::fmt;

use haft_executor::{DefinitionError, DefinitionFault, SchemaPart};
use haft_schema::{Issue, Issues};

use crate::workspace::joined;

/// An entry that can't be built, with all faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryError {
    /// All faults. Never empty.
    pub faults: Vec<EntryFault>,
}

/// An entry fault, or a remark about an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntryFault {
    /// The JSON Pointer to the setting, such as `/auth/bearer`; empty for the whole entry.
    pub pointer: String,
    /// The fault, and what to do. It contains no secret.
    pub message: String,
}

impl EntryFault {
    /// Creates a fault for the setting at this JSON Pointer.
    #[must_use]
    pub fn at(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }
}

impl EntryError {
    /// Creates an error for one setting.
    #[must_use]
    pub fn at(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { faults: vec![EntryFault::at(pointer, message)] }
    }

    /// Returns an error with these faults, if there are any.
    pub fn check(faults: Vec<EntryFault>) -> Result<(), Self> {
        if faults.is_empty() { Ok(()) } else { Err(Self { faults }) }
    }
}

/// The tool definition is invalid.
impl From<DefinitionError> for EntryError {
    fn from(error: DefinitionError) -> Self {
        Self { faults: error.faults.iter().flat_map(of_definition).collect() }
    }
}

/// Returns the entry faults for a definition fault, at the keys that all entries have.
fn of_definition(fault: &DefinitionFault) -> Vec<EntryFault> {
    let at = |key: &str, issues: &Issues, prefix: &str| -> Vec<EntryFault> {
        let fault =
            |issue: &Issue| EntryFault::at(format!("{key}{}", issue.pointer), format!("{prefix}{}", issue.message));
        issues.iter().map(fault).collect()
    };
    match fault {
        DefinitionFault::Schema { part: SchemaPart::Parameters, issues } => {
            at("/parameters", issues, "invalid schema: ")
        }
        DefinitionFault::Schema { part: SchemaPart::Success, issues } => at("/output", issues, "invalid schema: "),
        DefinitionFault::Example { index, issues } => at(&format!("/examples/{index}"), issues, ""),
        other => vec![EntryFault::at("", other.to_string())],
    }
}

impl fmt::Display for EntryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.pointer, self.message)
        }
    }
}

impl fmt::Display for EntryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&joined(&self.faults))
    }
}

/// There is no source: the message contains all faults.
impl std::error::Error for EntryError {}
