//! `haft run`: a model's calls, with one result each.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use haft::run::{Dispatch, FailureKind, RunId, RunOptions, ToolCall, ToolEvent, ToolResult};

use crate::approval::Approver;
use crate::approval::verdict_file::Others;
use crate::calls::{self, InputForm, ReadCalls};
use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;
use crate::input::TextInput;
use crate::run_options::RunOptionArguments;
use crate::run_output::{OutputForm, RunOutput, Waiting, exit_status, note_rejected, note_waiting, unread};
use crate::screen::Screen;
use crate::suspended_run::{Ledger, NewRun, RecordCalls, SuspendedRun};
use crate::workspace::{CallerArgument, OpenWorkspace, Remarks};

/// The longest run id.
const MAX_RUN_ID: usize = 128;

/// Runs the calls of a model, and gives each of them one result
///
/// The calls are a JSON array, one object, or an object per line, each with a `name`, `arguments` and perhaps a
/// `call_id`; or the response of a provider as it was sent, whole or streamed. Standard output gets the events as JSON
/// lines, each with its `call_id`; a terminal gets a view of them.
///
/// The tools and rules are those of the current folder's workspace, or of `--workspace`, wherever the calls come from.
/// Without a workspace, a call of a tool that is not standard is an error, and nothing runs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haft run calls.json                               run calls, and show them on the terminal
  echo '{\"name\": \"calculate\", \"arguments\": {\"expression\": \"6 * 7\"}}' | haft run -
  curl … | haft run - --results openai              run the calls of a response, for its provider
  haft run calls.json --approve verdicts.json       take the verdicts of a file
  haft run calls.json --suspend waiting.json        let calls that require approval wait in a file
  haft run calls.json --run-id order-17             repeat it, with the same idempotency keys
  haft run calls.json --results openai --events events.jsonl   keep the events too

With `--suspend` and `--results`, a run with calls that wait prints a status in place of the results:
an object with `status`, `file`, the ids of the calls that are `waiting`, and how many are `finished`.

The limits of the workspace hold too: of two limits, the stricter applies.

A file of verdicts has an array or lines of them, such as
  {\"call_id\": \"c1\", \"decision\": \"approved\"}
  {\"call_id\": \"c2\", \"decision\": \"denied\", \"reason\": \"not today\"}
  {\"call_id\": \"c3\", \"decision\": \"edited\", \"arguments\": {\"path\": \"a.txt\"}}
  {\"call_id\": \"c4\", \"decision\": \"answered\", \"answer\": 42}
Each may have `by`, who decided, and `at`, when: `2026-05-01T10:00:00Z` or Unix milliseconds.

Exit codes: 0 every call has its result, or waits; with `--fail`, 1 if a call failed, else 3 if one
was denied, is not permitted or waits; 1 also if the reader of the output went away, which cancels
the calls unless `--suspend` stores them; 2 invalid usage, input or workspace; 130 interrupted.")]
pub(crate) struct RunArguments {
    /// The file with the calls, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The form of the calls; recognised if it is not set
    #[arg(long, value_name = "FORM")]
    from: Option<InputForm>,
    #[command(flatten)]
    options: RunOptionArguments,
    #[command(flatten)]
    caller: CallerArgument,
    /// Keeps the run in this file: calls that require approval and get none wait in it for `haft resume`, and so does
    /// what is left if the process is killed. It is removed when every call has its result
    #[arg(long, value_name = "FILE")]
    suspend: Option<PathBuf>,
    /// The id of the run, from which the idempotency keys of its calls follow: set it to repeat a run with the same keys.
    /// Without it, every run has an id of its own
    #[arg(long, value_name = "ID", value_parser = run_id)]
    run_id: Option<RunId>,
}

/// Reads a run's id.
fn run_id(text: &str) -> Result<RunId, String> {
    let is_fine = |character: char| character.is_ascii_alphanumeric() || "-_.:".contains(character);
    if text.is_empty() || text.len() > MAX_RUN_ID || !text.chars().all(is_fine) {
        return Err(format!("1 to {MAX_RUN_ID} letters, digits and `-`, `_`, `.` or `:` are required"));
    }
    Ok(text.into())
}

/// Runs a file's calls.
pub(crate) async fn run(arguments: RunArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    unread(cx, run_file(arguments, cx).await)
}

async fn run_file(arguments: RunArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let RunArguments { file, from, options, caller, suspend, run_id } = arguments;
    let input = TextInput::read_or_wait(&file, cx).await?;
    let workspace = OpenWorkspace::open_as(cx, Remarks::Announced, &caller).await?;
    let executor = &workspace.executor;
    let read = calls::read(&input, from, executor)?;
    if !read.turn.is_cut_off() {
        workspace.ensure_found(&read.calls, &read.tools)?;
    }
    let form = OutputForm::of(cx, options.results, options.json);
    if matches!(form, OutputForm::Results(_)) {
        ensure_distinct(&read.calls)?;
    }
    let screen = Screen::new(cx);
    let others = if suspend.is_some() { Others::Suspended } else { Others::Denied };
    let approver = options.approve_mode(cx).approver(others, cx, &screen).await?;
    if let Approver::File(verdicts) = &approver {
        verdicts.ensure_known(read.calls.iter().map(|call| &call.call_id))?;
    }
    let is_unapproved = matches!(approver, Approver::Nobody(Others::Denied));
    let run_id = run_id.unwrap_or_else(RunId::random);
    let run_options = approver.attach(options.apply(executor.options(), cx)).run_id(&run_id);
    let tools = executor.list(&run_options);
    let output = RunOutput::new(form, &screen, &read.calls, options.events.as_deref())?;
    let stored = match suspend.filter(|_| !read.turn.is_cut_off()) {
        Some(path) => {
            let workspace = workspace.loaded.as_ref().map(|loaded| loaded.path.as_path());
            let run = NewRun { run_id, calls: &read.calls, workspace, caller: &caller, results: options.results };
            Some(SuspendedRun::create(&path, run, Ledger::of(cx)?)?)
        }
        None => None,
    };
    let (output, ran) = run_calls(&read, run_options, output, stored.as_ref(), cx).await?;
    let is_waiting = ran.suspended.is_some();
    if let (Some(suspended), Some(stored)) = (&ran.suspended, &stored) {
        stored.suspend_again(suspended)?;
        note_waiting(cx, stored.path(), suspended.pending().len());
        ran.written?;
        let calls = suspended.pending().map(|request| &request.call_id).collect();
        output.finish_waiting(cx, &read.turn, &ran.results, &Waiting { path: stored.path(), calls })?;
    } else {
        if let (Err(_), Some(stored)) = (&ran.written, &stored) {
            note_unreported(cx, stored.path());
        }
        ran.written?;
        output.finish(cx, &read.turn, &ran.results, &tools)?;
        if is_unapproved {
            note_unapproved(cx, &ran.results);
        }
        if let Some(stored) = stored {
            stored.ensure_stored()?;
            stored.remove()?;
        }
    }
    Ok(exit_status(cx, options.failures(), &ran.results, is_waiting))
}

/// A finished run.
struct Ran {
    /// The results in call order.
    results: Vec<ToolResult>,
    suspended: Option<haft::approval::Suspended>,
    /// The output's first error.
    written: Result<(), CommandError>,
}

/// Runs the calls. With a file, each step is stored in it, and an output that can't be written does not end the run:
/// the results are in the file. Without one nobody would get them, so the calls are cancelled.
async fn run_calls(
    read: &ReadCalls,
    options: RunOptions,
    mut output: RunOutput,
    stored: Option<&SuspendedRun>,
    cx: &Context,
) -> Result<(RunOutput, Ran), CommandError> {
    if read.turn.is_cut_off() {
        let results = read.turn.interrupted_results();
        for (index, result) in results.iter().enumerate() {
            output.event(cx, &ToolEvent::Output { index, result: result.clone() })?;
        }
        return Ok((output, Ran { results, suspended: None, written: Ok(()) }));
    }
    if read.calls.is_empty() {
        cx.terminal.note("there are no calls");
    }
    let tools = match stored {
        Some(stored) => read.tools.clone().wrap(RecordCalls(stored.clone())),
        None => read.tools.clone(),
    };
    let mut run = tools.run_calls(read.calls.iter().cloned().map(Into::into).collect(), options);
    let mut results = BTreeMap::new();
    let mut written = Ok(());
    while let Some(event) = run.next().await {
        if let (ToolEvent::Output { index, result }, Some(stored)) = (&event, stored) {
            // If it can't be stored, that is reported at the end: the results are printed meanwhile.
            let _ = stored.record(*index, result);
        }
        if written.is_ok() {
            written = output.event(cx, &event);
        }
        if written.is_err() && stored.is_none() {
            break;
        }
        if let ToolEvent::Output { index, result } = event {
            results.insert(index, result);
        }
    }
    note_rejected(cx, &run);
    Ok((output, Ran { results: results.into_values().collect(), suspended: run.suspended(), written }))
}

/// Tells where the results are that could not be printed.
fn note_unreported(cx: &Context, path: &Path) {
    let path = path.display();
    cx.terminal.note(format!("the results are in `{path}`; print them with `haft resume {path}`"));
}

/// Reports calls that were denied because there was no approver, and how to get them approved.
fn note_unapproved(cx: &Context, results: &[ToolResult]) {
    let is_denied = |result: &&ToolResult| result.failure().is_some_and(|failure| failure.kind == FailureKind::Denied);
    let calls = match results.iter().filter(is_denied).count() {
        0 => return,
        1 => "1 call was denied".to_owned(),
        count => format!("{count} calls were denied"),
    };
    cx.terminal.note(format!("{calls} because nobody approves calls; use `--approve` or `--suspend`"));
}

/// Rejects calls that share an id before any runs: their results could not be sent back.
fn ensure_distinct(calls: &[ToolCall]) -> Result<(), Fault> {
    let mut ids = HashSet::new();
    match calls.iter().find(|call| !ids.insert(&call.call_id)) {
        None => Ok(()),
        Some(call) => {
            let fault =
                Fault::new(format!("two calls have the id `{}`, so their results can't be told apart", call.call_id));
            Err(fault.advice("give each call an id of its own, or leave out `--results`"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_run_is_short_and_plain() {
        for valid in ["order-17", "2024-05-01T10:00:00Z", "a.b_c"] {
            assert_eq!(run_id(valid), Ok(RunId::from(valid)));
        }
        for invalid in ["", " ", "a b", "ä", "../x", "a\n", &"x".repeat(129)] {
            assert!(run_id(invalid).is_err(), "{invalid}");
        }
    }
}
