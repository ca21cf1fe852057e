//! The workspace that is served, and the parties that it is served to.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use haft::mcp::serve::CallerAccess;
use haft::registry::{Executor, ExecutorBuilder, PermissionSettings, Permissions};
use haft::run::Dispatch;
use haft::workspace::{FileError, FileWatch, Loaded, LoadedCaller, ReloadError, TrustStatus, WatchedWorkspace};
use tokio::time::sleep;

use super::call_log::CallLog;
use super::caller_access;
use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::report;
use crate::terminal::escaped;
use crate::workspace::{self, CallerArgument, OpenWorkspace};

/// The time between two looks at whether changed files have been trusted.
const TRUST_INTERVAL: Duration = Duration::from_secs(1);

/// A workspace that follows its files, or the standard toolbox alone.
#[derive(Debug)]
pub(super) struct ServedWorkspace {
    tools: ServedTools,
    audience: Audience,
}

/// The clients of a server.
#[derive(Clone, Debug)]
pub(super) enum Audience {
    /// One client, which is this caller.
    One(CallerArgument),
    /// Many, each known by its token.
    Many,
}

#[derive(Debug)]
enum ServedTools {
    /// The tools of a file.
    Watched { workspace: WatchedWorkspace, _watch: Option<FileWatch> },
    /// The standard tools, where there is no file.
    Standard(Executor),
}

impl ServedWorkspace {
    /// Opens the workspace of the options or of the current folder. For one client, its tools are narrowed to what that
    /// client may call.
    pub(super) async fn open(cx: &Context, audience: Audience) -> Result<Self, CommandError> {
        let caller = match &audience {
            Audience::One(caller) => caller.clone(),
            Audience::Many => CallerArgument::default(),
        };
        let Some(path) = workspace::find(cx)? else {
            caller.ensure_unset()?;
            return Ok(Self { tools: ServedTools::Standard(OpenWorkspace::standard(cx)?.executor), audience });
        };
        // The first load reports its faults as every command does.
        let loaded = workspace::load_file(cx, &path).await?;
        caller.find(&loaded.callers)?;
        report::remarks(cx, &loaded);
        drop(loaded);
        let nothing = PermissionSettings::new().hide_denied().build();
        let nothing = nothing.map_err(|error| Fault::new("nobody can be kept from the tools").cause(&error))?;
        let clients = audience.clone();
        let complete = move |loaded: &mut Loaded| Ok(clients.narrow(loaded, &nothing));
        let opened = WatchedWorkspace::open(path, workspace::options(cx)?, complete).await;
        let workspace = opened.map_err(|error| match error {
            ReloadError::File(error) => CommandError::from(error),
            error => Fault::new("the tools can't be used together").cause(&error).into(),
        })?;
        cx.opened(&workspace.status().loaded);
        let watch = workspace.watch().inspect_err(|error| {
            cx.terminal.note(format!("changes of the files are not followed: {error}"));
        });
        Ok(Self { tools: ServedTools::Watched { workspace, _watch: watch.ok() }, audience })
    }

    pub(super) fn executor(&self) -> &Executor {
        match &self.tools {
            ServedTools::Watched { workspace, .. } => workspace.executor(),
            ServedTools::Standard(executor) => executor,
        }
    }

    /// Returns the workspace, unless only the standard toolbox is served.
    pub(super) fn watched(&self) -> Option<&WatchedWorkspace> {
        match &self.tools {
            ServedTools::Watched { workspace, .. } => Some(workspace),
            ServedTools::Standard(_) => None,
        }
    }

    /// Returns the file's path.
    pub(super) fn path(&self) -> Option<PathBuf> {
        self.watched().map(|workspace| workspace.status().loaded.path.clone())
    }

    /// Returns the access of the client on standard input and output. The executor is its own, and narrowed already.
    pub(super) fn stdio_access(&self, log: &Arc<CallLog>) -> CallerAccess {
        let status = self.watched().map(WatchedWorkspace::status);
        let caller = status.as_ref().and_then(|status| self.audience.caller(&status.loaded));
        caller_access::access(caller, self.executor().options(), log)
    }

    /// Returns the words for the client on standard input and output.
    pub(super) fn client(&self) -> String {
        let status = self.watched().map(WatchedWorkspace::status);
        match status.as_ref().and_then(|status| self.audience.caller(&status.loaded)) {
            Some(caller) => format!("the caller `{}`", caller.name),
            None => "its client".to_owned(),
        }
    }

    /// Returns the words for what is served.
    pub(super) fn summary(&self) -> String {
        let tools = self.executor().list(&self.executor().options()).len();
        let tools = if tools == 1 { "1 tool".to_owned() } else { format!("{tools} tools") };
        match self.path() {
            Some(path) => format!("{tools} of `{}`", escaped(&path.display().to_string())),
            None => format!("{tools} of the standard toolbox"),
        }
    }

    /// Reports every load of the files after the first one, with what `on_load` makes of it, and loads them again when they are trusted. It never ends by
    /// itself.
    pub(super) async fn follow(&self, cx: &Context, on_load: impl Fn(&Loaded) -> Result<(), FileError>) -> Fault {
        let Some(workspace) = self.watched() else { return std::future::pending().await };
        let mut changes = workspace.subscribe();
        changes.mark_unchanged();
        loop {
            let loaded = workspace.status().loaded;
            let changed = tokio::select! {
                changed = changes.changed() => changed,
                () = trusted(&loaded, cx) => {
                    // The outcome is reported as every other one.
                    let _ = workspace.reload().await;
                    continue;
                }
            };
            if changed.is_err() {
                return Fault::new("the files are no longer watched");
            }
            let status = changes.borrow_and_update().clone();
            match status.error {
                None => {
                    cx.opened(&status.loaded);
                    report::remarks(cx, &status.loaded);
                    if let Err(error) = on_load(&status.loaded) {
                        report::error(cx, &error.into());
                        cx.terminal.note("the callers and their tokens stay as they were");
                    }
                    cx.terminal.note(format!("loaded again: serving {}", self.summary()));
                }
                Some(error) => {
                    cx.terminal.note(escaped_lines(&error.to_string()));
                    cx.terminal.note("the files can't be loaded, so the tools stay as they were");
                }
            }
        }
    }
}

/// Waits until files are trusted that need it and are not: nothing in them changes then.
async fn trusted(loaded: &Loaded, cx: &Context) {
    if loaded.trust == TrustStatus::Trusted || !loaded.needs_trust() {
        return std::future::pending().await;
    }
    let is_recorded = || {
        let status = cx.trust_store().ok().and_then(|store| store.status(&loaded.path).ok());
        status == Some(TrustStatus::Trusted)
    };
    // A record that was there before the load is of no use for it, and another load would not change that.
    if is_recorded() {
        return std::future::pending().await;
    }
    while !is_recorded() {
        sleep(TRUST_INTERVAL).await;
    }
}

impl Audience {
    /// Returns the caller that the one client is: the named one, or `anonymous` if the file defines it.
    fn caller<'l>(&self, loaded: &'l Loaded) -> Option<&'l LoadedCaller> {
        match self {
            Self::One(CallerArgument { caller: Some(name) }) => loaded.callers.get(name).ok(),
            Self::One(CallerArgument { caller: None }) => loaded.callers.anonymous(),
            Self::Many => None,
        }
    }

    /// Returns the executor's settings for a load. A client that a later load no longer defines may call nothing.
    fn narrow(&self, loaded: &Loaded, nothing: &Permissions) -> ExecutorBuilder {
        let settings = loaded.executor();
        match (self, self.caller(loaded)) {
            (_, Some(caller)) => caller.narrow(settings),
            (Self::One(CallerArgument { caller: Some(_) }), None) => settings.narrowed_by(nothing.clone()),
            (Self::One(CallerArgument { caller: None }) | Self::Many, None) => settings,
        }
    }
}

fn escaped_lines(text: &str) -> String {
    text.lines().map(escaped).collect::<Vec<_>>().join("\n")
}
