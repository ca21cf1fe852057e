//! The mailbox of a run: wakes and emitted values of its calls.
//!
//! A run has one mailbox, with an entry per call. Wakes and emitted values that arrive between two polls, from any
//! thread, are queued here and wake the run's task; the run then polls only the calls that were woken. An entry is
//! closed when its call has ended: contexts of the call that are still held then report it as cancelled, and values
//! emitted through them are dropped.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Wake, Waker};

use haft_core::{ApprovalRequest, Verdict};
use haft_schema::isolation::{Isolated, isolated, wake_isolated};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::lane::HeldLanes;
use crate::cancellation::Cancellation;
use crate::cx::emit::Emitted;
use crate::tool::EmitBuffer;

/// The wakes and emitted values of one run's calls. It must hold no value of user code: wakers keep it alive, and user
/// code may keep a waker forever.
pub(super) struct Mailbox {
    entries: Box<[CallEntry]>,
    messages: Mutex<Messages>,
    /// Set while there are messages, so that checking for them takes no lock.
    has_messages: AtomicBool,
    /// The lanes that calls hold, until their work has really ended. Mostly there are none.
    lanes: Mutex<Vec<(usize, HeldLanes)>>,
}

/// The entry of one call.
#[derive(Default)]
struct CallEntry {
    /// Set while a wake of the call is queued.
    woken: AtomicBool,
    is_closed: AtomicBool,
    /// Set while the call waits for answers and nothing of it runs.
    is_waiting: AtomicBool,
    /// Triggered when the entry is closed; created by the first caller that waits for that.
    closed: OnceLock<Cancellation>,
    /// The deadline from the call's timeout.
    deadline: Mutex<Option<Instant>>,
    /// The last activity that is no event. It wakes nothing: it is read when the call seems to have timed out.
    last_activity: Mutex<Option<Instant>>,
    /// The number of threads and tasks of this call that can't be stopped and still run.
    occupants: AtomicUsize,
    /// The capacity for emitted values; created when the first one is sent.
    capacity: OnceLock<Semaphore>,
}

#[derive(Default)]
struct Messages {
    woken: Vec<usize>,
    emitted: VecDeque<Emission>,
    task: Option<Isolated<Waker>>,
}

impl Messages {
    fn is_empty(&self) -> bool {
        self.woken.is_empty() && self.emitted.is_empty()
    }
}

/// A message of a call ahead of its result.
pub(super) struct Emission {
    pub(super) index: usize,
    pub(super) body: EmissionBody,
}

/// The content of a call's message.
pub(crate) enum EmissionBody {
    /// An attempt reaches the handler. It is no activity: whether it is reported must not change when the call is idle.
    Started { attempt: u32 },
    /// The handler emitted a value.
    Value { emitted: Emitted, at: Instant },
    /// The call asks a question while it runs. Its timeouts are paused.
    Asked { request: Box<ApprovalRequest>, at: Instant },
    /// A question of the call was answered, or no longer needs an answer. Its timeouts go on when none is open.
    Settled { verdict: Option<Box<Verdict>>, at: Instant },
}

/// Keeps a call's slot occupied while work of the call that can't be stopped runs.
pub(crate) struct OccupancyGuard {
    mailbox: Arc<Mailbox>,
    index: usize,
}

/// Wakes one call.
struct CallWaker {
    mailbox: Arc<Mailbox>,
    index: usize,
}

impl Mailbox {
    /// Creates a mailbox for this many calls.
    pub(super) fn new(calls: usize) -> Arc<Self> {
        Arc::new(Self {
            entries: (0..calls).map(|_| CallEntry::default()).collect(),
            messages: Mutex::default(),
            has_messages: AtomicBool::new(false),
            lanes: Mutex::default(),
        })
    }

    /// Returns the waker of one call.
    pub(super) fn waker(self: &Arc<Self>, index: usize) -> Waker {
        Arc::new(CallWaker { mailbox: Arc::clone(self), index }).into()
    }

    /// Sets the deadline from the call's timeout.
    pub(super) fn set_deadline(&self, index: usize, deadline: Option<Instant>) {
        *locked(&self.entries[index].deadline) = deadline;
    }

    /// Records that the call waits for answers and nothing of it runs, or that it goes on.
    pub(super) fn set_waiting(&self, index: usize, is_waiting: bool) {
        self.entries[index].is_waiting.store(is_waiting, Ordering::SeqCst);
        if is_waiting {
            self.set_deadline(index, None);
        }
    }

    /// Takes the messages, if there are any.
    pub(super) fn drain(&self) -> Option<(Vec<usize>, VecDeque<Emission>)> {
        if !self.has_messages.load(Ordering::Acquire) || !self.has_messages.swap(false, Ordering::AcqRel) {
            return None;
        }
        let mut messages = self.messages();
        let woken = std::mem::take(&mut messages.woken);
        for &index in &woken {
            self.entries[index].woken.swap(false, Ordering::AcqRel);
        }
        Some((woken, std::mem::take(&mut messages.emitted)))
    }

    /// Registers the task to be woken by the next message. Returns false if there is a message already, or if the waker
    /// can't be cloned.
    ///
    /// A waker is user code, which may wake a call of this very run. So it is cloned before the lock is taken, and the
    /// waker that it replaces is dropped after the lock is released.
    pub(super) fn park(&self, task: &Waker) -> bool {
        let is_registered = {
            let messages = self.messages();
            if !messages.is_empty() {
                return false;
            }
            messages.task.as_ref().is_some_and(|known| known.will_wake(task))
        };
        if is_registered {
            return true;
        }
        let Ok(own) = isolated(|| Isolated::new(task.clone())) else { return false };
        let replaced = {
            let mut messages = self.messages();
            if !messages.is_empty() {
                return false;
            }
            messages.task.replace(own)
        };
        drop(replaced);
        true
    }

    /// Returns capacity for one emitted value: the reader took one.
    pub(super) fn release_capacity(&self, index: usize) {
        if let Some(capacity) = self.entries[index].capacity.get() {
            // This may wake a handler that waits for capacity.
            drop(isolated(|| capacity.add_permits(1)));
        }
    }

    /// Reports whether the call has to wait for its reader before it can emit more.
    pub(super) fn is_full(&self, index: usize) -> bool {
        self.entries[index].capacity.get().is_some_and(|capacity| capacity.available_permits() == 0)
    }

    /// Returns the time of the call's last activity that is no event.
    pub(super) fn last_activity(&self, index: usize) -> Option<Instant> {
        *locked(&self.entries[index].last_activity)
    }

    /// Reports whether work of the call that can't be stopped still runs.
    pub(super) fn is_occupied(&self, index: usize) -> bool {
        self.entries[index].occupants.load(Ordering::Acquire) > 0
    }

    /// Closes the entry of a call that has ended: emitted values are dropped from now on.
    pub(super) fn close(&self, index: usize) {
        let entry = &self.entries[index];
        entry.is_closed.store(true, Ordering::SeqCst);
        // Either a thread that creates the flag or the capacity after this sees that the entry is closed, or it is
        // created before and seen here.
        fence(Ordering::SeqCst);
        if let Some(flag) = entry.closed.get() {
            drop(isolated(|| flag.cancel()));
        }
        if let Some(capacity) = entry.capacity.get() {
            drop(isolated(|| capacity.close()));
        }
    }

    fn wake(&self, index: usize) {
        if !self.entries[index].woken.swap(true, Ordering::AcqRel) {
            self.post(|messages| messages.woken.push(index));
        }
    }

    fn post(&self, write: impl FnOnce(&mut Messages)) {
        let task = {
            let mut messages = self.messages();
            write(&mut messages);
            self.has_messages.store(true, Ordering::Release);
            messages.task.take()
        };
        if let Some(task) = task {
            // A panic of the task's waker must not reach the code that woke the call. The waker is woken and dropped in
            // two isolated steps, as both may panic.
            wake_isolated(&task);
        }
    }

    /// Locks the messages. No user code may run while the guard lives: no waker is cloned, woken or dropped under it.
    fn messages(&self) -> MutexGuard<'_, Messages> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Locks a time for a single read or write, which can't panic.
fn locked(time: &Mutex<Option<Instant>>) -> MutexGuard<'_, Option<Instant>> {
    time.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Operations of a call.
impl Mailbox {
    /// Sends a value to the run, waiting for capacity. The value is dropped if the call has ended.
    pub(super) async fn send(&self, index: usize, buffer: EmitBuffer, emitted: Emitted) {
        if let EmitBuffer::Bounded(size) = buffer {
            let capacity =
                self.entries[index].capacity.get_or_init(|| Semaphore::new(size.get().min(Semaphore::MAX_PERMITS)));
            fence(Ordering::SeqCst);
            if self.is_closed(index) {
                return;
            }
            match capacity.acquire().await {
                Ok(permit) => permit.forget(),
                Err(_) => return,
            }
        }
        if !self.is_closed(index) {
            let body = EmissionBody::Value { emitted, at: Instant::now() };
            self.post(|messages| messages.emitted.push_back(Emission { index, body }));
        }
    }

    /// Reports that an attempt reaches the handler. It takes no capacity, and is dropped if the call has ended.
    pub(super) fn report_started(&self, index: usize, attempt: u32) {
        if !self.is_closed(index) {
            let body = EmissionBody::Started { attempt };
            self.post(|messages| messages.emitted.push_back(Emission { index, body }));
        }
    }

    /// Reports that the call asks a question, or that one was settled. It takes no capacity, and is dropped if the call has
    /// ended.
    pub(super) fn report_question(&self, index: usize, body: EmissionBody) {
        if !self.is_closed(index) {
            self.post(|messages| messages.emitted.push_back(Emission { index, body }));
        }
    }

    /// Records activity that is no event: it restarts the call's idle timeout.
    pub(super) fn touch(&self, index: usize) {
        *locked(&self.entries[index].last_activity) = Some(Instant::now());
    }

    /// Keeps the call's slot occupied while the guard lives: for work that continues after the call is cancelled.
    pub(super) fn occupy(self: &Arc<Self>, index: usize) -> OccupancyGuard {
        self.entries[index].occupants.fetch_add(1, Ordering::AcqRel);
        OccupancyGuard { mailbox: Arc::clone(self), index }
    }

    /// Keeps the lanes of a call until it is [closed](Self::close) or waits, and nothing of it runs any more.
    pub(super) fn hold_lanes(&self, index: usize, held: HeldLanes) {
        self.lanes().push((index, held));
    }

    /// Frees the lanes of a call that is closed or waits, unless work of it still runs where it can't be stopped: that
    /// frees them at its end. Freeing a lane wakes calls of other runs, so it is done without the lock.
    pub(super) fn leave_lanes(&self, index: usize) {
        let is_waiting = self.entries[index].is_waiting.load(Ordering::SeqCst);
        if self.is_occupied(index) || !(self.is_closed(index) || is_waiting) {
            return;
        }
        let held = {
            let mut lanes = self.lanes();
            let at = lanes.iter().position(|(holder, _)| *holder == index);
            at.map(|at| lanes.swap_remove(at))
        };
        drop(held);
    }

    fn lanes(&self) -> MutexGuard<'_, Vec<(usize, HeldLanes)>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the deadline from the call's timeout, once its handler runs.
    pub(super) fn deadline(&self, index: usize) -> Option<Instant> {
        *locked(&self.entries[index].deadline)
    }

    /// Reports whether the call has ended.
    pub(super) fn is_closed(&self, index: usize) -> bool {
        self.entries[index].is_closed.load(Ordering::SeqCst)
    }

    /// Completes when the call has ended.
    pub(super) async fn closed(&self, index: usize) {
        // The flag is created before the check: a thread that closes the entry after this sees the flag, and a close
        // before this is seen here.
        let flag = self.entries[index].closed.get_or_init(Cancellation::new);
        fence(Ordering::SeqCst);
        if !self.is_closed(index) {
            flag.cancelled().await;
        }
    }
}

impl OccupancyGuard {
    /// Reports whether the call has ended.
    pub(super) fn is_closed(&self) -> bool {
        self.mailbox.is_closed(self.index)
    }

    /// Reports that the first attempt reaches the handler.
    pub(super) fn report_started(&self) {
        self.mailbox.report_started(self.index, 1);
    }
}

impl Drop for OccupancyGuard {
    fn drop(&mut self) {
        self.mailbox.entries[self.index].occupants.fetch_sub(1, Ordering::AcqRel);
        // Either this sees that the call was closed, or the code that closed it sees that nothing occupies it.
        fence(Ordering::SeqCst);
        self.mailbox.leave_lanes(self.index);
        self.mailbox.wake(self.index);
    }
}

impl Wake for CallWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.mailbox.wake(self.index);
    }
}
