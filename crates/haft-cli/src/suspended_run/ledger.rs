//! The memory of runs in files, in the state folder: no run continues from a copy of a file that was already used.
//!
//! A file has a generation, and the ledger has each run's current one. To continue a run, a process gives it the next
//! generation, in the file and then in the ledger, and holds the ledger's lock meanwhile: of two copies, exactly one
//! has the current generation. A process may be killed between the two writes, so the file also has the previous
//! generation.
//!
//! The ledger is bounded. A run that was forgotten, or comes from another computer, is taken as it is, but then its
//! file does not choose the workspace.

use std::io;
use std::path::{Path, PathBuf};

use haft::run::RunId;
use haft::serde_json;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::error::Fault;
use crate::state::{self, ExclusiveUse};

/// The file's name in the state folder.
const FILE: &str = "suspended-runs.json";

/// The most runs to remember.
const MAX_RUNS: usize = 1000;

/// A state of a run's file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Generation {
    id: String,
    /// The id before; unset for the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    previous: Option<String>,
}

/// The memory of runs.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    path: PathBuf,
}

/// A file's position in its run's life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// The file is the current one for a run by this user, which began with this workspace.
    Current { workspace: Option<PathBuf> },
    /// Nothing is known about the run.
    Unknown,
}

/// The runs, the latest last.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RememberedRuns {
    runs: Vec<RememberedRun>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RememberedRun {
    run_id: RunId,
    generation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workspace: Option<PathBuf>,
    /// True if every call has its result: there is no current file.
    #[serde(default)]
    finished: bool,
}

impl Ledger {
    /// Returns the user's ledger.
    pub(crate) fn of(cx: &Context) -> Result<Self, Fault> {
        Ok(Self::at(cx.state_folder()?))
    }

    /// Returns the ledger in a folder for state.
    pub(super) fn at(folder: impl AsRef<Path>) -> Self {
        Self { path: folder.as_ref().join(FILE) }
    }

    /// Begins a run: writes its file with the first generation, and remembers it. An earlier run with the same id is
    /// over.
    pub(super) fn start(
        &self,
        run_id: &RunId,
        workspace: Option<&Path>,
        write: impl FnOnce(&Generation) -> Result<(), Fault>,
    ) -> Result<Generation, Fault> {
        let _use = ExclusiveUse::wait(&self.path)?;
        let mut runs = self.read()?;
        let next = Generation::after(runs.find(run_id).map(|run| run.generation.as_str()));
        write(&next)?;
        runs.remember(run_id, &next.id, workspace.map(Path::to_owned));
        self.write(&runs)?;
        Ok(next)
    }

    /// Returns a file's position. A file that is not its run's current one is an error.
    pub(super) fn check(&self, run_id: &RunId, generation: &Generation) -> Result<Standing, Fault> {
        let _use = ExclusiveUse::wait(&self.path)?;
        self.read()?.standing(run_id, generation)
    }

    /// Gives a run's file the next generation, if it is the current one.
    pub(super) fn advance(
        &self,
        run_id: &RunId,
        generation: &Generation,
        write: impl FnOnce(&Generation) -> Result<(), Fault>,
    ) -> Result<Generation, Fault> {
        let _use = ExclusiveUse::wait(&self.path)?;
        let mut runs = self.read()?;
        let workspace = match runs.standing(run_id, generation)? {
            Standing::Current { workspace } => workspace,
            Standing::Unknown => None,
        };
        let next = Generation::after(runs.find(run_id).map(|run| run.generation.as_str()));
        write(&next)?;
        runs.remember(run_id, &next.id, workspace);
        self.write(&runs)?;
        Ok(next)
    }

    /// Ends a run: none of its files is current any more.
    pub(super) fn finish(&self, run_id: &RunId) -> Result<(), Fault> {
        let _use = ExclusiveUse::wait(&self.path)?;
        let mut runs = self.read()?;
        runs.remember(run_id, &Generation::after(None).id, None);
        if let Some(run) = runs.runs.last_mut() {
            run.finished = true;
        }
        self.write(&runs)
    }

    fn read(&self) -> Result<RememberedRuns, Fault> {
        let text = match std::fs::read_to_string(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(RememberedRuns::default()),
            text => text.map_err(|error| Fault::file(&self.path, "read", &error))?,
        };
        serde_json::from_str(&text).map_err(|error| {
            let fault = Fault::new(format!("`{}` is damaged", self.path.display())).cause(&error);
            fault.advice("move it away; then no copy of a file is recognised that was resumed before")
        })
    }

    fn write(&self, runs: &RememberedRuns) -> Result<(), Fault> {
        let text = serde_json::to_string(runs)
            .map_err(|error| Fault::new(format!("can't write `{}`", self.path.display())).cause(&error))?;
        state::write_whole(&self.path, text.as_bytes())
    }
}

impl Generation {
    /// Creates the generation after another one.
    fn after(previous: Option<&str>) -> Self {
        Self { id: RunId::random().to_string(), previous: previous.map(str::to_owned) }
    }
}

impl RememberedRuns {
    fn find(&self, run_id: &RunId) -> Option<&RememberedRun> {
        self.runs.iter().find(|run| run.run_id == *run_id)
    }

    fn standing(&self, run_id: &RunId, generation: &Generation) -> Result<Standing, Fault> {
        let Some(run) = self.find(run_id) else { return Ok(Standing::Unknown) };
        let is_current = |id: &String| *id == run.generation;
        if is_current(&generation.id) || generation.previous.as_ref().is_some_and(is_current) {
            return Ok(Standing::Current { workspace: run.workspace.clone() });
        }
        if run.finished {
            return Err(Fault::new(format!("the run `{run_id}` has ended: every call has its result"))
                .advice("the results were printed, and this file is left over or a copy; remove it"));
        }
        Err(Fault::new(format!("the run `{run_id}` has gone on since this file was written"))
            .advice("this is a copy of a file that was resumed; its calls would run twice")
            .advice("use the file that `haft resume` named last, if the run still waits"))
    }

    /// Sets a run's current generation, as the latest of all. The oldest runs are forgotten, finished ones first.
    fn remember(&mut self, run_id: &RunId, generation: &str, workspace: Option<PathBuf>) {
        self.runs.retain(|run| run.run_id != *run_id);
        let (run_id, generation) = (run_id.clone(), generation.to_owned());
        self.runs.push(RememberedRun { run_id, generation, workspace, finished: false });
        while self.runs.len() > MAX_RUNS {
            let oldest = self.runs.iter().position(|run| run.finished).unwrap_or(0);
            self.runs.remove(oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger() -> (tempfile::TempDir, Ledger) {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::at(folder.path().join("state"));
        (folder, ledger)
    }

    fn advance(ledger: &Ledger, from: &Generation) -> Result<Generation, Fault> {
        ledger.advance(&"r1".into(), from, |_| Ok(()))
    }

    #[test]
    fn of_two_copies_one_goes_on() {
        let (_folder, ledger) = ledger();
        let first = ledger.start(&"r1".into(), None, |_| Ok(())).unwrap();
        let second = advance(&ledger, &first).unwrap();
        assert!(advance(&ledger, &first).is_err(), "a copy from before");
        assert!(advance(&ledger, &second).is_ok());
        assert!(advance(&ledger, &first).unwrap_err().message.contains("has gone on since"));
        ledger.finish(&"r1".into()).unwrap();
        // A process may be killed before it removes the file.
        assert!(ledger.check(&"r1".into(), &second).unwrap_err().message.contains("every call has its result"));
        // Repeating the run with the same id makes another file.
        let again = ledger.start(&"r1".into(), None, |_| Ok(())).unwrap();
        assert!(advance(&ledger, &again).is_ok() && advance(&ledger, &second).is_err());
    }

    #[test]
    fn a_process_that_was_killed_between_both_writes_loses_no_run_and_lets_no_copy_through() {
        let (_folder, ledger) = ledger();
        let first = ledger.start(&"r1".into(), None, |_| Ok(())).unwrap();
        let mut written = None;
        let killed = ledger.advance(&"r1".into(), &first, |next| {
            written = Some(next.clone());
            Err(Fault::new("killed"))
        });
        assert!(killed.is_err());
        let written = written.unwrap();
        // The file has the generation that the ledger lacks; a copy has the previous one.
        for (winner, loser) in [(&written, &first), (&first, &written)] {
            let (_folder, copy) = self::ledger();
            std::fs::create_dir_all(copy.path.parent().unwrap()).unwrap();
            std::fs::copy(&ledger.path, &copy.path).unwrap();
            assert!(advance(&copy, winner).is_ok());
            assert!(advance(&copy, loser).is_err());
        }
    }

    #[test]
    fn the_ledger_is_bounded_and_forgets_finished_runs_first() {
        let (_folder, ledger) = ledger();
        let mut runs = RememberedRuns::default();
        for number in 0..MAX_RUNS + 10 {
            runs.remember(&RunId::from(format!("r{number}")), "g", None);
            if number % 2 == 1 {
                runs.runs.last_mut().unwrap().finished = true;
            }
        }
        assert_eq!(runs.runs.len(), MAX_RUNS);
        assert!(runs.find(&"r0".into()).is_some() && runs.find(&"r1".into()).is_none());
        ledger.write(&runs).unwrap();
        assert_eq!(ledger.read().unwrap().runs.len(), MAX_RUNS);
    }

    #[test]
    fn a_damaged_or_unwritable_ledger_is_an_error() {
        let (folder, ledger) = ledger();
        let first = ledger.start(&"r1".into(), None, |_| Ok(())).unwrap();
        std::fs::write(&ledger.path, "{").unwrap();
        assert!(ledger.check(&"r1".into(), &first).unwrap_err().message.contains("is damaged"));
        let blocked = Ledger { path: folder.path().join("state").join(FILE).join("deeper") };
        assert!(blocked.check(&"r1".into(), &first).is_err(), "a file is in the place of the folder");
    }
}
