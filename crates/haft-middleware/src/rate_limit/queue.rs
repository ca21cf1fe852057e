//! A token bucket, and its queue of calls.
//!
//! A bucket is one point in time: when it will be full again. Each call moves that point by the time in which one token
//! comes back, so nothing has to run in the background.
//!
//! A call that must wait is assigned a turn, a point in time, when it arrives. From then on it depends on no other
//! call: one that is not polled misses its own turn and holds up no other. Turns are only a plan, though. Before a call
//! passes it takes a token from the bucket, whose level counts only calls that did pass: however late some are polled,
//! never more pass than the rate and the burst allow. If a call left, came late or missed its turn, so that the plan no
//! longer holds, turns are assigned anew in the order of arrival.
//!
//! Assigning turns costs time proportional to the queue, so it is not done for each of many calls that leave at once.
//! The next call in the queue is woken, and assigns turns when it is polled. Whenever a sixteenth of the queue has
//! left, turns are assigned at once, so that the others do not depend on that one call for long. A call that passes in
//! time leaves the plan unchanged.
//!
//! The lock is never held across an await, nor while a call is woken: wakers are user code.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft_schema::isolation::isolated;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// The share of the queue that must leave before turns are assigned anew: one call in this many.
const REPLAN_SHARE: usize = 16;

/// The times in which tokens come back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// The time in which one token comes back.
    pub(super) interval: Duration,
    /// The time in which all of them come back.
    pub(super) refill: Duration,
}

/// A token bucket and its queue.
pub(super) struct Bucket(Mutex<BucketState>);

/// The admission of a call that arrives at a bucket.
pub(super) enum Admission<'a> {
    /// A token was taken.
    Admitted,
    /// The call has to wait for its turn.
    Queued(QueuedCall<'a>),
    /// The call was not queued, because its turn would come at this time.
    TooLate(Instant),
}

/// A queued call. When this is dropped, the call has left and all later ones move up.
pub(super) struct QueuedCall<'a> {
    bucket: &'a Bucket,
    pace: Pace,
    number: u64,
    /// Notified when the turn moved to an earlier time.
    moved_up: Arc<Notify>,
}

struct BucketState {
    level: FillLevel,
    /// The level after all queued calls' turns.
    planned: FillLevel,
    /// The queued calls, in the order of arrival.
    queue: BTreeMap<u64, QueueTurn>,
    next_number: u64,
    /// The number of calls that have left the queue since turns were assigned.
    gone: usize,
    /// The calls whose turn moved to an earlier time, to notify once the lock is released.
    moved_up: Vec<Arc<Notify>>,
}

/// A queued call's turn.
struct QueueTurn {
    at: Instant,
    moved_up: Arc<Notify>,
}

/// A bucket's fill level.
#[derive(Clone, Copy)]
struct FillLevel {
    full_at: Instant,
}

impl Bucket {
    pub(super) fn full(now: Instant) -> Self {
        let level = FillLevel { full_at: now };
        let (queue, moved_up) = (BTreeMap::new(), Vec::new());
        Self(Mutex::new(BucketState { level, planned: level, queue, next_number: 0, gone: 0, moved_up }))
    }

    pub(super) fn is_full(&self, now: Instant) -> bool {
        self.locked(|state| state.planned.full_at <= now)
    }

    /// Takes a token, or joins the queue if the turn comes by `latest`.
    pub(super) fn arrive(&self, pace: Pace, latest: Option<Instant>) -> Admission<'_> {
        self.locked(|state| {
            let now = Instant::now();
            let turn = state.planned.token_at(pace, now);
            if turn <= now {
                state.level.take(pace, now);
                state.planned.take(pace, now);
                return Admission::Admitted;
            }
            if latest.is_some_and(|latest| turn > latest) {
                return Admission::TooLate(turn);
            }
            let (number, moved_up) = state.join(pace, turn);
            Admission::Queued(QueuedCall { bucket: self, pace, number, moved_up })
        })
    }

    /// Accesses the state under the lock, and notifies calls that moved up after it was released.
    fn locked<T>(&self, access: impl FnOnce(&mut BucketState) -> T) -> T {
        let (returned, moved_up) = {
            let state = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
            (access(state), std::mem::take(&mut state.moved_up))
        };
        for call in moved_up {
            drop(isolated(|| call.notify_one()));
        }
        returned
    }
}

impl QueuedCall<'_> {
    /// Waits for the turn and takes the token.
    pub(super) async fn turn(self) {
        while let Some(turn) = self.bucket.locked(|state| state.pass(self.number, self.pace, Instant::now())) {
            // Either way it is time to try again.
            let _ = timeout_at(turn, self.moved_up.notified()).await;
        }
    }
}

impl Drop for QueuedCall<'_> {
    fn drop(&mut self) {
        self.bucket.locked(|state| state.leave(self.number, self.pace, Instant::now()));
    }
}

impl BucketState {
    /// Adds a call to the queue's end, where this turn is the next.
    fn join(&mut self, pace: Pace, turn: Instant) -> (u64, Arc<Notify>) {
        let (number, moved_up) = (self.next_number, Arc::<Notify>::default());
        self.next_number += 1;
        self.planned.take(pace, turn);
        self.queue.insert(number, QueueTurn { at: turn, moved_up: Arc::clone(&moved_up) });
        (number, moved_up)
    }

    /// Removes a call that stops waiting. All later ones move up: the next one at once, the others when turns are
    /// assigned anew.
    fn leave(&mut self, number: u64, pace: Pace, now: Instant) {
        let Some(gone) = self.queue.remove(&number) else { return };
        self.gone += 1;
        // One token fewer will be taken, so a call that arrives now gets an earlier turn.
        let planned = if gone.at > now { self.planned.before(pace, self.level) } else { Some(self.planned) };
        match planned {
            Some(planned) if self.gone.saturating_mul(REPLAN_SHARE) < self.queue.len() => self.planned = planned,
            _ => return self.assign_turns(pace, now),
        }
        if let Some((_, next)) = self.queue.range(number..).next() {
            self.moved_up.push(Arc::clone(&next.moved_up));
        }
    }

    /// Takes a token and removes the call from the queue, or returns when its turn is.
    fn pass(&mut self, number: u64, pace: Pace, now: Instant) -> Option<Instant> {
        if self.gone > 0 {
            self.assign_turns(pace, now);
        }
        let is_first = self.queue.first_key_value().is_some_and(|(first, _)| *first == number);
        let turn = self.queue.get_mut(&number)?;
        if turn.at > now {
            return Some(turn.at);
        }
        let token_at = self.level.token_at(pace, now);
        if token_at > now {
            // It missed its turn, or another call that did took the token. It is still before all that arrived later.
            turn.at = token_at;
        } else {
            // No earlier call lost a token that was reserved for it, and the level is the planned one.
            let is_in_time = now.saturating_duration_since(turn.at) < pace.interval;
            let is_as_planned = is_first && is_in_time && self.level.full_at >= now;
            self.level.take(pace, now);
            self.queue.remove(&number);
            if is_as_planned {
                return None;
            }
        }
        self.assign_turns(pace, now);
        self.queue.get(&number).map(|turn| turn.at)
    }

    /// Assigns new turns to all calls whose turn has not come yet.
    ///
    /// If a call's turn has come, a token is reserved for it for one interval, and no longer.
    fn assign_turns(&mut self, pace: Pace, now: Instant) {
        self.gone = 0;
        let mut level = self.level;
        for turn in self.queue.values_mut() {
            if turn.at > now {
                let at = level.token_at(pace, now);
                if at < turn.at {
                    self.moved_up.push(Arc::clone(&turn.moved_up));
                }
                turn.at = at;
            } else if now.saturating_duration_since(turn.at) >= pace.interval {
                continue;
            }
            level.take(pace, turn.at);
        }
        self.planned = level;
    }
}

impl FillLevel {
    /// Returns the time at which there is a token, now at the earliest.
    fn token_at(self, pace: Pace, now: Instant) -> Instant {
        self.after(pace, now).full_at.checked_sub(pace.refill).map_or(now, |at| at.max(now))
    }

    /// Takes a token that is there at this time.
    fn take(&mut self, pace: Pace, at: Instant) {
        *self = self.after(pace, at);
    }

    /// Returns the level before the last token was taken, but not less than `least`. Returns `None` at the end of the
    /// clock's range.
    fn before(self, pace: Pace, least: Self) -> Option<Self> {
        self.full_at.checked_add(pace.interval)?;
        let full_at = self.full_at.checked_sub(pace.interval).filter(|full_at| *full_at >= least.full_at)?;
        Some(Self { full_at })
    }

    /// Returns the level after a token was taken. At the end of the clock's range it stays unchanged.
    fn after(self, pace: Pace, at: Instant) -> Self {
        let full_at = self.full_at.max(at);
        Self { full_at: full_at.checked_add(pace.interval).unwrap_or(full_at) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn many_calls_that_leave_at_once_have_turns_assigned_a_few_times_and_not_once_each() {
        let pace = Pace { interval: Duration::from_secs(1), refill: Duration::from_secs(1) };
        let bucket = Bucket::full(Instant::now());
        let crowd: Vec<Admission<'_>> = (0..2_000).map(|_| bucket.arrive(pace, None)).collect();
        let mut assignments = 0;
        for admission in crowd {
            drop(admission);
            assignments += usize::from(bucket.locked(|state| state.gone == 0));
        }
        // The first took a token. A queue that shrinks by a sixteenth each time is soon empty.
        assert!(assignments < 150, "{assignments} assignments");
        assert!(bucket.is_full(Instant::now() + pace.refill));
    }
}
