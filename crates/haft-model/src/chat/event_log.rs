//! The events of a run between its task and its readers.
//!
//! There are two ways to keep them. `Unread` keeps what its one reader has not read yet, and lets the task wait when that
//! is too much. `All` keeps everything until the run ends, for any number of readers, and nothing waits. User code, the
//! wakers included, must never run while the log is locked.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use haft_schema::isolation::isolated;

use crate::turn_loop::LoopEvent;

/// The number of unread events at which the task waits.
const CAPACITY: usize = 32;

/// The events of a run. Clones share them.
#[derive(Clone)]
pub(super) struct EventLog(Arc<Mutex<LoggedEvents>>);

/// The events that a log keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retention {
    Unread,
    All,
}

/// A position in a log. The log knows its readers.
pub(super) struct LogReader {
    log: EventLog,
    id: u64,
}

struct LoggedEvents {
    retention: Retention,
    events: VecDeque<LoopEvent>,
    /// The number of events that were dropped before the first one.
    dropped: usize,
    is_ended: bool,
    /// True if the task shall not wait for readers any more, nor end because there are none.
    is_detached: bool,
    readers: HashMap<u64, ReaderSlot>,
    next_reader: u64,
    task: Option<Waker>,
}

#[derive(Default)]
struct ReaderSlot {
    /// The number of the next event.
    next: usize,
    waker: Option<Waker>,
}

impl EventLog {
    /// Creates a log with its first reader.
    pub(super) fn new(retention: Retention) -> (Self, LogReader) {
        let log = Self(Arc::new(Mutex::new(LoggedEvents {
            retention,
            events: VecDeque::new(),
            dropped: 0,
            is_ended: false,
            is_detached: retention == Retention::All,
            readers: HashMap::new(),
            next_reader: 0,
            task: None,
        })));
        let reader = log.add_reader();
        (log, reader)
    }

    /// Adds a reader of all events, if they are kept and the run has not ended.
    pub(super) fn attach(&self) -> Option<LogReader> {
        self.is_open().then(|| self.add_reader())
    }

    /// Reports whether a reader can be added.
    pub(super) fn is_open(&self) -> bool {
        let log = self.logged();
        log.retention == Retention::All && !log.is_ended
    }

    /// Lets the task go on without readers.
    pub(super) fn detach(&self) {
        let task = {
            let mut log = self.logged();
            log.is_detached = true;
            log.task.take()
        };
        wake(task);
    }

    /// Adds an event.
    pub(super) fn push(&self, event: LoopEvent) {
        let (wakers, unread) = {
            let mut log = self.logged();
            // Nobody will read it.
            if log.retention == Retention::Unread && log.readers.is_empty() {
                (Vec::new(), Some(event))
            } else {
                log.events.push_back(event);
                (log.reader_wakers(), None)
            }
        };
        drop(unread);
        wake(wakers);
    }

    /// Notes that no event follows.
    pub(super) fn end(&self) {
        let wakers = {
            let mut log = self.logged();
            log.is_ended = true;
            log.reader_wakers()
        };
        wake(wakers);
    }

    /// Waits until there is room for another event.
    pub(super) fn poll_room(&self, task: &mut Context<'_>) -> Poll<()> {
        let mut log = self.logged();
        let is_full = log.events.len() >= CAPACITY && !log.is_detached && !log.readers.is_empty();
        if !is_full {
            return Poll::Ready(());
        }
        let replaced = log.task.replace(task.waker().clone());
        drop(log);
        drop(replaced);
        Poll::Pending
    }

    /// Waits until the last reader is gone. A log that is detached never becomes abandoned.
    pub(super) fn poll_abandoned(&self, task: &mut Context<'_>) -> Poll<()> {
        let mut log = self.logged();
        if log.readers.is_empty() && !log.is_detached {
            return Poll::Ready(());
        }
        let replaced = log.task.replace(task.waker().clone());
        drop(log);
        drop(replaced);
        Poll::Pending
    }

    fn add_reader(&self) -> LogReader {
        let mut log = self.logged();
        let id = log.next_reader;
        log.next_reader += 1;
        log.readers.insert(id, ReaderSlot::default());
        drop(log);
        LogReader { log: self.clone(), id }
    }

    fn logged(&self) -> MutexGuard<'_, LoggedEvents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LoggedEvents {
    fn reader_wakers(&mut self) -> Vec<Waker> {
        self.readers.values_mut().filter_map(|reader| reader.waker.take()).collect()
    }
}

impl LogReader {
    /// Returns the log.
    pub(super) fn log(&self) -> &EventLog {
        &self.log
    }

    /// Reads the next event; `None` after the last.
    pub(super) fn poll_next(&mut self, task: &mut Context<'_>) -> Poll<Option<LoopEvent>> {
        let mut guard = self.log.logged();
        let log = &mut *guard;
        let Some(reader) = log.readers.get_mut(&self.id) else { return Poll::Ready(None) };
        let found = reader.next.checked_sub(log.dropped).and_then(|at| match log.retention {
            Retention::All => log.events.get(at).cloned(),
            Retention::Unread => log.events.pop_front(),
        });
        let Some(event) = found else {
            if log.is_ended {
                return Poll::Ready(None);
            }
            let replaced = reader.waker.replace(task.waker().clone());
            drop(guard);
            drop(replaced);
            return Poll::Pending;
        };
        reader.next += 1;
        if log.retention == Retention::Unread {
            log.dropped += 1;
        }
        let waiting = log.task.take();
        drop(guard);
        wake(waiting);
        Poll::Ready(Some(event))
    }
}

impl Drop for LogReader {
    fn drop(&mut self) {
        let (slot, events, task) = {
            let mut log = self.log.logged();
            let slot = log.readers.remove(&self.id);
            let is_last = log.readers.is_empty();
            let is_unread = is_last && log.retention == Retention::Unread;
            let events = if is_unread { std::mem::take(&mut log.events) } else { VecDeque::new() };
            (slot, events, if is_last { log.task.take() } else { None })
        };
        drop((slot, events));
        wake(task);
    }
}

/// Wakes tasks, whose wakers are user code.
fn wake(wakers: impl IntoIterator<Item = Waker>) {
    for waker in wakers {
        drop(isolated(|| waker.wake()));
    }
}

impl fmt::Debug for EventLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let log = self.logged();
        f.debug_struct("EventLog").field("retention", &log.retention).field("events", &log.events.len()).finish()
    }
}
