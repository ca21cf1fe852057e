//! The settings that a file adds to the tools that a kind has built: ids, marks, limits and approval.
//!
//! Tools in a list get it once, and those of a live source whenever they change.

use std::path::Path;
use std::sync::Arc;

use haft_core::Version;
use haft_executor::Tool;
use haft_registry::{EntryError, EntryFault, Exported, PinnedImport};
use serde_json::{Map, Value};

use super::resource::{MissingArgument, unused_resources, with_resources};
use super::settings::CommonKeys;
use super::source::FileDigest;
use super::untrusted::UntrustedAuthor;

/// An entry's settings that mean the same for every kind, for all of its tools.
#[derive(Debug)]
pub(crate) struct EntryTools {
    kind: String,
    /// The JSON Pointer to the entry.
    pointer: String,
    /// The kind's settings as written.
    settings: Value,
    /// The digests of the files that the kind has read.
    files: Value,
    common: CommonKeys,
    missing: MissingArgument,
    /// The mark, if the file is not trusted.
    untrusted: Option<UntrustedAuthor>,
}

impl EntryTools {
    /// Collects the settings. `untrusted` is the file's path if it is not trusted.
    pub(crate) fn new(
        kind: &str,
        pointer: &str,
        settings: &Map<String, Value>,
        files: &[FileDigest],
        common: CommonKeys,
        untrusted: Option<Arc<Path>>,
    ) -> Self {
        Self {
            kind: kind.to_owned(),
            pointer: pointer.to_owned(),
            settings: Value::Object(settings.clone()),
            files: files.iter().map(ToString::to_string).collect(),
            common,
            missing: MissingArgument::Rejected,
            untrusted: untrusted.map(UntrustedAuthor::new),
        }
    }

    /// Applies to the tools of an import, of which each may lack some of the arguments.
    pub(crate) fn for_import(self) -> Self {
        Self { missing: MissingArgument::Skipped, ..self }
    }

    /// Returns the faults of settings that fit none of the import's tools.
    pub(crate) fn unused(&self, tools: &[&Tool]) -> Vec<EntryFault> {
        match self.missing {
            MissingArgument::Rejected => Vec::new(),
            MissingArgument::Skipped => unused_resources(tools, &self.common.resources),
        }
    }

    /// Returns the digest of everything that the entry's live source is built from: the entry in its file, the kind's
    /// settings, the files that it has read, and the definitions that were accepted.
    pub(crate) fn built_from(&self, file: &Path, pinned: Option<&PinnedImport>) -> FileDigest {
        let tools = pinned.into_iter().flat_map(PinnedImport::tools);
        let tools: Vec<Value> = tools.map(|(name, tool)| vec![name, tool.digest()].into()).collect();
        let origin = serde_json::json!(pinned.map(PinnedImport::origin));
        let place = format!("{} {}", file.display(), self.pointer);
        let parts = [place.into(), self.kind.clone().into(), self.settings.clone(), self.files.clone(), origin];
        let whole: Vec<Value> = parts.into_iter().chain(tools).collect();
        FileDigest::of(Value::from(whole).to_string().as_bytes())
    }

    /// Returns the export that the entry asks for.
    pub(crate) fn exported(&self) -> Exported {
        if self.common.export { Exported::Yes } else { Exported::No }
    }

    /// Returns one of the kind's tools with these settings.
    pub(crate) fn tool(&self, tool: &Tool) -> Result<Tool, EntryError> {
        let place = format!("{} {}", self.pointer, tool.name());
        let mut tool = tool.with_id(implementation_id(&self.kind, &place, &self.settings, &self.files))?;
        if let Some(mark) = &self.untrusted {
            tool = tool.annotate(mark.clone());
        }
        configured(tool, &self.common, self.missing)
    }
}

/// Returns a tool's id: the digest over its place, its settings, and the files that its kind has read.
///
/// Approvals are bound to the id. A function's definition does not depend on its code, but approving one command or
/// request must not run another.
fn implementation_id(kind: &str, place: &str, settings: &Value, files: &Value) -> String {
    let text = Value::from(vec![place.into(), settings.clone(), files.clone()]).to_string();
    format!("{kind}.{}", &FileDigest::of(text.as_bytes()).to_string()[..32])
}

/// Applies the settings that mean the same for every kind.
fn configured(tool: Tool, common: &CommonKeys, missing: MissingArgument) -> Result<Tool, EntryError> {
    let mut tool = with_resources(tool, &common.resources, missing)?;
    if let Some(limits) = common.limits(tool.limits()) {
        tool = tool.with_limits(limits)?;
    }
    if let Some(approval) = common.approval {
        tool = tool.set_needs_approval(approval.policy())?;
    }
    if let Some(version) = &common.version {
        tool = tool.annotate(Version(version.clone()));
    }
    Ok(tool)
}
