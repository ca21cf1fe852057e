//! Bounded repetitions of a set, counted instead of unrolled.
//!
//! All repetitions in progress read the same characters and end together at the first that is not in the set. It is
//! therefore enough to store when each began: one may end now if it began between `max` and `min` characters ago. Times
//! are added and removed in order, and runs of consecutive times, as an unanchored search produces them, are stored as
//! one span.

use std::collections::VecDeque;

/// The times at which the repetitions in progress began.
#[derive(Debug, Default)]
pub(super) struct RepetitionStarts {
    /// The oldest span, stored separately so that a single span needs no allocation.
    first: Option<Span>,
    rest: VecDeque<Span>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    from: u32,
    to: u32,
}

impl RepetitionStarts {
    pub(super) const SPAN: usize = size_of::<Span>();

    /// Begins a repetition. Times never decrease.
    pub(super) fn enter(&mut self, time: u32) {
        match self.rest.back_mut().or(self.first.as_mut()) {
            None => self.first = Some(Span { from: time, to: time }),
            Some(last) if last.to == time => {}
            Some(last) if last.to + 1 == time => last.to = time,
            Some(_) => self.rest.push_back(Span { from: time, to: time }),
        }
    }

    /// Drops the repetitions that are longer than `max` at `time`. Returns the longest left.
    pub(super) fn longest(&mut self, time: u32, max: u32) -> Option<u32> {
        let oldest = time.saturating_sub(max);
        while self.first.is_some_and(|span| span.to < oldest) {
            self.first = self.rest.pop_front();
        }
        let first = self.first.as_mut()?;
        first.from = first.from.max(oldest);
        Some(time - first.from)
    }

    /// Ends all repetitions but those that begin at `time`.
    pub(super) fn clear_before(&mut self, time: u32) {
        let last = self.rest.back().or(self.first.as_ref());
        self.first = last.filter(|span| span.to == time).map(|span| Span { from: time, ..*span });
        self.rest.clear();
    }

    /// Returns the spans that memory is reserved for.
    pub(super) fn reserved(&self) -> usize {
        self.rest.capacity()
    }
}
