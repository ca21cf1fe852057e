//! `haft resume`: goes on with a run whose calls waited for approval.

use std::collections::BTreeMap;
use std::path::PathBuf;

use haft::approval::{ApprovalAnswer, ApprovalDecision, ApprovalRequest, ApprovalResponse, Approve, Suspended};
use haft::conversation::{Finish, Turn};
use haft::run::{CallId, Dispatch, FailureKind, RunOptions, ToolEvent, ToolResult};
use haft::tool::{BoxError, Cx};
use haft::toolkit::Toolkit;

use super::run::{RunOptionArguments, exit_status, note_rejected, note_waiting, unread};
use crate::approval::Approver;
use crate::approval::verdict_file::{Others, VerdictFile};
use crate::calls::name;
use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;
use crate::report;
use crate::run_output::{OutputForm, RunOutput};
use crate::screen::Screen;
use crate::suspended_run::SuspendedRun;
use crate::workspace::{self, OpenWorkspace, Remarks};

/// Goes on with a run whose calls wait for approval
///
/// The run is one of `haft run --suspend FILE`, with the same workspace unless another one is named. Calls that get no
/// verdict keep waiting in the file. It is removed when every call has its result. No call runs twice: one that ran when
/// the process was killed gets the result `outcome_unknown`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haft resume waiting.json                            ask about each call at the terminal
  haft resume waiting.json --verdicts verdicts.json   take the verdicts of a file
  haft resume waiting.json --approve all              approve all calls that wait

A file of verdicts has an array or lines of them, such as
  {\"call_id\": \"c1\", \"decision\": \"approved\"}
or verdicts as the library writes them, which hold for exactly the request that they name. See
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
    let stored = SuspendedRun::open(&file)?;
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
    let approver = options.approve_mode(cx).approver(Others::Suspended, cx, &screen).await?;
    let verdicts = match &suspended {
        Some(suspended) => {
            let verdicts = match verdicts.as_deref() {
                Some(path) => Some(VerdictFile::read(path, Others::Suspended, cx).await?),
                None => None,
            };
            read_verdicts(verdicts, &approver, suspended, &stored, &tools, &run_options)?
        }
        None => Vec::new(),
    };
    let form = OutputForm::of(
        cx,
        options.results.or_else(|| stored.results_provider()).filter(|_| !options.json),
        options.json,
    );
    let mut output = RunOutput::new(form, &screen, &calls);
    for (index, result) in stored.unreported() {
        output.event(cx, &ToolEvent::Output { index, result })?;
    }
    if let Some(suspended) = suspended {
        let listed = Continued { tools, verdicts, options: with_journal(run_options.clone(), approver, &stored) };
        go_on(suspended, listed, &stored, &mut output, cx).await?;
    }
    let results: Vec<ToolResult> = stored.results().into_values().collect();
    let waiting = stored.suspended()?.map_or(0, |suspended| suspended.pending().len());
    let turn = Turn::new(calls.into_iter().map(Into::into).collect(), Finish::ToolCalls);
    if waiting == 0 {
        output.finish(cx, &turn, &results, &executor.list(&run_options))?;
        stored.remove()?;
    } else {
        if !matches!(output, RunOutput::Results { .. }) {
            output.finish(cx, &turn, &results, &[])?;
        }
        note_waiting(cx, stored.path(), waiting);
    }
    Ok(exit_status(cx, options.failures(), &results, waiting > 0))
}

/// Opens the workspace of the options, else that of the run.
async fn open_workspace(stored: &SuspendedRun, cx: &Context) -> Result<OpenWorkspace, CommandError> {
    if cx.global.workspace.is_some() {
        return OpenWorkspace::open(cx, None, Remarks::Shown).await;
    }
    match stored.workspace() {
        Some(path) if !path.is_file() => {
            let fault = Fault::new(format!("the workspace of the run, `{}`, is gone", path.display()));
            Err(fault.advice("name the folder that it is in now with `--workspace`").into())
        }
        Some(path) => {
            let loaded = workspace::load_file(cx, &path).await?;
            report::remarks(cx, &loaded);
            Ok(OpenWorkspace::of(loaded)?)
        }
        None => Ok(OpenWorkspace::standard()?),
    }
}

/// Checks that no call waits for a tool that the file lacks only because it is not trusted: the run would lose the call.
fn ensure_trusted(suspended: &Suspended, tools: &Toolkit, workspace: &OpenWorkspace) -> Result<(), Fault> {
    let Some(missing) = suspended.pending().find(|request| tools.get(&request.tool).is_none()) else { return Ok(()) };
    let Some(loaded) = workspace.loaded.as_ref().filter(|loaded| loaded.entries.iter().any(|entry| entry.is_left_out))
    else {
        return Ok(());
    };
    let fault = Fault::new(format!("there is no tool `{}` as long as its file is not trusted", missing.tool));
    Err(fault.advice(format!("read `{}`, then run `haft trust`; the calls wait until then", loaded.path.display())))
}

/// Returns the verdicts on the calls that wait. One that can't be accepted is an error, before anything runs.
fn read_verdicts(
    file: Option<VerdictFile>,
    approver: &Approver,
    suspended: &Suspended,
    stored: &SuspendedRun,
    tools: &Toolkit,
    options: &RunOptions,
) -> Result<Vec<ApprovalResponse>, CommandError> {
    if let Approver::File(others) = approver {
        others.ensure_known(suspended.pending().map(|request| &request.call_id))?;
    }
    let Some(mut file) = file else { return Ok(Vec::new()) };
    // The verdicts of a process that was killed were used: whoever repeats them wants to go on.
    let used: Vec<CallId> = stored.unreported().into_values().map(|result| result.call_id).collect();
    file.remove(&used);
    let pending: Vec<&ApprovalRequest> = suspended.pending().collect();
    let verdicts = file.bind_all(&pending)?;
    let mut faults = Vec::new();
    for verdict in &verdicts {
        let Some(request) = pending.iter().find(|request| Some(&request.call_id) == verdict.call_id.as_ref()) else {
            continue;
        };
        if let Err(fault) = tools.check_verdict(options, request, verdict) {
            let id = &request.call_id;
            faults.push(Fault::new(format!("the verdict on `{id}` can't be accepted")).cause(&fault).advice(
                "correct it; if the tool has changed, run `haft resume` without the verdict to ask about what would run now",
            ));
        }
    }
    if faults.is_empty() { Ok(verdicts) } else { Err(faults.into()) }
}

/// The parts that a run goes on with.
struct Continued {
    tools: Toolkit,
    verdicts: Vec<ApprovalResponse>,
    options: RunOptions,
}

/// Runs the calls that got a verdict, and stores what came of them.
async fn go_on(
    suspended: Suspended,
    continued: Continued,
    stored: &SuspendedRun,
    output: &mut RunOutput,
    cx: &Context,
) -> Result<(), CommandError> {
    let Continued { tools, verdicts, options } = continued;
    let approved: Vec<_> = verdicts.iter().filter(|verdict| runs(verdict)).map(|verdict| &verdict.request_id).collect();
    if !approved.is_empty() {
        stored.begin(|request| approved.contains(&&request.request_id))?;
    }
    let mut run = tools.resume_calls(suspended, verdicts, options);
    let mut kept = BTreeMap::new();
    let mut written = Ok(());
    while let Some(event) = run.next().await {
        if let ToolEvent::Output { index, result } = &event {
            if is_untouched(result) && cx.interrupt.is_raised() {
                // Nothing happened to the call: it waits for the next time.
                kept.insert(*index, result.call_id.clone());
                continue;
            }
            stored.record(*index, result)?;
        }
        // Results that can't be written are stored, and the next process reports them.
        if written.is_ok() {
            written = output.event(cx, &event);
        }
    }
    note_rejected(cx, &run);
    match run.suspended() {
        _ if !kept.is_empty() => stored.keep_waiting()?,
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

/// Reports whether a verdict lets a call run.
fn runs(verdict: &ApprovalResponse) -> bool {
    matches!(verdict.decision, ApprovalDecision::Approved | ApprovalDecision::Edited(_))
}

/// Sets the approver, whose approvals are stored before the calls run.
fn with_journal(options: RunOptions, approver: Approver, stored: &SuspendedRun) -> RunOptions {
    match approver {
        // Requests that nobody answers stay as they are.
        Approver::Nobody(_) => options,
        approver => options.approvals(Journal { approver, stored: stored.clone() }),
    }
}

/// An approver whose approvals are stored.
struct Journal {
    approver: Approver,
    stored: SuspendedRun,
}

impl Approve for Journal {
    async fn approve(&self, request: ApprovalRequest, cx: Cx) -> Result<ApprovalAnswer, BoxError> {
        let call_id = request.call_id.clone();
        let answer = self.approver.approve(request, cx).await?;
        if let ApprovalAnswer::Verdict(verdict) = &answer
            && runs(verdict)
        {
            // A call whose approval can't be stored is denied.
            self.stored.begin(|request| request.call_id == call_id).map_err(|fault| fault.message)?;
        }
        Ok(answer)
    }
}
