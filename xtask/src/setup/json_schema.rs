//! The official JSON Schema test suite.
//!
//! It has no separate package; the source archive of Python's `jsonschema` package contains it, under `json/`. `pip`
//! fetches that archive and checks its hash.

use std::fs;

use anyhow::Context;

use super::{Folders, Part};
use crate::workspace::Workspace;

const PINS: &str = include_str!("../../parts/json-schema.txt");
/// The requirements file with the pins for `pip`.
const REQUIREMENTS: &str = "xtask/parts/json-schema.txt";

pub(super) const PART: Part = Part { name: "json-schema-test-suite", pins: PINS, download };

fn download(workspace: &Workspace, folders: &Folders<'_>) -> anyhow::Result<()> {
    let pip = workspace.invoke("python3").args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check"]);
    let pip = pip.args(["--no-deps", "--no-binary", ":all:", "--require-hashes", "--requirement", REQUIREMENTS]);
    pip.arg("--dest").arg(folders.work).run_quietly()?;

    let archive = fs::read_dir(folders.work)?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|extension| extension == "gz"))
        .context("pip left no source archive")?;
    let tar = workspace.invoke("tar").arg("--extract").arg("--file").arg(archive).arg("--directory").arg(folders.work);
    tar.arg("--strip-components=1").run_quietly()?;
    for folder in ["tests", "remotes"] {
        fs::rename(folders.work.join("json").join(folder), folders.part.join(folder))
            .with_context(|| format!("the archive holds no json/{folder}"))?;
    }
    Ok(())
}
