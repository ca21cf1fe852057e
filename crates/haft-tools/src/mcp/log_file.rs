//! The log of one server, in a bounded file that only the user can read.
//!
//! A server writes as much as it likes, so the file is set aside when it is full, and the one that was set aside before
//! is lost. Nothing that fails here may disturb a call: a line that can't be written is dropped.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use haft_core::internal::sha256;

/// The size from which on a file is set aside.
const MAX_FILE: u64 = 512 * 1024;

/// The log file of one server. Processes that use the same server write to the same one.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    open: Mutex<Option<(File, u64)>>,
}

impl LogFile {
    /// Returns the path for an import of a workspace.
    pub(super) fn path_for(state: &Path, workspace: &Path, import: &str) -> PathBuf {
        let workspace = fs::canonicalize(workspace).unwrap_or_else(|_| workspace.to_owned());
        let digest = sha256(&format!("{}\0{import}", workspace.display()));
        let plain = |part: char| if part.is_ascii_alphanumeric() { part } else { '-' };
        let name: String = import.chars().map(plain).take(60).collect();
        state.join("log").join(format!("{name}-{}.log", &digest["sha256:".len()..][..16]))
    }

    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, open: Mutex::default() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a line, after the time.
    pub(super) fn write(&self, line: &str) {
        let time = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
        let mut text = String::new();
        for line in line.lines() {
            let _ = writeln!(text, "{time} {line}");
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if self.append(&mut open, text.as_bytes()).is_err() {
            *open = None;
        }
    }

    fn append(&self, open: &mut Option<(File, u64)>, text: &[u8]) -> io::Result<()> {
        if open.as_ref().is_some_and(|(_, size)| *size >= MAX_FILE) {
            *open = None;
            fs::rename(&self.path, self.path.with_extension("old.log"))?;
        }
        if open.is_none() {
            if let Some(folder) = self.path.parent() {
                fs::create_dir_all(folder)?;
            }
            let file = private(OpenOptions::new().create(true).append(true)).open(&self.path)?;
            let size = file.metadata()?.len();
            *open = Some((file, size));
        }
        let Some((file, size)) = open else { return Ok(()) };
        file.write_all(text)?;
        *size += text.len() as u64;
        Ok(())
    }
}

/// Lets only the owner read and write a file that is created.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_file_is_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = LogFile::path_for(folder.path(), folder.path(), "shop/server");
        assert_ne!(path, LogFile::path_for(folder.path(), folder.path(), "shop-server"));
        let log = LogFile::new(path.clone());
        let line = "x".repeat(2000);
        (0..1000).for_each(|_| log.write(&line));
        log.write("the last\nof two lines");
        let text = fs::read_to_string(&path).unwrap();
        let last: Vec<&str> = text.lines().rev().take(2).filter_map(|line| Some(line.split_once(' ')?.1)).collect();
        assert_eq!(last, ["of two lines", "the last"]);
        let sizes = [&path, &path.with_extension("old.log")].map(|path| path.metadata().unwrap().len());
        assert!(sizes.iter().all(|size| *size < MAX_FILE + 3000), "{sizes:?}");
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions()) & 0o777, 0o600);
    }

    #[test]
    fn a_folder_that_can_not_be_written_disturbs_nothing() {
        let file = tempfile::NamedTempFile::new().unwrap();
        LogFile::new(file.path().join("log/a.log")).write("lost");
    }
}
