//! The new text: checked by loading it, then written in one step.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use haft::workspace::{FileFault, FilePosition, LoadOptions, Loaded, Trust, load};
use tempfile::NamedTempFile;

use super::edit::AddedText;
use crate::context::Context;
use crate::error::{CommandError, Excerpt, Fault};
use crate::workspace;

/// Loads the text from a file beside the workspace file, so that relative paths are right, and returns it as loaded. It is loaded as if it were
/// trusted, because what untrusted files leave out is not checked. Loading starts nothing and reads no secret.
pub(super) async fn check(
    cx: &Context,
    added: &AddedText,
    path: &Path,
    before: &Loaded,
) -> Result<Loaded, CommandError> {
    let draft = draft(added, &before.path).map_err(|error| Fault::file(path, "write beside", &error))?;
    let options = LoadOptions::new(workspace::kinds(cx)?)
        .map_err(|error| Fault::new("the kinds of tools contradict each other").cause(&error))?;
    let loaded = load(draft.path(), &options.trust(Trust::Always)).await;
    let loaded = loaded.map_err(|error| faults(&error.faults, draft.path(), added, path))?;
    // Entries that were set aside before are no obstacle.
    let was_set_aside = |key: &str| before.set_aside.iter().any(|known| *known.path == *path && known.key == key);
    let new = loaded.set_aside.iter().filter(|entry| *entry.path == *draft.path() && !was_set_aside(&entry.key));
    let new: Vec<FileFault> = new.flat_map(|entry| entry.faults.clone()).collect();
    if !new.is_empty() {
        return Err(faults(&new, draft.path(), added, path));
    }
    let failed = |error: &dyn std::error::Error| Fault::new("the tool can't be used beside the others").cause(error);
    let registry = loaded.registry().map_err(|error| failed(&error))?;
    registry.build().map_err(|error| failed(&error))?;
    Ok(loaded)
}

/// Replaces the file by the text. Readers see the old text or the new one.
pub(super) fn replace(added: &AddedText, path: &Path) -> Result<(), Fault> {
    let failed = |error: io::Error| Fault::file(path, "write", &error);
    let draft = draft(added, path).map_err(failed)?;
    // Whoever could read or write the file still can.
    let permissions = fs::metadata(path).map_err(failed)?.permissions();
    draft.as_file().set_permissions(permissions).map_err(failed)?;
    draft.as_file().sync_all().map_err(failed)?;
    draft.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

fn draft(added: &AddedText, path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".haft-").suffix(".toml").tempfile_in(folder)?;
    file.write_all(added.text.as_bytes())?;
    file.flush()?;
    Ok(file)
}

/// Returns the text's faults at their places in it, under the file's name.
fn faults(faults: &[FileFault], draft: &Path, added: &AddedText, path: &Path) -> CommandError {
    let fault = |fault: &FileFault| {
        let key = if fault.key.is_empty() { String::new() } else { format!("{}: ", fault.key) };
        let found = Fault::new(format!("{key}{}", fault.message));
        match fault.position.filter(|_| *fault.path == *draft) {
            Some(position) => found.excerpt(excerpt(added, path, position)),
            None => found,
        }
    };
    let mut faults: Vec<Fault> = faults.iter().map(fault).collect();
    if let Some(last) = faults.pop() {
        faults.push(last.advice("nothing was written; change the arguments"));
    }
    CommandError::from(faults)
}

/// Returns the line at a position.
fn excerpt(added: &AddedText, path: &Path, position: FilePosition) -> Excerpt {
    let text = added.text.trim_start_matches('\u{feff}');
    let start: usize = text.split_inclusive('\n').take(position.line - 1).map(str::len).sum();
    let line = text[start..].lines().next().unwrap_or_default();
    let column = line.char_indices().nth(position.column - 1).map_or(line.len(), |(at, _)| at);
    Excerpt {
        origin: format!("{} (with the new entry)", path.display()),
        text: text.to_owned(),
        span: start + column..start + line.len().max(column),
        label: String::new(),
    }
}
