//! How running calls reach their run: wakes and emitted values.
//!
//! A run has one mailbox, with a place per call. Whatever happens to a call between two polls is noted here, from any
//! thread, and the run's task is woken; the run then looks only at the calls that have something to say. A place also
//! says that its call is over: whoever still holds its context finds it cancelled, and emits into nothing.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Wake, Waker};

use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::isolation::{Isolated, isolated, wake_isolated};
use crate::cancellation::Cancellation;
use crate::emit::Emitted;
use crate::tool::EmitBuffer;

/// What the calls of one run have to say. It holds nothing of a user's: wakers hold on to it, and whoever was waited for
/// may keep one of those for ever.
pub(super) struct Mailbox {
    places: Box<[Place]>,
    notes: Mutex<Notes>,
    /// Whether there is a note: so that looking costs nothing when there is none.
    noted: AtomicBool,
}

/// One call's.
#[derive(Default)]
struct Place {
    /// Whether a wake is already noted.
    woken: AtomicBool,
    over: AtomicBool,
    /// Raised when the call is over; made when somebody wants to wait for that.
    over_flag: OnceLock<Cancellation>,
    /// When the call must be done by its own limits.
    deadline: OnceLock<Instant>,
    /// When it last showed a sign of life that is no event. Nobody waits for it: it is asked for when the call seems late.
    alive: Mutex<Option<Instant>>,
    /// How many things of this call run where they can't be stopped.
    stays: AtomicUsize,
    /// Room for emitted values; made when the first one is sent.
    room: OnceLock<Semaphore>,
}

#[derive(Default)]
struct Notes {
    woken: Vec<usize>,
    emitted: VecDeque<Emission>,
    task: Option<Isolated<Waker>>,
}

impl Notes {
    fn is_empty(&self) -> bool {
        self.woken.is_empty() && self.emitted.is_empty()
    }
}

/// A value that a call sent ahead of its result.
pub(super) struct Emission {
    pub(super) index: usize,
    pub(super) emitted: Emitted,
    pub(super) at: Instant,
}

/// Something of a call that runs where it can't be stopped.
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
            places: (0..calls).map(|_| Place::default()).collect(),
            notes: Mutex::default(),
            noted: AtomicBool::new(false),
        })
    }

    /// What wakes one call.
    pub(super) fn waker(self: &Arc<Self>, index: usize) -> Waker {
        Arc::new(CallWaker { mailbox: Arc::clone(self), index }).into()
    }

    /// The call must be done by then.
    pub(super) fn set_deadline(&self, index: usize, deadline: Instant) {
        let _ = self.places[index].deadline.set(deadline);
    }

    /// Takes the notes, if there are any.
    pub(super) fn drain(&self) -> Option<(Vec<usize>, VecDeque<Emission>)> {
        if !self.noted.load(Ordering::Acquire) || !self.noted.swap(false, Ordering::AcqRel) {
            return None;
        }
        let mut notes = self.notes();
        let woken = std::mem::take(&mut notes.woken);
        for &index in &woken {
            self.places[index].woken.swap(false, Ordering::AcqRel);
        }
        Some((woken, std::mem::take(&mut notes.emitted)))
    }

    /// Registers the task to be woken by the next note. Returns whether it was: not when there is a note already, or when
    /// its waker can't be cloned.
    ///
    /// A waker is user code, which may wake a call of this very run. So it is cloned before the lock is taken, and the one
    /// that it replaces is dropped after.
    pub(super) fn rest(&self, task: &Waker) -> bool {
        let is_registered = {
            let notes = self.notes();
            if !notes.is_empty() {
                return false;
            }
            notes.task.as_ref().is_some_and(|known| known.will_wake(task))
        };
        if is_registered {
            return true;
        }
        let Ok(own) = isolated(|| Isolated::new(task.clone())) else { return false };
        let replaced = {
            let mut notes = self.notes();
            if !notes.is_empty() {
                return false;
            }
            notes.task.replace(own)
        };
        drop(replaced);
        true
    }

    /// The reader took a value of this call: there is room for another.
    pub(super) fn make_room(&self, index: usize) {
        if let Some(room) = self.places[index].room.get() {
            // Wakes whoever waits for it.
            drop(isolated(|| room.add_permits(1)));
        }
    }

    /// Whether the call has to wait for its reader before it can say more.
    pub(super) fn is_full(&self, index: usize) -> bool {
        self.places[index].room.get().is_some_and(|room| room.available_permits() == 0)
    }

    /// When the call last showed a sign of life that is no event.
    pub(super) fn last_alive(&self, index: usize) -> Option<Instant> {
        *self.places[index].alive()
    }

    /// Whether something of the call still runs.
    pub(super) fn is_occupied(&self, index: usize) -> bool {
        self.places[index].stays.load(Ordering::Acquire) > 0
    }

    /// The call is over: nobody listens to it any more.
    pub(super) fn close(&self, index: usize) {
        let place = &self.places[index];
        place.over.store(true, Ordering::SeqCst);
        // Either whoever makes a flag or a room after this sees that the call is over, or we see what they made.
        fence(Ordering::SeqCst);
        if let Some(flag) = place.over_flag.get() {
            drop(isolated(|| flag.cancel()));
        }
        if let Some(room) = place.room.get() {
            drop(isolated(|| room.close()));
        }
    }

    fn wake(&self, index: usize) {
        if !self.places[index].woken.swap(true, Ordering::AcqRel) {
            self.note(|notes| notes.woken.push(index));
        }
    }

    fn note(&self, write: impl FnOnce(&mut Notes)) {
        let task = {
            let mut notes = self.notes();
            write(&mut notes);
            self.noted.store(true, Ordering::Release);
            notes.task.take()
        };
        if let Some(task) = task {
            // Whoever woke the call must not learn of a panic of the task's waker. It is woken and dropped one after the
            // other, as both may panic.
            wake_isolated(&task);
        }
    }

    /// Locks the notes. No user code may run while the guard lives: no waker is cloned, woken or dropped under it.
    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Locked for the length of one read or write, which can't panic.
    fn alive(&self) -> MutexGuard<'_, Option<Instant>> {
        self.alive.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a call does on it.
impl Mailbox {
    /// Sends a value to the run, waiting for room. A call that is over sends into nothing.
    pub(super) async fn send(&self, index: usize, buffer: EmitBuffer, emitted: Emitted) {
        if let EmitBuffer::Bounded(size) = buffer {
            let room = self.places[index].room.get_or_init(|| Semaphore::new(size.get().min(Semaphore::MAX_PERMITS)));
            fence(Ordering::SeqCst);
            if self.is_over(index) {
                return;
            }
            match room.acquire().await {
                Ok(permit) => permit.forget(),
                Err(_) => return,
            }
        }
        if !self.is_over(index) {
            let emission = Emission { index, emitted, at: Instant::now() };
            self.note(|notes| notes.emitted.push_back(emission));
        }
    }

    /// A sign of life that nobody is to see: the call is at work.
    pub(super) fn touch(&self, index: usize) {
        *self.places[index].alive() = Some(Instant::now());
    }

    /// Keeps the call's place taken while the guard lives: for work that goes on when the call is given up.
    pub(super) fn occupy(self: &Arc<Self>, index: usize) -> OccupancyGuard {
        self.places[index].stays.fetch_add(1, Ordering::AcqRel);
        OccupancyGuard { mailbox: Arc::clone(self), index }
    }

    /// When the call must be done by its own limits, once it runs.
    pub(super) fn deadline(&self, index: usize) -> Option<Instant> {
        self.places[index].deadline.get().copied()
    }

    /// Whether the call is over.
    pub(super) fn is_over(&self, index: usize) -> bool {
        self.places[index].over.load(Ordering::SeqCst)
    }

    /// Ends when the call is over.
    pub(super) async fn over(&self, index: usize) {
        // The flag comes first: whoever closes the place after this sees it, and whoever did so before is seen.
        let flag = self.places[index].over_flag.get_or_init(Cancellation::new);
        fence(Ordering::SeqCst);
        if !self.is_over(index) {
            flag.cancelled().await;
        }
    }
}

impl Drop for OccupancyGuard {
    fn drop(&mut self) {
        self.mailbox.places[self.index].stays.fetch_sub(1, Ordering::AcqRel);
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
