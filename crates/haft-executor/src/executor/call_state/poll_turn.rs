//! The turn of a call to be polled.
//!
//! A call that is queued when its deadline passes may have finished already: it is polled once more before it is ended.

use super::CallState;

/// A call's entry in the queue of calls to be polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PollTurn {
    /// It is not queued.
    None,
    /// It is queued.
    Queued,
    /// It is queued, and passed its deadline before it was polled.
    QueuedPastDeadline,
    /// It is polled now, for the last time if it does not finish.
    LastPoll,
}

/// The queue of calls to be polled.
impl CallState {
    /// Queues the call. Returns whether it was not queued before.
    pub(in crate::executor) fn enqueue(&mut self) -> bool {
        let (turn, is_new) = match self.poll_turn {
            PollTurn::None => (PollTurn::Queued, true),
            PollTurn::LastPoll => (PollTurn::QueuedPastDeadline, true),
            queued @ (PollTurn::Queued | PollTurn::QueuedPastDeadline) => (queued, false),
        };
        self.poll_turn = turn;
        is_new
    }

    /// Takes the call out of the queue: it is polled now.
    pub(in crate::executor) fn dequeue(&mut self) {
        let is_last = self.poll_turn == PollTurn::QueuedPastDeadline;
        self.poll_turn = if is_last { PollTurn::LastPoll } else { PollTurn::None };
    }

    /// Records that the deadline has passed. Returns whether the call can be ended now: a call that is still queued may
    /// have finished, and is polled once more first.
    pub(in crate::executor) fn pass_deadline(&mut self) -> bool {
        let is_queued = matches!(self.poll_turn, PollTurn::Queued | PollTurn::QueuedPastDeadline);
        if is_queued {
            self.poll_turn = PollTurn::QueuedPastDeadline;
        }
        !is_queued
    }

    /// Reports whether this was the call's last poll before its deadline ends it.
    pub(in crate::executor) fn was_last_poll(&mut self) -> bool {
        let is_last = self.poll_turn == PollTurn::LastPoll;
        if is_last {
            self.poll_turn = PollTurn::None;
        }
        is_last
    }
}
