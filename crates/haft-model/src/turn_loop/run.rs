//! A running loop as a stream of events.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use haft_executor::{Ambient, Cancellation, RunOptions};

use super::end::{LoopEnd, LoopOutcome};
use super::event::LoopEvent;
use super::event_slot::EventSlot;
use super::machine::Machine;
use super::settings::Settings;
use super::state::LoopState;
use super::state_cell::StateCell;

/// A running loop, as a stream of events. See [`TurnLoop::start`](crate::TurnLoop::start).
///
/// Nothing happens until it is polled, and it never runs ahead of its reader: the model streams, tools advance and
/// timeouts fire only while it is polled. The last event is always [`LoopEvent::Ended`]. Dropping the run
/// drops the request in flight and the running tools; [`cancel`](LoopRun::cancel) ends it in an orderly way instead.
#[must_use = "a loop does nothing unless it is polled"]
pub struct LoopRun {
    progress: LoopProgress,
    event_slot: EventSlot,
    state: StateCell,
    flag: Cancellation,
}

/// The progress of a run.
enum LoopProgress {
    /// The loop runs when it is polled.
    Running(LoopFuture),
    /// The loop has ended, and its last event was read.
    Ended(LoopEnd),
}

/// The future of a running loop.
type LoopFuture = Pin<Box<dyn Future<Output = LoopEnd> + Send>>;

impl LoopRun {
    pub(super) fn new(settings: Arc<Settings>, options: RunOptions, state: LoopState) -> Self {
        let flag = settings.cancellation.as_ref().map_or_else(Cancellation::new, Cancellation::child);
        let (state, event_slot) = (StateCell::new(state), EventSlot::default());
        let machine = Machine::drive(settings, options, state.clone(), event_slot.clone(), flag.clone());
        // Permissions of the code that started the loop hold wherever it is polled.
        let machine = Ambient::current().carry(machine);
        Self { progress: LoopProgress::Running(Box::pin(machine)), event_slot, state, flag }
    }

    /// Returns the next event; `None` after the last.
    pub async fn next(&mut self) -> Option<LoopEvent> {
        poll_fn(|task| Pin::new(&mut *self).poll_next(task)).await
    }

    /// Returns the state, which is safe to store at any time: it contains complete turns only. In the middle of a turn
    /// it is the state before that turn, except for the usage: when it is started, the model is asked again, and its
    /// calls run again, also those that have finished since. Calls are made at least once, not exactly once.
    ///
    /// A turn that was waiting is complete already: each call that is resumed with its verdict is in the state, with
    /// its result, before its output is emitted. A call without a result yet waits for another verdict.
    #[must_use]
    pub fn state(&self) -> LoopState {
        self.state.snapshot()
    }

    /// Returns the state with everything that happened so far, to be stored while the loop runs. It differs from the
    /// [state](Self::state) only while calls run: it then contains their turn, with the results that are available and
    /// the calls that wait. Every other call has the result `outcome_unknown`, as nobody will know what became of it if
    /// the process ends now; the model reads that, and the call is not run again.
    ///
    /// Store one before calls run, which is when [`Delta::TurnComplete`](haft_core::Delta::TurnComplete) or
    /// [`LoopEvent::CallsResumed`] is emitted, and after each output.
    #[must_use]
    pub fn checkpoint(&self) -> LoopState {
        self.state.checkpoint()
    }

    /// Cancels the loop: the request in flight is dropped, tools are cancelled, every call gets a result, and the loop
    /// ends with [`LoopEnd::Cancelled`].
    pub fn cancel(&self) {
        self.flag.cancel();
    }

    /// Returns the cancellation flag of this run, to [cancel](Self::cancel) it from elsewhere. It is also raised when
    /// that of the [loop](crate::TurnLoop::cancellation) is; raising it does not affect the loop's flag or other runs.
    ///
    /// ```
    /// use haft_core::{Item, TurnRequest};
    /// use haft_executor::Toolkit;
    /// use haft_model::{LoopEnd, ScriptedModel, ScriptedTurn, TurnLoop};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let agent = TurnLoop::new(ScriptedModel::new([ScriptedTurn::pending()]), Toolkit::new());
    /// let run = agent.start(TurnRequest::new("any", vec![Item::user("Are you there?")]));
    /// let button = run.cancellation();
    /// let (outcome, ()) = tokio::join!(run.finish(), async move { button.cancel() });
    /// assert!(matches!(outcome.end, LoopEnd::Cancelled));
    /// # }
    /// ```
    #[must_use]
    pub fn cancellation(&self) -> Cancellation {
        self.flag.clone()
    }

    /// Runs to the end and discards the events. After the end it returns what the last event contained.
    pub async fn finish(self) -> LoopOutcome {
        let Self { progress, event_slot, state, .. } = self;
        let end = match progress {
            LoopProgress::Running(machine) => drain(machine, &event_slot).await,
            LoopProgress::Ended(end) => end,
        };
        LoopOutcome { end, state: state.into_state() }
    }
}

impl Stream for LoopRun {
    type Item = LoopEvent;

    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<LoopEvent>> {
        let run = self.get_mut();
        let LoopProgress::Running(machine) = &mut run.progress else { return Poll::Ready(None) };
        match machine.as_mut().poll(task) {
            Poll::Ready(end) => {
                run.progress = LoopProgress::Ended(end.clone());
                Poll::Ready(Some(LoopEvent::Ended { end, state: Box::new(run.state.snapshot()) }))
            }
            Poll::Pending => run.event_slot.take().map_or(Poll::Pending, |event| Poll::Ready(Some(event))),
        }
    }
}

/// Runs a loop to its end and discards the events.
async fn drain(mut machine: LoopFuture, event_slot: &EventSlot) -> LoopEnd {
    poll_fn(|task| {
        loop {
            match machine.as_mut().poll(task) {
                Poll::Pending if event_slot.take().is_some() => {}
                polled => return polled,
            }
        }
    })
    .await
}

impl fmt::Debug for LoopRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let turns = self.state.read(|state| state.turns);
        let end = match &self.progress {
            LoopProgress::Running(_) => None,
            LoopProgress::Ended(end) => Some(end),
        };
        f.debug_struct("LoopRun").field("turns", &turns).field("end", &end).finish_non_exhaustive()
    }
}
