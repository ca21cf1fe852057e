//! Runs in files that wait for verdicts, found and read without being taken over.

use std::fs;
use std::path::{Path, PathBuf};

use haft::approval::{ApprovalRequest, Verdict};
use haft::run::RunId;

use super::document::StoredRun;
use super::ledger::Ledger;
use crate::error::Fault;
use crate::input::TextInput;

/// The most files in a folder that are looked at.
const MAX_FILES: usize = 10_000;

/// A run in a file with the requests that wait.
#[derive(Debug)]
pub(crate) struct WaitingRun {
    pub(crate) path: PathBuf,
    pub(crate) run_id: RunId,
    /// The caller that the calls run for.
    pub(crate) caller: Option<String>,
    pub(crate) pending: Vec<ApprovalRequest>,
    /// The verdicts that were stored for them.
    pub(crate) verdicts: Vec<Verdict>,
}

impl WaitingRun {
    /// Returns a file's run, which must be its current one.
    pub(crate) fn read(path: &Path, ledger: &Ledger) -> Result<Self, Fault> {
        let stored = StoredRun::read(&TextInput::read(path)?)?;
        let waiting = stored
            .waiting()
            .map_err(|error| Fault::new(format!("the run in `{}` is inconsistent", path.display())).cause(&error))?;
        let run_id = stored.suspended.run_id().cloned().unwrap_or_else(RunId::random);
        ledger.check(&run_id, &stored.generation)?;
        let pending: Vec<ApprovalRequest> = waiting.pending().cloned().collect();
        Ok(Self { path: path.to_owned(), run_id, caller: stored.caller, pending, verdicts: stored.verdicts })
    }

    /// Returns the runs in a folder's files, ordered by path. Other files are passed over, and so are copies.
    pub(crate) fn find(folder: &Path, ledger: &Ledger) -> Result<Vec<Self>, Fault> {
        let failed = |error| Fault::file(folder, "read the folder", &error);
        let mut paths: Vec<PathBuf> = fs::read_dir(folder)
            .map_err(failed)?
            .take(MAX_FILES)
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|end| end == "json") && path.is_file())
            .collect();
        paths.sort_unstable();
        Ok(paths.iter().filter_map(|path| Self::read(path, ledger).ok()).collect())
    }

    /// Returns the verdict that was stored for a request.
    pub(crate) fn verdict_on(&self, request: &ApprovalRequest) -> Option<&Verdict> {
        self.verdicts.iter().find(|verdict| verdict.request_id == request.request_id)
    }

    /// Returns the number of requests without a verdict.
    pub(crate) fn undecided(&self) -> usize {
        self.pending.iter().filter(|request| self.verdict_on(request).is_none()).count()
    }
}
