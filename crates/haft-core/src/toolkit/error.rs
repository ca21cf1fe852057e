//! Why a toolkit can't be put together or run.

use std::fmt;

use crate::tool::DefinitionError;

/// Tools that can't be added: all faults at once.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolkitError {
    /// Everything that is wrong, in order. Never empty.
    pub faults: Vec<ToolkitFault>,
}

/// One thing that is wrong with a toolkit.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolkitFault {
    /// Two tools have one name.
    #[error("there is already a tool named `{name}`")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A tool is not well defined.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
}

/// A toolkit that can't be run, with every reason.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct NotRunnable {
    /// The tools that need a handler and have none.
    pub missing_handlers: Vec<String>,
    /// The services that tools need and nobody provides.
    pub missing_services: Vec<MissingToolService>,
    /// The tools that are faulty or share a name.
    pub faults: Vec<ToolkitFault>,
}

/// A service that a tool needs and nobody provides.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{tool}` needs the service `{service}`")]
#[non_exhaustive]
pub struct MissingToolService {
    /// The tool.
    pub tool: String,
    /// The full name of the service's type.
    pub service: &'static str,
}

impl NotRunnable {
    pub(crate) fn is_empty(&self) -> bool {
        self.missing_handlers.is_empty() && self.missing_services.is_empty() && self.faults.is_empty()
    }
}

impl MissingToolService {
    pub(crate) fn new(tool: &str, service: &'static str) -> Self {
        Self { tool: tool.to_owned(), service }
    }
}

impl fmt::Display for ToolkitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the toolkit can't take the tools: ")?;
        write_joined(f, &self.faults)
    }
}

impl std::error::Error for ToolkitError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.faults.first().map(|fault| fault as _)
    }
}

impl fmt::Display for NotRunnable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut reasons: Vec<String> = self.faults.iter().map(ToString::to_string).collect();
        reasons.extend(self.missing_handlers.iter().map(|tool| format!("`{tool}` has no handler")));
        reasons.extend(self.missing_services.iter().map(ToString::to_string));
        f.write_str("the toolkit can't be run: ")?;
        write_joined(f, &reasons)
    }
}

impl std::error::Error for NotRunnable {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.faults.first().map(|fault| fault as _)
    }
}

/// The reasons in one line.
pub(super) fn write_joined(f: &mut fmt::Formatter<'_>, reasons: &[impl fmt::Display]) -> fmt::Result {
    for (index, reason) in reasons.iter().enumerate() {
        write!(f, "{}{reason}", if index == 0 { "" } else { "; " })?;
    }
    Ok(())
}
