//! `haft add`: writes an entry to the workspace file.
//!
//! ```text
//! arguments ─> NewEntry ─> AddedText ─> checked by loading it ─> the file, in one step ─> trusted again, if it was
//! ```
//!
//! The file's comments, order and white space stay as they are. A text that could not be loaded never becomes the file.

mod added_tools;
mod auth;
pub(in crate::command) mod client_file;
mod edit;
mod entry;
mod parameter;
mod private_host;
mod server;
mod write;

use std::path::{Path, PathBuf};

use haft::workspace::{Loaded, TrustStatus};

use self::entry::{EntrySort, NewEntry};
use self::parameter::ParameterSpec;
use crate::command::mcp::{self, Unlistable};
use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;
use crate::report;
use crate::terminal::printable;
use crate::workspace::{self, FILE_NAME};

/// Adds a tool, an OpenAPI document or an MCP server to the workspace file, and shows what it adds
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haft add http github/issues --url 'https://api.github.com/repos/{owner}/{repo}/issues' --bearer github=GITHUB_TOKEN
  haft add openapi shop --file shop.yaml --tag orders
  haft add mcp files -- npx -y @modelcontextprotocol/server-filesystem docs
  haft add command git/log --description 'Shows the last commits.' -- git log --oneline '--max-count={count}'")]
pub(crate) struct AddArguments {
    #[command(subcommand)]
    kind: AddKind,
}

/// The kinds of entries.
#[derive(Debug, clap::Subcommand)]
enum AddKind {
    Http(HttpArguments),
    Openapi(OpenapiArguments),
    Mcp(server::ServerArguments),
    Command(CommandArguments),
}

/// Adds a tool that sends an HTTP request
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haft add http weather/now --url 'https://api.weather.example/now?city={city}' --description 'The weather in a city.'
  haft add http chat/post --url https://chat.example/messages --method POST --param text:string='The message.' \\
      --bearer chat=CHAT_TOKEN --approve
  haft add http shop/items --url https://shop.example/items --auth-header X-Api-Key=shop=SHOP_KEY
  haft add http lab/state --url http://localhost:8080/state --allow-private")]
struct HttpArguments {
    /// The name of the tool: `toolbox/tool`
    name: String,
    /// The absolute URL. `{x}` in the path or as a value of the query is a parameter
    #[arg(long)]
    url: String,
    /// The method; GET without it
    #[arg(long, ignore_case = true, value_parser = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"])]
    method: Option<String>,
    /// A header, such as `accept: application/json`. A value such as `{x}` is a parameter
    #[arg(long, value_name = "NAME: VALUE")]
    header: Vec<String>,
    /// A parameter of the query, such as `per_page=50`. A value such as `{x}` is a parameter
    #[arg(long, value_name = "NAME=VALUE")]
    query: Vec<String>,
    #[command(flatten)]
    auth: auth::AuthOptions,
    /// Permits requests to the host of the URL if it is not public, such as one of this machine: adds it to
    /// `http.allow-hosts`
    #[arg(long)]
    allow_private: bool,
    #[command(flatten)]
    tool: ToolOptions,
}

/// Adds a tool for each operation of an OpenAPI document
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haft add openapi shop --file shop.yaml
  haft add openapi shop/orders --file shop.yaml --tag orders --method GET
  haft add openapi shop --file shop.yaml --security apiKey=shop=SHOP_KEY")]
struct OpenapiArguments {
    /// The toolbox of the tools, and a name for the import: `toolbox`, or `toolbox/import`
    name: String,
    /// The document, JSON or YAML, in the folder of the workspace file or below it
    #[arg(long)]
    file: PathBuf,
    /// A tag that operations must have. With several, one of them
    #[arg(long)]
    tag: Vec<String>,
    /// A method that operations must have. With several, one of them
    #[arg(long, value_name = "METHOD", ignore_case = true)]
    method: Vec<String>,
    /// The URL that all paths are appended to, in place of the servers of the document
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The secret of a security scheme of the document: the name of a secret of the file, or `SCHEME=NAME=VARIABLE` to
    /// define it by an environment variable. For basic authentication, `SCHEME=USER:NAME`
    #[arg(long, value_name = "SCHEME=SECRET")]
    security: Vec<String>,
    /// Permits requests to hosts that are not public, such as this machine: adds those of the import to
    /// `http.allow-hosts`
    #[arg(long)]
    allow_private: bool,
    /// Requires approval of every call
    #[arg(long)]
    approve: bool,
}

/// Adds a tool that starts a command, without a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haft add command git/log --readonly -- git log --oneline '--max-count={count}'
  haft add command text/count --description 'Counts words.' --param path:string='The file.' -- wc -w -- '{path}'")]
struct CommandArguments {
    /// The name of the tool: `toolbox/tool`
    name: String,
    #[command(flatten)]
    tool: ToolOptions,
    /// The program and its arguments, after `--`. `{x}` in an argument is a parameter
    #[arg(last = true, required = true, value_name = "ARGV")]
    argv: Vec<String>,
}

/// The options of single tools.
#[derive(Debug, clap::Args)]
struct ToolOptions {
    /// The description, which models read
    #[arg(long)]
    description: Option<String>,
    /// A parameter: `name:type`, `name:type=description`, or `name?:type` for one that may be missing. The types are
    /// string, integer, number, boolean, object, and `type[]` for arrays. Placeholders need no such option: they are
    /// strings without it
    #[arg(long = "param", value_name = "NAME:TYPE[=DESCRIPTION]")]
    params: Vec<ParameterSpec>,
    /// States that calls change nothing
    #[arg(long)]
    readonly: bool,
    /// Requires approval of every call
    #[arg(long)]
    approve: bool,
    /// Lets the tool be found by its name alone, without the toolbox
    #[arg(long)]
    export: bool,
}

/// Carries out the command.
pub(crate) async fn run(arguments: AddArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let path = workspace::find(cx)?.ok_or_else(|| {
        Fault::new(format!("there is no `{FILE_NAME}` in the current folder or above it"))
            .advice("write one with `haft init`, then add the tool")
    })?;
    if let AddKind::Mcp(arguments) = &arguments.kind {
        return server::run(arguments, cx, &path).await;
    }
    // A file with faults is reported as it is, before anything is added.
    let before = workspace::load_file(cx, &path).await?;
    let mut entry = NewEntry::new(&arguments.kind, &before)?;
    private_host::allow(cx, &mut entry, &path, &before).await?;
    add_entry(cx, &path, &before, entry, Unlisted::Rejected).await?;
    Ok(ExitStatus::Done)
}

/// The treatment of an import that can't be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unlisted {
    /// Nothing is written.
    Rejected,
    /// It is written, and nothing of it is accepted.
    Written,
}

/// The outcome of listing a new import.
enum Offered {
    Listed(Box<mcp::LiveImport>),
    /// It has no list, and is written without tools.
    Nothing,
    /// The server demands a login, for which the entry has no setting yet.
    LoginRequired,
}

/// Adds an entry to a loaded file. What a new import offers now is accepted.
async fn add_entry(
    cx: &Context,
    path: &Path,
    before: &Loaded,
    mut entry: NewEntry,
    unlisted: Unlisted,
) -> Result<(), CommandError> {
    check_free(before, path, &entry)?;
    let mut added = edit::add(before, &entry)?;
    let mut draft = write::check(cx, &added, path, before).await?;
    let offered = loop {
        match offered(cx, &entry, &draft, before, unlisted).await? {
            Offered::Listed(import) => break Some(import),
            Offered::Nothing => break None,
            Offered::LoginRequired => {
                entry.log_in();
                added = edit::add(before, &entry)?;
                draft = write::check(cx, &added, path, before).await?;
            }
        }
    };
    let entry = &entry;
    let turn = mcp::LockTurn::wait(cx, &before.path)?;
    write::replace(&added, &before.path)?;
    cx.terminal.print(added.diff())?;
    // The recorded trust covers all files, including organisations' files elsewhere.
    let mut after = workspace::load_for_review(cx, path).await?;
    if let Some(import) = offered {
        let own = after.locks.first().map(|lock| lock.path.clone());
        mcp::write_locks(&turn, &after, |lock, pins| {
            if own.as_deref() == Some(lock) {
                pins.insert(import.name.clone(), import.offered.clone());
            }
        })?;
        after = workspace::load_for_review(cx, path).await?;
    }
    cx.terminal.note(format!("added {} to {}", printable(&entry.shown_name()), printable(&path.display().to_string())));
    report_trust(cx, before, &after, &added)?;
    // As it is with the trust that was just recorded.
    private_host::report(cx, entry, &draft).await;
    added_tools::report(cx, entry, path, workspace::load_file(cx, path).await?);
    Ok(())
}

/// Lists a new import, from the file that has it already.
async fn offered(
    cx: &Context,
    entry: &NewEntry,
    draft: &Loaded,
    before: &Loaded,
    unlisted: Unlisted,
) -> Result<Offered, Fault> {
    let name = entry.shown_name();
    let file = draft.locks.first().map(|lock| lock.path.as_path());
    let own = mcp::imports(draft).into_iter().filter(|import| import.name == name && Some(import.lock) == file);
    let own: Vec<_> = own.take(usize::from(entry.sort == EntrySort::Import)).collect();
    if let Some(login) = own.first().and_then(|import| import.entry.login.as_ref())
        && !login.is_logged_in()
        && unlisted == Unlisted::Rejected
    {
        mcp::log_in(cx, &name, login, draft, mcp::Browser::Opened).await?;
    }
    match mcp::listed_now(draft, &own).await.pop() {
        None => Ok(Offered::Nothing),
        Some((_, Ok(import))) => {
            if import.offered.kind() == "mcp" {
                let known: Vec<_> = before.locks.iter().map(|lock| lock.pins.clone()).collect();
                server::show(cx, &import, &known);
            }
            Ok(Offered::Listed(Box::new(import)))
        }
        Some((_, Err(unlistable)))
            if unlisted == Unlisted::Written && unlistable.requires_login && entry.may_log_in() =>
        {
            Ok(Offered::LoginRequired)
        }
        Some((_, Err(Unlistable { fault, requires_login }))) if unlisted == Unlisted::Rejected => {
            let fault = if requires_login && entry.may_log_in() {
                fault.advice("add `--oauth` if you log in with a browser, or `--bearer NAME=VARIABLE` for a token")
            } else {
                fault
            };
            Err(fault.advice("nothing was written"))
        }
        Some((name, Err(Unlistable { fault, .. }))) => {
            let advice = format!("it is added without tools; repair this, then run `haft mcp accept {name}`");
            report::write_fault(cx.terminal, &fault.advice(advice));
            Ok(Offered::Nothing)
        }
    }
}

/// Keeps the trust in a file that was trusted: the person made the change. Otherwise says what to do.
fn report_trust(cx: &Context, before: &Loaded, after: &Loaded, added: &edit::AddedText) -> Result<(), Fault> {
    if before.trust == TrustStatus::Trusted && added.is_content_of(after) {
        cx.trust_store()?.trust(after).map_err(|error| {
            Fault::new("the entry is added, but the trust in the file can't be recorded")
                .cause(&error)
                .advice("run `haft trust`")
        })?;
        cx.terminal.note("the file is trusted as before");
        return Ok(());
    }
    report::remarks(cx, after);
    Ok(())
}

/// Checks that no entry has the name.
fn check_free(before: &Loaded, path: &Path, entry: &NewEntry) -> Result<(), Fault> {
    let known = before.entries.iter().find(|known| entry.is_like(known, path));
    let set_aside = before.set_aside.iter().find(|known| entry.is_set_aside(known, path));
    let known = known.map(|known| (&known.path, known.position));
    let set_aside = || set_aside.map(|known| (&known.path, known.faults.first().and_then(|fault| fault.position)));
    let Some((known, position)) = known.or_else(set_aside) else { return Ok(()) };
    let line = position.map(|position| format!(":{}", position.line)).unwrap_or_default();
    Err(Fault::new(format!("`{}` exists already, at {}{line}", entry.shown_name(), known.display()))
        .advice("choose another name, or edit the entry"))
}
