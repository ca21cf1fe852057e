//! Packages of registries, installed into folders of their own by the machine's `npm` and `pip`.

use std::fs;
use std::path::Path;

use crate::invocation::Invocation;
use crate::workspace::Workspace;

/// The manifest of a folder of npm packages, and its lock file.
pub(super) struct NpmPins {
    pub(super) package: &'static str,
    pub(super) lock: &'static str,
}

/// Installs npm packages. Their scripts do not run.
pub(super) fn install_npm(workspace: &Workspace, folder: &Path, pins: &NpmPins) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("package.json"), pins.package)?;
    fs::write(folder.join("package-lock.json"), pins.lock)?;
    // npm takes a folder that is reached by a link for another one than that of its lock file.
    let folder = fs::canonicalize(folder)?;
    let npm = workspace.invoke("npm").args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]);
    npm.arg(folder).run_quietly()
}

/// Creates a virtual environment with the packages of a requirements file, which names all dependencies as well.
pub(super) fn install_python(workspace: &Workspace, folder: &Path, requirements: &str) -> anyhow::Result<()> {
    workspace.invoke("python3").args(["-m", "venv", "--clear"]).arg(folder).run_quietly()?;
    let python = Invocation::new(folder.join("bin/python")).current_dir(workspace.root());
    let pip = python.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    pip.args(["--requirement", requirements]).run_quietly()
}
