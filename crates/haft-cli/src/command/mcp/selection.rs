//! The imports and tools that a command is about.

use haft::registry::{FullName, Namespace, SimpleName, ToolOrigin, ToolPattern, ToolPatternError};
use haft::workspace::Loaded;

use super::import::{LiveImport, imports};
use crate::error::{Excerpt, Fault};

/// A choice of imports and tools.
#[derive(Debug)]
pub(crate) enum ImportSelection {
    All,
    /// A toolbox's imports, or a single import.
    Imports(Vec<String>),
    /// The tools whose names match.
    Tools(Box<ToolPattern>),
}

impl ImportSelection {
    /// Reads a choice. A toolbox and an import come before a pattern.
    pub(super) fn new(written: Option<&str>, loaded: &Loaded) -> Result<Self, Fault> {
        let Some(written) = written else { return Ok(Self::All) };
        let mut known: Vec<String> = imports(loaded).into_iter().map(|import| import.name).collect();
        known.extend(loaded.locks.iter().flat_map(|lock| lock.pins.iter()).map(|(name, _)| name.to_owned()));
        known.sort_unstable();
        known.dedup();
        let is_meant =
            |name: &&String| *name == written || name.split_once('/').is_some_and(|(toolbox, _)| toolbox == written);
        let chosen: Vec<String> = known.iter().filter(is_meant).cloned().collect();
        if !chosen.is_empty() {
            return Ok(Self::Imports(chosen));
        }
        let pattern: ToolPattern = written.parse().map_err(|error: ToolPatternError| {
            let excerpt = Excerpt {
                origin: "PATTERN".to_owned(),
                text: written.to_owned(),
                span: error.at.min(written.len())..written.len(),
                label: error.fault.to_string(),
            };
            Fault::new("the pattern is invalid").excerpt(excerpt)
        })?;
        let selection = Self::Tools(Box::new(pattern));
        if known.iter().any(|name| selection.has_import(name)) {
            return Ok(selection);
        }
        let fault = Fault::new(format!("no import matches `{written}`"));
        Err(match known.as_slice() {
            [] => fault.advice("the workspace has none; add a server with `haft add mcp`"),
            known => fault.advice(format!("the imports are {}", known.join(", "))),
        })
    }

    /// Rejects a choice of single tools.
    pub(super) fn whole(self) -> Result<Self, Fault> {
        match self {
            Self::Tools(pattern) => {
                Err(Fault::new(format!("`{}` is neither a toolbox nor an import", pattern.as_str()))
                    .advice("accept single tools with `haft mcp accept`"))
            }
            whole => Ok(whole),
        }
    }

    /// Reports whether an import may have chosen tools.
    pub(crate) fn has_import(&self, import: &str) -> bool {
        match self {
            Self::All => true,
            Self::Imports(names) => names.iter().any(|name| name == import),
            Self::Tools(pattern) => {
                let toolbox = import.split_once('/').map_or(import, |(toolbox, _)| toolbox);
                let first = pattern.as_str().split('/').next().unwrap_or_default();
                // The pattern's own tools are known only when the import is listed.
                first.contains('*') || first == toolbox
            }
        }
    }

    /// Reports whether a tool of an import is chosen.
    pub(crate) fn has_tool(&self, import: &str, tool: &str) -> bool {
        match self {
            Self::All | Self::Imports(_) => self.has_import(import),
            Self::Tools(pattern) => full_name(import, tool).is_some_and(|name| pattern.matches(&name)),
        }
    }

    /// Reports whether anything that is chosen differs from what was accepted.
    pub(super) fn is_different(&self, import: &LiveImport) -> bool {
        let is_tool = import.difference.tools.iter().any(|tool| self.has_tool(&import.name, &tool.name));
        let is_whole = !matches!(self, Self::Tools(_));
        is_tool || (is_whole && (import.difference.origin.is_some() || import.difference.reported.is_some()))
    }
}

/// Returns the full name of an import's tool. Characters that no name has are underscores.
fn full_name(import: &str, tool: &str) -> Option<FullName> {
    let (namespace, _) = import.split_once('/')?;
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.');
    let name: String = tool.chars().map(|part| if is_allowed(part) { part } else { '_' }).collect();
    let name = SimpleName::new(name.trim_start_matches(|first: char| !first.is_ascii_alphanumeric())).ok()?;
    Some(FullName::new(ToolOrigin::Project(Namespace::new(namespace).ok()?), name))
}
