//! One bucket for each that counts for itself.
//!
//! A bucket that is full and that nobody uses is the same as none, and is thrown away: there are never many more buckets
//! than keys that were busy within the last while.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::line::{Bucket, Pace};
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

impl Rate {
    pub(super) fn new(calls: u32, per: Duration) -> Self {
        Self { interval: per.min(LONGEST_PERIOD).checked_div(calls), burst: calls }
    }

    pub(super) fn with_burst(self, burst: u32) -> Self {
        Self { burst, ..self }
    }

    /// `None` if nothing is let through.
    pub(super) fn pace(self) -> Option<Pace> {
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
