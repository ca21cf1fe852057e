//! The decision after a turn.
//!
//! The application's function receives the turn that ended with its results, and may change the next request.
//! It works on a copy: if it panics or is dropped, the state of the loop must be as if it had not been called.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use haft_core::{Item, ToolResult, Turn, TurnRequest, Usage};
use haft_executor::{BoxError, ToolSource};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::conclude::goes_on;
use super::conversation::AppValue;
use super::isolation::Isolated;
use super::signal::Signal;
use crate::model::LanguageModel;

/// A turn that ended, and the request that may follow it. The decision is made with [`next`](AfterTurn::next),
/// [`stop`](AfterTurn::stop), [`fail`](AfterTurn::fail) or [`as_usual`](AfterTurn::as_usual).
#[derive(Debug)]
#[must_use = "nothing is decided until `next`, `stop`, `fail` or `as_usual` is called"]
pub struct AfterTurn {
    pub(super) turn: Turn,
    pub(super) results: Vec<ToolResult>,
    pub(super) signals: Vec<Signal>,
    pub(super) request: TurnRequest,
    /// The items that were added to the conversation. They are appended to the loop's own list later, which then need
    /// not be copied.
    pub(super) added: Vec<Item>,
    /// The request with the added items, created when it is first read.
    pub(super) seen: OnceLock<TurnRequest>,
    pub(super) totals: Totals,
    pub(super) app: Option<AppValue>,
    pub(super) tools: Option<Arc<dyn ToolSource>>,
    pub(super) model: Option<NextModel>,
}

/// The model of the following turns.
pub(super) struct NextModel(pub(super) Arc<dyn LanguageModel>);

/// The totals of a loop so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Totals {
    pub(super) turns: u32,
    pub(super) usage: Usage,
    pub(super) calls: u64,
    pub(super) time_used: Duration,
}

/// A decision after a turn.
#[derive(Debug)]
#[must_use = "a decision counts when it is returned"]
pub struct Flow {
    pub(super) after: Box<AfterTurn>,
    pub(super) step: NextStep,
}

/// The step after a turn.
#[derive(Debug)]
pub(super) enum NextStep {
    /// The next turn.
    Next,
    /// The end of the loop, which the application decided.
    Stop,
    /// The end of the loop, because the turn is the last one.
    End,
    /// The end of the loop with an error.
    Fail(Arc<BoxError>),
}

impl fmt::Debug for NextModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NextModel(..)")
    }
}

/// The turn that ended.
impl AfterTurn {
    /// Returns the number of the turn, from one.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.totals.turns
    }

    /// Returns the turn.
    #[must_use]
    pub fn turn(&self) -> &Turn {
        &self.turn
    }

    /// Returns the results of its calls, in the order of the calls, without those of signals that surfaced.
    #[must_use]
    pub fn results(&self) -> &[ToolResult] {
        &self.results
    }

    /// Returns the signals among its calls, in order.
    #[must_use]
    pub fn signals(&self) -> &[Signal] {
        &self.signals
    }

    /// Returns the signals, to be answered. The result of a signal without an answer is `null`.
    #[must_use]
    pub fn signals_mut(&mut self) -> &mut [Signal] {
        &mut self.signals
    }

    /// Returns the usage of all turns.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.totals.usage
    }

    /// Returns the number of calls that were run in all turns.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.totals.calls
    }

    /// Returns the time for which the loop ran.
    #[must_use]
    pub fn time_used(&self) -> Duration {
        self.totals.time_used
    }

    /// Returns the conversation, with this turn and its results. The output of a signal is `null` there; its answer is
    /// filled in after the decision.
    #[must_use]
    pub fn history(&self) -> &[Item] {
        &self.request().history
    }
}

/// The next request, and the decision.
impl AfterTurn {
    /// Returns the next request. Its tools are empty: each turn offers those of its source at that time, and
    /// [`LoopEvent::TurnStarted`](crate::LoopEvent::TurnStarted) names them.
    #[must_use]
    pub fn request(&self) -> &TurnRequest {
        if self.added.is_empty() {
            return &self.request;
        }
        self.seen.get_or_init(|| {
            let mut request = self.request.clone();
            request.history.extend(self.added.iter().cloned());
            request
        })
    }

    /// Returns the next request, to be changed: the model name, the tool choice, the history. The tools themselves are
    /// changed with [`set_tools`](AfterTurn::set_tools).
    ///
    /// The history is shared with the loop: changing it copies it. To append an item use [`push`](AfterTurn::push).
    pub fn request_mut(&mut self) -> &mut TurnRequest {
        self.seen = OnceLock::new();
        self.request.history.extend(self.added.drain(..));
        &mut self.request
    }

    /// Sets the tools from the next turn on: a toolkit, or another source. Tools are not part of a stored state: the
    /// application supplies them when it starts one.
    pub fn set_tools(&mut self, source: impl ToolSource + 'static) {
        self.tools = Some(Arc::new(Isolated::new(source)));
    }

    /// Sets the model from the next turn on, for example a stronger one or one of another provider. Like tools, models
    /// are not part of a stored state.
    pub fn set_model(&mut self, model: impl LanguageModel + 'static) {
        self.model = Some(NextModel(Arc::new(Isolated::new(model))));
    }

    /// Appends an item to the conversation.
    pub fn push(&mut self, item: impl Into<Item>) {
        self.seen = OnceLock::new();
        self.added.push(item.into());
    }

    /// Reads the application's own value; `None` if none was set. An error means that it is not a `T`.
    pub fn app<T: DeserializeOwned>(&self) -> Result<Option<T>, serde_json::Error> {
        AppValue::read(self.app.as_ref())
    }

    /// Sets the application's own value in the state. See [`LoopState::set_app`](crate::LoopState::set_app).
    pub fn set_app<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), serde_json::Error> {
        self.app = Some(AppValue::of(value)?);
        Ok(())
    }

    /// Continues with the next turn.
    pub fn next(self) -> Flow {
        self.ending(NextStep::Next)
    }

    /// Ends the loop.
    pub fn stop(self) -> Flow {
        self.ending(NextStep::Stop)
    }

    /// Ends the loop with an error. The changes are discarded, and the decision is made again when the state is
    /// started again.
    pub fn fail(self, error: impl Into<BoxError>) -> Flow {
        self.ending(NextStep::Fail(Arc::new(error.into())))
    }

    /// Decides as a loop without a decide function: continues if the turn has calls or was paused, and ends the loop
    /// otherwise.
    pub fn as_usual(self) -> Flow {
        let step = if goes_on(&self.turn) { NextStep::Next } else { NextStep::End };
        self.ending(step)
    }

    fn ending(self, step: NextStep) -> Flow {
        Flow { after: Box::new(self), step }
    }
}
