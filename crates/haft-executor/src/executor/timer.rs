//! The timer of a run.
//!
//! A run has one timer, set to its next deadline. The clock decides whether a deadline has passed, not the timer: the
//! timer only wakes the task, so every deadline that has passed is handled at the next poll, however long the run was
//! not polled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::pin::Pin;
use std::task::{Context, Poll};

use haft_schema::isolation::{Isolated, Panicked, isolated};
use tokio::time::{Instant, Sleep, sleep_until};

/// Deadlines and their subjects, soonest first.
#[derive(Default)]
pub(super) struct Timer<T: Ord> {
    due: BinaryHeap<Reverse<(Instant, T)>>,
    /// Holds the waker of the task.
    sleep: Option<Isolated<Pin<Box<Sleep>>>>,
}

impl<T: Ord> Timer<T> {
    /// Creates a timer without deadlines.
    pub(super) fn new() -> Self {
        Self { due: BinaryHeap::new(), sleep: None }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.due.is_empty()
    }

    /// Adds a deadline.
    pub(super) fn add(&mut self, at: Instant, subject: T) {
        self.due.push(Reverse((at, subject)));
    }

    /// Removes the next deadline that has passed, and returns its subject.
    pub(super) fn pop(&mut self, now: Instant) -> Option<T> {
        match self.due.peek() {
            Some(Reverse((at, _))) if *at <= now => self.due.pop().map(|Reverse((_, subject))| subject),
            _ => None,
        }
    }

    /// Registers the task to be woken at the next deadline. An error means that there is no tokio timer.
    pub(super) fn park(&mut self, task: &mut Context<'_>) -> Result<Poll<()>, Panicked> {
        let Some(Reverse((next, _))) = self.due.peek() else { return Ok(Poll::Pending) };
        let next = *next;
        if self.sleep.is_none() {
            // Tokio panics outside of a runtime with time enabled.
            self.sleep = Some(Isolated::new(Box::pin(isolated(|| sleep_until(next))?)));
        }
        let Some(sleep) = &mut self.sleep else { return Ok(Poll::Pending) };
        isolated(|| {
            if sleep.deadline() != next {
                sleep.as_mut().reset(next);
            }
            sleep.as_mut().poll(task)
        })
    }
}
