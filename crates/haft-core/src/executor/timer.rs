//! When things are due.
//!
//! A run has one timer, set to whatever is due next. Being due is told by the clock, not by the timer: the timer only
//! wakes, so everything that is late is settled at the next poll, however long the run was not polled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::time::{Instant, Sleep, sleep_until};

use super::isolation::{Isolated, Panicked, isolated};

/// What is due, soonest first.
#[derive(Default)]
pub(super) struct Timer<T: Ord> {
    due: BinaryHeap<Reverse<(Instant, T)>>,
    /// Holds the waker of the task.
    sleep: Option<Isolated<Pin<Box<Sleep>>>>,
}

impl<T: Ord> Timer<T> {
    /// Nothing is due.
    pub(super) fn new() -> Self {
        Self { due: BinaryHeap::new(), sleep: None }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.due.is_empty()
    }

    /// Notes that something is due at a moment.
    pub(super) fn add(&mut self, at: Instant, what: T) {
        self.due.push(Reverse((at, what)));
    }

    /// Takes the next thing that is due by now.
    pub(super) fn pop(&mut self, now: Instant) -> Option<T> {
        match self.due.peek() {
            Some(Reverse((at, _))) if *at <= now => self.due.pop().map(|Reverse((_, what))| what),
            _ => None,
        }
    }

    /// Sees to it that the task is woken for what is due next. An error says that there is no clock to wait by.
    pub(super) fn rest(&mut self, task: &mut Context<'_>) -> Result<Poll<()>, Panicked> {
        let Some(Reverse((next, _))) = self.due.peek() else { return Ok(Poll::Pending) };
        let next = *next;
        if self.sleep.is_none() {
            // Tokio panics outside of a runtime with a clock.
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
