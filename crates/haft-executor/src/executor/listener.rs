//! Isolation of tracing subscribers.
//!
//! A subscriber is user code, and it runs wherever a span is opened, entered, left, recorded on, cloned or dropped. A
//! panic in it never reaches the call that the span is about. Without a subscriber, the check costs one load of a
//! static.

use haft_schema::isolation::{Isolated, isolated};
use tracing::Span;
use tracing::span::Entered;

/// Reports whether a subscriber is interested in a target at a level. A subscriber that panics here counts as not
/// interested.
macro_rules! is_heard {
    ($target:expr, $level:expr) => {
        $level <= tracing::level_filters::LevelFilter::current()
            && haft_schema::isolation::isolated(|| tracing::enabled!(target: $target, $level)).unwrap_or(false)
    };
}
pub(crate) use is_heard;

/// A tracing span that is entered, left and dropped in isolation: a subscriber is user code. Recording on it must be
/// isolated by the caller.
#[derive(Debug)]
pub struct IsolatedSpan(Isolated<Span>);

impl IsolatedSpan {
    /// Opens a span. Returns a disabled span if the subscriber panics.
    pub fn open(open: impl FnOnce() -> Span) -> Self {
        Self(Isolated::new(isolated(open).unwrap_or_else(|_| Span::none())))
    }

    /// Creates a disabled span.
    #[must_use]
    pub fn none() -> Self {
        Self(Isolated::new(Span::none()))
    }

    /// Returns the current span.
    pub(crate) fn current() -> Self {
        Self::open(Span::current)
    }

    /// Returns another handle to the same span.
    pub(crate) fn another(&self) -> Self {
        Self::open(|| Span::clone(&self.0))
    }

    /// Enters the span until the guard is dropped.
    #[must_use]
    pub fn enter(&self) -> Option<Isolated<Entered<'_>>> {
        isolated(|| Isolated::new(self.0.enter())).ok()
    }

    /// Returns the span, for recording fields.
    #[must_use]
    pub fn get(&self) -> &Span {
        &self.0
    }
}
