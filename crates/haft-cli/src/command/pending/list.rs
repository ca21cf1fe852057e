//! The requests as a table or as JSON, and one of them in full.

use std::time::SystemTime;

use haft::approval::{ApprovalRequest, ApprovalRule, Verdict};
use haft::conversation::Timestamp;
use serde_json::{Value, json};

use super::short;
use crate::approval::prompt;
use crate::calls::name;
use crate::command::resume;
use crate::context::Context;
use crate::error::CommandError;
use crate::suspended_run::{Ledger, SuspendedRun, WaitingRun};
use crate::table::{add_line, cell, rendered, table};
use crate::terminal::{escaped_json, one_line};

/// The characters of an id that the table shows.
const SHOWN_ID: usize = 8;

/// Prints all requests.
pub(super) fn print(cx: &Context, runs: &[WaitingRun], is_json: bool) -> Result<(), CommandError> {
    let now = Timestamp::from(SystemTime::now());
    let all = || runs.iter().flat_map(|run| run.pending.iter().map(move |request| (run, request)));
    if is_json || !cx.terminal.stdout {
        let all: Vec<Value> = all().map(|(run, request)| to_json(run, request, now)).collect();
        return cx.terminal.print(escaped_json(&json!(all)));
    }
    if all().next().is_none() {
        cx.terminal.note("no call waits for approval");
        return Ok(());
    }
    let mut shown = table(cx.terminal.width(), &["REQUEST", "STATE", "TOOL", "CALLER", "RUN", "ARGUMENTS"]);
    for (run, request) in all() {
        let subject = request.subject();
        let id: String = short(request).chars().take(SHOWN_ID).collect();
        let caller = run.caller.as_deref().unwrap_or("-");
        let file = run.path.file_name().unwrap_or_default().to_string_lossy();
        let cells = [&id, state(run, request, now), &subject.tool, caller, &file, &one_line(&subject.arguments)];
        add_line(&mut shown, cells.into_iter().map(cell).collect());
    }
    cx.terminal.print(rendered(&shown))
}

/// Prints one request.
pub(super) async fn show(
    cx: &Context,
    run: &WaitingRun,
    request: &ApprovalRequest,
    is_json: bool,
) -> Result<(), CommandError> {
    if is_json || !cx.terminal.stdout {
        return cx.terminal.print(escaped_json(&to_json(run, request, Timestamp::from(SystemTime::now()))));
    }
    let stored = SuspendedRun::open(&run.path, Ledger::of(cx)?)?;
    let workspace = resume::open_workspace(&stored, cx).await?;
    let tools = name::tools_for(&stored.calls(), &workspace.executor)?;
    cx.terminal.print(prompt::whole(request.subject(), tools.get(&request.subject().tool)).trim_start())
}

/// Returns a request for a program.
pub(super) fn to_json(run: &WaitingRun, request: &ApprovalRequest, now: Timestamp) -> Value {
    let subject = request.subject();
    json!({
        "request_id": request.request_id,
        "state": state(run, request, now),
        "tool": subject.tool,
        "arguments": serde_json::from_str::<Value>(&subject.arguments).unwrap_or_else(|_| json!(subject.arguments)),
        "caller": run.caller,
        "rule": subject.rule.as_ref().map(ApprovalRule::as_str),
        "decider": request.decider(),
        "expires_at": request.expires_at,
        "run_id": run.run_id,
        "file": run.path,
        "request": request,
        "verdict": run.verdict_on(request),
    })
}

/// Returns the state of a request in a word.
fn state<'v>(run: &'v WaitingRun, request: &ApprovalRequest, now: Timestamp) -> &'v str {
    match run.verdict_on(request) {
        Some(Verdict { decision, .. }) => decision.as_str(),
        None if request.is_expired(now) => "expired",
        None => "waits",
    }
}
