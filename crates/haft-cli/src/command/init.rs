//! `haft init`: a workspace to start from.
//!
//! No file is ever overwritten. Both files are complete before the first one gets its name, so a failure leaves nothing
//! half-written.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;
use crate::terminal::printable;
use crate::workspace::{self, FILE_NAME};

/// The file of calls.
const CALLS_NAME: &str = "calls.json";

/// The files that are written, with their contents.
const FILES: [(&str, &str); 2] =
    [(FILE_NAME, include_str!("../template/haft.toml")), (CALLS_NAME, include_str!("../template/calls.json"))];

/// Writes a `haft.toml` with tools that work offline, and a file of calls. Never overwrites a file
///
/// The file has examples of HTTP, OpenAPI and command tools to uncomment. It is trusted as it is written.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haft init
  haft init tools && haft run tools/calls.json -w tools")]
pub(crate) struct InitArguments {
    /// The folder, which is created if it is missing
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// Writes the files.
pub(crate) async fn run(arguments: &InitArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let folder = &arguments.folder;
    check_free(folder)?;
    fs::create_dir_all(folder)
        .map_err(|error| Fault::file(folder, "create the folder", &error).advice("choose another folder"))?;
    write_files(folder)?;
    for (name, _) in FILES {
        cx.terminal.note(format!("wrote {}", printable(&shown(folder, name))));
    }
    let path = folder.join(FILE_NAME);
    let loaded = workspace::load_file(cx, &path).await?;
    // The person has just made the file, and its content is ours.
    cx.trust_store()?.trust(&loaded).map_err(|error| {
        Fault::new("the files are written, but the trust in them can't be recorded")
            .cause(&error)
            .advice("run `haft trust` when you need it; the tools work without")
    })?;
    cx.terminal.note(format!("{} is trusted, until it changes", printable(&shown(folder, FILE_NAME))));
    let option = if folder == Path::new(".") { String::new() } else { format!(" -w {}", quoted(folder)) };
    let calls = quoted(Path::new(&shown(folder, CALLS_NAME)));
    cx.terminal.note(format!("try `haft tools{option}`, and `haft run{option} {calls}`"));
    Ok(ExitStatus::Done)
}

/// Checks that none of the files exists, not even as a link that leads nowhere.
fn check_free(folder: &Path) -> Result<(), Fault> {
    let is_taken = |name: &&str| fs::symlink_metadata(folder.join(name)).is_ok();
    let taken: Vec<String> =
        FILES.iter().map(|(name, _)| *name).filter(is_taken).map(|name| format!("`{}`", shown(folder, name))).collect();
    match taken.as_slice() {
        [] => Ok(()),
        [only] => Err(exists(&format!("{only} exists already"))),
        several => Err(exists(&format!("{} exist already", several.join(" and ")))),
    }
}

fn exists(message: &str) -> Fault {
    Fault::new(format!("{message}; nothing was written"))
        .advice("choose another folder, as in `haft init tools`, or add a tool to the file with `haft add`")
}

/// Writes all files, or none.
fn write_files(folder: &Path) -> Result<(), Fault> {
    let mut prepared = Vec::new();
    for (name, content) in FILES {
        let file = prepare(folder, content).map_err(|error| Fault::file(folder.join(name), "write", &error))?;
        prepared.push((folder.join(name), file));
    }
    let mut written: Vec<PathBuf> = Vec::new();
    for (path, file) in prepared {
        // A file that has appeared meanwhile is kept as well.
        if let Err(error) = file.persist_noclobber(&path) {
            for path in &written {
                // The first error is the one to report.
                let _ = fs::remove_file(path);
            }
            return Err(Fault::file(path, "write", &error.error));
        }
        written.push(path);
    }
    Ok(())
}

fn prepare(folder: &Path, content: &str) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".haft-");
    // Others may read the files, as those that an editor writes.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(content.as_bytes())?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Returns a file's path as the person would write it.
fn shown(folder: &Path, name: &str) -> String {
    let path = folder.join(name);
    path.strip_prefix(".").unwrap_or(&path).display().to_string()
}

/// Returns a path as a shell word.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let path = printable(&path);
    let is_plain = |character: char| character.is_alphanumeric() || "._-/+,@%".contains(character);
    if path.chars().all(is_plain) { path.into_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft::workspace::{LoadOptions, Loaded, Trust, load};

    /// Returns the file's commented-out blocks: lines that begin with `#` and no space.
    fn examples() -> Vec<Vec<usize>> {
        let is_example = |line: &str| line == "#" || (line.starts_with('#') && !line.starts_with("# "));
        let lines: Vec<&str> = FILES[0].1.lines().collect();
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            // A lone `#` separates prose paragraphs as well.
            let is_in_block = blocks.last().is_some_and(|block| block.last() == Some(&(at.wrapping_sub(1))));
            if is_example(line) && (is_in_block || *line != "#") {
                if is_in_block {
                    blocks.last_mut().unwrap().push(at);
                } else {
                    blocks.push(vec![at]);
                }
            }
        }
        blocks
    }

    /// Returns the file with these blocks in use.
    fn uncommented(blocks: &[Vec<usize>]) -> String {
        let is_used = |at: usize| blocks.iter().flatten().any(|line| *line == at);
        let line = |(at, line): (usize, &'static str)| if is_used(at) { &line[1..] } else { line };
        FILES[0].1.lines().enumerate().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Loads the file from a folder, which exists as long as it is held.
    async fn loaded(text: &str) -> (tempfile::TempDir, Loaded) {
        let folder = tempfile::tempdir().unwrap();
        let document = "openapi: 3.1.0\ninfo: { title: Shop, version: '1' }\nservers: [{ url: 'https://shop.example' }]\n\
                        paths:\n  /items:\n    get: { operationId: list, responses: { '200': { description: Items. } } }\n";
        fs::write(folder.path().join("shop.yaml"), document).unwrap();
        fs::write(folder.path().join(FILE_NAME), text).unwrap();
        let options = LoadOptions::new(haft::tools::kinds()).unwrap().trust(Trust::Always);
        let loaded = load(folder.path().join(FILE_NAME), &options).await.unwrap();
        (folder, loaded)
    }

    #[tokio::test]
    async fn the_file_is_valid_with_every_choice_of_examples() {
        let blocks = examples();
        assert_eq!(blocks.len(), 3);
        for choice in 0..1 << blocks.len() {
            let used: Vec<_> =
                (0..blocks.len()).filter(|at| choice >> at & 1 == 1).map(|at| blocks[at].clone()).collect();
            let (_folder, loaded) = loaded(&uncommented(&used)).await;
            assert_eq!(loaded.entries.len(), used.len(), "{choice:b}");
            assert!(loaded.remarks.is_empty(), "{choice:b}: {:?}", loaded.remarks);
            loaded.registry().unwrap().build().unwrap();
        }
    }

    #[tokio::test]
    async fn the_calls_are_those_of_tools_that_the_file_enables() {
        let (_folder, loaded) = loaded(FILES[0].1).await;
        let registry = loaded.registry().unwrap().build().unwrap();
        let calls: Vec<serde_json::Value> = serde_json::from_str(FILES[1].1).unwrap();
        for call in calls {
            let tool = registry.find(call["name"].as_str().unwrap()).unwrap();
            tool.tool.parameters().check(&call["arguments"]).unwrap();
        }
    }

    #[test]
    fn odd_names_are_quoted_for_a_shell() {
        assert_eq!(quoted(Path::new("tools/calls.json")), "tools/calls.json");
        assert_eq!(quoted(Path::new("my tools/it's.json")), r"'my tools/it'\''s.json'");
    }
}
