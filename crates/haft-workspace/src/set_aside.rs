//! Entries with a fault, which are set aside so that the others load.
//!
//! Only tools and imports are set aside: whatever else a file has may restrict what its tools do, and no tool runs
//! without its rules. A tool that is set aside keeps its name, so that the name does not mean another tool instead. An
//! import that exports its tools could replace any tool, so a fault in one is a fault of the file. So is a fault in an
//! entry with rules: in TOML, `permissions = {…}` after a tool's header belongs to the tool.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_registry::{Exported, FullName, Namespace, SimpleName, ToolOrigin, Workspace, WorkspaceFault};
use haft_schema::nearest;
use serde_json::Value;

use super::document::{TextFault, TextPlace};
use super::error::FileFault;
use super::settings::IMPORT_ENTRY;
use super::tree::FilePart;

/// A workspace file's entry that is set aside because of its faults. Its tools are missing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetAsideEntry {
    /// The file's path. It may be an organisation's file.
    pub path: Arc<Path>,
    /// The key, such as `toolbox.github.tool.search`.
    pub key: String,
    /// The entry's tool; unset for an import, whose tools are unknown, and for an invalid name.
    pub tool: Option<FullName>,
    /// The faults, in file order. Never empty.
    pub faults: Vec<FileFault>,
    /// The file's path, without symbolic links.
    pub(crate) file: PathBuf,
    /// The JSON Pointer to the entry in its file.
    pub(crate) pointer: String,
}

/// An entry as declared, before it is built.
#[derive(Debug)]
pub(crate) struct DeclaredEntry {
    pointer: String,
    namespace: String,
    name: String,
    is_import: bool,
    exported: Exported,
    holds_rules: bool,
}

/// The file keys that restrict what tools do. No entry has one, except for the text `approval`.
const RULES: [&str; 9] = ["allow", "approval", "ask", "deny", "files", "http", "limits", "permissions", "workspace"];

/// A declared entry with its faults, whose places are not located yet.
#[derive(Debug)]
pub(crate) struct FaultyEntry {
    declared: DeclaredEntry,
    faults: Vec<TextFault>,
}

impl DeclaredEntry {
    pub(crate) fn new(pointer: &str, namespace: &str, sort: &str, name: &str, entry: &Value) -> Self {
        let exported = if may_export(entry) { Exported::Yes } else { Exported::No };
        let (pointer, namespace, name) = (pointer.to_owned(), namespace.to_owned(), name.to_owned());
        Self { pointer, namespace, name, is_import: sort == IMPORT_ENTRY, exported, holds_rules: holds_rules(entry) }
    }

    fn may_be_missing(&self) -> bool {
        !self.holds_rules && (!self.is_import || self.exported == Exported::No)
    }

    fn full_name(&self, part: &FilePart) -> Option<FullName> {
        let name = SimpleName::new(&*self.name).ok().filter(|_| !self.is_import)?;
        let namespace = Namespace::new(&*self.namespace).ok()?;
        let origin = match &part.org {
            Some(org) => ToolOrigin::Org(org.clone(), namespace),
            None => ToolOrigin::Project(namespace),
        };
        Some(FullName::new(origin, name))
    }
}

/// Reports whether a faulty entry may be meant to be exported, as with a value that is not a boolean, or a misspelt
/// key.
fn may_export(entry: &Value) -> bool {
    let is_meant = |(key, value): (&String, &Value)| match key.as_str() {
        "export" => *value != Value::Bool(false),
        // Most keys have no such letter, and need no comparison.
        key => key.contains(['x', 'X']) && !nearest(&key.to_lowercase(), ["export"].into_iter()).is_empty(),
    };
    entry.as_object().is_some_and(|keys| keys.iter().any(is_meant))
}

/// Reports whether an entry has a key that was probably meant for the file.
fn holds_rules(entry: &Value) -> bool {
    let is_rule =
        |(key, value): (&String, &Value)| RULES.contains(&key.as_str()) && !(key == "approval" && value.is_string());
    entry.as_object().is_some_and(|keys| keys.iter().any(is_rule))
}

/// Moves the faults of entries that may be missing out of the file's faults.
pub(crate) fn take_faulty(declared: Vec<DeclaredEntry>, faults: &mut Vec<TextFault>) -> Vec<FaultyEntry> {
    if faults.is_empty() {
        return Vec::new();
    }
    let may_be_missing: HashSet<String> =
        declared.iter().filter(|entry| entry.may_be_missing()).map(|entry| entry.pointer.clone()).collect();
    let mut by_entry = HashMap::<String, Vec<TextFault>>::new();
    for fault in std::mem::take(faults) {
        match fault.place.entry().filter(|entry| may_be_missing.contains(*entry)).map(str::to_owned) {
            Some(entry) => by_entry.entry(entry).or_default().push(fault),
            None => faults.push(fault),
        }
    }
    let faulty = declared.into_iter().filter_map(|declared| {
        let faults = by_entry.remove(&declared.pointer)?;
        Some(FaultyEntry { declared, faults })
    });
    faulty.collect()
}

impl FaultyEntry {
    pub(crate) fn pointer(&self) -> &str {
        &self.declared.pointer
    }

    /// Returns the entries with their places, and reserves their tools' names.
    pub(crate) fn set_aside(entries: Vec<Self>, part: &mut FilePart, workspace: &mut Workspace) -> Vec<SetAsideEntry> {
        if entries.is_empty() {
            return Vec::new();
        }
        let path = &part.source.path;
        let mut items: Vec<(usize, TextPlace, Option<String>)> = Vec::new();
        let mut all = Vec::with_capacity(entries.len());
        for (at, Self { declared, faults }) in entries.into_iter().enumerate() {
            items.push((at, TextPlace::Key(declared.pointer.clone()), None));
            items.extend(faults.into_iter().map(|fault| (at, fault.place, Some(fault.message))));
            let entry = SetAsideEntry {
                path: Arc::clone(path),
                key: String::new(),
                tool: declared.full_name(part),
                faults: Vec::new(),
                file: part.source.canonical.clone(),
                pointer: declared.pointer.clone(),
            };
            all.push((declared, entry));
        }
        for (position, key, (at, _, message)) in part.source.placed(items, |(_, place, _)| place.clone()) {
            let entry = &mut all[at].1;
            match message {
                Some(message) => entry.faults.push(FileFault { path: Arc::clone(path), position, key, message }),
                None => entry.key = key,
            }
        }
        for (declared, entry) in &all {
            if let Err(fault) = reserve(declared, entry, workspace) {
                part.faults.push(TextFault::at_key(&declared.pointer, fault.to_string()));
            }
        }
        all.into_iter().map(|(_, entry)| entry).collect()
    }
}

/// Reserves a tool's name, so that it does not mean another one. Fails if a tool in the toolbox already has it.
fn reserve(declared: &DeclaredEntry, entry: &SetAsideEntry, workspace: &mut Workspace) -> Result<(), WorkspaceFault> {
    // A name that no tool can have means no other tool.
    let Ok(namespace) = Namespace::new(&*declared.namespace) else { return Ok(()) };
    let reason: Arc<str> = entry.faults.first().map(reason).unwrap_or_default().into();
    match &entry.tool {
        _ if declared.is_import => workspace.set_incomplete(&namespace, reason),
        Some(full) => {
            workspace.set_aside(&namespace, full.tool().clone(), declared.exported, reason)?;
        }
        None => {}
    }
    Ok(())
}

fn reason(fault: &FileFault) -> String {
    let line = fault.position.map(|at| format!(":{}", at.line)).unwrap_or_default();
    format!("fault in {}{line}: {}", fault.path.display(), fault.message)
}
