//! The deadline of a run, which may depend on the moment at which the run starts.

use std::time::Duration;

use tokio::time::Instant;

use super::option_merge::stricter;

/// The deadline of a run.
#[derive(Clone, Copy)]
pub(super) enum RunDeadline {
    At(Instant),
    /// Counted from the first poll.
    After(Duration),
    /// The earlier of both.
    Earlier {
        at: Instant,
        after: Duration,
    },
}

impl RunDeadline {
    /// Returns the moment of the deadline for a run that is first polled now. Far beyond what the clock can count there
    /// is none.
    pub(super) fn moment(self, now: Instant) -> Option<Instant> {
        match self {
            Self::At(at) => Some(at),
            Self::After(after) => now.checked_add(after),
            Self::Earlier { at, after } => Some(now.checked_add(after).map_or(at, |end| end.min(at))),
        }
    }

    /// Returns the earlier of two deadlines.
    pub(super) fn earlier(self, other: Self) -> Self {
        let parts = |deadline| match deadline {
            Self::At(at) => (Some(at), None),
            Self::After(after) => (None, Some(after)),
            Self::Earlier { at, after } => (Some(at), Some(after)),
        };
        let ((at, after), (other_at, other_after)) = (parts(self), parts(other));
        match (stricter(at, other_at, Ord::min), stricter(after, other_after, Ord::min)) {
            (Some(at), Some(after)) => Self::Earlier { at, after },
            (Some(at), None) => Self::At(at),
            (None, Some(after)) => Self::After(after),
            (None, None) => self,
        }
    }
}
