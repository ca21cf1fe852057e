//! Isolation of whoever listens to tracing.
//!
//! A subscriber is user code, and it runs wherever a span is opened, entered, left, recorded on, cloned or dropped. What it
//! panics with never reaches the call that the span is about. Where nobody listens, asking costs one load of a static.

use tracing::Span;
use tracing::span::Entered;

use super::isolation::{Isolated, isolated};

/// Whether somebody listens to a target at a level. A subscriber that panics over it does not.
macro_rules! is_heard {
    ($target:expr, $level:expr) => {
        $level <= tracing::level_filters::LevelFilter::current()
            && $crate::executor::isolated(|| tracing::enabled!(target: $target, $level)).unwrap_or(false)
    };
}
pub(crate) use is_heard;

/// A span that is entered, left and dropped in isolation. To be recorded on in isolation too.
pub(crate) struct IsolatedSpan(Isolated<Span>);

impl IsolatedSpan {
    /// Opens a span; none if the subscriber panics over it.
    pub(crate) fn open(open: impl FnOnce() -> Span) -> Self {
        Self(Isolated::new(isolated(open).unwrap_or_else(|_| Span::none())))
    }

    /// A span that nobody sees.
    pub(crate) fn none() -> Self {
        Self(Isolated::new(Span::none()))
    }

    /// The span that the current code runs in.
    pub(crate) fn current() -> Self {
        Self::open(Span::current)
    }

    /// Another handle of the same span.
    pub(crate) fn another(&self) -> Self {
        Self::open(|| Span::clone(&self.0))
    }

    /// Enters the span until the guard is dropped.
    pub(crate) fn enter(&self) -> Option<Isolated<Entered<'_>>> {
        isolated(|| Isolated::new(self.0.enter())).ok()
    }

    /// The span itself, to be recorded on.
    pub(crate) fn get(&self) -> &Span {
        &self.0
    }
}
