//! A workspace file with the files of the organisations that it names.

use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::document::{self, TextFault};
use super::error::FileFault;
use super::format::FileFormat;
use super::settings::WorkspaceSettings;
use super::source::FileSource;
use crate::name::OrgName;

/// The name of a workspace file in a folder.
pub(crate) const FILE_NAME: &str = "haft.toml";

/// The maximum number of organisations, and of files on the way to one.
const MAX_ORGS: usize = 64;

/// One file of a workspace.
#[derive(Debug)]
pub(crate) struct FilePart {
    pub(crate) source: FileSource,
    /// The sections that are not read yet.
    sections: Value,
    pub(crate) workspace: WorkspaceSettings,
    pub(crate) org: Option<OrgName>,
    pub(crate) faults: Vec<TextFault>,
}

/// All files of a workspace, that of the project first.
#[derive(Debug, Default)]
pub(crate) struct FileTree {
    pub(crate) parts: Vec<FilePart>,
    /// Faults of files that can't be read.
    pub(crate) faults: Vec<FileFault>,
    /// The paths that can't be read.
    pub(crate) missing: Vec<PathBuf>,
}

impl FileTree {
    pub(crate) fn read(path: &Path, format: &FileFormat) -> Self {
        let mut tree = Self::default();
        match FileSource::read(path, path) {
            Ok(source) => tree.add(FilePart::new(source, format), format, &mut Vec::new()),
            Err(fault) => {
                tree.faults.push(fault);
                tree.missing.push(path.to_owned());
            }
        }
        tree
    }

    /// Adds a file, and then those of its organisations. `above` are the files that led to it.
    fn add(&mut self, part: FilePart, format: &FileFormat, above: &mut Vec<PathBuf>) {
        let at = self.parts.len();
        above.push(part.source.canonical.clone());
        let orgs = part.workspace.orgs.clone();
        self.parts.push(part);
        let mut listed = Vec::new();
        for (index, org) in orgs.iter().enumerate() {
            let added = self.add_org(at, org, &mut listed, format, above);
            if let Err(message) = added {
                self.parts[at].faults.push(TextFault::at(format!("/workspace/orgs/{index}"), message));
            }
        }
        above.pop();
    }

    fn add_org(
        &mut self,
        by: usize,
        org: &Path,
        listed: &mut Vec<PathBuf>,
        format: &FileFormat,
        above: &mut Vec<PathBuf>,
    ) -> Result<(), String> {
        let by = &self.parts[by].source;
        let mut location = by.folder().join(org);
        let mut shown = by.path.parent().unwrap_or(Path::new("")).join(org);
        if location.is_dir() {
            location.push(FILE_NAME);
            shown.push(FILE_NAME);
        }
        let canonical = fs::canonicalize(&location).unwrap_or_else(|_| location.clone());
        if above.contains(&canonical) {
            return Err(format!("`{}` is this file, or names it in turn; remove one of them", shown.display()));
        }
        if listed.contains(&canonical) {
            return Err(format!("`{}` is listed twice; remove one", shown.display()));
        }
        listed.push(canonical.clone());
        if self.parts.iter().any(|part| part.source.canonical == canonical) {
            return Ok(());
        }
        if self.parts.len() > MAX_ORGS {
            return Err(format!("there are more than {MAX_ORGS} organisations; remove some"));
        }
        let source = FileSource::read(&location, &shown).map_err(|fault| {
            self.missing.push(canonical);
            fault.to_string()
        })?;
        let part = FilePart::new(source, format);
        let checked = self.check_org(&part);
        self.add(part, format, above);
        checked
    }

    /// Checks that a file is that of an organisation which no other file has.
    fn check_org(&self, part: &FilePart) -> Result<(), String> {
        let path = part.source.path.display();
        let Some(org) = &part.org else {
            let is_unset = part.faults.is_empty();
            let message = format!("`{path}` belongs to no organisation; set `org` in its `[workspace]`");
            return if is_unset { Err(message) } else { Ok(()) };
        };
        let is_same = |known: &&FilePart| known.org.as_ref().is_some_and(|known| known.is_like(org));
        match self.parts.iter().find(is_same) {
            Some(known) => {
                let known = known.source.path.display();
                Err(format!(
                    "`{path}` and `{known}` both belong to the organisation `{org}`; put their toolboxes in one"
                ))
            }
            None => Ok(()),
        }
    }
}

impl FilePart {
    pub(crate) fn new(source: FileSource, format: &FileFormat) -> Self {
        let (sections, faults) = match document::parse(&source.text) {
            Ok(sections) => {
                let sections = Value::Object(sections);
                let faults = format.check(&sections);
                (sections, faults)
            }
            Err(faults) => (Value::Null, faults),
        };
        let mut part = Self { source, sections, workspace: WorkspaceSettings::default(), org: None, faults };
        part.workspace = part.section("workspace").unwrap_or_default();
        match part.workspace.org.as_deref().map(OrgName::new) {
            Some(Ok(org)) => part.org = Some(org),
            Some(Err(error)) => part.faults.push(TextFault::at("/workspace/org", error.to_string())),
            None => {}
        }
        part
    }

    /// Removes a section and reads it. One with faults is left out.
    pub(crate) fn section<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        let value = self.take(name)?;
        let pointer = document::member("", name);
        if self.is_faulty(&pointer) {
            return None;
        }
        match serde_json::from_value(value) {
            Ok(section) => Some(section),
            Err(error) => {
                self.faults.push(TextFault::at(pointer, error.to_string()));
                None
            }
        }
    }

    /// Removes a section.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.sections.as_object_mut()?.remove(name)
    }

    /// Reports whether a value, or something inside it, is invalid.
    pub(crate) fn is_faulty(&self, pointer: &str) -> bool {
        self.faults.iter().any(|fault| fault.is_inside(pointer))
    }
}
