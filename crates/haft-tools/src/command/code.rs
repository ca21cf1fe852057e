//! A command's code, as far as trust in its file can cover it.
//!
//! The entry reads the program and every argument that is a file in or below the workspace folder, also one that a shell
//! script in an argument names: they count for the trust like the workspace file itself. Everything else that a command
//! runs, such as a system program, also one behind a wrapper, is named instead. Code that loads on its own is not covered
//! either, and can't be known.

use std::ffi::OsString;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use haft_registry::reading::{BelowError, below};
use haft_registry::{Entry, EntryError, StartedCommand};

use super::template::ArgvTemplate;

/// The largest file to cover. A larger one is a fault, since its changes would go unnoticed.
const MAX_CODE: u64 = 256 * 1024 * 1024;

/// Reads a command's files below the entry's folder. Returns the program and the files elsewhere.
pub(crate) fn read(entry: &Entry, command: &StartedCommand) -> Result<Vec<String>, EntryError> {
    let mut uncovered = Vec::new();
    let programs = ArgvTemplate::parse(&command.argv, &mut Vec::new()).programs;
    for (index, argument) in command.argv.iter().enumerate() {
        let Some(argument) = literal(argument) else { continue };
        // A program behind a wrapper may be one of another system, as in `docker run img ls`.
        let program = programs.contains(&index).then(|| program_path(&argument, command)).flatten();
        if program.is_some() || index == 0 {
            if !program.map_or(Ok(false), |path| cover(entry, &path))? {
                uncovered.push(argument);
            }
            continue;
        }
        // A file may be an option's value, as in `--config=rules.js`.
        let value = argument.split_once('=').map(|(_, value)| value);
        for name in std::iter::once(argument.as_str()).chain(value).filter(|name| !name.is_empty()) {
            let path = command.folder.join(name);
            if path.is_file() && !cover(entry, &path)? {
                uncovered.push(name.to_owned());
            }
        }
        for path in script_words(&argument).map(|word| command.folder.join(word)).filter(|path| path.is_file()) {
            cover(entry, &path)?;
        }
    }
    Ok(uncovered)
}

/// Returns the words of an argument that may be a shell's script, as in `sh -c "./build.sh && ./test.sh"`. A file to which
/// a redirection writes is data.
fn script_words(argument: &str) -> impl Iterator<Item = &str> {
    let is_script = argument.contains(char::is_whitespace);
    let separator = |character: char| character.is_whitespace() || "'\"\\;|&()<=`$".contains(character);
    argument.split('>').enumerate().filter(move |_| is_script).flat_map(move |(redirections, text)| {
        text.split(separator).filter(|word| !word.is_empty()).skip(usize::from(redirections > 0))
    })
}

/// Reads a file if it is below the entry's folder, and reports whether it did. An unreadable file is not covered.
fn cover(entry: &Entry, path: &Path) -> Result<bool, EntryError> {
    let folder = if entry.folder.as_os_str().is_empty() { Path::new(".") } else { &entry.folder };
    let (Ok(folder), Ok(path)) = (folder.canonicalize(), path.canonicalize()) else { return Ok(false) };
    let Ok(relative) = path.strip_prefix(&folder) else { return Ok(false) };
    match below(&folder, relative) {
        Ok(file) if file.metadata().is_ok_and(|metadata| metadata.len() > MAX_CODE) => {
            let message = format!("`{}` is larger than 256 MiB, so that trust can't cover it", relative.display());
            Err(EntryError::at("/command", message))
        }
        Ok(_) => Ok(entry.read_file(relative, MAX_CODE).is_ok()),
        Err(BelowError::Outside | BelowError::Unreadable(_)) => Ok(false),
    }
}

/// Returns the file that the system starts for a program: a path from the folder, or the first match in `PATH`.
fn program_path(program: &str, command: &StartedCommand) -> Option<PathBuf> {
    if program.contains(['/', MAIN_SEPARATOR]) {
        return Some(command.folder.join(program));
    }
    let search = command.env.get("PATH").map(OsString::from).or_else(|| std::env::var_os("PATH"))?;
    let found = std::env::split_paths(&search).map(|folder| command.folder.join(folder).join(program));
    found.into_iter().find(|path| path.is_file())
}

/// Returns an argument as the program gets it, unless it has variables.
fn literal(argument: &str) -> Option<String> {
    let plain = argument.replace("{{", "\u{0}").replace("}}", "\u{1}");
    (!plain.contains(['{', '}'])).then(|| plain.replace('\u{0}', "{").replace('\u{1}', "}"))
}
