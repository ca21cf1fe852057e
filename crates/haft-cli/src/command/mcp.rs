//! `haft mcp`: imported tools, what was accepted of them, and what they are now.
//!
//! ```text
//! workspace file ─> imports ─> listed now ──┐
//!                   haft.lock ─> pins ──────┴─> difference ─> shown ─> accepted ─> haft.lock ─> trusted again, if it was
//! ```
//!
//! Everything but `list` starts servers, so the file must be trusted. The same commands serve imports from documents,
//! which are pinned in the same way.

mod browser;
mod difference;
mod import;
mod list;
mod lock;
mod log;
mod login;
mod selection;

use haft::workspace::Loaded;
use serde_json::{Value, json};

pub(crate) use self::browser::Browser;
pub(crate) use self::difference::change_lines;
use self::difference::{difference_json, difference_lines};
pub(crate) use self::import::{LiveImport, LockedImport, Unlistable, imports, listed_now};
use self::lock::keep_trust;
pub(crate) use self::lock::{LockTurn, write_locks};
pub(crate) use self::login::log_in;
use self::selection::ImportSelection;
use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;
use crate::screen::Screen;
use crate::terminal::{escaped, escaped_json};
use crate::workspace::{self, FILE_NAME};

/// Compares imported tools with what you accepted of them, and accepts what has changed
///
/// The definitions of imported tools are kept in `haft.lock` beside the workspace file. A server is started when one of
/// its tools is first called, and lists its tools then: a call to a tool that is not as you accepted it fails.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haft mcp list                       the imports, from the lock alone
  haft mcp diff                       start the servers, and show what has changed
  haft mcp accept 'github/search_*'   accept the changes of some tools
  haft mcp update github              accept everything that one server offers now
  haft mcp login sentry               log in with the browser
  haft mcp logs github                what a server wrote to its log")]
pub(crate) struct McpArguments {
    #[command(subcommand)]
    action: McpAction,
}

/// The actions.
#[derive(Debug, clap::Subcommand)]
enum McpAction {
    List(ListArguments),
    Diff(DiffArguments),
    Accept(AcceptArguments),
    Update(UpdateArguments),
    Login(LoginArguments),
    Logout(LogoutArguments),
    Logs(LogsArguments),
}

/// Lists the imports with the tools that you accepted, and starts nothing
#[derive(Debug, clap::Args)]
struct ListArguments {
    /// Prints JSON also on a terminal
    #[arg(long)]
    json: bool,
}

/// Lists the tools of all servers now, and shows how they differ from what you accepted
///
/// Exits with 1 if a server can't be listed.
#[derive(Debug, clap::Args)]
struct DiffArguments {
    /// A toolbox, an import such as `github/server`, or a pattern over full names such as `github/search_*`
    pattern: Option<String>,
    /// Prints JSON also on a terminal
    #[arg(long)]
    json: bool,
}

/// Accepts new, changed and removed tools as they are now, after showing the differences
#[derive(Debug, clap::Args)]
struct AcceptArguments {
    /// A toolbox, an import such as `github/server`, or a pattern over full names such as `github/search_*`
    pattern: Option<String>,
    /// Accepts without a question
    #[arg(long, short = 'y')]
    yes: bool,
}

/// Accepts everything that servers offer now, and forgets imports that the file no longer has
#[derive(Debug, clap::Args)]
struct UpdateArguments {
    /// A toolbox, or an import such as `github/server`. Without it, all are updated
    import: Option<String>,
}

/// Logs in at a server with the browser
///
/// The page is opened, and its address is printed. The server sends the browser back to this machine, so it must be a
/// browser of this machine. The tokens are kept in a file of the state folder that only you can read.
#[derive(Debug, clap::Args)]
struct LoginArguments {
    /// A toolbox, or an import such as `sentry/server`
    import: String,
    /// Prints the address of the page, and opens no browser
    #[arg(long)]
    no_browser: bool,
}

/// Forgets the login at a server
#[derive(Debug, clap::Args)]
struct LogoutArguments {
    /// A toolbox, or an import such as `sentry/server`
    import: String,
}

/// Prints the log of a server: what it logs by the protocol, and what a program writes to its standard error
///
/// The log is a file of bounded size in the state folder, without the secrets that the server got.
#[derive(Debug, clap::Args)]
struct LogsArguments {
    /// A toolbox, or an import such as `github/server`
    import: String,
    /// The number of last lines to print
    #[arg(long, short = 'n', default_value_t = 100)]
    lines: usize,
}

/// Carries out the command.
pub(crate) async fn run(arguments: &McpArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let path = workspace::find(cx)?.ok_or_else(|| {
        Fault::new(format!("there is no `{FILE_NAME}` in the current folder or above it"))
            .advice("write one with `haft init`, then add servers with `haft add mcp`")
    })?;
    match &arguments.action {
        McpAction::List(arguments) => {
            let loaded = workspace::load_file(cx, &path).await?;
            list::print(cx, &loaded, arguments.json)?;
            Ok(ExitStatus::Done)
        }
        McpAction::Diff(arguments) => {
            let loaded = trusted(cx, &path).await?;
            let selection = ImportSelection::new(arguments.pattern.as_deref(), &loaded)?;
            let (live, failed) = list_selected(cx, &loaded, &selection).await?;
            print_differences(cx, &live, &selection, arguments.json)?;
            Ok(if failed == 0 { ExitStatus::Done } else { ExitStatus::Failed })
        }
        McpAction::Accept(arguments) => {
            let loaded = trusted(cx, &path).await?;
            let selection = ImportSelection::new(arguments.pattern.as_deref(), &loaded)?;
            accept(cx, &loaded, &selection, arguments.yes).await
        }
        McpAction::Update(arguments) => {
            let loaded = trusted(cx, &path).await?;
            let selection = ImportSelection::new(arguments.import.as_deref(), &loaded)?.whole()?;
            update(cx, &loaded, &selection).await
        }
        McpAction::Login(arguments) => {
            let loaded = trusted(cx, &path).await?;
            let selection = ImportSelection::new(Some(&arguments.import), &loaded)?.whole()?;
            let browser = if arguments.no_browser { Browser::Closed } else { Browser::Opened };
            login::run(cx, &loaded, &selection, browser).await
        }
        McpAction::Logout(arguments) => {
            let loaded = workspace::load_file(cx, &path).await?;
            let selection = ImportSelection::new(Some(&arguments.import), &loaded)?.whole()?;
            login::forget(cx, &loaded, &selection)
        }
        McpAction::Logs(arguments) => {
            let loaded = workspace::load_file(cx, &path).await?;
            let selection = ImportSelection::new(Some(&arguments.import), &loaded)?.whole()?;
            log::print(cx, &loaded, &selection, arguments.lines)
        }
    }
}

/// Loads a file whose servers may be started.
async fn trusted(cx: &Context, path: &std::path::Path) -> Result<Loaded, CommandError> {
    let loaded = {
        let _turn = LockTurn::wait(cx, path)?;
        workspace::load_file(cx, path).await?
    };
    import::ensure_trusted(&loaded)?;
    Ok(loaded)
}

/// Lists the selected imports, reports those that can't be listed, and returns the others and their number.
async fn list_selected(
    cx: &Context,
    loaded: &Loaded,
    selection: &ImportSelection,
) -> Result<(Vec<LiveImport>, usize), CommandError> {
    let chosen: Vec<LockedImport<'_>> =
        imports(loaded).into_iter().filter(|import| selection.has_import(&import.name)).collect();
    if chosen.is_empty() {
        cx.terminal.note("the workspace has no imports; add a server with `haft add mcp`");
    }
    let mut live = Vec::new();
    let mut failed = 0;
    for (name, outcome) in listed_now(loaded, &chosen).await {
        match outcome {
            Ok(import) => live.push(import),
            Err(Unlistable { fault, .. }) => {
                failed += 1;
                crate::report::write_fault(cx.terminal, &fault.advice(format!("`{name}` stays as it was accepted")));
            }
        }
    }
    Ok((live, failed))
}

fn print_differences(
    cx: &Context,
    live: &[LiveImport],
    selection: &ImportSelection,
    is_json: bool,
) -> Result<(), CommandError> {
    if is_json || !cx.terminal.stdout {
        let imports: Vec<Value> = live.iter().map(|import| difference_json(import, selection)).collect();
        return cx.terminal.print(escaped_json(&json!(imports)));
    }
    cx.terminal.print(shown(live, selection))
}

/// Returns the differences of all imports, for people.
fn shown(live: &[LiveImport], selection: &ImportSelection) -> String {
    live.iter().flat_map(|import| difference_lines(import, selection)).collect::<Vec<_>>().join("\n")
}

async fn accept(
    cx: &Context,
    loaded: &Loaded,
    selection: &ImportSelection,
    is_confirmed: bool,
) -> Result<ExitStatus, CommandError> {
    let (live, failed) = list_selected(cx, loaded, selection).await?;
    let status = if failed == 0 { ExitStatus::Done } else { ExitStatus::Failed };
    cx.terminal.note(shown(&live, selection));
    if !live.iter().any(|import| selection.is_different(import)) {
        return Ok(status);
    }
    if !is_confirmed && !confirm(cx, "Accept these tools as they are now?").await? {
        cx.terminal.note("nothing is accepted");
        return Ok(ExitStatus::Denied);
    }
    let turn = LockTurn::wait(cx, &loaded.path)?;
    let accepted = write_locks(&turn, loaded, |lock, pins| {
        let own = live.iter().filter(|import| import.lock == lock);
        own.flat_map(|import| pins.accept(&import.name, &import.offered, |tool| selection.has_tool(&import.name, tool)))
            .collect::<Vec<_>>()
    })?;
    keep_trust(cx, &turn, loaded).await?;
    report_accepted(cx, accepted.iter().map(Vec::len).sum());
    Ok(status)
}

async fn update(cx: &Context, loaded: &Loaded, selection: &ImportSelection) -> Result<ExitStatus, CommandError> {
    let (live, failed) = list_selected(cx, loaded, selection).await?;
    cx.terminal.note(shown(&live, selection));
    let known: Vec<LockedImport<'_>> = imports(loaded);
    let turn = LockTurn::wait(cx, &loaded.path)?;
    let accepted = write_locks(&turn, loaded, |lock, pins| {
        let gone: Vec<String> = pins
            .iter()
            .map(|(name, _)| name.to_owned())
            .filter(|name| selection.has_import(name) && !known.iter().any(|known| known.is(lock, name)))
            .collect();
        let own = live.iter().filter(|import| import.lock == lock);
        let accepted: usize = own
            .map(|import| {
                let before = pins.insert(import.name.clone(), import.offered.clone());
                usize::from(before.as_ref() != Some(&import.offered)) * import.difference.tools.len()
            })
            .sum();
        for name in &gone {
            pins.remove(name);
            cx.terminal.note(format!("{} is forgotten: the file no longer has it", escaped(name)));
        }
        accepted
    })?;
    keep_trust(cx, &turn, loaded).await?;
    report_accepted(cx, accepted.iter().sum());
    Ok(if failed == 0 { ExitStatus::Done } else { ExitStatus::Failed })
}

fn report_accepted(cx: &Context, count: usize) {
    match count {
        0 => {}
        1 => cx.terminal.note("1 tool is accepted"),
        count => cx.terminal.note(format!("{count} tools are accepted")),
    }
}

/// Asks the person at the terminal.
async fn confirm(cx: &Context, question: &'static str) -> Result<bool, CommandError> {
    if !cx.terminal.is_interactive() {
        let fault = Fault::new("nobody can be asked whether to accept the differences: there is no terminal");
        return Err(fault.advice("read the list above, then add `--yes`").into());
    }
    Screen::new(cx).confirm(question).await
}
