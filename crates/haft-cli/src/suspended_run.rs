//! A run in a file: what `haft run --suspend` has done, and what is left for `haft resume`.
//!
//! ```text
//! haft run --suspend ─> file ─> haft resume ─┬─> file, with fewer calls that wait
//!                                            └─> no file: every call has its result
//! ```
//!
//! The file is written before the first call begins. Before a call reaches its tool, the file records that it begins;
//! before another call takes its slot, the file records its result. So wherever the process is killed, the next one
//! knows what to do:
//!
//! | the call | the next process |
//! |---|---|
//! | had not begun | runs it, with the same idempotency key |
//! | had begun, readonly or idempotent | runs it again, with the same idempotency key |
//! | had begun, any other | answers it with `outcome_unknown` |
//! | had its result | reports the result |
//!
//! A call whose beginning can't be written does not run. This module alone knows where runs are stored.

mod document;
mod ledger;
mod waiting;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft::approval::{Suspended, Verdict};
use haft::conversation::FormatVersion;
use haft::middleware::{Middleware, Next, Request};
use haft::run::{CallId, FailureKind, Outcome, RunId, ToolCall, ToolFailure, ToolResult};
use haft::schema::JsonText;

use self::document::{BegunCall, Change, StoredRun};
pub(crate) use self::ledger::Ledger;
use self::ledger::{Generation, Standing};
pub(crate) use self::waiting::WaitingRun;
use crate::error::Fault;
use crate::input::TextInput;
use crate::state::{self, ExclusiveUse, GrowingFile};
use crate::wire::WireName;
use crate::workspace::CallerArgument;

/// The message for the model about a call whose beginning could not be stored.
const NOT_STORED: &str = "the call was not started: its start can't be recorded";

/// A run's file, which this process alone uses. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct SuspendedRun(Arc<OpenFile>);

#[derive(Debug)]
struct OpenFile {
    path: PathBuf,
    ledger: Ledger,
    state: Mutex<OpenState>,
    _use: ExclusiveUse,
}

#[derive(Debug)]
struct OpenState {
    stored: StoredRun,
    /// The file, once this process has written it whole.
    file: Option<GrowingFile>,
    /// The first change that could not be stored.
    fault: Option<String>,
}

/// A run that is about to begin.
#[derive(Debug)]
pub(crate) struct NewRun<'r> {
    pub(crate) run_id: RunId,
    pub(crate) calls: &'r [ToolCall],
    pub(crate) workspace: Option<&'r Path>,
    pub(crate) caller: &'r CallerArgument,
    pub(crate) results: Option<WireName>,
}

/// A run to write into a file.
#[derive(Debug)]
pub(crate) struct KeptRun {
    pub(crate) suspended: Suspended,
    /// The workspace file.
    pub(crate) workspace: Option<PathBuf>,
    /// The caller that the calls run for.
    pub(crate) caller: Option<String>,
}

/// A middleware that records that a call begins, and its outcome before another call takes its slot. It has to be the
/// outermost.
#[derive(Debug)]
pub(crate) struct RecordCalls(pub(crate) SuspendedRun);

impl SuspendedRun {
    /// Writes a run before any of its calls begins. An existing file is not overwritten.
    pub(crate) fn create(path: &Path, run: NewRun<'_>, ledger: Ledger) -> Result<Self, Fault> {
        let exclusive = ExclusiveUse::claim(path)?;
        if path.symlink_metadata().is_ok() {
            state::remove_lock(path);
            let path = path.display();
            let fault = Fault::new(format!("`{path}` exists, and is not overwritten"));
            return Err(fault.advice(format!(
                "if it is a run that waits or was interrupted, go on with `haft resume {path}`; else name another file"
            )));
        }
        let NewRun { run_id, calls, workspace, caller, results } = run;
        let suspended = Suspended::not_started(calls.iter().cloned()).with_run_id(&run_id);
        let kept = KeptRun { suspended, workspace: workspace.map(Path::to_owned), caller: caller.caller.clone() };
        let (stored, exclusive) = kept.write(path, results, &ledger, exclusive)?;
        let file = Some(GrowingFile::open(path)?);
        Ok(Self::of(path, stored, file, ledger, exclusive))
    }

    /// Writes a run that waits. An existing file is not overwritten.
    pub(crate) fn keep(path: &Path, run: KeptRun, ledger: &Ledger) -> Result<(), Fault> {
        let exclusive = ExclusiveUse::claim(path)?;
        if path.symlink_metadata().is_ok() {
            return Err(Fault::new(format!("a run waits in `{}` already", path.display())));
        }
        run.write(path, None, ledger, exclusive).map(drop)
    }

    /// Opens a file for this process alone. Nothing is written before [`take_over`](Self::take_over).
    pub(crate) fn open(path: &Path, ledger: Ledger) -> Result<Self, Fault> {
        if !path.exists() {
            let fault = Fault::new(format!("there is no suspended run in `{}`", path.display()));
            return Err(fault.advice("a file is removed as soon as every call of its run has a result"));
        }
        let exclusive = ExclusiveUse::claim(path)?;
        let stored = TextInput::read(path).and_then(|input| StoredRun::read(&input));
        let stored = stored.inspect_err(|_| state::remove_lock(path))?;
        let run = Self::of(path, stored, None, ledger, exclusive);
        run.standing().inspect_err(|_| state::remove_lock(path))?;
        Ok(run)
    }

    fn of(path: &Path, stored: StoredRun, file: Option<GrowingFile>, ledger: Ledger, exclusive: ExclusiveUse) -> Self {
        let state = Mutex::new(OpenState { stored, file, fault: None });
        Self(Arc::new(OpenFile { path: path.to_owned(), ledger, state, _use: exclusive }))
    }

    /// Makes this the process that continues the run: copies of the file are no longer accepted.
    pub(crate) fn take_over(&self) -> Result<(), Fault> {
        self.rewrite(|_| {})
    }

    /// Returns the workspace file.
    pub(crate) fn workspace(&self) -> Option<PathBuf> {
        self.state().stored.workspace.clone()
    }

    /// Reports whether the run began here, with the workspace that the file names.
    pub(crate) fn is_own(&self) -> Result<bool, Fault> {
        let workspace = self.workspace();
        Ok(matches!(self.standing()?, Standing::Current { workspace: known } if known == workspace))
    }

    /// Returns the caller that the calls run for.
    pub(crate) fn caller(&self) -> CallerArgument {
        CallerArgument { caller: self.state().stored.caller.clone() }
    }

    /// Returns the provider that the results are written for.
    pub(crate) fn results_provider(&self) -> Option<WireName> {
        self.state().stored.results
    }

    /// Returns the calls, in order.
    pub(crate) fn calls(&self) -> Vec<ToolCall> {
        self.state().stored.suspended.calls().to_vec()
    }

    /// Returns, by index, the calls that got their results in a process that ended before it could report them.
    pub(crate) fn unreported(&self) -> BTreeMap<usize, ToolResult> {
        self.state().stored.done.clone()
    }

    /// Returns the rest of the run, or `None` if every call has its result.
    pub(crate) fn suspended(&self) -> Result<Option<Suspended>, Fault> {
        Ok(Some(self.waiting()?).filter(|run| !run.is_finished()))
    }

    /// Returns the results so far in call order.
    pub(crate) fn results(&self) -> Result<Vec<ToolResult>, Fault> {
        Ok(self.waiting()?.finished().cloned().collect())
    }

    fn waiting(&self) -> Result<Suspended, Fault> {
        let waiting = self.state().stored.waiting();
        waiting.map_err(|error| {
            Fault::new(format!("the run in `{}` is inconsistent", self.0.path.display())).cause(&error)
        })
    }

    /// Records a result, replacing an earlier one: the executor may cut what a tool returned.
    pub(crate) fn record(&self, index: usize, result: &ToolResult) -> Result<(), Fault> {
        if self.state().stored.done.get(&index) == Some(result) {
            return Ok(());
        }
        self.change(Change::Done { index, result: result.clone() })
    }

    /// Replaces the run by one that waits, whose results were reported.
    pub(crate) fn suspend_again(&self, suspended: &Suspended) -> Result<(), Fault> {
        self.rewrite(|stored| stored.replace(suspended.clone()))
    }

    /// Records that the calls without results wait again.
    pub(crate) fn keep_waiting(&self) -> Result<(), Fault> {
        let waiting = self.waiting()?;
        self.rewrite(|stored| stored.replace(waiting))
    }

    /// Stores a verdict on a request that waits, for whoever continues the run.
    pub(crate) fn decide(&self, verdict: Verdict) -> Result<(), Fault> {
        self.rewrite(|stored| stored.verdicts.push(verdict))
    }

    /// Returns the verdicts that were stored before.
    pub(crate) fn verdicts(&self) -> Vec<Verdict> {
        self.state().stored.verdicts.clone()
    }

    /// Removes the file: every call has its result, and all were reported.
    pub(crate) fn remove(self) -> Result<(), Fault> {
        let path = &self.0.path;
        self.0.ledger.finish(&self.run_id())?;
        std::fs::remove_file(path).map_err(|error| Fault::file(path, "remove", &error))?;
        // Whoever opened the lock before finds no run to go on with.
        state::remove_lock(path);
        Ok(())
    }

    /// Returns an error if a change could not be stored: the file is not up to date.
    pub(crate) fn ensure_stored(&self) -> Result<(), Fault> {
        match &self.state().fault {
            None => Ok(()),
            Some(cause) => {
                let path = self.0.path.display();
                let mut fault = Fault::new(format!("the run in `{path}` is not stored to its end"));
                fault.causes.push(cause.clone());
                Err(fault.advice(format!(
                    "calls whose start could not be stored did not run; make room, then go on with `haft resume {path}`"
                )))
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0.path
    }

    /// Records that a call begins, before its tool is reached, and returns its index.
    fn begin(&self, call_id: &CallId, repeatable: bool) -> Result<usize, Fault> {
        let index = self.state().stored.index_of(call_id);
        let index = index.ok_or_else(|| Fault::new(format!("there is no call `{call_id}` in the run")))?;
        self.change(Change::Begun(BegunCall { index, repeatable }))?;
        Ok(index)
    }

    /// Records what a tool returned.
    fn returned(&self, index: usize, outcome: &Outcome) {
        let call = self.state().stored.suspended.calls()[index].clone();
        let mut result = ToolResult::ok(&call, JsonText::null());
        result.outcome = outcome.clone();
        // If it can't be stored, that is reported at the run's end.
        let _ = self.record(index, &result);
    }

    fn run_id(&self) -> RunId {
        // A file without an id gets one when it is read.
        self.state().stored.suspended.run_id().cloned().unwrap_or_else(RunId::random)
    }

    fn standing(&self) -> Result<Standing, Fault> {
        let generation = self.state().stored.generation.clone();
        self.0.ledger.check(&self.run_id(), &generation)
    }

    fn state(&self) -> MutexGuard<'_, OpenState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a change to the file.
    fn change(&self, change: Change) -> Result<(), Fault> {
        let state = &mut *self.state();
        let appended = change.to_line().and_then(|line| match &mut state.file {
            Some(file) => file.append(&line),
            None => Err(Fault::new(format!("`{}` was not taken over", self.0.path.display()))),
        });
        match appended {
            Ok(()) => state.stored.apply(change),
            Err(fault) => {
                state.fault.get_or_insert_with(|| fault.message.clone());
                return Err(fault);
            }
        }
        Ok(())
    }

    /// Changes the run and writes the file whole, as the next generation.
    fn rewrite(&self, change: impl FnOnce(&mut StoredRun)) -> Result<(), Fault> {
        let run_id = self.run_id();
        let state = &mut *self.state();
        let mut next = state.stored.clone();
        change(&mut next);
        let path = &self.0.path;
        self.0.ledger.advance(&run_id, &state.stored.generation, |generation| {
            next.generation = generation.clone();
            state::write_whole(path, next.to_text()?.as_bytes())
        })?;
        state.stored = next;
        state.file = Some(GrowingFile::open(path)?);
        Ok(())
    }
}

impl KeptRun {
    /// Writes the run as a new file, and remembers it.
    fn write(
        self,
        path: &Path,
        results: Option<WireName>,
        ledger: &Ledger,
        exclusive: ExclusiveUse,
    ) -> Result<(StoredRun, ExclusiveUse), Fault> {
        let Self { suspended, workspace, caller } = self;
        let workspace = workspace.map(|path| std::fs::canonicalize(&path).unwrap_or(path));
        let run_id = suspended.run_id().cloned().unwrap_or_else(RunId::random);
        let mut stored = StoredRun {
            v: FormatVersion::default(),
            generation: Generation::default(),
            workspace: workspace.clone(),
            caller,
            results,
            suspended: suspended.with_run_id(&run_id),
            verdicts: Vec::new(),
            begun: Vec::new(),
            done: BTreeMap::new(),
        };
        let mut is_written = false;
        let started = ledger.start(&run_id, workspace.as_deref(), |generation| {
            stored.generation = generation.clone();
            state::write_new(path, stored.to_text()?.as_bytes())?;
            is_written = true;
            Ok(())
        });
        started.inspect_err(|_| {
            // No call goes on from the file, so nothing is lost with it.
            let _ = is_written.then(|| std::fs::remove_file(path));
            state::remove_lock(path);
        })?;
        Ok((stored, exclusive))
    }
}

impl Middleware for RecordCalls {
    type Services = ();

    async fn around(&self, request: Request, next: Next) -> Outcome {
        let annotations = request.tool().annotations();
        let repeatable = annotations.readonly() || annotations.idempotent();
        match self.0.begin(request.call_id(), repeatable) {
            Ok(index) => {
                let outcome = next.run(request).await;
                self.0.returned(index, &outcome);
                outcome
            }
            // A call that could run twice does not run at all.
            Err(_) => ToolFailure::new(FailureKind::ExecutionError, NOT_STORED).into(),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use haft::run::Dispatch;
    use haft::tool::Tool;
    use haft::toolkit::Toolkit;

    use super::*;

    #[tokio::test]
    async fn a_call_whose_beginning_can_not_be_stored_does_not_run() {
        let folder = tempfile::tempdir().unwrap();
        let reached = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&reached);
        let pay = Tool::new("pay").handler(move |(), _cx| {
            count.fetch_add(1, Ordering::SeqCst);
            async { "paid" }
        });
        let kit: Toolkit = Toolkit::from_iter([pay.unwrap()]);
        let calls = [ToolCall::new("c1", "pay", ""), ToolCall::new("c2", "pay", "")];
        let run = NewRun {
            run_id: "r1".into(),
            calls: &calls,
            workspace: None,
            caller: &CallerArgument::default(),
            results: None,
        };
        let ledger = Ledger::at(folder.path().join("state"));
        let stored = SuspendedRun::create(&folder.path().join("run.json"), run, ledger).unwrap();
        // A disk that is full.
        stored.state().file = Some(GrowingFile::open(Path::new("/dev/full")).unwrap());
        let kit = kit.wrap(RecordCalls(stored.clone()));
        let results = kit.run_calls(calls.map(Into::into).into(), haft::run::RunOptions::new()).collect_results().await;
        assert_eq!(reached.load(Ordering::SeqCst), 0);
        for result in &results {
            let failure = result.failure().unwrap();
            assert!(failure.kind == FailureKind::ExecutionError && !failure.started, "{failure:?}");
        }
        let fault = stored.ensure_stored().unwrap_err();
        assert!(fault.message.contains("run.json") && fault.causes[0].contains("/dev/full"), "{fault:?}");
    }
}
