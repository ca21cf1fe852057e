//! Errors from building, changing and searching a registry.

use std::fmt;

use haft_executor::ToolkitFault;

use crate::name::{FullName, NameError};
use crate::workspace::{WorkspaceFault, joined};

/// A registry that can't be built or changed, with all faults.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RegistryError {
    /// All faults, in order. Never empty.
    pub faults: Vec<RegistryFault>,
}

/// A registry fault.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryFault {
    /// Two workspaces belong to the project.
    #[error("the project has two workspaces; put their toolboxes in one")]
    DuplicateProject,
    /// Two workspaces belong to the same organisation.
    #[error("the organisation `{0}` has two workspaces; put their toolboxes in one")]
    DuplicateOrg(String),
    /// A toolbox is invalid.
    #[error(transparent)]
    Toolbox(#[from] WorkspaceFault),
    /// Tools can't have their full names.
    #[error("{}", joined(.0))]
    Tools(Vec<ToolkitFault>),
    /// There is no tool with this full name.
    #[error("there is no tool named `{0}`")]
    UnknownTool(String),
    /// No workspace belongs to this organisation.
    #[error("there is no workspace of the organisation `{0}`; add it to the registry first")]
    UnknownOrg(String),
}

/// A name that means no tool, or several.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// The name is invalid.
    #[error(transparent)]
    Invalid(#[from] NameError),
    /// No tool has the name.
    #[error("there is no tool named `{name}`{}", suggestion(.similar))]
    NotFound {
        /// The name.
        name: String,
        /// The full names of similarly named tools, the most similar first.
        similar: Vec<FullName>,
    },
    /// The tool with this name is set aside because its definition has a fault.
    #[error("`{name}` is set aside: {reason}")]
    SetAside {
        /// The name.
        name: String,
        /// The fault's location.
        reason: String,
    },
    /// Tools in several organisations have the name.
    #[error("`{name}` may mean {}; use a full name", listed(.candidates))]
    Ambiguous {
        /// The name.
        name: String,
        /// The tools' full names.
        candidates: Vec<FullName>,
    },
}

impl RegistryError {
    pub(crate) fn check(faults: Vec<RegistryFault>) -> Result<(), Self> {
        if faults.is_empty() { Ok(()) } else { Err(Self { faults }) }
    }
}

impl From<RegistryFault> for RegistryError {
    fn from(fault: RegistryFault) -> Self {
        Self { faults: vec![fault] }
    }
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the registry is invalid: {}", joined(&self.faults))
    }
}

/// There is no source: the message contains all faults.
impl std::error::Error for RegistryError {}

fn suggestion(similar: &[FullName]) -> String {
    if similar.is_empty() { String::new() } else { format!("; did you mean {}?", listed(similar)) }
}

fn listed(names: &[FullName]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
