//! Errors of building and running a toolkit.

use std::collections::HashMap;
use std::fmt;

use crate::service::{Dependency, ServiceSource};
use crate::tool::DefinitionError;

/// Tools that can't be added, with all faults.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolkitError {
    /// All faults, in order. Never empty.
    pub faults: Vec<ToolkitFault>,
}

/// One fault of a toolkit.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolkitFault {
    /// Two tools have the same name.
    #[error("there is already a tool named `{name}`; rename one of the two")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// The definition of a tool is invalid.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
}

/// Tools that can't be run, with all reasons.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct NotRunnable {
    /// The tools that require a handler and have none.
    pub missing_handlers: Vec<String>,
    /// The services that tools require and that are not provided.
    pub missing_services: Vec<MissingToolService>,
    /// The tools that are invalid or share a name.
    pub faults: Vec<ToolkitFault>,
}

/// A service that a tool requires and that is not provided.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{tool}` requires the service `{service}`{}", remedy(*.provided_by))]
#[non_exhaustive]
pub struct MissingToolService {
    /// The tool.
    pub tool: String,
    /// The full name of the service's type.
    pub service: &'static str,
    /// The party that must provide it.
    pub provided_by: ServiceSource,
}

fn remedy(provided_by: ServiceSource) -> &'static str {
    match provided_by {
        ServiceSource::ToolkitOrRun => ": provide it with the toolkit or the run options",
        ServiceSource::RunOnly => {
            " of each run: provide it with `RunOptions::service`, or with a middleware that declares it in `provides`"
        }
    }
}

impl NotRunnable {
    pub(crate) fn is_empty(&self) -> bool {
        self.missing_handlers.is_empty() && self.missing_services.is_empty() && self.faults.is_empty()
    }

    /// Returns the problems of the tool with this name, if it has any.
    pub(crate) fn of_tool(&self, name: &str) -> Option<Self> {
        self.by_tool().remove(name)
    }

    /// Returns the problems of each tool, by its name.
    pub(crate) fn by_tool(&self) -> HashMap<&str, Self> {
        let mut by_tool: HashMap<&str, Self> = HashMap::new();
        for tool in &self.missing_handlers {
            by_tool.entry(tool).or_default().missing_handlers.push(tool.clone());
        }
        for missing in &self.missing_services {
            by_tool.entry(&missing.tool).or_default().missing_services.push(missing.clone());
        }
        for fault in &self.faults {
            by_tool.entry(fault.tool()).or_default().faults.push(fault.clone());
        }
        by_tool
    }
}

impl ToolkitFault {
    /// Returns the name of the tool. A name that two tools have belongs to neither.
    fn tool(&self) -> &str {
        match self {
            Self::DuplicateName { name } => name,
            Self::Definition(error) => &error.tool,
        }
    }
}

impl MissingToolService {
    pub(crate) fn new(tool: &str, dependency: &Dependency) -> Self {
        Self { tool: tool.to_owned(), service: dependency.name(), provided_by: dependency.provided_by() }
    }
}

impl fmt::Display for ToolkitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the tools can't be added to the toolkit: ")?;
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
        reasons.extend(
            self.missing_handlers
                .iter()
                .map(|tool| format!("`{tool}` has no handler: attach one, for example with `with_handler`")),
        );
        reasons.extend(self.missing_services.iter().map(ToString::to_string));
        write_joined(f, &reasons)
    }
}

impl std::error::Error for NotRunnable {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.faults.first().map(|fault| fault as _)
    }
}

/// Writes the reasons on one line.
pub(super) fn write_joined(f: &mut fmt::Formatter<'_>, reasons: &[impl fmt::Display]) -> fmt::Result {
    for (index, reason) in reasons.iter().enumerate() {
        write!(f, "{}{reason}", if index == 0 { "" } else { "; " })?;
    }
    Ok(())
}
