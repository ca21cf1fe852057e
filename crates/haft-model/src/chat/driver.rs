//! The task of a run: it reads the loop, saves, renews, and hands the events on.
//!
//! An event that stands for something new is saved before anybody reads it, and calls run only after the event before
//! them was taken from the loop, which is when it was saved. When saving fails, the loop is cancelled before it is polled
//! again, so that no call begins.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_core::Stream;
use haft_core::{Delta, ToolEvent};
use tokio::time::timeout;

use super::event_log::EventLog;
use super::lease::Lease;
use super::running::RunningEntry;
use crate::store::StoreError;
use crate::turn_loop::{LoopEnd, LoopError, LoopEvent, LoopRun};

/// A run, as its task has it.
pub(super) struct Driver {
    pub(super) lease: Lease,
    pub(super) version: u64,
    pub(super) run: LoopRun,
    pub(super) log: EventLog,
    pub(super) stall: Duration,
    pub(super) entry: RunningEntry,
}

/// The save that an event requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SavePoint {
    /// Save now: calls are about to run, or one has a result.
    Now,
    /// Save before the next request to the model: the turn that ended had no calls.
    BeforeNextTurn,
    /// Save if something is not saved yet: the model is about to be asked.
    IfOpen,
    /// Nothing new.
    None,
}

/// Ends a log however its task ends.
struct LogEnd(EventLog);

impl Drop for LogEnd {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Driver {
    /// Drives the run to its end.
    pub(super) async fn drive(self) {
        let Self { mut lease, mut version, mut run, log, stall, entry } = self;
        let _end = LogEnd(log.clone());
        let (mut is_unsaved, mut fault) = (false, None);
        let (end, state) = loop {
            let event = lease.during(next_event(&mut run, &log)).await;
            let event = match event {
                // A loop always ends with this event.
                None => break (LoopEnd::Cancelled, run.state()),
                Some(LoopEvent::Ended { end, state }) => break (end, *state),
                Some(event) => event,
            };
            if fault.is_some() {
                // What can't be saved is not shown.
                continue;
            }
            is_unsaved |= SavePoint::of(&event) == SavePoint::BeforeNextTurn;
            let is_due = match SavePoint::of(&event) {
                SavePoint::Now => true,
                SavePoint::IfOpen => is_unsaved,
                SavePoint::BeforeNextTurn | SavePoint::None => false,
            };
            if is_due {
                match lease.save(version, &run.checkpoint()).await {
                    Ok(saved) => (version, is_unsaved) = (saved, false),
                    Err(error) => {
                        run.cancel();
                        fault = Some(error);
                        continue;
                    }
                }
            }
            log.push(event);
            let has_room = lease.during(timeout(stall, poll_fn(|task| log.poll_room(task)))).await;
            if has_room.is_err() {
                // The reader is as good as gone, and the rest must not wait for it.
                run.cancel();
                log.detach();
            }
        };
        drop(run);
        let saved = lease.save(version, &state).await.err();
        lease.release().await;
        drop(entry);
        log.push(LoopEvent::Ended { end: ended(end, fault.or(saved)), state: Box::new(state) });
    }
}

impl SavePoint {
    fn of(event: &LoopEvent) -> Self {
        match event {
            LoopEvent::Delta(Delta::TurnComplete(turn)) => {
                if turn.tool_calls().is_empty() {
                    Self::BeforeNextTurn
                } else {
                    Self::Now
                }
            }
            LoopEvent::CallsResumed { .. }
            | LoopEvent::Signal(_)
            | LoopEvent::Tool(ToolEvent::Output { .. } | ToolEvent::Suspended { .. }) => Self::Now,
            LoopEvent::TurnStarted { .. } => Self::IfOpen,
            _ => Self::None,
        }
    }
}

/// Returns the next event of the loop, which is cancelled when its reader is gone.
async fn next_event(run: &mut LoopRun, log: &EventLog) -> Option<LoopEvent> {
    let flag = run.cancellation();
    poll_fn(|task| {
        if !flag.is_cancelled() && log.poll_abandoned(task).is_ready() {
            flag.cancel();
        }
        Pin::new(&mut *run).poll_next(task)
    })
    .await
}

/// Returns the end of a run: that of its loop, unless it could not be saved.
fn ended(end: LoopEnd, fault: Option<StoreError>) -> LoopEnd {
    match fault {
        Some(error) => LoopError::NotSaved(Arc::new(error)).into(),
        None => end,
    }
}
