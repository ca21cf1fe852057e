//! The logs of servers.

use std::fs;
use std::io;
use std::path::Path;

use haft::workspace::Loaded;

use super::import::{LockedImport, imports};
use super::selection::ImportSelection;
use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;
use crate::terminal::escaped;

/// Prints the last lines of the selected servers' logs.
pub(super) fn print(
    cx: &Context,
    loaded: &Loaded,
    selection: &ImportSelection,
    lines: usize,
) -> Result<ExitStatus, CommandError> {
    let chosen: Vec<LockedImport<'_>> =
        imports(loaded).into_iter().filter(|import| selection.has_import(&import.name)).collect();
    for import in &chosen {
        let Some(path) = &import.entry.log else {
            cx.terminal.note(format!("`{}` is no server, and has no log", import.name));
            continue;
        };
        let text = read(&path.with_extension("old.log"))? + &read(path)?;
        let all: Vec<&str> = text.lines().collect();
        if all.is_empty() {
            cx.terminal.note(format!("`{}` has logged nothing yet", import.name));
            continue;
        }
        if chosen.len() > 1 {
            cx.terminal.note(format!("{}:", escaped(&import.name)));
        }
        for line in &all[all.len().saturating_sub(lines)..] {
            cx.terminal.print(escaped(line))?;
        }
    }
    Ok(ExitStatus::Done)
}

/// Reads a log, which need not exist.
fn read(path: &Path) -> Result<String, Fault> {
    match fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(Fault::file(path, "read", &error)),
    }
}
