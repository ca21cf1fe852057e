//! The process groups of commands that this process has started and not ended yet.
//!
//! A program that exits must know about them: a command that was sent `SIGTERM` has its grace period, and exiting
//! before it is over would end the command at once, or leave it behind. So the program waits with [`commands_ended`],
//! or ends them all with [`kill_commands`].

use std::collections::BTreeSet;
use std::sync::LazyLock;

use tokio::sync::watch;

/// The ids of all groups that may have processes.
static LIVE: LazyLock<watch::Sender<BTreeSet<u32>>> = LazyLock::new(|| watch::Sender::new(BTreeSet::new()));

/// A group's entry, until this is dropped.
#[derive(Debug)]
pub(super) struct LiveGroup(u32);

impl LiveGroup {
    pub(super) fn new(id: u32) -> Self {
        LIVE.send_modify(|live| {
            live.insert(id);
        });
        Self(id)
    }
}

impl Drop for LiveGroup {
    fn drop(&mut self) {
        LIVE.send_modify(|live| {
            live.remove(&self.0);
        });
    }
}

/// Waits until all of this process's commands have ended, including those in their grace period.
///
/// Commands end by themselves or with their calls: cancel those first. If your program exits without this, it leaves no
/// command behind but cuts its grace period short.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// // Nothing runs.
/// haft_tools::command::commands_ended().await;
/// # }
/// ```
pub async fn commands_ended() {
    // The sender is never dropped, so that there is no error.
    drop(LIVE.subscribe().wait_for(BTreeSet::is_empty).await);
}

/// Kills all of this process's commands with their whole groups, without a grace period, from any thread.
///
/// Use it when your program must exit at once. On systems other than Unix it does nothing.
pub fn kill_commands() {
    #[cfg(unix)]
    for group in LIVE.borrow().iter().filter_map(|&id| rustix::process::Pid::from_raw(id.cast_signed())) {
        // The only error is that no process is left.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}
