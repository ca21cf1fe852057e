//! `haft pending`: calls that wait for approval in files, and verdicts on them.
//!
//! ```text
//! haft run --suspend ─> file ──┬─> list, show
//! haft serve ─────────> file ──┴─> verdict ─> checked like that of `haft resume` ─> stored in the same file
//! ```
//!
//! A verdict is only stored here. The calls run when the run goes on: by `haft resume`, or when a server's client makes
//! the call again.

mod answer;
mod list;

use std::path::PathBuf;

use haft::approval::ApprovalRequest;

use self::answer::GivenVerdict;
use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;
use crate::suspended_run::{Ledger, WaitingRun};

/// The folder in the state folder with the runs of servers.
pub(crate) const SERVED: &str = "served";

/// The prefix of the ids of requests, which may be left out.
const ID_PREFIX: &str = "approval_";

/// Lists the calls that wait for approval, and answers them
///
/// These are the runs of `haft run --suspend` in a folder, and those that `haft serve` keeps. A verdict is stored with its
/// run, after the same checks as in `haft resume`. The call runs when its run goes on: by `haft resume`, or when the
/// client of the server makes the call again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haft pending                              what waits here, and on servers
  haft pending show 5f3a                    one call in full; the start of an id will do
  haft pending approve 5f3a
  haft pending deny 5f3a --reason 'too much'
  haft pending edit 5f3a '{\"cents\": 900}'   approve it with other arguments
  haft pending answer 5f3a '\"blue\"'         answer a tool's question, or give its result yourself

Exit codes: 0 done, 2 no such request, or a verdict that can't be accepted.")]
pub(crate) struct PendingArguments {
    #[command(subcommand)]
    action: Option<PendingAction>,
    /// The folder with the runs, or the file of one. Without it, the current folder's and those of servers
    #[arg(long = "in", value_name = "DIR|FILE", global = true)]
    place: Option<PathBuf>,
    /// Prints JSON also on a terminal
    #[arg(long, global = true)]
    json: bool,
}

/// The actions.
#[derive(Debug, clap::Subcommand)]
enum PendingAction {
    /// Shows a call in full, with what it would start or send
    Show(RequestArgument),
    /// Approves a call
    Approve(RequestArgument),
    /// Denies a call
    Deny(DenyArguments),
    /// Approves a call with other arguments
    Edit(ContentArguments),
    /// Answers a question, or gives the result in place of the tool
    Answer(ContentArguments),
}

/// The request.
#[derive(Debug, clap::Args)]
struct RequestArgument {
    /// The id of the request, or its start
    #[arg(value_name = "ID")]
    id: String,
}

/// A denial.
#[derive(Debug, clap::Args)]
struct DenyArguments {
    #[command(flatten)]
    request: RequestArgument,
    /// The reason, which the model reads
    #[arg(long, value_name = "TEXT", default_value = "the call was not approved")]
    reason: String,
}

/// A verdict with content.
#[derive(Debug, clap::Args)]
struct ContentArguments {
    #[command(flatten)]
    request: RequestArgument,
    /// The arguments or the answer as JSON, `@FILE`, or `-` for standard input
    #[arg(value_name = "JSON|@FILE|-")]
    content: String,
}

/// Carries out the command.
pub(crate) async fn run(arguments: PendingArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let PendingArguments { action, place, json } = arguments;
    let runs = runs(place, cx)?;
    let (request, answer) = match action {
        None => {
            list::print(cx, &runs, json)?;
            return Ok(ExitStatus::Done);
        }
        Some(PendingAction::Show(request)) => {
            let (run, request) = find(&runs, &request.id)?;
            list::show(cx, run, request, json).await?;
            return Ok(ExitStatus::Done);
        }
        Some(PendingAction::Approve(request)) => (request, GivenVerdict::Approve),
        Some(PendingAction::Deny(DenyArguments { request, reason })) => (request, GivenVerdict::Deny(reason)),
        Some(PendingAction::Edit(ContentArguments { request, content })) => {
            (request, GivenVerdict::Edit(answer::content(&content, cx).await?))
        }
        Some(PendingAction::Answer(ContentArguments { request, content })) => {
            (request, GivenVerdict::Answer(answer::content(&content, cx).await?))
        }
    };
    let (run, request) = find(&runs, &request.id)?;
    answer::store(cx, run, request, answer, json).await?;
    Ok(ExitStatus::Done)
}

/// Returns the runs in a place, or here and on servers.
fn runs(place: Option<PathBuf>, cx: &Context) -> Result<Vec<WaitingRun>, Fault> {
    let ledger = Ledger::of(cx)?;
    match place {
        Some(file) if file.is_file() => Ok(vec![WaitingRun::read(&file, &ledger)?]),
        Some(folder) => WaitingRun::find(&folder, &ledger),
        None => {
            let mut runs = WaitingRun::find(".".as_ref(), &ledger)?;
            let served = cx.state_folder()?.join(SERVED);
            if served.is_dir() {
                runs.extend(WaitingRun::find(&served, &ledger)?);
            }
            Ok(runs)
        }
    }
}

/// Finds a request by its id or the start of it.
fn find<'r>(runs: &'r [WaitingRun], id: &str) -> Result<(&'r WaitingRun, &'r ApprovalRequest), Fault> {
    let all = || runs.iter().flat_map(|run| run.pending.iter().map(move |request| (run, request)));
    if let Some(exact) = all().find(|(_, request)| request.request_id == *id) {
        return Ok(exact);
    }
    let start = id.strip_prefix(ID_PREFIX).unwrap_or(id);
    let is_meant = |request: &ApprovalRequest| !start.is_empty() && short(request).starts_with(start);
    let mut found = all().filter(|(_, request)| is_meant(request));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some((_, first)), Some((_, second))) => {
            let fault = Fault::new(format!("several requests begin with `{id}`"));
            Err(fault.advice(format!("write more of the id, such as {} or {}", short(first), short(second))))
        }
        (None, _) => {
            let fault = Fault::new(format!("no request with the id `{id}` waits for a verdict"));
            Err(fault.advice("`haft pending` lists the requests; `--in` names another folder"))
        }
    }
}

/// Returns a request's id without its prefix.
fn short(request: &ApprovalRequest) -> &str {
    let id = request.request_id.as_str();
    id.strip_prefix(ID_PREFIX).unwrap_or(id)
}
