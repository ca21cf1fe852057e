//! Token buckets, and the lines in front of them.
//!
//! A bucket is one point in time: when it will be full again. Each call moves that point by what one token takes to come
//! back, so nothing has to run in the background. A bucket that is full and that nobody uses is the same as none, and is
//! thrown away: there are never many more buckets than keys that were busy within the last while.

use std::collections::HashMap;
use std::fmt;
use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until};

use crate::cx::Caller;
use crate::tool::ToolName;

/// How many buckets there may be before the first look for idle ones.
const FIRST_SWEEP: usize = 64;

/// Longer than any program runs, and short enough for the clock to count with.
const LONGEST_PERIOD: Duration = Duration::from_secs(100 * 365 * 86_400);

/// How fast tokens come back, and how many there can be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    /// The time of one token; `None` if none ever comes.
    interval: Option<Duration>,
    burst: u32,
}

/// The same of a limit that lets something through.
#[derive(Clone, Copy)]
struct Pace {
    /// What one token takes to come back.
    interval: Duration,
    /// What all of them take.
    refill: Duration,
}

/// What tells buckets apart. A part that doesn't count is `None`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) tool: Option<ToolName>,
    pub(super) caller: Option<Caller>,
}

/// All buckets of a limit.
pub(super) struct Buckets(Mutex<Shelf>);

struct Shelf {
    buckets: HashMap<Key, Arc<Bucket>>,
    sweep_at: usize,
}

/// One bucket and the line in front of it.
pub(super) struct Bucket {
    /// Whose turn is next: held by the first in line. It is fair.
    line: Semaphore,
    level: Mutex<Level>,
}

struct Level {
    full_at: Instant,
    /// How many stand in line, the first included.
    waiting: u32,
}

/// What a call finds at a bucket.
pub(super) enum Arrival<'a> {
    /// A token: it was taken.
    Token,
    /// A place in line.
    Place(Place<'a>),
    /// Neither: its turn would come at this time, or never.
    TooLate(Option<Instant>),
}

/// A place in line. Dropped, it is given up.
pub(super) struct Place<'a> {
    bucket: &'a Bucket,
    pace: Pace,
}

impl Rate {
    pub(super) fn new(calls: u32, per: Duration) -> Self {
        Self { interval: per.min(LONGEST_PERIOD).checked_div(calls), burst: calls }
    }

    pub(super) fn with_burst(self, burst: u32) -> Self {
        Self { burst, ..self }
    }

    fn pace(self) -> Option<Pace> {
        let interval = self.interval.filter(|_| self.burst > 0)?;
        Some(Pace { interval, refill: interval.saturating_mul(self.burst) })
    }
}

impl Buckets {
    pub(super) fn of(&self, key: Key) -> Arc<Bucket> {
        let shelf = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = shelf.buckets.get(&key) {
            return Arc::clone(bucket);
        }
        let now = Instant::now();
        if shelf.buckets.len() >= shelf.sweep_at {
            // Buckets are only handed out under this lock, so one that nobody else holds stays unused meanwhile.
            shelf.buckets.retain(|_, bucket| Arc::strong_count(bucket) > 1 || !bucket.is_full(now));
            shelf.sweep_at = FIRST_SWEEP.max(2 * shelf.buckets.len());
        }
        let bucket = Arc::new(Bucket::full(now));
        shelf.buckets.insert(key, Arc::clone(&bucket));
        bucket
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.lock().unwrap().buckets.len()
    }
}

impl Bucket {
    fn full(now: Instant) -> Self {
        Self { line: Semaphore::new(1), level: Mutex::new(Level { full_at: now, waiting: 0 }) }
    }

    fn is_full(&self, now: Instant) -> bool {
        self.level(|level| level.full_at <= now)
    }

    /// Takes a token, or a place in line if the turn comes by `latest`.
    pub(super) fn arrive(&self, rate: Rate, latest: Option<Instant>) -> Arrival<'_> {
        let now = Instant::now();
        self.level(|level| {
            let Some(pace) = rate.pace() else { return Arrival::TooLate(None) };
            if level.waiting == 0 && level.take(pace, now).is_ok() {
                return Arrival::Token;
            }
            let ahead = pace.interval.saturating_mul(level.waiting);
            let turn = level.token_at(pace, now).and_then(|at| at.max(now).checked_add(ahead));
            match turn {
                Some(turn) if latest.is_none_or(|latest| turn <= latest) => {
                    level.waiting += 1;
                    Arrival::Place(Place { bucket: self, pace })
                }
                turn => Arrival::TooLate(turn),
            }
        })
    }

    fn level<T>(&self, look: impl FnOnce(&mut Level) -> T) -> T {
        look(&mut self.level.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Level {
    /// When there is a token; `None` beyond the end of time.
    fn token_at(&self, pace: Pace, now: Instant) -> Option<Instant> {
        let full_without_it = self.full_at.max(now).checked_add(pace.interval)?;
        Some(full_without_it.checked_sub(pace.refill).unwrap_or(now))
    }

    /// Takes a token, or says when there is one.
    fn take(&mut self, pace: Pace, now: Instant) -> Result<(), Option<Instant>> {
        match self.token_at(pace, now) {
            Some(at) if at <= now => {
                self.full_at = self.full_at.max(now) + pace.interval;
                Ok(())
            }
            later => Err(later),
        }
    }
}

impl Place<'_> {
    /// Waits for the turn and takes the token.
    pub(super) async fn turn(self) {
        // The line is never closed, so this gives a permit, held until the token is taken.
        let _first = self.bucket.line.acquire().await;
        while let Err(token_at) = self.bucket.level(|level| level.take(self.pace, Instant::now())) {
            match token_at {
                Some(at) => sleep_until(at).await,
                None => pending().await,
            }
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.bucket.level(|level| level.waiting -= 1);
    }
}

impl Default for Buckets {
    fn default() -> Self {
        Self(Mutex::new(Shelf { buckets: HashMap::new(), sweep_at: FIRST_SWEEP }))
    }
}

impl fmt::Debug for Buckets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buckets").finish_non_exhaustive()
    }
}
