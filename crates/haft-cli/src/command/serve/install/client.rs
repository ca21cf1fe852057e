//! The clients: where each keeps its servers, and what an entry looks like there.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::error::Fault;

/// The variable that names Codex's folder.
const CODEX_HOME: &str = "CODEX_HOME";

/// A client that starts MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(in super::super) enum McpClient {
    /// Claude Code
    ClaudeCode,
    /// Claude Desktop
    ClaudeDesktop,
    /// Cursor
    Cursor,
    /// Visual Studio Code
    Vscode,
    /// Codex
    Codex,
    /// Zed
    Zed,
}

/// The owner of a client's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(in super::super) enum Scope {
    /// The file of the project, which you may share
    Project,
    /// Your own file, for all projects
    User,
}

/// A client's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClientFile {
    pub(super) path: PathBuf,
    /// The keys on the way to the servers, from the top.
    pub(super) keys: &'static [&'static str],
    pub(super) syntax: Syntax,
    /// The folder that the client itself creates, if its file is in one.
    client_folder: Option<PathBuf>,
}

/// A file's language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    /// JSON, perhaps with comments and commas after last items.
    Json,
    Toml,
}

/// An entry of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClientEntry {
    pub(super) command: String,
    pub(super) args: Vec<String>,
    /// Members that the client wants besides.
    pub(super) more: Vec<(&'static str, Value)>,
}

impl McpClient {
    /// Returns the scope to use.
    pub(super) fn scope(self, chosen: Option<Scope>) -> Result<Scope, Fault> {
        match (self, chosen) {
            (Self::ClaudeDesktop, Some(Scope::Project)) => {
                let fault = Fault::new("Claude Desktop has no file per project");
                Err(fault.advice("leave out `--scope project`"))
            }
            (_, Some(scope)) => Ok(scope),
            (Self::ClaudeDesktop | Self::Codex, None) => Ok(Scope::User),
            (Self::ClaudeCode | Self::Cursor | Self::Vscode | Self::Zed, None) => Ok(Scope::Project),
        }
    }

    /// Returns the keys on the way to the servers.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode | Self::ClaudeDesktop | Self::Cursor => &["mcpServers"],
            Self::Vscode => &["servers"],
            Self::Codex => &["mcp_servers"],
            Self::Zed => &["context_servers"],
        }
    }

    /// Returns the path of the project's file from its folder.
    fn project_file(self) -> &'static str {
        match self {
            Self::ClaudeCode | Self::ClaudeDesktop => ".mcp.json",
            Self::Cursor => ".cursor/mcp.json",
            Self::Vscode => ".vscode/mcp.json",
            Self::Codex => ".codex/config.toml",
            Self::Zed => ".zed/settings.json",
        }
    }

    /// Returns the path of the user's file, and the folder of it that the client creates.
    fn user_file(self) -> Result<(PathBuf, Option<PathBuf>), Fault> {
        let inside = |folder: PathBuf, file: &str| (folder.join(file), Some(folder));
        Ok(match self {
            Self::ClaudeCode => (home()?.join(".claude.json"), None),
            Self::ClaudeDesktop => inside(settings()?.join("Claude"), "claude_desktop_config.json"),
            Self::Cursor => inside(home()?.join(".cursor"), "mcp.json"),
            Self::Vscode => inside(settings()?.join("Code").join("User"), "mcp.json"),
            Self::Codex => inside(
                match variable(CODEX_HOME) {
                    Some(folder) => folder.into(),
                    None => home()?.join(".codex"),
                },
                "config.toml",
            ),
            // Zed keeps to the same folder on macOS.
            Self::Zed if cfg!(windows) => inside(settings()?.join("Zed"), "settings.json"),
            Self::Zed => inside(unix_settings()?.join("zed"), "settings.json"),
        })
    }

    /// Returns the words for the project's folder, in clients that do not start servers there.
    fn project_folder(self) -> Option<&'static str> {
        match self {
            Self::Cursor | Self::Vscode => Some("${workspaceFolder}"),
            Self::ClaudeCode | Self::ClaudeDesktop | Self::Codex | Self::Zed => None,
        }
    }
}

impl ClientFile {
    /// Returns a client's file for the workspace with this file.
    pub(super) fn of(client: McpClient, scope: Scope, workspace: &Path) -> Result<Self, Fault> {
        let (path, client_folder) = match scope {
            Scope::Project => (folder_of(workspace).join(client.project_file()), None),
            Scope::User => client.user_file()?,
        };
        let syntax = if client == McpClient::Codex { Syntax::Toml } else { Syntax::Json };
        Ok(Self { path, keys: client.keys(), syntax, client_folder })
    }

    /// Checks that the client's own folder exists: without it, the client is not installed, or keeps its files elsewhere.
    pub(super) fn ensure_folder(&self) -> Result<(), Fault> {
        match &self.client_folder {
            Some(folder) if !folder.is_dir() => {
                let fault = Fault::new(format!("there is no folder `{}`", folder.display()));
                Err(fault.advice("install and start the client first, or add the entry that `--print` shows by hand"))
            }
            _ => Ok(()),
        }
    }
}

impl ClientEntry {
    /// Creates the entry that serves a workspace. In a project's file, which others use as well, it names no path of this
    /// computer.
    pub(super) fn new(client: McpClient, scope: Scope, workspace: &Path, caller: Option<&str>) -> Result<Self, Fault> {
        let unnamed = |path: &Path| Fault::new(format!("the path `{}` is not UTF-8 text", path.display()));
        let text = |path: &Path| path.to_str().map(str::to_owned).ok_or_else(|| unnamed(path));
        let (command, folder) = match scope {
            Scope::Project => ("haft".to_owned(), client.project_folder().map(str::to_owned)),
            Scope::User => {
                let own = std::env::current_exe()
                    .map_err(|error| Fault::new("the path of this program is not known").cause(&error))?;
                (text(&own)?, Some(text(workspace)?))
            }
        };
        let mut args: Vec<String> = Vec::new();
        args.extend(folder.into_iter().flat_map(|folder| ["--workspace".to_owned(), folder]));
        args.push("serve".to_owned());
        args.extend(caller.into_iter().flat_map(|caller| ["--caller".to_owned(), caller.to_owned()]));
        let more = match client {
            McpClient::ClaudeCode | McpClient::Cursor | McpClient::Vscode => vec![("type", json!("stdio"))],
            McpClient::Zed => vec![("env", json!({}))],
            McpClient::ClaudeDesktop | McpClient::Codex => Vec::new(),
        };
        Ok(Self { command, args, more })
    }

    /// Returns the entry's members, in order.
    pub(super) fn members(&self) -> Vec<(&'static str, Value)> {
        let mut members = vec![("command", json!(self.command)), ("args", json!(self.args))];
        members.extend(self.more.iter().cloned());
        members
    }

    /// Returns the entry as JSON.
    pub(super) fn json(&self) -> Value {
        self.members().into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

fn folder_of(workspace: &Path) -> &Path {
    workspace.parent().unwrap_or(Path::new("."))
}

fn home() -> Result<PathBuf, Fault> {
    etcetera::home_dir().map_err(|error| Fault::new("the home folder is not known").cause(&error))
}

/// Returns the folder for the settings of programs with windows.
fn settings() -> Result<PathBuf, Fault> {
    if cfg!(windows) {
        let folder = variable("APPDATA").map(PathBuf::from);
        return folder.ok_or_else(|| Fault::new("the variable APPDATA is not set"));
    }
    if cfg!(target_os = "macos") { Ok(home()?.join("Library/Application Support")) } else { unix_settings() }
}

fn unix_settings() -> Result<PathBuf, Fault> {
    match variable("XDG_CONFIG_HOME") {
        Some(folder) => Ok(folder.into()),
        None => Ok(home()?.join(".config")),
    }
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
