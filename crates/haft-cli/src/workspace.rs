//! The workspace of a command: the nearest `haft.toml` with what it contains, or the standard toolbox alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft::registry::file::{LoadOptions, Loaded, Trust, load};
use haft::registry::standard::StandardToolbox;
use haft::registry::{Executor, FullName, Kinds, RegisteredTool, Registry};

use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::report;

/// The name of workspace files.
pub(crate) const FILE_NAME: &str = "haft.toml";

/// The tools that a command works with.
#[derive(Debug)]
pub(crate) struct OpenWorkspace {
    /// The file as it was loaded; unset without one.
    pub(crate) loaded: Option<Loaded>,
    /// The tools, with permissions, approval rules and services.
    pub(crate) executor: Executor,
}

/// The extent of the messages about a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remarks {
    /// Entries that were left out are reported on standard error.
    Shown,
    /// The command reports it itself.
    Silent,
}

impl OpenWorkspace {
    /// Opens the workspace of the options, else the nearest one above the folder of the input, else above the current
    /// folder, else the standard toolbox.
    pub(crate) async fn open(cx: &Context, input: Option<&Path>, remarks: Remarks) -> Result<Self, CommandError> {
        let Some(path) = find(cx, input)? else { return Ok(Self::standard()?) };
        let loaded = load_file(cx, &path).await?;
        if remarks == Remarks::Shown {
            report::remarks(cx, &loaded);
        }
        Ok(Self::of(loaded)?)
    }

    /// Builds the tools of a file.
    pub(crate) fn of(loaded: Loaded) -> Result<Self, Fault> {
        let failed = |error: &dyn std::error::Error| {
            Fault::new(format!("the tools of `{}` can't be used together", loaded.path.display())).cause(error)
        };
        let registry = loaded.registry().map_err(|error| failed(&error))?.build().map_err(|error| failed(&error))?;
        let executor = loaded.executor().build(registry);
        Ok(Self { loaded: Some(loaded), executor })
    }

    /// Opens the standard toolbox alone.
    pub(crate) fn standard() -> Result<Self, Fault> {
        let failed = |error: &dyn std::error::Error| Fault::new("the standard toolbox can't be opened").cause(error);
        let toolkit = StandardToolbox::new().toolkit().map_err(|error| failed(&error))?;
        let registry = Registry::builder().internal(toolkit).build().map_err(|error| failed(&error))?;
        Ok(Self { loaded: None, executor: Executor::new(registry) })
    }

    /// Finds a tool by its full or a shorter name. The error tells apart a tool that does not exist and one that waits
    /// for trust.
    pub(crate) fn tool(&self, name: &str) -> Result<Arc<RegisteredTool>, Fault> {
        self.executor.find(name).map_err(|error| {
            let entries = self.loaded.iter().flat_map(|loaded| &loaded.entries);
            let mut left_out = entries.filter(|entry| entry.is_left_out).flat_map(|entry| &entry.tools);
            let is_meant = |full: &&FullName| {
                let full = full.to_string();
                full == name || full.strip_suffix(name).is_some_and(|start| start.ends_with('/'))
            };
            match left_out.find(is_meant) {
                Some(full) => Fault::new(format!("`{full}` is left out, because the workspace file is not trusted"))
                    .advice("read the file, then run `haft trust`"),
                None => Fault::new(error.to_string()).advice("`haft tools` lists the tools"),
            }
        })
    }
}

/// Finds the file of the workspace, if there is one.
pub(crate) fn find(cx: &Context, input: Option<&Path>) -> Result<Option<PathBuf>, Fault> {
    if let Some(chosen) = &cx.global.workspace {
        return chosen_file(chosen).map(Some);
    }
    let input = input.filter(|path| *path != Path::new("-"));
    let from_input = input.and_then(|path| path.parent()).and_then(nearest);
    Ok(from_input.or_else(|| nearest(Path::new("."))))
}

/// Loads a file with the trust that was recorded.
pub(crate) async fn load_file(cx: &Context, path: &Path) -> Result<Loaded, CommandError> {
    let trust = Trust::Recorded(cx.trust_store()?);
    let options = LoadOptions::new(Kinds::builtin())
        .map_err(|error| Fault::new("the kinds of tools contradict each other").cause(&error))?;
    Ok(load(path, &options.trust(trust)).await?)
}

/// Returns the file of a workspace that was named: itself, or the one in a folder.
pub(crate) fn chosen_file(chosen: &Path) -> Result<PathBuf, Fault> {
    let metadata = fs::metadata(chosen).map_err(|error| Fault::file(chosen, "open the workspace", &error))?;
    if !metadata.is_dir() {
        return Ok(chosen.to_owned());
    }
    let file = chosen.join(FILE_NAME);
    if !file.is_file() {
        return Err(Fault::new(format!("there is no `{FILE_NAME}` in `{}`", chosen.display()))
            .advice(format!("write one with `haft init {}`", chosen.display())));
    }
    Ok(file)
}

/// Returns the nearest workspace file in this folder or above it.
fn nearest(folder: &Path) -> Option<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    // The file in the folder itself is called by the path that the user wrote.
    let own = folder.join(FILE_NAME);
    if own.is_file() {
        return Some(own.strip_prefix(".").map(Path::to_owned).unwrap_or(own));
    }
    let absolute = fs::canonicalize(folder).ok()?;
    absolute.ancestors().skip(1).map(|folder| folder.join(FILE_NAME)).find(|file| file.is_file())
}
