//! The process groups of commands that this process has started and not ended yet.
//!
//! A program that exits must know about them: a command that was sent `SIGTERM` has its grace period, and the
//! process that exits before it is over would end it at once, or leave it behind. So the program waits with
//! [`commands_ended`], or ends all of them with [`kill_commands`].

use std::collections::BTreeSet;
use std::sync::LazyLock;

use tokio::sync::watch;

/// The ids of all groups that may have processes.
static LIVE: LazyLock<watch::Sender<BTreeSet<u32>>> = LazyLock::new(|| watch::Sender::new(BTreeSet::new()));

/// The entry of a group, until this is dropped.
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

/// Waits until every command of this process has ended, those included whose grace period runs.
///
/// Commands end by themselves or with their calls: cancel those first. A program that exits at once, without this,
/// leaves no command behind but cuts its grace period short.
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

/// Kills every command of this process with its whole group, without a grace period, from any thread.
///
/// This is for a program that must exit at once. On systems other than Unix it does nothing.
pub fn kill_commands() {
    #[cfg(unix)]
    for group in LIVE.borrow().iter().filter_map(|&id| rustix::process::Pid::from_raw(id.cast_signed())) {
        // The only error is that no process is left.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}
