//! A workspace file with the files of the organisations that it names.

use std::fs;
use std::path::{Path, PathBuf};

use haft_registry::OrgName;
use haft_registry::reading::{BelowError, below};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::document::{self, TextFault};
use super::error::FileFault;
use super::format::FileFormat;
use super::privilege::{PrivilegeKind, Privileges};
use super::settings::WorkspaceSettings;
use super::source::FileSource;

/// A workspace file's name in a folder.
pub(crate) const FILE_NAME: &str = "haft.toml";

/// The most organisations, and the most files on the way to one.
const MAX_ORGS: usize = 64;

/// One of a workspace's files.
#[derive(Debug)]
pub(crate) struct FilePart {
    pub(crate) source: FileSource,
    /// The sections that are not read yet.
    sections: Value,
    pub(crate) workspace: WorkspaceSettings,
    pub(crate) org: Option<OrgName>,
    pub(crate) faults: Vec<TextFault>,
    /// The organisations whose files are outside this file's folder.
    pub(crate) outside: Vec<OutsideOrg>,
    /// True if the text is TOML that names an organisation.
    names_org: bool,
    /// True if the text is TOML with something that only workspace files have. Cargo's have a `[workspace]`, too.
    is_workspace: bool,
}

/// An organisation whose file is outside the folder of the file that names it.
#[derive(Clone, Debug)]
pub(crate) struct OutsideOrg {
    /// The JSON Pointer to its path.
    pointer: String,
    /// The path to its file or folder, without symbolic links where it can be followed.
    path: PathBuf,
    /// True if its file was not opened because the file that names it is not trusted.
    is_left_out: bool,
}

/// Reports whether a file's paths may lead out of its folder, because the file is trusted or under review.
pub(crate) type MayLeave<'a> = dyn Fn(&FileSource) -> bool + Sync + 'a;

/// All of a workspace's files, the project's first.
#[derive(Debug, Default)]
pub(crate) struct FileTree {
    pub(crate) parts: Vec<FilePart>,
    /// The faults of files that can't be read.
    pub(crate) faults: Vec<FileFault>,
    /// The paths that can't be read.
    pub(crate) missing: Vec<PathBuf>,
}

impl FileTree {
    pub(crate) fn read(path: &Path, format: &FileFormat, may_leave: &MayLeave<'_>) -> Self {
        let mut tree = Self::default();
        match FileSource::read(path, path) {
            Ok(source) => {
                let mut part = FilePart::new(source, format);
                // A link may lead to any of the user's files, so nothing is shown from it unless it is meant for haft.
                if part.source.is_link && !part.is_workspace && !part.faults.is_empty() {
                    part.faults = vec![TextFault::whole("this link leads to a file that is not a workspace file")];
                }
                tree.add(part, format, &mut Vec::new(), may_leave);
            }
            Err(fault) => {
                tree.faults.push(fault);
                tree.missing.push(path.to_owned());
            }
        }
        tree
    }

    /// Adds a file, then its organisations' files. `above` are the files that led to it.
    fn add(&mut self, part: FilePart, format: &FileFormat, above: &mut Vec<PathBuf>, may_leave: &MayLeave<'_>) {
        let at = self.parts.len();
        above.push(part.source.canonical.clone());
        let orgs = part.workspace.orgs.clone();
        self.parts.push(part);
        let mut listed = Vec::new();
        for (index, org) in orgs.iter().enumerate() {
            let pointer = format!("/workspace/orgs/{index}");
            let source = &self.parts[at].source;
            if leads_out(source.folder(), org) {
                let path = source.folder().join(org);
                let path = fs::canonicalize(&path).unwrap_or(path);
                let is_left_out = !may_leave(source);
                self.parts[at].outside.push(OutsideOrg { pointer: pointer.clone(), path, is_left_out });
                if is_left_out {
                    continue;
                }
            }
            if let Err(message) = self.add_org(at, org, &mut listed, format, above, may_leave) {
                self.parts[at].faults.push(TextFault::at(pointer, message));
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
        may_leave: &MayLeave<'_>,
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
        if !part.names_org {
            // It may be any of the user's files, so nothing is shown from it.
            let path = shown.display();
            return Err(format!(
                "`{path}` belongs to no organisation: it must be TOML that sets `org` in its `[workspace]`; load it by \
                 itself to see its faults"
            ));
        }
        let checked = self.check_org(&part);
        self.add(part, format, above, may_leave);
        checked
    }

    /// Checks that a file belongs to an organisation that no other file has.
    fn check_org(&self, part: &FilePart) -> Result<(), String> {
        let path = part.source.path.display();
        // An invalid name is that file's own fault.
        let Some(org) = &part.org else { return Ok(()) };
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

/// Reports whether an organisation's file may be outside a folder.
fn leads_out(folder: &Path, org: &Path) -> bool {
    match below(folder, org) {
        Ok(found) if found.is_dir() => matches!(below(folder, &org.join(FILE_NAME)), Err(BelowError::Outside)),
        Ok(_) | Err(BelowError::Unreadable(_)) => false,
        Err(BelowError::Outside) => true,
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
        let names_org = sections["workspace"]["org"].is_string();
        let is_own = |key: &str| sections["workspace"].get(key).is_some();
        let is_workspace = sections["toolbox"].is_object() || ["org", "orgs", "standard"].into_iter().any(is_own);
        let (workspace, outside) = (WorkspaceSettings::default(), Vec::new());
        let mut part = Self { source, sections, workspace, org: None, faults, outside, names_org, is_workspace };
        part.workspace = part.section("workspace").unwrap_or_default();
        match part.workspace.org.as_deref().map(OrgName::new) {
            Some(Ok(org)) => part.org = Some(org),
            Some(Err(error)) => part.faults.push(TextFault::at("/workspace/org", error.to_string())),
            None => {}
        }
        part
    }

    /// Returns the file as it was read, before anything was taken from it.
    pub(crate) fn reread(self, format: &FileFormat) -> Self {
        let outside = self.outside;
        Self { outside, ..Self::new(self.source, format) }
    }

    /// Adds the organisations outside its folder to the file's privileges, and remarks on those that are left out.
    pub(crate) fn list_outside(&self, privileges: &mut Privileges, remarks: &mut Vec<TextFault>) {
        for OutsideOrg { pointer, path, is_left_out } in &self.outside {
            privileges.add(pointer, PrivilegeKind::Organisation(path.clone()));
            if *is_left_out {
                let message = "left out: a path out of this folder requires that this file is trusted";
                remarks.push(TextFault::at(pointer, message));
            }
        }
    }

    /// Removes a section and reads it. A faulty section is left out.
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
