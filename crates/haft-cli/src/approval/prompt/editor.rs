//! Arguments in the editor of the person: `$VISUAL`, else `$EDITOR`.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use haft::schema::JsonText;
use thiserror::Error;
use tokio::process::Command;

use crate::terminal::modes::LentTerminal;

/// The editor where none is set.
const DEFAULT: &str = if cfg!(windows) { "notepad" } else { "vi" };

/// The text that the editor left.
#[derive(Debug)]
pub(super) enum Edited {
    Json { json: JsonText, text: String },
    Invalid { text: String, error: String },
}

/// An editor that can't be used.
#[derive(Debug, Error)]
pub(super) enum EditorError {
    #[error("can't write the arguments to a file: {0}")]
    File(io::Error),
    #[error("can't start the editor `{}`: {error}; set the variable EDITOR", .editor.display())]
    Start { editor: OsString, error: io::Error },
    #[error("the editor `{}` failed, so the arguments are as before", .editor.display())]
    Failed { editor: OsString },
}

/// Opens a text in the editor, and returns it when the editor ends. The editor ends when the future is dropped.
pub(super) async fn edit(text: &str) -> Result<Edited, EditorError> {
    let mut file =
        tempfile::Builder::new().prefix("arguments-").suffix(".json").tempfile().map_err(EditorError::File)?;
    file.write_all(text.as_bytes()).and_then(|()| file.write_all(b"\n")).map_err(EditorError::File)?;
    // Editors may replace the file, so only its path is kept.
    let path = file.into_temp_path();
    let editor = chosen();
    let terminal = LentTerminal::new();
    let status = command(&editor, &path).kill_on_drop(true).status().await;
    terminal.returned();
    let status = status.map_err(|error| EditorError::Start { editor: editor.clone(), error })?;
    if !status.success() {
        return Err(EditorError::Failed { editor });
    }
    let text = std::fs::read_to_string(&path).map_err(EditorError::File)?;
    let text = text.trim_end().to_owned();
    Ok(match JsonText::parse(&text) {
        Ok(json) => Edited::Json { json, text },
        Err(error) => Edited::Invalid { text, error: error.to_string() },
    })
}

fn chosen() -> OsString {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| DEFAULT.into())
}

/// Returns the command of an editor, whose variable may contain options: it is read by the shell, as other programs do.
#[cfg(unix)]
fn command(editor: &OsString, path: &Path) -> Command {
    // The shell becomes the editor, so that whoever ends the one ends the other.
    let mut script = OsString::from("exec ");
    script.push(editor);
    script.push(" \"$@\"");
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).arg(editor).arg(path);
    command
}

#[cfg(not(unix))]
fn command(editor: &OsString, path: &Path) -> Command {
    let mut command = Command::new(editor);
    command.arg(path);
    command
}
