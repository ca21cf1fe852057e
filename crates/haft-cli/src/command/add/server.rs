//! `haft add mcp`: one server from the command line, or all of another client's file.
//!
//! A server is started, or connected to, before anything is written: what it offers is shown, and becomes the lock.

use std::path::Path;

use haft::registry::{Namespace, SecretOrigin, SimpleName, reading};
use haft::workspace::pins::Pins;
use haft::workspace::{Loaded, PrivilegeKind, TrustStatus};
use toml_edit::{Array, InlineTable, Table, Value, value};

use super::client_file::{self, ClientServer, ClientTarget, FoundServer, HeaderSecret};
use super::entry::{EntrySort, NewEntry, invalid_name, new_secret, pairs};
use super::private_host::PrivateHosts;
use super::{Unlisted, add_entry};
use crate::command::mcp::LiveImport;
use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;
use crate::report;
use crate::terminal::{escaped, printable};
use crate::workspace;

/// The import's name if none is given.
const DEFAULT_IMPORT: &str = "server";

/// The most tools to name.
const MAX_NAMES: usize = 40;

/// Adds an MCP server, and accepts the tools that it offers now
///
/// The server is started, or connected to, and its tools are shown. They are written to `haft.lock`, and nothing else is
/// used until you accept it with `haft mcp accept`. With `--from`, all servers of another client's file are added;
/// credentials in it become secrets, which are read from environment variables.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haft add mcp files -- npx -y @modelcontextprotocol/server-filesystem docs
  haft add mcp github --secret-env GITHUB_PERSONAL_ACCESS_TOKEN -- npx -y @modelcontextprotocol/server-github
  haft add mcp docs --url https://mcp.example.com/mcp --bearer docs=DOCS_TOKEN
  haft add mcp sentry --url https://mcp.sentry.dev/mcp --oauth
  haft add mcp --from ~/.config/Claude/claude_desktop_config.json")]
pub(super) struct ServerArguments {
    /// The toolbox of the tools, and a name for the import: `toolbox`, or `toolbox/import`
    #[arg(required_unless_present = "from")]
    name: Option<String>,
    /// The file in which Claude Desktop, Claude Code, Cursor or VS Code keeps its servers
    #[arg(long, value_name = "FILE", conflicts_with_all = ["name", "url", "argv", "bearer", "oauth", "header", "env", "secret_env", "folder"])]
    from: Option<std::path::PathBuf>,
    /// The URL of a server that runs elsewhere
    #[arg(long, conflicts_with_all = ["argv", "env", "secret_env", "folder"])]
    url: Option<String>,
    /// The secret that is sent as a bearer token: the name of a secret of the file, or `NAME=VARIABLE` to define it by
    /// an environment variable
    #[arg(long, value_name = "SECRET", requires = "url")]
    bearer: Option<String>,
    /// Logs in with the browser, now and by `haft mcp login` later
    #[arg(long, requires = "url", conflicts_with = "bearer")]
    oauth: bool,
    /// A header of every request, such as `X-Team: docs`
    #[arg(long, value_name = "NAME: VALUE", requires = "url")]
    header: Vec<String>,
    /// An environment variable of the program
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// An environment variable of the program that contains a secret, which is read from the same variable
    #[arg(long, value_name = "NAME")]
    secret_env: Vec<String>,
    /// The working directory of the program
    #[arg(long, value_name = "DIR")]
    folder: Option<String>,
    /// Requires approval of every call
    #[arg(long)]
    approve: bool,
    /// The program and its arguments, after `--`
    #[arg(last = true, value_name = "ARGV")]
    argv: Vec<String>,
}

/// Carries out the command.
pub(super) async fn run(arguments: &ServerArguments, cx: &Context, path: &Path) -> Result<ExitStatus, CommandError> {
    let before = workspace::load_file(cx, path).await?;
    ensure_own(&before)?;
    let Some(file) = &arguments.from else {
        let entry = entry(arguments, &before)?;
        add_entry(cx, path, &before, entry, Unlisted::Rejected).await?;
        return Ok(ExitStatus::Done);
    };
    let content =
        reading::read_bounded(file, client_file::MAX_FILE).map_err(|error| Fault::file(file, "read", &error))?;
    let shown = file.display();
    let text = String::from_utf8(content).map_err(|_| Fault::new(format!("`{shown}` is not UTF-8 text")))?;
    let servers = client_file::read(&text).map_err(|reason| Fault::new(format!("`{shown}` {reason}")))?;
    let mut status = ExitStatus::Done;
    for server in servers {
        if let Err(fault) = add_found(cx, path, server, arguments.approve).await? {
            report::write_fault(cx.terminal, &fault);
            status = ExitStatus::Failed;
        }
    }
    Ok(status)
}

/// A server may get secrets that the file defines, so the person must have read it.
fn ensure_own(before: &Loaded) -> Result<(), Fault> {
    if before.trust == TrustStatus::Trusted || !before.needs_trust() {
        return Ok(());
    }
    Err(Fault::new(format!("`{}` is not trusted, and a server would be started with it", before.path.display()))
        .advice("read it, then run `haft trust`"))
}

/// Adds one server of a client's file. The inner error is about this server alone.
async fn add_found(
    cx: &Context,
    path: &Path,
    found: FoundServer,
    approve: bool,
) -> Result<Result<(), Fault>, CommandError> {
    let name = printable(&found.name).into_owned();
    if found.is_disabled {
        report::note(cx, &format!("`{name}` is disabled in the file, and not added"));
        return Ok(Ok(()));
    }
    let server = match found.server {
        Ok(server) => server,
        Err(reasons) => return Ok(Err(Fault::new(format!("`{name}` is not added: {}", reasons.join("; "))))),
    };
    let before = workspace::load_file(cx, path).await?;
    let entry = match of_client(&found.name, &server, approve, &before) {
        Ok(entry) => entry,
        Err(fault) => return Ok(Err(fault)),
    };
    for note in &server.notes {
        report::note(cx, &format!("`{name}`: {note}"));
    }
    for variable in &server.moved {
        report::help(cx, &format!("`{name}`: set the variable {variable}; its value was not copied"));
    }
    match add_entry(cx, path, &before, entry, Unlisted::Written).await {
        Ok(()) => Ok(Ok(())),
        Err(CommandError::Invalid(fault)) => Ok(Err(*fault)),
        Err(other) => Err(other),
    }
}

fn started(approve: bool) -> Table {
    let mut table = Table::new();
    table.insert("kind", value("mcp"));
    if approve {
        table.insert("approval", value("always"));
    }
    table
}

pub(super) fn entry(arguments: &ServerArguments, before: &Loaded) -> Result<NewEntry, Fault> {
    let name = arguments.name.as_deref().unwrap_or_default();
    let (namespace, import) = name.split_once('/').unwrap_or((name, DEFAULT_IMPORT));
    let namespace = Namespace::new(namespace).map_err(|error| invalid_name(name, &error))?;
    let import = SimpleName::new(import).map_err(|error| invalid_name(name, &error))?.to_string();
    let mut table = started(arguments.approve);
    let mut secrets = Vec::new();
    match &arguments.url {
        Some(url) => {
            table.insert("url", value(url));
            if let Some(bearer) = &arguments.bearer {
                let (secret, variable) =
                    bearer.split_once('=').map_or((bearer.as_str(), None), |(name, variable)| (name, Some(variable)));
                table.insert("auth", value([("bearer", secret)].into_iter().collect::<InlineTable>()));
                secrets.extend(new_secret("--bearer ", secret, variable, before)?);
            }
            if arguments.oauth {
                table.insert("auth", value("oauth"));
            }
            let headers = pairs(&arguments.header, ':', "--header", "X-Team: docs")?;
            if !headers.is_empty() {
                table.insert("headers", value(headers.into_iter().collect::<InlineTable>()));
            }
        }
        None if arguments.argv.is_empty() => {
            return Err(Fault::new("a server is a program or a URL, and none is given")
                .advice("write the program after `--`, or its URL as `--url`"));
        }
        None => {
            table.insert("command", value(arguments.argv.iter().map(String::as_str).collect::<Array>()));
            if let Some(folder) = &arguments.folder {
                table.insert("folder", value(folder));
            }
            let env = pairs(&arguments.env, '=', "--env", "LOG_LEVEL=debug")?;
            if !env.is_empty() {
                table.insert("env", value(env.into_iter().collect::<InlineTable>()));
            }
            secret_env(
                &mut table,
                arguments.secret_env.iter().map(|name| (name.as_str(), name.as_str())),
                &mut secrets,
                before,
            )?;
        }
    }
    Ok(NewEntry {
        namespace,
        name: import,
        sort: EntrySort::Import,
        table,
        secrets,
        private_hosts: PrivateHosts::Reported,
    })
}

/// Adds the variables that contain secrets, each with the variable that it is read from.
fn secret_env<'v>(
    table: &mut Table,
    variables: impl Iterator<Item = (&'v str, &'v str)>,
    secrets: &mut Vec<(String, String)>,
    before: &Loaded,
) -> Result<(), Fault> {
    let mut written = InlineTable::new();
    for (name, variable) in variables {
        let secret = secret_for(variable, secrets, before)?;
        written.insert(name, secret.into());
    }
    if !written.is_empty() {
        table.insert("secret-env", value(written));
    }
    Ok(())
}

/// Returns the secret that is read from a variable: one of the file, or a new one named after it.
fn secret_for(variable: &str, secrets: &mut Vec<(String, String)>, before: &Loaded) -> Result<String, Fault> {
    let known = before.privileges.iter().find_map(|privilege| match &privilege.kind {
        PrivilegeKind::Secret { name, origin: SecretOrigin::Env(known) } if known == variable => Some(name),
        _ => None,
    });
    if let Some(known) = known {
        return Ok(known.clone());
    }
    let name = variable.to_ascii_lowercase().replace('_', "-").trim_matches('-').to_owned();
    if name.is_empty() {
        return Err(Fault::new(format!("`{variable}` is not the name of an environment variable")));
    }
    if before.secrets.contains(&name) {
        return Err(Fault::new(format!("the secret `{name}` exists already, and is not read from {variable}"))
            .advice("rename it in the file"));
    }
    if !secrets.iter().any(|(known, _)| *known == name) {
        secrets.push((name.clone(), variable.to_owned()));
    }
    Ok(name)
}

fn of_client(name: &str, server: &ClientServer, approve: bool, before: &Loaded) -> Result<NewEntry, Fault> {
    let plain = |part: char| if part.is_ascii_alphanumeric() || matches!(part, '_' | '-' | '.') { part } else { '-' };
    let namespace: String = name.trim().chars().map(plain).collect();
    let namespace = namespace.trim_start_matches(|first: char| !first.is_ascii_alphanumeric());
    let namespace = Namespace::new(namespace).map_err(|error| invalid_name(name, &error))?;
    let mut table = started(approve);
    let mut secrets = Vec::new();
    match &server.target {
        ClientTarget::Command(argv) => {
            table.insert("command", value(argv.iter().map(String::as_str).collect::<Array>()));
            if let Some(folder) = &server.folder {
                table.insert("folder", value(folder));
            }
            if !server.env.is_empty() {
                table.insert(
                    "env",
                    value(
                        server.env.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect::<InlineTable>(),
                    ),
                );
            }
            let variables = server.secret_env.iter().map(|(name, variable)| (name.as_str(), variable.as_str()));
            secret_env(&mut table, variables, &mut secrets, before)?;
        }
        ClientTarget::Url(url) => {
            table.insert("url", value(url));
            if !server.headers.is_empty() {
                table.insert(
                    "headers",
                    value(
                        server
                            .headers
                            .iter()
                            .map(|(name, text)| (name.as_str(), text.as_str()))
                            .collect::<InlineTable>(),
                    ),
                );
            }
            if !server.auth.is_empty() {
                table.insert("auth", value(auth(&server.auth, &mut secrets, before)?));
            }
        }
    }
    Ok(NewEntry {
        namespace,
        name: DEFAULT_IMPORT.to_owned(),
        sort: EntrySort::Import,
        table,
        secrets,
        private_hosts: PrivateHosts::Reported,
    })
}

/// Returns the authentication by headers with secrets.
fn auth(headers: &[HeaderSecret], secrets: &mut Vec<(String, String)>, before: &Loaded) -> Result<InlineTable, Fault> {
    let mut written = InlineTable::new();
    let mut list: Vec<Value> = Vec::new();
    for HeaderSecret { header, prefix, variable } in headers {
        let secret = secret_for(variable, secrets, before)?;
        if header.eq_ignore_ascii_case("authorization") && prefix == "Bearer " {
            written.insert("bearer", secret.into());
            continue;
        }
        let mut table = InlineTable::new();
        table.insert("name", header.as_str().into());
        table.insert("secret", secret.into());
        if !prefix.is_empty() {
            table.insert("prefix", prefix.as_str().into());
        }
        list.push(table.into());
    }
    match list.len() {
        0 => None,
        1 => written.insert("header", list.remove(0)),
        _ => written.insert("header", list.into_iter().collect::<Array>().into()),
    };
    Ok(written)
}

/// Shows what a new import offers, what of it can't be used, and what should be read closely.
pub(super) fn show(cx: &Context, import: &LiveImport, locks: &[Pins]) {
    let names: Vec<String> = import.offered.tools().map(|(name, _)| escaped(name)).collect();
    let more = names.len().saturating_sub(MAX_NAMES);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let count = if names.len() == 1 { "1 tool".to_owned() } else { format!("{} tools", names.len()) };
    let listed = names.iter().take(MAX_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    cx.terminal.note(format!("{} offers {count}: {listed}{more}", escaped(&import.name)));
    for (name, reason) in &import.quarantined {
        let name = name.as_deref().unwrap_or("a tool without a name");
        report::note(cx, &format!("quarantined: {}: {}", escaped(name), escaped(reason)));
    }
    let mut pins = Pins::new();
    for (name, known) in locks.iter().flat_map(Pins::iter) {
        pins.insert(name, known.clone());
    }
    pins.insert(import.name.clone(), import.offered.clone());
    for found in pins.findings().into_iter().filter(|found| found.import == import.name) {
        report::note(
            cx,
            &format!("read `{}` closely: {} {}", escaped(&found.tool), escaped(&found.pointer), found.suspicion),
        );
    }
}
