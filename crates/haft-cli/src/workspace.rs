//! A command's workspace: the nearest `haft.toml` with its content, or the standard toolbox alone.
//!
//! It is the user's workspace: the named one, else the current folder's. An input's place never chooses it, or calls
//! from another folder would bring their own rules.

mod caller;
mod ownership;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft::registry::{Executor, ExecutorBuilder, FullName, Kinds, LookupError, RegisteredTool, Registry};
use haft::run::ToolCall;
use haft::toolkit::Toolkit;
use haft::tools::mcp::McpKind;
use haft::tools::standard::StandardToolbox;
use haft::workspace::{LoadOptions, Loaded, LoadedCaller, Trust, UserPolicy, load};
use tokio::runtime::Handle;

pub(crate) use self::caller::CallerArgument;
use self::ownership::Ownership;
use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::report;
use crate::terminal::escaped;

/// A workspace file's name.
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
    /// Entries that were left out are reported on standard error, and so is the workspace. For commands that run calls:
    /// its rules decide about them.
    Announced,
    /// Entries that were left out are reported on standard error.
    Shown,
    /// The command reports it itself.
    Silent,
}

impl OpenWorkspace {
    /// Opens the workspace from the options, else the nearest one above the current folder, else the standard toolbox.
    pub(crate) async fn open(cx: &Context, remarks: Remarks) -> Result<Self, CommandError> {
        Self::open_as(cx, remarks, &CallerArgument::default()).await
    }

    /// Opens the same workspace for calls of a caller.
    pub(crate) async fn open_as(cx: &Context, remarks: Remarks, caller: &CallerArgument) -> Result<Self, CommandError> {
        Self::open_file(cx, find(cx)?.as_deref(), remarks, caller).await
    }

    /// Opens a workspace, or the standard toolbox if there is none.
    pub(crate) async fn open_file(
        cx: &Context,
        path: Option<&Path>,
        remarks: Remarks,
        caller: &CallerArgument,
    ) -> Result<Self, CommandError> {
        if remarks == Remarks::Announced {
            announce(cx, path);
        }
        let Some(path) = path else {
            caller.ensure_unset()?;
            return Self::standard(cx);
        };
        let loaded = load_file(cx, path).await?;
        cx.opened(&loaded);
        if remarks != Remarks::Silent {
            report::remarks(cx, &loaded);
        }
        let caller = caller.find(&loaded.callers)?.cloned();
        Ok(cx.interrupt.blocking(move || Self::of_caller(loaded, caller.as_ref())).await??)
    }

    /// Builds a file's tools.
    pub(crate) fn of(loaded: Loaded) -> Result<Self, Fault> {
        Self::of_caller(loaded, None)
    }

    /// Builds a file's tools for one caller, or for whoever runs the command.
    fn of_caller(loaded: Loaded, caller: Option<&LoadedCaller>) -> Result<Self, Fault> {
        let failed = |error: &dyn std::error::Error| {
            Fault::new(format!("the tools of `{}` can't be used together", loaded.path.display())).cause(error)
        };
        let registry = loaded.registry().map_err(|error| failed(&error))?.build().map_err(|error| failed(&error))?;
        let executor = loaded.executor();
        let executor = caller.map_or(executor.clone(), |caller| caller.narrow(executor)).build(registry);
        Ok(Self { loaded: Some(loaded), executor })
    }

    /// Opens the standard toolbox alone, under the user's own policy.
    pub(crate) fn standard(cx: &Context) -> Result<Self, CommandError> {
        Ok(Self::of_standard(match UserPolicy::read(&cx.policy_file()?)? {
            Some(policy) => policy.apply(Executor::builder()),
            None => Executor::builder(),
        })?)
    }

    /// Builds the standard tools.
    pub(crate) fn of_standard(builder: ExecutorBuilder) -> Result<Self, Fault> {
        let failed = |error: &dyn std::error::Error| Fault::new("the standard toolbox can't be opened").cause(error);
        let toolkit = StandardToolbox::new().toolkit().map_err(|error| failed(&error))?;
        let registry = Registry::builder().internal(toolkit).build().map_err(|error| failed(&error))?;
        Ok(Self { loaded: None, executor: builder.build(registry) })
    }

    /// Rejects calls to non-standard tools without a workspace: it was probably not found, and its rules would not
    /// hold. With a workspace, a call to an unknown tool has a result, which the model reads.
    pub(crate) fn ensure_found(&self, calls: &[ToolCall], tools: &Toolkit) -> Result<(), Vec<Fault>> {
        if self.loaded.is_some() {
            return Ok(());
        }
        let unknown = calls.iter().filter(|call| !call.provider_executed && tools.get(&call.name).is_none());
        let faults: Vec<Fault> = unknown
            .map(|call| {
                let message =
                    format!("`{}` is not a standard tool, and there is no `{FILE_NAME}` here or above", call.name);
                let similar = match self.executor.find(&call.name) {
                    Err(LookupError::NotFound { similar, .. }) => similar.into_iter().next(),
                    _ => None,
                };
                let fault = Fault::new(message);
                let fault =
                    similar.into_iter().fold(fault, |fault, name| fault.advice(format!("did you mean `{name}`?")));
                fault.advice("run the command in the folder of your workspace, or name it with `--workspace`")
            })
            .collect();
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    /// Finds a tool by its full or a shorter name. The error tells apart a tool that does not exist, one that waits for
    /// trust, and one that is set aside.
    pub(crate) fn tool(&self, name: &str) -> Result<Arc<RegisteredTool>, Fault> {
        self.executor.find(name).map_err(|error| {
            if let LookupError::SetAside { .. } = error {
                return Fault::new(escaped(&error.to_string()))
                    .advice("correct the entry; `haft check` lists all faults");
            }
            let is_meant = |full: &FullName| {
                let full = format!("/{full}");
                full == name || full.strip_suffix(name).is_some_and(|start| start.ends_with('/'))
            };
            let unknown = || Fault::new(escaped(&error.to_string())).advice("`haft tools` lists the tools");
            self.missing(is_meant).unwrap_or_else(unknown)
        })
    }

    /// Returns the reason why a tool of the file can't be used: it is left out or set aside.
    pub(crate) fn missing(&self, is_meant: impl Fn(&FullName) -> bool) -> Option<Fault> {
        let loaded = self.loaded.as_ref()?;
        if let Some(full) = loaded.left_out().find(|full| is_meant(full)) {
            let fault = Fault::new(format!("`{full}` is left out, because the workspace file is not trusted"));
            return Some(fault.advice("read the file, then run `haft trust`"));
        }
        let full = loaded.set_aside.iter().filter_map(|entry| entry.tool.as_ref()).find(|full| is_meant(full))?;
        Some(Fault::new(format!("`{full}` is set aside because of its faults")).advice("`haft check` lists all faults"))
    }
}

/// Finds the workspace file, if there is one.
pub(crate) fn find(cx: &Context) -> Result<Option<PathBuf>, Fault> {
    match &cx.global.workspace {
        Some(chosen) => chosen_file(chosen).map(Some),
        None => nearest(Path::new("."), &Ownership::of_process()),
    }
}

/// Reports the workspace whose tools and rules a command's calls have.
fn announce(cx: &Context, path: Option<&Path>) {
    let text = match path {
        None => format!("no `{FILE_NAME}` here or above; using the standard toolbox alone"),
        Some(path) => format!("using the workspace `{}`", path.display()),
    };
    report::note(cx, &text);
}

/// Loads a file with the trust that was recorded.
pub(crate) async fn load_file(cx: &Context, path: &Path) -> Result<Loaded, CommandError> {
    load_with(cx, path, options(cx)?).await
}

/// Loads a file to decide whether to trust it and the organisations' files that it names, wherever they are.
pub(crate) async fn load_for_review(cx: &Context, path: &Path) -> Result<Loaded, CommandError> {
    load_with(cx, path, options(cx)?.review()).await
}

/// Returns the kinds of entries. What servers leave behind is in the state folder.
pub(crate) fn kinds(cx: &Context) -> Result<Kinds, Fault> {
    Ok(haft::tools::kinds().replace(McpKind::new().state_folder(cx.state_folder()?.join("mcp"))))
}

/// Returns the settings by which every command loads files.
pub(crate) fn options(cx: &Context) -> Result<LoadOptions, Fault> {
    let options = LoadOptions::new(kinds(cx)?)
        .map_err(|error| Fault::new("the kinds of tools contradict each other").cause(&error))?;
    Ok(options.trust(Trust::Recorded(cx.trust_store()?)).policy(cx.policy_file()?))
}

async fn load_with(cx: &Context, path: &Path, options: LoadOptions) -> Result<Loaded, CommandError> {
    let (path, runtime) = (path.to_owned(), Handle::current());
    // Reading, checking and building thousands of tools takes long, and does not yield.
    Ok(cx.interrupt.blocking(move || runtime.block_on(load(path, &options))).await??)
}

/// Returns a named workspace's file: the path itself, or the file in a folder.
pub(crate) fn chosen_file(chosen: &Path) -> Result<PathBuf, Fault> {
    let metadata = fs::metadata(chosen).map_err(|error| Fault::file(chosen, "open the workspace", &error))?;
    if !metadata.is_dir() {
        return Ok(chosen.to_owned());
    }
    let file = chosen.join(FILE_NAME);
    if !is_there(&file) {
        return Err(Fault::new(format!("there is no `{FILE_NAME}` in `{}`", chosen.display()))
            .advice(format!("write one with `haft init {}`", chosen.display())));
    }
    Ok(file)
}

/// Reports whether something has this path, even if it can't be a workspace file: a broken link must not give way to
/// the rules from a folder above.
fn is_there(file: &Path) -> bool {
    fs::symlink_metadata(file).is_ok()
}

/// Returns the nearest workspace file in this folder or above it. A file above that another user owns is an error.
fn nearest(folder: &Path, ownership: &Ownership) -> Result<Option<PathBuf>, Fault> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    // The file in the folder itself is called by the path that the user wrote.
    let own = folder.join(FILE_NAME);
    if is_there(&own) {
        return Ok(Some(own.strip_prefix(".").map(Path::to_owned).unwrap_or(own)));
    }
    let Ok(absolute) = fs::canonicalize(folder) else { return Ok(None) };
    let mut above = absolute.ancestors().skip(1).map(|folder| folder.join(FILE_NAME));
    let found = above.find(|file| is_there(file));
    if let Some(file) = &found {
        ownership.check(file)?;
    }
    Ok(found)
}
