//! Arguments in the person's editor: `$VISUAL`, else `$EDITOR`.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use thiserror::Error;
use tokio::process::Command;

use crate::terminal::modes::LentTerminal;

/// The editor where none is set.
const DEFAULT: &str = if cfg!(windows) { "notepad" } else { "vi" };

/// The prefix for lines above the text, which say what is wrong with it. No JSON begins with it.
const REMARK: &str = "//";

/// A text for the editor.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) text: String,
    /// The reasons why the text was rejected, for the lines above it.
    pub(super) faults: Vec<String>,
}

impl Draft {
    pub(super) fn new(text: String) -> Self {
        Self { text, faults: Vec::new() }
    }

    /// Returns the file's content.
    fn written(&self) -> String {
        let mut written = String::new();
        if !self.faults.is_empty() {
            let lines = self.faults.iter().flat_map(|fault| fault.lines());
            let lines = std::iter::once("These arguments were not accepted:").chain(lines);
            for line in lines.chain(["Correct them below, or leave the text as it is to change nothing."]) {
                written.extend([REMARK, " ", line, "\n"]);
            }
        }
        written.extend([&*self.text, "\n"]);
        written
    }
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

/// Opens a text in the editor, and returns it when the editor ends. Dropping the future ends the editor.
pub(super) async fn edit(draft: &Draft) -> Result<String, EditorError> {
    let mut file =
        tempfile::Builder::new().prefix("arguments-").suffix(".json").tempfile().map_err(EditorError::File)?;
    file.write_all(draft.written().as_bytes()).map_err(EditorError::File)?;
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
    Ok(without_remarks(&text).trim().to_owned())
}

/// Returns the text below the remarks.
fn without_remarks(mut text: &str) -> &str {
    while text.trim_start().starts_with(REMARK) {
        text = text.trim_start().split_once('\n').map_or("", |(_, rest)| rest);
    }
    text
}

fn chosen() -> OsString {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| DEFAULT.into())
}

/// Returns an editor's command. Its variable may contain options, so the shell reads it, as in other programs.
#[cfg(unix)]
fn command(editor: &OsString, path: &Path) -> Command {
    // The shell becomes the editor, so that ending one ends the other.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_wrong_is_above_the_text_and_is_not_part_of_it() {
        let draft = Draft { text: "{\"a\": \"// b\"}".to_owned(), faults: vec!["/a: first\nsecond".to_owned()] };
        let written = draft.written();
        assert!(written.starts_with("// These arguments were not accepted:\n// /a: first\n// second\n"), "{written}");
        assert_eq!(without_remarks(&written).trim(), draft.text);
        assert_eq!(without_remarks("//\n\n // x\n"), "");
        assert_eq!(Draft::new("{}".to_owned()).written(), "{}\n");
    }
}
