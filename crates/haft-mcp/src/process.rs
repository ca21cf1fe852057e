//! A server's program, with all processes in its group.
//!
//! ```text
//! running ─ dropped ─► its input is closed ─ 2 s ─► SIGTERM ─ 2 s ─► SIGKILL to the group ─► reaped
//! ```
//!
//! A server leaves when its input ends, and is made to leave if it doesn't. The group is killed in any case, directly
//! after the program was reaped: its id is free for others only when no process of it is left. If this process can't do
//! any of that because it was killed itself, the guard does, or the next process that uses the same state folder.
//!
//! Elsewhere than on Unix there is neither a group nor a guard: the program alone is killed, and only by a living client.

#[cfg(unix)]
mod guard;
#[cfg(unix)]
mod leftover;

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::log::ServerLog;
use crate::server::ServerCommand;

/// The time that a program has to leave by itself, and again after `SIGTERM`.
const GRACE: Duration = Duration::from_secs(2);
/// The longest time to reap what was killed.
const MAX_REAP: Duration = Duration::from_secs(5);
/// The longest line of standard error that is kept.
const MAX_LINE: u64 = 4096;

/// The variables that a program inherits from this process if they are set: where programs, the home folder and
/// temporary files are, the language and the time zone.
#[cfg(not(windows))]
const KEPT_VARIABLES: &[&str] = &["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER"];

/// The variables that a program inherits from this process if they are set: where programs, the home folder and
/// temporary files are, and what Windows requires.
#[cfg(windows)]
const KEPT_VARIABLES: &[&str] =
    &["APPDATA", "LOCALAPPDATA", "PATH", "PATHEXT", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE"];

/// A running program. Dropping it ends its whole group.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Option<Doomed>,
    /// Reads standard error.
    errors: JoinHandle<()>,
    runtime: Handle,
}

/// The pipes that carry the messages.
#[derive(Debug)]
pub(crate) struct ServerPipes {
    pub(crate) input: ChildStdin,
    pub(crate) output: ChildStdout,
}

impl ServerProcess {
    /// Starts a program as the leader of a new group.
    pub(crate) fn start(command: &ServerCommand, log: &ServerLog) -> io::Result<(Self, ServerPipes)> {
        let mut prepared = prepared(command);
        #[cfg(unix)]
        let keeping = Keeping::prepare(command, &mut prepared);
        let mut wrapped = CommandWrap::from(prepared);
        wrapped.wrap(KillOnDrop);
        #[cfg(unix)]
        wrapped.wrap(process_wrap::tokio::ProcessGroup::leader());
        let mut child = wrapped.spawn()?;
        #[cfg(unix)]
        let keeping = keeping.keep(child.id());
        let pipes = (child.stdin().take(), child.stdout().take(), child.stderr().take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(io::Error::other("the program has no pipes"));
        };
        let errors = tokio::spawn(read_errors(errors, log.clone()));
        let doomed = Doomed {
            child,
            #[cfg(unix)]
            keeping,
            is_killed: false,
        };
        let process = Self { child: Some(doomed), errors, runtime: Handle::current() };
        Ok((process, ServerPipes { input, output }))
    }

    /// Returns the status with which the program has exited, or `None` if it has not exited within this time. What it
    /// has written to its standard error was read then.
    pub(crate) async fn exit_status(&mut self, within: Duration) -> Option<ExitStatus> {
        let child = self.child.as_mut()?;
        let status = timeout(within, leader(&mut *child.child).wait()).await.ok()?.ok();
        // A process that it has left behind may keep its standard error open.
        if !self.errors.is_finished() {
            let _ = timeout(within, &mut self.errors).await;
        }
        status
    }
}

impl ServerProcess {
    /// Ends the program, and waits until it has ended.
    pub(crate) async fn end(&mut self) {
        if let Some(child) = self.child.take() {
            child.end().await;
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        if let Some(child) = self.child.take() {
            self.runtime.spawn(child.end());
        }
    }
}

/// A program that does not survive this value. Dropping it kills its group.
#[derive(Debug)]
struct Doomed {
    child: Box<dyn ChildWrapper>,
    #[cfg(unix)]
    keeping: Keeping,
    is_killed: bool,
}

impl Doomed {
    async fn end(mut self) {
        if timeout(GRACE, leader(&mut *self.child).wait()).await.is_err() {
            self.request_exit();
            let _ = timeout(GRACE, leader(&mut *self.child).wait()).await;
        }
        self.kill();
        if matches!(timeout(MAX_REAP, self.child.wait()).await, Ok(Ok(_))) {
            #[cfg(unix)]
            self.keeping.release();
        } else {
            tracing::warn!("a killed MCP server was not reaped");
        }
    }

    #[cfg(unix)]
    fn request_exit(&self) {
        const SIGTERM: i32 = 15;
        // The only error is that no process is left.
        drop(self.child.signal(SIGTERM));
    }

    #[cfg(not(unix))]
    fn request_exit(&self) {}

    /// Kills the group, once: its id may belong to others later.
    fn kill(&mut self) {
        if !std::mem::replace(&mut self.is_killed, true) {
            // The only error is that no process is left.
            drop(self.child.start_kill());
        }
    }
}

impl Drop for Doomed {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The means by which a program ends if this process is killed.
#[cfg(unix)]
#[derive(Debug, Default)]
struct Keeping {
    guard: Option<guard::Guard>,
    tag: Option<(std::path::PathBuf, String)>,
    leftover: Option<leftover::Leftover>,
}

#[cfg(unix)]
impl Keeping {
    fn prepare(command: &ServerCommand, prepared: &mut Command) -> Self {
        let guard = guard::Guard::start();
        let guard = guard.inspect_err(|error| tracing::warn!(%error, "an MCP server has no guard process")).ok();
        let tag = command.state_folder.as_ref().map(|folder| {
            for group in leftover::end_leftovers(folder) {
                tracing::info!(group, "ended an MCP server that an earlier process has left behind");
            }
            (folder.clone(), leftover::new_tag())
        });
        if let Some((_, tag)) = &tag {
            prepared.env(leftover::TAG_VARIABLE, tag);
        }
        Self { guard, tag, leftover: None }
    }

    fn keep(mut self, id: Option<u32>) -> Self {
        let Some(id) = id else { return self };
        if let Some(guard) = &mut self.guard
            && let Err(error) = guard.watch(id)
        {
            tracing::warn!(%error, "an MCP server has no guard process");
        }
        if let Some((folder, tag)) = &self.tag {
            self.leftover = leftover::Leftover::record(folder, id, tag).unwrap_or_else(|error| {
                tracing::warn!(%error, "a running MCP server can't be recorded");
                None
            });
        }
        self
    }

    /// Ends the guard of a group that has no process left.
    fn release(&mut self) {
        if let Some(guard) = self.guard.take() {
            guard.release();
        }
    }
}

fn prepared(command: &ServerCommand) -> Command {
    let ServerCommand { program, arguments, variables, secrets, inherited, folder, state_folder: _ } = command;
    let mut prepared = Command::new(program);
    prepared.args(arguments).env_clear();
    for name in KEPT_VARIABLES.iter().map(AsRef::as_ref).chain(inherited.iter().map(AsRef::as_ref)) {
        if let Some(value) = std::env::var_os::<&std::ffi::OsStr>(name) {
            prepared.env(name, value);
        }
    }
    prepared.envs(variables.iter().map(|(name, value)| (name, value)));
    prepared.envs(secrets.iter().map(|(name, value)| (name, value.expose())));
    if let Some(folder) = folder {
        prepared.current_dir(folder);
    }
    prepared.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    prepared
}

/// Reads standard error to its end, so that a server that writes much of it is never blocked.
async fn read_errors(errors: ChildStderr, log: ServerLog) {
    let mut reader = BufReader::new(errors);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut reader).take(MAX_LINE).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => log.stderr(String::from_utf8_lossy(&line).trim_end()),
        }
    }
}

/// Returns the program itself. Waiting for its group would wait for processes that it has left behind.
fn leader(child: &mut dyn ChildWrapper) -> &mut dyn ChildWrapper {
    if cfg!(unix) { child.inner_mut() } else { child }
}
