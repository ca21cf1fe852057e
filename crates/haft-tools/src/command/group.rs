//! A running command, with all processes in its group.
//!
//! ```text
//! Running ─ exits ─► Exited ─ kill_rest ─► Ended
//!    │                  │
//!    └──── dropped ─────┴─► SIGTERM ─► Doomed: a task that waits for the grace period ─► SIGKILL ─► reaped
//!                                      └─ dropped with its runtime ─► SIGKILL at once
//! ```
//!
//! The owner may drop a [`ChildGroup`] at any time, which is how timeouts and cancellations arrive. The drop itself
//! signals the group, so nothing depends on polling afterwards. The rest is a runtime task, which also reaps the
//! command. If the runtime ends first, dropping the task kills at once, and tokio reaps the command when another
//! runtime runs.
//!
//! A group's id is free for other processes only when the command was reaped and the group has no process left. So the
//! group is killed directly after the command was reaped, and never later.

use std::future::pending;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use tokio::io::{AsyncRead, copy, sink};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};

use super::live::LiveGroup;

/// The longest time to reap what was killed. If the kernel does not end a process because it waits for a device, its
/// call must not hang.
const MAX_REAP: Duration = Duration::from_secs(5);

/// A command, its group's processes, and the pipes to it. Dropping it kills them.
#[derive(Debug)]
pub(super) struct ChildGroup {
    pub(super) leader: GroupLeader,
    pub(super) pipes: ChildPipes,
    grace: Duration,
    runtime: Handle,
}

/// The command itself; `None` when nothing in its group is left to kill.
#[derive(Debug)]
pub(super) struct GroupLeader(Option<LiveChild>);

/// A command with its entry among those that run.
#[derive(Debug)]
struct LiveChild {
    child: Box<dyn ChildWrapper>,
    /// Set until the group is killed: its id may belong to others later.
    entry: Option<LiveGroup>,
}

/// The pipes to a command.
#[derive(Debug)]
pub(super) struct ChildPipes {
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: Option<ChildStdout>,
    pub(super) stderr: Option<ChildStderr>,
}

impl ChildGroup {
    /// Starts a command as the leader of a new group.
    pub(super) fn spawn(command: Command, grace: Duration) -> io::Result<Self> {
        let mut command = CommandWrap::from(command);
        command.wrap(KillOnDrop);
        #[cfg(unix)]
        command.wrap(process_wrap::tokio::ProcessGroup::leader());
        let mut child = command.spawn()?;
        let pipes =
            ChildPipes { stdin: child.stdin().take(), stdout: child.stdout().take(), stderr: child.stderr().take() };
        let live = LiveChild { entry: child.id().map(LiveGroup::new), child };
        Ok(Self { leader: GroupLeader(Some(live)), pipes, grace, runtime: Handle::current() })
    }

    /// Ends the group: with `SIGTERM`, and after the grace period with `SIGKILL`, even if nobody waits for it.
    pub(super) async fn terminate(&mut self) {
        if let Some(doomed) = self.doom() {
            // The only error is that the runtime ends.
            drop(self.runtime.spawn(doomed.end(self.grace)).await);
        }
    }

    /// Sends the first signal.
    fn doom(&mut self) -> Option<Doomed> {
        let doomed = Doomed::new(self.leader.0.take()?);
        if self.grace.is_zero() {
            return Some(doomed);
        }
        doomed.request_exit();
        // A command that cleans up may write about it, which must not end it.
        let ChildPipes { stdin: _, stdout, stderr } = &mut self.pipes;
        Some(Doomed { stdout: stdout.take(), stderr: stderr.take(), ..doomed })
    }
}

impl GroupLeader {
    /// Waits until the command has exited. Its group's other processes may still run.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        match self.0.as_mut() {
            Some(live) => leader(&mut *live.child).wait().await,
            None => Err(io::Error::other("the command was already waited for")),
        }
    }

    /// Kills what is left in the group of an exited command.
    pub(super) async fn kill_rest(&mut self) {
        if let Some(child) = self.0.take() {
            Doomed::new(child).end(Duration::ZERO).await;
        }
    }
}

impl Drop for ChildGroup {
    fn drop(&mut self) {
        if let Some(doomed) = self.doom() {
            self.runtime.spawn(doomed.end(self.grace));
        }
    }
}

/// A group that must not survive. Dropping it kills at once.
#[derive(Debug)]
struct Doomed {
    group: KilledOnDrop,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
}

/// The part of a doomed group that kills it.
#[derive(Debug)]
struct KilledOnDrop {
    live: LiveChild,
    is_killed: bool,
}

impl Doomed {
    fn new(live: LiveChild) -> Self {
        Self { group: KilledOnDrop { live, is_killed: false }, stdout: None, stderr: None }
    }

    /// Waits for the command to exit, at most for the grace period, then kills the group and reaps it.
    async fn end(mut self, grace: Duration) {
        if !grace.is_zero() {
            let discarding = async {
                tokio::join!(discard(self.stdout.take()), discard(self.stderr.take()));
                pending::<()>().await;
            };
            tokio::select! {
                _ = leader(&mut *self.group.live.child).wait() => {}
                () = discarding => {}
                () = sleep(grace) => {}
            }
        }
        self.group.kill();
        let reaped = timeout(MAX_REAP, self.group.live.child.wait()).await;
        if !matches!(reaped, Ok(Ok(_))) {
            tracing::warn!(?reaped, "a killed command was not reaped");
        }
    }

    #[cfg(unix)]
    fn request_exit(&self) {
        const SIGTERM: i32 = 15;
        // The only error is that no process is left.
        drop(self.group.live.child.signal(SIGTERM));
    }

    #[cfg(not(unix))]
    fn request_exit(&self) {}
}

impl KilledOnDrop {
    /// Kills the group, once: its id may belong to others later.
    fn kill(&mut self) {
        if !std::mem::replace(&mut self.is_killed, true) {
            // The only error is that no process is left.
            drop(self.live.child.start_kill());
            self.live.entry = None;
        }
    }
}

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Reads a pipe to its end.
async fn discard<P: AsyncRead + Unpin>(pipe: Option<P>) {
    if let Some(mut pipe) = pipe {
        drop(copy(&mut pipe, &mut sink()).await);
    }
}

/// Returns the command itself. Waiting for its group would wait for processes that it has left behind.
fn leader(child: &mut dyn ChildWrapper) -> &mut dyn ChildWrapper {
    if cfg!(unix) { child.inner_mut() } else { child }
}
