//! `haft trust`: trusts a workspace file as it is now, or no longer.
//!
//! The privileges are shown before they are granted. A file that changes, or one that it reads, has to be trusted
//! again.

pub(crate) mod grant;
mod locks;

use std::path::{Path, PathBuf};

use haft::workspace::{Loaded, TrustStatus};
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;
use crate::screen::Screen;
use crate::terminal::{escaped, escaped_json};
use crate::workspace::{self, FILE_NAME};

/// Trusts the workspace file as it is now, so that it may send requests, start commands and use secrets
///
/// An untrusted file reaches nothing outside itself. Everything that it would reach is shown first: every server, command
/// and folder, and who gets each secret. The trust ends when the file changes, or a file that it reads. Entries with faults are listed
/// too, and stay set aside.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haft trust                 show what the nearest haft.toml may do if it is trusted, and ask
  haft trust tools --yes     trust tools/haft.toml without a question, in a script
  haft trust --show          show it, and change nothing
  haft trust --revoke        trust the file no longer")]
#[allow(clippy::struct_excessive_bools, reason = "independent flags of the command line")]
pub(crate) struct TrustArguments {
    /// The file, or its folder. Without it, the nearest `haft.toml` is used
    #[arg(value_name = "FILE|DIR")]
    path: Option<PathBuf>,
    /// Trusts the file without a question
    #[arg(long, short = 'y')]
    yes: bool,
    /// Shows what trusting grants, and whether the file is trusted, and changes nothing
    #[arg(long, conflicts_with_all = ["yes", "revoke"])]
    show: bool,
    /// Removes the trust in the file, which need not exist any more
    #[arg(long, conflicts_with = "yes")]
    revoke: bool,
    /// Prints the outcome as JSON
    #[arg(long)]
    json: bool,
}

/// Carries out the command.
pub(crate) async fn run(arguments: &TrustArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    if arguments.revoke {
        return revoke(arguments, cx);
    }
    let path = match &arguments.path {
        Some(path) => workspace::chosen_file(path)?,
        None => workspace::find(cx)?.ok_or_else(no_file)?,
    };
    let loaded = workspace::load_for_review(cx, &path).await?;
    if arguments.show {
        return show(arguments, cx, &loaded);
    }
    if loaded.trust == TrustStatus::Trusted {
        return done(arguments, cx, &loaded, "is already trusted");
    }
    cx.terminal.note(grant::text(&loaded));
    locks::note(cx, &loaded)?;
    if loaded.needs_trust() && !arguments.yes && !is_confirmed(cx, &loaded).await? {
        cx.terminal.note("the file is not trusted");
        return Ok(ExitStatus::Denied);
    }
    cx.trust_store()?.trust(&loaded).map_err(|error| Fault::new("the trust can't be recorded").cause(&error))?;
    done(arguments, cx, &loaded, "is trusted, until it changes")
}

/// Asks the person at the terminal.
async fn is_confirmed(cx: &Context, loaded: &Loaded) -> Result<bool, CommandError> {
    if !cx.terminal.is_interactive() {
        let fault = Fault::new(format!(
            "nobody can be asked whether to trust `{}`: there is no terminal",
            loaded.path.display()
        ));
        return Err(fault.advice("read the list above, then run `haft trust --yes`").into());
    }
    Screen::new(cx).confirm("Trust this file as it is now?").await
}

/// Shows what trusting grants, for a person or a program.
fn show(arguments: &TrustArguments, cx: &Context, loaded: &Loaded) -> Result<ExitStatus, CommandError> {
    if arguments.json || !cx.terminal.stdout {
        cx.terminal.print(escaped_json(&grant::json(loaded, loaded.trust)))?;
    } else {
        cx.terminal.print(grant::text(loaded))?;
        locks::note(cx, loaded)?;
        let path = loaded.path.display().to_string();
        cx.terminal.print(format!("\n{} {}", escaped(&path), grant::status_text(loaded.trust)))?;
    }
    Ok(ExitStatus::Done)
}

fn done(arguments: &TrustArguments, cx: &Context, loaded: &Loaded, message: &str) -> Result<ExitStatus, CommandError> {
    if arguments.json {
        cx.terminal.print(escaped_json(&grant::json(loaded, TrustStatus::Trusted)))?;
    } else {
        cx.terminal.note(format!("{} {message}", escaped(&loaded.path.display().to_string())));
    }
    Ok(ExitStatus::Done)
}

fn revoke(arguments: &TrustArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let path = match &arguments.path {
        Some(path) if path.is_dir() => path.join(FILE_NAME),
        Some(path) => path.clone(),
        None => workspace::find(cx)?.ok_or_else(no_file)?,
    };
    let revoked = cx.trust_store()?.revoke(&path);
    let was_trusted = revoked.map_err(|error| Fault::new("the trust can't be removed").cause(&error))?;
    let shown = absolute(&path).display().to_string();
    if arguments.json {
        cx.terminal.print(escaped_json(&json!({"path": shown, "trust": "unknown", "revoked": was_trusted})))?;
    } else if was_trusted {
        cx.terminal.note(format!("{} is no longer trusted", escaped(&shown)));
    } else {
        cx.terminal.note(format!("{} was not trusted", escaped(&shown)));
    }
    Ok(ExitStatus::Done)
}

fn absolute(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

fn no_file() -> Fault {
    Fault::new(format!("there is no `{FILE_NAME}` in the current folder or above it"))
        .advice("name the file or its folder, or write one with `haft init`")
}
