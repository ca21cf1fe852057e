//! The owners of workspace files found above the current folder.
//!
//! Whoever may write to a folder above, such as `/tmp`, could put a `haft.toml` there, and everybody who works below
//! would use it. So a file found above is used only if it and its folder belong to the user, or to root, who could
//! change everything anyway. A file in the current folder, or one that the user named, is not checked.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::Fault;

/// The variable that lists folders whose workspace files are used whoever owns them.
pub(crate) const SAFE_FOLDERS: &str = "HAFT_SAFE_FOLDERS";

/// The owner of what root may change.
const ROOT: u32 = 0;

/// This process's user, and files' owners.
pub(super) struct Ownership {
    user: u32,
    /// Returns a file's owners: its link's and its target's, if it is a link. There are none where files have no
    /// owners.
    owners: fn(&Path) -> Vec<u32>,
    /// The folders that are exempt, with all below them.
    safe_folders: Option<OsString>,
}

impl Ownership {
    pub(super) fn of_process() -> Self {
        Self { user: user(), owners, safe_folders: std::env::var_os(SAFE_FOLDERS) }
    }

    /// Rejects a file if another user owns it or its folder.
    pub(super) fn check(&self, file: &Path) -> Result<(), Fault> {
        let folder = file.parent().unwrap_or(Path::new("/"));
        let foreign = |path: &Path| (self.owners)(path).into_iter().find(|owner| ![self.user, ROOT].contains(owner));
        let (subject, owner) = match (foreign(file), foreign(folder)) {
            (Some(owner), _) => (file, owner),
            (None, Some(owner)) => (folder, owner),
            (None, None) => return Ok(()),
        };
        if self.is_safe(folder) {
            return Ok(());
        }
        let file = file.display();
        let fault = Fault::new(format!(
            "`{file}` is above the current folder, and `{}` belongs to another user (id {owner})",
            subject.display()
        ));
        Err(fault
            .advice(format!("add `{}` to the variable {SAFE_FOLDERS} if you rely on its owner", folder.display()))
            .advice(format!("or name it with `--workspace {}`", folder.display())))
    }

    /// Reports whether a folder is listed, or below one that is. `*` lists all.
    fn is_safe(&self, folder: &Path) -> bool {
        let Some(listed) = &self.safe_folders else { return false };
        let is_around = |safe: PathBuf| {
            safe == Path::new("*")
                || (safe.is_absolute() && safe.canonicalize().is_ok_and(|safe| folder.starts_with(safe)))
        };
        std::env::split_paths(listed).any(is_around)
    }
}

#[cfg(unix)]
fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(unix)]
fn owners(path: &Path) -> Vec<u32> {
    use std::os::unix::fs::MetadataExt;
    let known = [std::fs::symlink_metadata(path), std::fs::metadata(path)];
    known.into_iter().flatten().map(|metadata| metadata.uid()).collect()
}

#[cfg(not(unix))]
fn user() -> u32 {
    ROOT
}

#[cfg(not(unix))]
fn owners(_: &Path) -> Vec<u32> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::super::{FILE_NAME, nearest};
    use super::*;

    const ME: u32 = 1000;

    /// Everything in a folder named `other` belongs to another user, in `mine` to this one, and all else to root.
    fn owners(path: &Path) -> Vec<u32> {
        let name = |path: &Path| path.file_name().is_some_and(|name| name == "other");
        let is_foreign = name(path) || path.parent().is_some_and(name) || path.ends_with("mixed/haft.toml");
        vec![if is_foreign {
            1001
        } else if path.ends_with("mine") {
            ME
        } else {
            ROOT
        }]
    }

    fn ownership(safe_folders: Option<&str>) -> Ownership {
        Ownership { user: ME, owners, safe_folders: safe_folders.map(Into::into) }
    }

    #[test]
    fn a_file_above_that_another_user_owns_is_not_loaded() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for (folder, is_loaded) in [("mine", true), ("other", false), ("mixed", false), ("roots", true)] {
            let work = root.join(folder).join("deep/work");
            std::fs::create_dir_all(&work).unwrap();
            let file = root.join(folder).join(FILE_NAME);
            std::fs::write(&file, "").unwrap();
            let found = nearest(&work, &ownership(None));
            assert_eq!(found.as_ref().ok(), is_loaded.then_some(&Some(file.clone())), "{folder}: {found:?}");
            if let Err(fault) = found {
                let expected = format!("`{}` is above the current folder", file.display());
                assert!(fault.message.starts_with(&expected) && fault.message.ends_with("(id 1001)"), "{fault:?}");
                assert!(fault.advice[0].contains(SAFE_FOLDERS) && fault.advice[1].contains("--workspace"), "{fault:?}");
            }
            // A person who works in the folder itself has chosen it.
            assert!(nearest(&root.join(folder), &ownership(None)).is_ok_and(|found| found.is_some()), "{folder}");
        }
    }

    #[test]
    fn listed_folders_and_those_below_them_are_exempt() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let work = root.join("mount/other/work");
        std::fs::create_dir_all(&work).unwrap();
        std::fs::write(root.join("mount/other").join(FILE_NAME), "").unwrap();
        let path = |name: &str| root.join(name).display().to_string();
        for (listed, is_exempt) in [
            (path("mount/other"), true),
            (path("mount"), true),
            (format!("/nowhere:{}", path("mount")), true),
            ("*".to_owned(), true),
            (path("mount/other/work"), false),
            (path("mount/oth"), false),
            ("mount/other".to_owned(), false),
            (".".to_owned(), false),
            (String::new(), false),
        ] {
            assert_eq!(nearest(&work, &ownership(Some(&listed))).is_ok(), is_exempt, "{listed}");
        }
    }
}
