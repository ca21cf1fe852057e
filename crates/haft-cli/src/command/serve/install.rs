//! `haft serve --install`: adds this workspace to the MCP servers of a client.
//!
//! ```text
//! client ─> file and entry ─> new text, with comments and order kept ─> shown ─> backup ─> written in one step
//! ```
//!
//! Only the one entry changes. A file that haft does not understand is left as it is, and so is an entry that somebody
//! else wrote.

mod client;
mod document;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use haft::workspace::TrustStatus;
use similar::TextDiff;

use self::client::{ClientEntry, ClientFile};
pub(super) use self::client::{McpClient, Scope};
use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;
use crate::terminal::printable;
use crate::workspace::{self, CallerArgument, FILE_NAME};

/// The maximum size of a client's file, in bytes.
const MAX_FILE: u64 = 32 * 1024 * 1024;

/// The end of the name of a backup.
const BACKUP: &str = ".haft-backup";

/// The options of `--install`.
#[derive(Debug, clap::Args)]
pub(super) struct InstallOptions {
    /// Adds this workspace to the MCP servers of a client, which then starts `haft serve` itself
    #[arg(long, value_name = "CLIENT", conflicts_with = "http", help_heading = "Installing")]
    pub(super) install: Option<McpClient>,
    /// The client's file: the project's, beside the workspace file, or your own. Without it, the project's if the client has
    /// one
    #[arg(long, value_name = "SCOPE", requires = "install", help_heading = "Installing")]
    scope: Option<Scope>,
    /// The name of the server in the client
    #[arg(long, value_name = "NAME", requires = "install", default_value = "haft", help_heading = "Installing")]
    name: String,
    /// Replaces an entry of this name that has other content
    #[arg(long, requires = "install", help_heading = "Installing")]
    replace: bool,
    /// Prints the difference, and writes nothing
    #[arg(long, requires = "install", help_heading = "Installing")]
    print: bool,
}

/// Writes the client's entry.
pub(super) async fn run(
    client: McpClient,
    options: &InstallOptions,
    caller: &CallerArgument,
    cx: &Context,
) -> Result<ExitStatus, CommandError> {
    let path = workspace::find(cx)?.ok_or_else(|| {
        Fault::new(format!("there is no `{FILE_NAME}` in the current folder or above it"))
            .advice("write one with `haft init`, or name its folder with `--workspace`")
    })?;
    let loaded = workspace::load_file(cx, &path).await?;
    caller.find(&loaded.callers)?;
    let scope = client.scope(options.scope)?;
    let file = ClientFile::of(client, scope, &loaded.path)?;
    let entry = ClientEntry::new(client, scope, &loaded.path, caller.caller.as_deref())?;
    let before = read(&file)?;
    let text = before.as_deref().unwrap_or_default();
    let Some(after) = document::with_entry(text, &file, &options.name, &entry, options.replace)? else {
        cx.terminal.note(format!("`{}` has this entry already", file.path.display()));
        return Ok(ExitStatus::Done);
    };
    let shown = file.path.display().to_string();
    let difference = TextDiff::from_lines(text, &after).unified_diff().header(&shown, &shown).to_string();
    cx.terminal.print(printable(difference.trim_end()))?;
    if options.print {
        return Ok(ExitStatus::Done);
    }
    let backup = before.map(|text| back_up(&file.path, &text)).transpose()?;
    write(&file.path, &after)?;
    let backup = backup.map(|path| format!("; the old file is `{}`", path.display())).unwrap_or_default();
    cx.terminal.note(format!("added `{}` to `{shown}`{backup}", options.name));
    if loaded.trust != TrustStatus::Trusted && loaded.needs_trust() {
        cx.terminal.note(format!(
            "`{}` is not trusted, so some of its tools are left out; read it, then run `haft trust`",
            loaded.path.display()
        ));
    }
    Ok(ExitStatus::Done)
}

/// Returns the file's text; `None` if there is no file.
fn read(file: &ClientFile) -> Result<Option<String>, Fault> {
    let path = &file.path;
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            file.ensure_folder()?;
            return Ok(None);
        }
        Err(error) => return Err(Fault::file(path, "read", &error)),
    };
    if !metadata.is_file() {
        return Err(Fault::new(format!("`{}` is not a file", path.display())));
    }
    if metadata.len() > MAX_FILE {
        return Err(Fault::new(format!("`{}` is larger than {} MiB", path.display(), MAX_FILE / 1024 / 1024)));
    }
    if metadata.permissions().readonly() {
        let fault = Fault::new(format!("`{}` is read-only", path.display()));
        return Err(fault.advice("make it writable, or add the entry that `--print` shows by hand"));
    }
    fs::read_to_string(path).map(Some).map_err(|error| Fault::file(path, "read", &error))
}

/// Writes the old text beside the file.
fn back_up(path: &Path, text: &str) -> Result<PathBuf, Fault> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(BACKUP);
    let backup = path.with_file_name(name);
    replace(&backup, path, text)?;
    Ok(backup)
}

/// Writes the file. A link stays a link: the file that it leads to is written.
fn write(path: &Path, text: &str) -> Result<(), Fault> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    replace(&target, &target, text)
}

/// Replaces a file in one step. It gets the permissions of another one, which may be itself, if there is one.
fn replace(path: &Path, like: &Path, text: &str) -> Result<(), Fault> {
    let failed = |error: io::Error| Fault::file(path, "write", &error);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let mut draft = tempfile::Builder::new().prefix(".haft-").tempfile_in(folder).map_err(failed)?;
    draft.write_all(text.as_bytes()).map_err(failed)?;
    if let Ok(metadata) = fs::metadata(like) {
        draft.as_file().set_permissions(metadata.permissions()).map_err(failed)?;
    }
    draft.as_file().sync_all().map_err(failed)?;
    draft.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}
