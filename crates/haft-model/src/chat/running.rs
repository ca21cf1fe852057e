//! The conversations that run in this process, by id.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft_executor::Cancellation;
use tokio::sync::watch;

use super::event_log::EventLog;
use super::run::ChatRun;
use crate::turn_loop::LoopState;

/// The runs of a chat. Clones share them.
#[derive(Clone)]
pub(super) struct RunningChats(Arc<RunningMap>);

struct RunningMap {
    chats: Mutex<HashMap<String, RunningChat>>,
    /// The number of runs.
    count: watch::Sender<usize>,
}

struct RunningChat {
    log: EventLog,
    /// The conversation when the run began.
    before: Arc<LoopState>,
    flag: Cancellation,
    /// Tells this run from a later one of the same conversation.
    number: u64,
}

/// The entry of a run, which is removed when this is dropped.
pub(super) struct RunningEntry {
    chats: RunningChats,
    id: String,
    number: u64,
}

impl Default for RunningChats {
    fn default() -> Self {
        Self(Arc::new(RunningMap { chats: Mutex::default(), count: watch::Sender::new(0) }))
    }
}

impl RunningChats {
    /// Adds a run.
    pub(super) fn add(&self, id: &str, log: EventLog, before: LoopState, flag: Cancellation) -> RunningEntry {
        let mut chats = self.chats();
        // A run that just ended may still have its entry.
        let number = chats.get(id).map_or(0, |earlier| earlier.number + 1);
        let replaced = chats.insert(id.to_owned(), RunningChat { log, before: Arc::new(before), flag, number });
        drop(chats);
        drop(replaced);
        self.0.count.send_modify(|count| *count += 1);
        RunningEntry { chats: self.clone(), id: id.to_owned(), number }
    }

    /// Returns a reader of all events of a run.
    pub(super) fn attach(&self, id: &str) -> Option<ChatRun> {
        let (log, flag) = self.chats().get(id).map(|chat| (chat.log.clone(), chat.flag.clone()))?;
        log.attach().map(|reader| ChatRun::new(reader, flag))
    }

    /// Returns the conversation before a run whose events are kept.
    pub(super) fn before(&self, id: &str) -> Option<LoopState> {
        let (log, before) = self.chats().get(id).map(|chat| (chat.log.clone(), Arc::clone(&chat.before)))?;
        log.is_open().then(|| LoopState::clone(&before))
    }

    /// Cancels a run.
    pub(super) fn cancel(&self, id: &str) -> bool {
        let flag = self.chats().get(id).map(|chat| chat.flag.clone());
        flag.as_ref().map(Cancellation::cancel).is_some()
    }

    /// Waits until there is no run.
    pub(super) async fn idle(&self) {
        // The sender is part of this value, so it is not gone.
        let _ = self.0.count.subscribe().wait_for(|count| *count == 0).await;
    }

    /// Returns the number of runs.
    pub(super) fn count(&self) -> usize {
        *self.0.count.borrow()
    }

    fn chats(&self) -> MutexGuard<'_, HashMap<String, RunningChat>> {
        self.0.chats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunningEntry {
    fn drop(&mut self) {
        let mut chats = self.chats.chats();
        let is_ours = chats.get(&self.id).is_some_and(|chat| chat.number == self.number);
        let removed = if is_ours { chats.remove(&self.id) } else { None };
        drop(chats);
        drop(removed);
        self.chats.0.count.send_modify(|count| *count = count.saturating_sub(1));
    }
}
