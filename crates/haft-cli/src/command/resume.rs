//! `haft resume`: continues a run whose calls waited for approval, or whose process was killed.

use std::path::{Path, PathBuf};

use haft::approval::{ApprovalRequest, Suspended, Verdict};
use haft::conversation::{Finish, Turn};
use haft::run::{CallId, Dispatch, FailureKind, RunOptions, ToolEvent, ToolResult};
use haft::toolkit::Toolkit;

use crate::approval::verdict_file::{Others, VerdictFile};
use crate::approval::{ApproveMode, Approver};
use crate::calls::name;
use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;
use crate::run_options::RunOptionArguments;
use crate::run_output::{OutputForm, RunOutput, Waiting, exit_status, note_rejected, note_waiting, unread};
use crate::screen::Screen;
use crate::suspended_run::{Ledger, RecordCalls, SuspendedRun};
use crate::workspace::{self, OpenWorkspace, Remarks};

/// Resumes a run whose calls wait for approval, or whose process was killed
///
/// The run is one of `haft run --suspend FILE`, with the same workspace unless another one is named, and for the same caller. Calls that get no
/// verdict keep waiting in the file. It is removed when every call has its result.
///
/// After a crash, calls that had not begun run now. Of those that had begun, readonly and idempotent ones run again, with
/// the same idempotency key, and all others get the result `outcome_unknown`. A copy of a file that was resumed before
/// is refused.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haft resume waiting.json                            ask about each call at the terminal
  haft resume waiting.json --verdicts verdicts.json   take the verdicts of a file
  haft resume waiting.json --approve all              approve all calls that wait

`--verdicts FILE` and `--approve FILE` are the same, except that with `--verdicts` another approver
decides about the other calls. Verdicts of `haft pending` count unless a file has another one. A
verdict holds for the request that waits in the file: if the tool
has changed since, it is not accepted.

A file of verdicts has an array or lines of them, such as
  {\"call_id\": \"c1\", \"decision\": \"approved\"}
or verdicts as the library writes them, which hold for a call with exactly their digest. See
`haft run --help`.

Standard output gets the events of the calls that waited; with `--results`, the results of all calls
of the run.

Exit codes: 0 every call has its result, or still waits; with `--fail`, 1 if a call failed, else 3
if one was denied, is not permitted or waits; 2 invalid usage, input or workspace; 130 interrupted.")]
pub(crate) struct ResumeArguments {
    /// The file with the run
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// A file of verdicts, or `-` for standard input
    #[arg(long, value_name = "FILE")]
    verdicts: Option<PathBuf>,
    #[command(flatten)]
    options: RunOptionArguments,
}

/// Goes on with a run.
pub(crate) async fn run(arguments: ResumeArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    unread(cx, resume(arguments, cx).await)
}

async fn resume(arguments: ResumeArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let ResumeArguments { file, verdicts, options } = arguments;
    let stored = SuspendedRun::open(&file, Ledger::of(cx)?)?;
    let workspace = open_workspace(&stored, cx).await?;
    let executor = &workspace.executor;
    let calls = stored.calls();
    let tools = name::tools_for(&calls, executor)?;
    let screen = Screen::new(cx);
    let run_options = options.apply(executor.options(), cx);
    let suspended = stored.suspended()?;
    if let Some(suspended) = &suspended {
        ensure_trusted(suspended, &tools, &workspace)?;
    }
    let mode = options.approve_mode(cx);
    let (mode, file) = match (&mode, verdicts) {
        (ApproveMode::File(_), Some(_)) => {
            let fault = Fault::new("`--approve` and `--verdicts` name a file of verdicts each");
            return Err(fault.advice("put all verdicts into one of them").into());
        }
        (ApproveMode::File(path), None) => (ApproveMode::None, Some(ApproveMode::read_file(path, cx).await?)),
        (_, Some(path)) => (mode, Some(VerdictFile::read(&path, Others::Suspended, cx).await?)),
        (_, None) => (mode, None),
    };
    let otherwise = mode.approver(Others::Suspended, cx, &screen).await?;
    let decided = match &suspended {
        Some(suspended) => Decided::of(file, suspended, &stored, &tools, &run_options)?,
        None => Decided::default(),
    };
    stored.take_over()?;
    let form = OutputForm::of(
        cx,
        options.results.or_else(|| stored.results_provider()).filter(|_| !options.json),
        options.json,
    );
    let mut output = RunOutput::new(form, &screen, &calls, options.events.as_deref())?;
    for (index, result) in stored.unreported() {
        output.event(cx, &ToolEvent::Output { index, result })?;
    }
    if let Some(suspended) = suspended {
        let options = match (otherwise, decided.unstarted) {
            // Requests that nobody answers stay as they are.
            (Approver::Nobody(_), _) if suspended.unstarted().next().is_none() => run_options.clone(),
            (otherwise, Some(file)) => otherwise.attach_after(file, run_options.clone()),
            (otherwise, None) => otherwise.attach(run_options.clone()),
        };
        let verdicts = with_stored(decided.verdicts, stored.verdicts(), &suspended);
        let continued = Continued { tools, verdicts, options };
        go_on(suspended, continued, &stored, &mut output, cx).await?;
    }
    let results = stored.results()?;
    let suspended = stored.suspended()?;
    let waiting: Vec<&CallId> = suspended.iter().flat_map(waiting_calls).collect();
    let is_waiting = !waiting.is_empty();
    let turn = Turn::new(calls.into_iter().map(Into::into).collect(), Finish::ToolCalls);
    if is_waiting {
        let waiting = Waiting { path: stored.path(), calls: waiting };
        output.finish_waiting(cx, &turn, &results, &waiting)?;
        stored.ensure_stored()?;
        note_waiting(cx, stored.path(), waiting.calls.len());
    } else {
        output.finish(cx, &turn, &results, &executor.list(&run_options))?;
        stored.ensure_stored()?;
        stored.remove()?;
    }
    Ok(exit_status(cx, options.failures(), &results, is_waiting))
}

/// Returns the calls that wait for a verdict, and those that have not begun.
fn waiting_calls(suspended: &Suspended) -> impl Iterator<Item = &CallId> {
    let unstarted = suspended.unstarted().map(|call| &call.call_id);
    suspended.pending().map(|request| &request.call_id).chain(unstarted)
}

/// Opens the workspace from the options, else the run's. A file that the ledger does not know can't choose the
/// workspace: it must be the current folder's.
pub(super) async fn open_workspace(stored: &SuspendedRun, cx: &Context) -> Result<OpenWorkspace, CommandError> {
    if cx.global.workspace.is_some() {
        return OpenWorkspace::open_as(cx, Remarks::Announced, &stored.caller()).await;
    }
    let path = stored.workspace();
    if let Some(path) = path.as_ref().filter(|path| !path.is_file()) {
        let fault = Fault::new(format!("the workspace of the run, `{}`, is gone", path.display()));
        return Err(fault.advice("name the folder that it is in now with `--workspace`").into());
    }
    if !stored.is_own()? && !is_current(path.as_deref(), cx)? {
        let shown =
            path.as_ref().map_or("no workspace".to_owned(), |path| format!("the workspace `{}`", path.display()));
        let fault = Fault::new(format!("the run began with {shown}, and haft does not remember it"));
        return Err(fault.advice("name the workspace whose tools and rules hold with `--workspace`").into());
    }
    OpenWorkspace::open_file(cx, path.as_deref(), Remarks::Announced, &stored.caller()).await
}

/// Reports whether a workspace is the current folder's.
fn is_current(path: Option<&Path>, cx: &Context) -> Result<bool, Fault> {
    let current = workspace::find(cx)?;
    let canonical = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    Ok(path.map(canonical) == current.as_deref().map(canonical))
}

/// Checks that no call waits for a tool that the file lacks only because it is not trusted: the run would lose the
/// call.
pub(super) fn ensure_trusted(suspended: &Suspended, tools: &Toolkit, workspace: &OpenWorkspace) -> Result<(), Fault> {
    let unstarted = suspended.unstarted().map(|call| call.name.as_str());
    let mut names = suspended.pending().map(|request| request.tool.as_str()).chain(unstarted);
    let Some(missing) = names.find(|name| tools.get(name).is_none()) else { return Ok(()) };
    let Some(loaded) = workspace.loaded.as_ref().filter(|loaded| loaded.entries.iter().any(|entry| entry.is_left_out))
    else {
        return Ok(());
    };
    let fault = Fault::new(format!("there is no tool `{missing}` as long as its file is not trusted"));
    Err(fault.advice(format!("read `{}`, then run `haft trust`; the calls wait until then", loaded.path.display())))
}

/// A file's verdicts, by what they are for.
#[derive(Debug, Default)]
struct Decided {
    /// On the requests that wait, and bound to them.
    verdicts: Vec<Verdict>,
    /// For calls that have not begun, whose requests are yet to come.
    unstarted: Option<VerdictFile>,
}

impl Decided {
    /// Binds verdicts to the waiting requests. An unacceptable one is an error, before anything runs.
    fn of(
        file: Option<VerdictFile>,
        suspended: &Suspended,
        stored: &SuspendedRun,
        tools: &Toolkit,
        options: &RunOptions,
    ) -> Result<Self, CommandError> {
        let Some(mut file) = file else { return Ok(Self::default()) };
        // The verdicts in a killed process were used: repeating them means to go on.
        let used: Vec<CallId> = stored.unreported().into_values().map(|result| result.call_id).collect();
        file.take(&used);
        let ids: Vec<CallId> = suspended.unstarted().map(|call| call.call_id.clone()).collect();
        let unstarted = file.take(&ids);
        let pending: Vec<&ApprovalRequest> = suspended.pending().collect();
        let verdicts = file.bind_all(&pending)?;
        let mut faults = Vec::new();
        for verdict in &verdicts {
            let is_meant = |request: &&&ApprovalRequest| Some(&request.call_id) == verdict.call_id.as_ref();
            let Some(request) = pending.iter().find(is_meant) else { continue };
            if let Err(fault) = tools.check_verdict(options, request, verdict) {
                let id = &request.call_id;
                faults.push(Fault::new(format!("the verdict on `{id}` can't be accepted")).cause(&fault).advice(
                    "correct it; if the tool has changed, run `haft resume` without the verdict to ask about what would run now",
                ));
            }
        }
        if faults.is_empty() { Ok(Self { verdicts, unstarted: Some(unstarted) }) } else { Err(faults.into()) }
    }
}

/// Adds the verdicts that `haft pending` stored, for the requests that have no other.
fn with_stored(mut verdicts: Vec<Verdict>, stored: Vec<Verdict>, suspended: &Suspended) -> Vec<Verdict> {
    for verdict in stored {
        let is_meant = |request: &ApprovalRequest| request.request_id == verdict.request_id;
        let is_decided = |known: &Verdict| {
            suspended.pending().any(|request| is_meant(request) && known.call_id.as_ref() == Some(&request.call_id))
        };
        if suspended.pending().any(is_meant) && !verdicts.iter().any(is_decided) {
            verdicts.push(verdict);
        }
    }
    verdicts
}

/// The parts that a run goes on with.
struct Continued {
    tools: Toolkit,
    verdicts: Vec<Verdict>,
    options: RunOptions,
}

/// Runs the calls that got a verdict, and stores the outcome.
async fn go_on(
    suspended: Suspended,
    continued: Continued,
    stored: &SuspendedRun,
    output: &mut RunOutput,
    cx: &Context,
) -> Result<(), CommandError> {
    let Continued { tools, verdicts, options } = continued;
    let mut run = tools.wrap(RecordCalls(stored.clone())).resume_calls(suspended, verdicts, options);
    let mut is_kept = false;
    let mut written = Ok(());
    while let Some(event) = run.next().await {
        if let ToolEvent::Output { index, result } = &event {
            if is_untouched(result) && cx.interrupt.is_raised() {
                // Nothing happened to the call: it waits for the next time.
                is_kept = true;
                continue;
            }
            // If it can't be stored, that is reported at the end: the results are printed meanwhile.
            let _ = stored.record(*index, result);
        }
        // Results that can't be written are stored, and the next process reports them.
        if written.is_ok() {
            written = output.event(cx, &event);
        }
    }
    note_rejected(cx, &run);
    match run.suspended() {
        _ if is_kept => stored.keep_waiting()?,
        // What was not reported stays apart from what was.
        Some(suspended) if written.is_ok() => stored.suspend_again(&suspended)?,
        _ => {}
    }
    written
}

/// Reports whether a call was cancelled before its handler was reached.
fn is_untouched(result: &ToolResult) -> bool {
    result.failure().is_some_and(|failure| failure.kind == FailureKind::Cancelled && !failure.started)
}
