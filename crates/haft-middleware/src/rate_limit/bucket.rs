//! A limit's buckets: one for each separately counted group of calls.
//!
//! A full and unused bucket is the same as none and is removed, so there are never many more buckets than recently busy
//! groups.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft_core::Caller;
use tokio::time::Instant;

use super::queue::{Bucket, Pace};

/// The number of buckets at which unused ones are first removed.
const FIRST_SWEEP: usize = 64;

/// The longest period: longer than any program runs, and within the clock's range.
const LONGEST_PERIOD: Duration = Duration::from_secs(100 * 365 * 86_400);

/// A limit's rate, as it was set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    /// The time in which one token comes back; `None` if none ever does.
    interval: Option<Duration>,
    burst: u32,
}

/// A separately counted group of calls. A property that isn't distinguished is `None`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct BucketKey {
    pub(super) tool: Option<String>,
    pub(super) caller: Option<Caller>,
}

/// A limit's buckets.
pub(super) struct Buckets(Mutex<BucketMap>);

struct BucketMap {
    buckets: HashMap<BucketKey, Arc<Bucket>>,
    sweep_at: usize,
}

impl Rate {
    pub(super) fn new(calls: u32, per: Duration) -> Self {
        Self { interval: per.min(LONGEST_PERIOD).checked_div(calls), burst: calls }
    }

    pub(super) fn with_burst(self, burst: u32) -> Self {
        Self { burst, ..self }
    }

    /// Returns the pace at which tokens come back, or `None` if every call is rejected.
    pub(super) fn pace(self) -> Option<Pace> {
        let interval = self.interval.filter(|_| self.burst > 0)?;
        Some(Pace { interval, refill: interval.saturating_mul(self.burst) })
    }
}

impl Buckets {
    /// Returns a group's bucket, which is full if it is new.
    pub(super) fn get(&self, key: BucketKey) -> Arc<Bucket> {
        let map = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = map.buckets.get(&key) {
            return Arc::clone(bucket);
        }
        let now = Instant::now();
        if map.buckets.len() >= map.sweep_at {
            // Buckets are only handed out under this lock, so one without another owner stays unused meanwhile.
            map.buckets.retain(|_, bucket| Arc::strong_count(bucket) > 1 || !bucket.is_full(now));
            map.sweep_at = FIRST_SWEEP.max(2 * map.buckets.len());
        }
        let bucket = Arc::new(Bucket::full(now));
        map.buckets.insert(key, Arc::clone(&bucket));
        bucket
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.lock().unwrap().buckets.len()
    }
}

impl Default for Buckets {
    fn default() -> Self {
        Self(Mutex::new(BucketMap { buckets: HashMap::new(), sweep_at: FIRST_SWEEP }))
    }
}

impl fmt::Debug for Buckets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buckets").finish_non_exhaustive()
    }
}
