//! A workspace file's lock file, as it is loaded beside it.
//!
//! It decides which tools there are, so it counts for the trust like the workspace file itself. A lock that can't be
//! read fails the file: without it, nobody knows what was accepted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_core::{FailureKind, ToolFailure};
use haft_executor::{DefinitionError, Tool};
use haft_mcp::{TOOL_CHANGED, TOOL_REMOVED};
use haft_registry::reading::{BelowError, below, read_bounded};
use haft_registry::{Built, EntryFault, PinnedImport};

use super::document::TextFault;
use super::pins::{LockFile, MAX_LOCK, Pins, parse};
use super::source::{FileDigest, ReadFile};
use super::tree::FilePart;

/// The most tools to name in a remark.
const MAX_NAMES: usize = 10;

/// The pins from the lock file of one of a workspace's files.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoadedPins {
    /// The path of the workspace file. It may be an organisation's file.
    pub file: Arc<Path>,
    /// The path of the lock file, which need not exist.
    pub path: PathBuf,
    /// The pins; none without a lock file.
    pub pins: Pins,
    /// The lock file's text.
    pub(crate) text: Option<Arc<str>>,
}

impl LoadedPins {
    pub(crate) fn new(file: &Arc<Path>, lock: LoadedLock) -> Self {
        let LoadedLock { pins, path, text, file: _ } = lock;
        Self { file: Arc::clone(file), path, pins, text }
    }
}

/// A lock file's pins.
#[derive(Debug, Default)]
pub(crate) struct LoadedLock {
    pub(crate) pins: Pins,
    /// The path, which need not exist.
    pub(crate) path: PathBuf,
    /// The file as it was read.
    pub(crate) file: Option<ReadFile>,
    /// The text as it was read.
    pub(crate) text: Option<Arc<str>>,
}

impl LoadedLock {
    /// Reads the lock beside a file.
    pub(crate) fn read(part: &mut FilePart) -> Self {
        let path = LockFile::path_for(&part.source.canonical);
        let missing = || Self { path: path.clone(), ..Self::default() };
        let read = match path.file_name().map(|name| below(part.source.folder(), name.as_ref())) {
            Some(Ok(found)) => read_bounded(&found, MAX_LOCK).map(|content| (found, content)),
            Some(Err(BelowError::Unreadable(_))) if path.symlink_metadata().is_err() => return missing(),
            Some(Err(error)) => Err(error.into()),
            None => return missing(),
        };
        let shown = part.source.path.with_extension(super::pins::LOCK_EXTENSION);
        let mut fault = |reason: String| {
            let message = format!("the lock file `{}` can't be used: {reason}", shown.display());
            part.faults.push(TextFault::whole(message));
        };
        match read {
            Ok((found, content)) => {
                let file = ReadFile { path: found, digest: FileDigest::of(&content) };
                let text = String::from_utf8_lossy(&content).into();
                let pins = parse(&content).unwrap_or_else(|error| {
                    fault(format!("{error}; restore it, or remove it to pin all tools anew"));
                    Pins::new()
                });
                Self { pins, path, file: Some(file), text: Some(text) }
            }
            Err(error) => {
                fault(error.to_string());
                missing()
            }
        }
    }

    /// Returns an import's pins.
    pub(crate) fn import(&self, namespace: &str, name: &str) -> Option<Arc<PinnedImport>> {
        self.pins.get(&import_name(namespace, name)).cloned().map(Arc::new)
    }
}

/// Returns the name of an import in a lock.
pub(crate) fn import_name(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}

/// Withholds the tools that are not as they were accepted, for a kind that knows its definitions without connecting.
pub(crate) fn withhold(built: &mut Built, pinned: &PinnedImport) -> Result<(), DefinitionError> {
    let Some(offered) = built.offered.clone() else { return Ok(()) };
    let (mut new, mut changed, mut removed) = (Vec::new(), Vec::new(), Vec::new());
    let mut tools = Vec::with_capacity(built.tools.len());
    for tool in std::mem::take(&mut built.tools) {
        let name = tool.name().to_owned();
        match (pinned.get(&name), offered.get(&name)) {
            (Some(accepted), Some(current)) if accepted.digest() == current.digest() => tools.push(tool),
            (Some(accepted), _) => {
                let tool = Tool::from_mcp(accepted.definition()).unwrap_or(tool);
                tools.push(failing(&tool, TOOL_CHANGED, "its definition has changed since it was accepted")?);
                changed.push(name);
            }
            (None, _) => new.push(name),
        }
    }
    for (name, accepted) in pinned.tools().filter(|(name, _)| offered.get(name).is_none()) {
        if let Ok(tool) = Tool::from_mcp(accepted.definition()) {
            tools.push(failing(&tool, TOOL_REMOVED, "it is no longer offered")?);
        }
        removed.push(name.to_owned());
    }
    built.tools = tools;
    let remarks = [
        (changed, "changed since they were accepted, and calls to them fail"),
        (removed, "no longer offered, and calls to them fail"),
        (new, "new, and left out until they are accepted"),
    ];
    let remarks = remarks.into_iter().filter(|(names, _)| !names.is_empty());
    built.remarks.extend(remarks.map(|(names, what)| EntryFault::at("", format!("{what}: {}", listed(&names)))));
    Ok(())
}

/// Returns a tool whose calls fail before anything is sent.
fn failing(tool: &Tool, kind: &'static str, reason: &'static str) -> Result<Tool, DefinitionError> {
    tool.with_forward(move |tool, _, _| {
        let message = format!("`{}` can't be called: {reason}; a person has to accept the difference", tool.name());
        std::future::ready(Err(ToolFailure::new(FailureKind::from(kind), message).not_started().not_retryable()))
    })
}

fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(MAX_NAMES).map(|name| format!("`{name}`")).collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
