//! A run that waits for verdicts, in a file.
//!
//! ```text
//! haft run --suspend ─> file ─> haft resume ─┬─> file, with fewer calls that wait
//!                                            └─> no file: every call has its result
//! ```
//!
//! The file has the run as the library writes it, and what happened to it since. No call runs twice: that a call was
//! approved is written before it runs, and its result before anything else happens. If the process ends in between,
//! nobody can tell what the call did, and it is answered with `outcome_unknown`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use haft::approval::{ApprovalRequest, Suspended};
use haft::conversation::FormatVersion;
use haft::run::{FailureKind, RunId, ToolCall, ToolResult};
use haft::serde_json;
use serde::{Deserialize, Serialize};

use crate::calls::provider::Provider;
use crate::calls::record::quoted;
use crate::error::Fault;
use crate::input::TextInput;
use crate::state::{self, ExclusiveUse};

/// The message for the model about a call that may have run.
const UNKNOWN: &str = "the process ended while this call ran; whether it had effects is not known";

/// The content of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredRun {
    v: FormatVersion,
    /// The file of the workspace; unset if there was none.
    workspace: Option<PathBuf>,
    /// The provider that the results are written for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    results: Option<Provider>,
    /// The run, when it was suspended.
    suspended: SuspendedParts,
    /// The calls that were approved since, by their index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    begun: Vec<usize>,
    /// The results since.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    done: BTreeMap<usize, ToolResult>,
}

/// The parts of [`Suspended`], which reads and writes them.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SuspendedParts {
    #[serde(default)]
    v: FormatVersion,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run_id: Option<RunId>,
    calls: Vec<ToolCall>,
    pending: Vec<PendingPart>,
    finished: Vec<FinishedPart>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct PendingPart {
    index: usize,
    request: ApprovalRequest,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct FinishedPart {
    index: usize,
    result: ToolResult,
}

/// A file of a run that waits, which this process alone uses. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct SuspendedRun(Arc<OpenFile>);

#[derive(Debug)]
struct OpenFile {
    path: PathBuf,
    stored: Mutex<StoredRun>,
    _use: ExclusiveUse,
}

/// A place for a file that does not exist yet.
#[derive(Debug)]
pub(crate) struct NewFile {
    path: PathBuf,
    exclusive: ExclusiveUse,
}

impl NewFile {
    /// Claims a path. A file that exists is not overwritten.
    pub(crate) fn claim(path: &Path) -> Result<Self, Fault> {
        if path.exists() {
            let path = path.display();
            let fault = Fault::new(format!("`{path}` exists, and is not overwritten"));
            return Err(
                fault.advice(format!("name another file; if it is a suspended run, go on with `haft resume {path}`"))
            );
        }
        Ok(Self { path: path.to_owned(), exclusive: ExclusiveUse::claim(path)? })
    }

    /// Writes the run.
    pub(crate) fn write(
        self,
        suspended: &Suspended,
        workspace: Option<&Path>,
        results: Option<Provider>,
    ) -> Result<SuspendedRun, Fault> {
        let workspace = workspace.map(|path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()));
        let stored = StoredRun {
            v: FormatVersion::default(),
            workspace,
            results,
            suspended: SuspendedParts::of(suspended)?,
            begun: Vec::new(),
            done: BTreeMap::new(),
        };
        write(&self.path, &stored)?;
        let file = OpenFile { path: self.path, stored: Mutex::new(stored), _use: self.exclusive };
        Ok(SuspendedRun(Arc::new(file)))
    }

    /// Leaves the path as it was.
    pub(crate) fn discard(self) {
        state::remove_lock(&self.path);
    }
}

impl SuspendedRun {
    /// Opens a file for this process alone.
    pub(crate) fn open(path: &Path) -> Result<Self, Fault> {
        if !path.exists() {
            let fault = Fault::new(format!("there is no suspended run in `{}`", path.display()));
            return Err(fault.advice("a file is removed as soon as every call of its run has a result"));
        }
        let exclusive = ExclusiveUse::claim(path)?;
        let stored = read(path).inspect_err(|_| state::remove_lock(path))?;
        Ok(Self(Arc::new(OpenFile { path: path.to_owned(), stored: Mutex::new(stored), _use: exclusive })))
    }

    /// Returns the file of the workspace.
    pub(crate) fn workspace(&self) -> Option<PathBuf> {
        self.with(|stored| stored.workspace.clone())
    }

    /// Returns the provider that the results are written for.
    pub(crate) fn results_provider(&self) -> Option<Provider> {
        self.with(|stored| stored.results)
    }

    /// Returns the calls, in order.
    pub(crate) fn calls(&self) -> Vec<ToolCall> {
        self.with(|stored| stored.suspended.calls.clone())
    }

    /// Returns the calls that got their results in a process that ended before it could report them, by index.
    pub(crate) fn unreported(&self) -> BTreeMap<usize, ToolResult> {
        self.with(|stored| stored.done.clone())
    }

    /// Returns the run that waits, or nothing if every call has its result.
    pub(crate) fn suspended(&self) -> Result<Option<Suspended>, Fault> {
        let origin = self.0.path.display().to_string();
        self.with(|stored| {
            let parts = stored.waiting();
            if parts.pending.is_empty() { Ok(None) } else { parts.to_suspended(&origin).map(Some) }
        })
    }

    /// Returns the results so far by index.
    pub(crate) fn results(&self) -> BTreeMap<usize, ToolResult> {
        self.with(|stored| {
            let finished = stored.suspended.finished.iter().map(|part| (part.index, part.result.clone()));
            finished.chain(stored.done.clone()).collect()
        })
    }

    /// Records that calls were approved, before they run.
    pub(crate) fn begin(&self, is_begun: impl Fn(&ApprovalRequest) -> bool) -> Result<(), Fault> {
        self.change(|stored| {
            let begun = stored.suspended.pending.iter().filter(|part| is_begun(&part.request)).map(|part| part.index);
            stored.begun.extend(begun);
        })
    }

    /// Records a result.
    pub(crate) fn record(&self, index: usize, result: &ToolResult) -> Result<(), Fault> {
        self.change(|stored| drop(stored.done.insert(index, result.clone())))
    }

    /// Replaces the run by one that waits again.
    pub(crate) fn suspend_again(&self, suspended: &Suspended) -> Result<(), Fault> {
        let parts = SuspendedParts::of(suspended)?;
        self.change(|stored| {
            stored.suspended = parts;
            stored.begun.clear();
            stored.done.clear();
        })
    }

    /// Records that calls which were approved did not run after all: they wait again.
    pub(crate) fn keep_waiting(&self) -> Result<(), Fault> {
        self.change(|stored| {
            stored.suspended = stored.waiting();
            stored.begun.clear();
            stored.done.clear();
        })
    }

    /// Removes the file: every call has its result, and they were reported.
    pub(crate) fn remove(self) -> Result<(), Fault> {
        let path = &self.0.path;
        std::fs::remove_file(path).map_err(|error| Fault::file(path, "remove", &error))?;
        // Whoever opened the lock before finds no run to go on with.
        state::remove_lock(path);
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0.path
    }

    fn with<T>(&self, read: impl FnOnce(&StoredRun) -> T) -> T {
        read(&self.0.stored.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn change(&self, change: impl FnOnce(&mut StoredRun)) -> Result<(), Fault> {
        let mut stored = self.0.stored.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut stored);
        write(&self.0.path, &stored)
    }
}

impl StoredRun {
    /// Answers the calls that were approved and whose results were lost.
    fn recover(&mut self) {
        for index in std::mem::take(&mut self.begun) {
            if let (false, Some(call)) = (self.done.contains_key(&index), self.suspended.calls.get(index)) {
                self.done.insert(index, ToolResult::failed(call, FailureKind::OutcomeUnknown, UNKNOWN));
            }
        }
    }

    /// Returns the run with the results since.
    fn waiting(&self) -> SuspendedParts {
        let mut parts = self.suspended.clone();
        parts.pending.retain(|part| !self.done.contains_key(&part.index));
        let done = self.done.iter().map(|(index, result)| FinishedPart { index: *index, result: result.clone() });
        parts.finished.extend(done);
        parts.finished.sort_by_key(|part| part.index);
        parts
    }
}

impl SuspendedParts {
    fn of(suspended: &Suspended) -> Result<Self, Fault> {
        serde_json::to_string(suspended)
            .and_then(|text| serde_json::from_str(&text))
            .map_err(|error| Fault::new("the suspended run can't be written").cause(&error))
    }

    fn to_suspended(&self, origin: &str) -> Result<Suspended, Fault> {
        serde_json::to_string(self)
            .and_then(|text| serde_json::from_str(&text))
            .map_err(|error| Fault::new(format!("the run in `{origin}` is inconsistent")).cause(&error))
    }
}

/// Reads a file, with the results of calls that nobody waits for any more.
fn read(path: &Path) -> Result<StoredRun, Fault> {
    let input = TextInput::read(path)?;
    let mut stored: StoredRun = serde_json::from_str(&input.text).map_err(|error| {
        let fault = Fault::new(format!("{} is not a suspended run", quoted(&input.origin)));
        let fault = fault.excerpt(input.json_excerpt(0, &error));
        fault.advice("`haft run --suspend FILE` writes such files")
    })?;
    stored.recover();
    // Checks that the parts fit together.
    stored.suspended.to_suspended(&input.origin)?;
    Ok(stored)
}

fn write(path: &Path, stored: &StoredRun) -> Result<(), Fault> {
    let mut text = serde_json::to_string_pretty(stored)
        .map_err(|error| Fault::new("the suspended run can't be written").cause(&error))?;
    text.push('\n');
    state::write_whole(path, text.as_bytes())
}
