//! A token bucket, and the line in front of it.
//!
//! A bucket is one point in time: when it will be full again. Each call moves that point by what one token takes to come
//! back, so nothing has to run in the background.
//!
//! A call that must wait is given a turn, a point in time, when it arrives. From then on it depends on no other call:
//! one that nobody polls misses its own turn and holds up nobody. What was planned is only a plan, though. Before a call
//! passes it takes a token of the bucket, which knows of those alone that passed: however late some of them are polled,
//! never more pass than the rate and the burst allow. Where the plan doesn't hold any more, because one left, came late
//! or missed its turn, it is made anew, in the order of arrival.
//!
//! Making a plan costs as much as the line is long, so it is not made for each of a crowd that leaves at once. The next in
//! line is woken, and makes the plan when it is polled; whenever a sixteenth of the line has left it is made at once, so that
//! nobody depends on that one for long. A call that passes in time leaves the plan as it is.
//!
//! The lock is never held while somebody waits, nor while somebody is woken: a waker is user code.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::executor::isolated;

/// The line is planned anew when this part of it has left.
const SHARE: usize = 16;

/// How fast tokens come back, and how many there can be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// What one token takes to come back.
    pub(super) interval: Duration,
    /// What all of them take.
    pub(super) refill: Duration,
}

/// One bucket and the line in front of it.
pub(super) struct Bucket(Mutex<Line>);

/// What a call finds at a bucket.
pub(super) enum Arrival<'a> {
    /// A token: it was taken.
    Token,
    /// A place in line.
    Place(Place<'a>),
    /// Neither: its turn would come at this time.
    TooLate(Instant),
}

/// A place in line. Dropped, it is given up, and all later ones move up.
pub(super) struct Place<'a> {
    bucket: &'a Bucket,
    pace: Pace,
    number: u64,
    /// Told when the turn comes earlier than it was said.
    moved_up: Arc<Notify>,
}

struct Line {
    level: Level,
    /// What the level will be when all in line had their turns.
    planned: Level,
    /// Who waits, in the order of arrival.
    waiting: BTreeMap<u64, Waiting>,
    next_number: u64,
    /// The number of calls that have left the line since it was planned.
    gone: usize,
    /// Those whose turn comes earlier now and who are yet to be told, without the lock.
    moved_up: Vec<Arc<Notify>>,
}

struct Waiting {
    turn: Instant,
    moved_up: Arc<Notify>,
}

#[derive(Clone, Copy)]
struct Level {
    full_at: Instant,
}

impl Bucket {
    pub(super) fn full(now: Instant) -> Self {
        let level = Level { full_at: now };
        let (waiting, moved_up) = (BTreeMap::new(), Vec::new());
        Self(Mutex::new(Line { level, planned: level, waiting, next_number: 0, gone: 0, moved_up }))
    }

    pub(super) fn is_full(&self, now: Instant) -> bool {
        self.line(|line| line.planned.full_at <= now)
    }

    /// Takes a token, or a place in line if the turn comes by `latest`.
    pub(super) fn arrive(&self, pace: Pace, latest: Option<Instant>) -> Arrival<'_> {
        self.line(|line| {
            let now = Instant::now();
            let turn = line.planned.token_at(pace, now);
            if turn <= now {
                line.level.take(pace, now);
                line.planned.take(pace, now);
                return Arrival::Token;
            }
            if latest.is_some_and(|latest| turn > latest) {
                return Arrival::TooLate(turn);
            }
            let (number, moved_up) = line.join(pace, turn);
            Arrival::Place(Place { bucket: self, pace, number, moved_up })
        })
    }

    fn line<T>(&self, look: impl FnOnce(&mut Line) -> T) -> T {
        let (looked, moved_up) = {
            let line = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
            (look(line), std::mem::take(&mut line.moved_up))
        };
        for place in moved_up {
            drop(isolated(|| place.notify_one()));
        }
        looked
    }
}

impl Place<'_> {
    /// Waits for the turn and takes the token.
    pub(super) async fn turn(self) {
        while let Some(turn) = self.bucket.line(|line| line.pass(self.number, self.pace, Instant::now())) {
            // Either way it is time to look again.
            let _ = timeout_at(turn, self.moved_up.notified()).await;
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.bucket.line(|line| line.leave(self.number, self.pace, Instant::now()));
    }
}

impl Line {
    /// Goes to the end of the line, where this turn is the next.
    fn join(&mut self, pace: Pace, turn: Instant) -> (u64, Arc<Notify>) {
        let (number, moved_up) = (self.next_number, Arc::<Notify>::default());
        self.next_number += 1;
        self.planned.take(pace, turn);
        self.waiting.insert(number, Waiting { turn, moved_up: Arc::clone(&moved_up) });
        (number, moved_up)
    }

    /// Gives up a place. All later ones move up: the next of them at once, the others when the line is planned.
    fn leave(&mut self, number: u64, pace: Pace, now: Instant) {
        let Some(gone) = self.waiting.remove(&number) else { return };
        self.gone += 1;
        // One token fewer will be taken, so whoever comes now comes that much earlier.
        let planned = if gone.turn > now { self.planned.before(pace, self.level) } else { Some(self.planned) };
        match planned {
            Some(planned) if self.gone.saturating_mul(SHARE) < self.waiting.len() => self.planned = planned,
            _ => return self.plan(pace, now),
        }
        if let Some((_, next)) = self.waiting.range(number..).next() {
            self.moved_up.push(Arc::clone(&next.moved_up));
        }
    }

    /// Takes a token and leaves the line, or returns when the turn is.
    fn pass(&mut self, number: u64, pace: Pace, now: Instant) -> Option<Instant> {
        if self.gone > 0 {
            self.plan(pace, now);
        }
        let is_first = self.waiting.first_key_value().is_some_and(|(first, _)| *first == number);
        let waiting = self.waiting.get_mut(&number)?;
        if waiting.turn > now {
            return Some(waiting.turn);
        }
        let token_at = self.level.token_at(pace, now);
        if token_at > now {
            // It missed its turn, or another that did took the token. It is still before all that came later.
            waiting.turn = token_at;
        } else {
            // Nobody before it lost a token that was kept, and the level is what it was planned to be.
            let is_in_time = now.saturating_duration_since(waiting.turn) < pace.interval;
            let is_as_planned = is_first && is_in_time && self.level.full_at >= now;
            self.level.take(pace, now);
            self.waiting.remove(&number);
            if is_as_planned {
                return None;
            }
        }
        self.plan(pace, now);
        self.waiting.get(&number).map(|waiting| waiting.turn)
    }

    /// Gives turns anew to all who are still before theirs.
    ///
    /// Whose turn is now has one interval to come for the token. After that it is no longer kept for them.
    fn plan(&mut self, pace: Pace, now: Instant) {
        self.gone = 0;
        let mut level = self.level;
        for waiting in self.waiting.values_mut() {
            if waiting.turn > now {
                let turn = level.token_at(pace, now);
                if turn < waiting.turn {
                    self.moved_up.push(Arc::clone(&waiting.moved_up));
                }
                waiting.turn = turn;
            } else if now.saturating_duration_since(waiting.turn) >= pace.interval {
                continue;
            }
            level.take(pace, waiting.turn);
        }
        self.planned = level;
    }
}

impl Level {
    /// When there is a token, now at the earliest.
    fn token_at(self, pace: Pace, now: Instant) -> Instant {
        self.after(pace, now).full_at.checked_sub(pace.refill).map_or(now, |at| at.max(now))
    }

    /// Takes a token that is there at this time.
    fn take(&mut self, pace: Pace, at: Instant) {
        *self = self.after(pace, at);
    }

    /// The level before the last token was taken, which is no lower than `least`; none at the end of time.
    fn before(self, pace: Pace, least: Self) -> Option<Self> {
        self.full_at.checked_add(pace.interval)?;
        let full_at = self.full_at.checked_sub(pace.interval).filter(|full_at| *full_at >= least.full_at)?;
        Some(Self { full_at })
    }

    /// The level after a token was taken. At the end of time it stays as it is.
    fn after(self, pace: Pace, at: Instant) -> Self {
        let full_at = self.full_at.max(at);
        Self { full_at: full_at.checked_add(pace.interval).unwrap_or(full_at) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_crowd_that_leaves_has_the_line_planned_a_few_times_and_not_once_each() {
        let pace = Pace { interval: Duration::from_secs(1), refill: Duration::from_secs(1) };
        let bucket = Bucket::full(Instant::now());
        let crowd: Vec<Arrival<'_>> = (0..2_000).map(|_| bucket.arrive(pace, None)).collect();
        let mut plans = 0;
        for arrival in crowd {
            drop(arrival);
            plans += usize::from(bucket.line(|line| line.gone == 0));
        }
        // The first took a token. A line that shrinks by a sixteenth each time is gone soon.
        assert!(plans < 150, "{plans} plans");
        assert!(bucket.is_full(Instant::now() + pace.refill));
    }
}
