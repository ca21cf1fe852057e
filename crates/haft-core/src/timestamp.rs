//! Points in time, as plain data.
//!
//! Values that leave the process store times as milliseconds since the Unix epoch: every language can read them, and
//! they need no calendar. Nothing here reads a clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A point in time, in milliseconds since the Unix epoch.
///
/// ```
/// use std::time::{Duration, UNIX_EPOCH};
///
/// use haft_core::Timestamp;
///
/// let moment = Timestamp::from(UNIX_EPOCH + Duration::from_millis(1_500));
/// assert_eq!(moment.unix_millis(), 1_500);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// Creates the timestamp of this many milliseconds after the Unix epoch.
    #[must_use]
    pub const fn from_unix_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds since the Unix epoch.
    #[must_use]
    pub const fn unix_millis(self) -> u64 {
        self.0
    }

    /// Returns this timestamp plus a duration, or the latest possible timestamp on overflow.
    #[must_use]
    pub fn saturating_add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(whole_millis(span)))
    }
}

/// Truncates to whole milliseconds. A time before the epoch becomes the epoch.
impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        Self(time.duration_since(UNIX_EPOCH).map_or(0, whole_millis))
    }
}

fn whole_millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_saturate_at_both_ends() {
        assert_eq!(Timestamp::from(UNIX_EPOCH - Duration::from_secs(5)).unix_millis(), 0);
        assert_eq!(Timestamp::from_unix_millis(7).saturating_add(Duration::MAX).unix_millis(), u64::MAX);
        assert_eq!(Timestamp::from_unix_millis(7).saturating_add(Duration::from_millis(3)).unix_millis(), 10);
    }
}
