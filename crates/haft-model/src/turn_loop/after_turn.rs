//! What is decided between two turns.
//!
//! The caller's function gets everything there is to know about the turn that ended and may change what is asked next.
//! It works on a copy: when it panics or is dropped, the loop's own state is as if it had not been called.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use haft_core::{BoxError, Item, ToolResult, Toolkit, Turn, TurnRequest, Usage};

use super::conclude::goes_on;
use super::isolation::Isolated;
use super::signal::Signal;
use crate::model::LanguageModel;

/// A turn that ended, and the request that may follow it. Ends in [`next`](AfterTurn::next), [`stop`](AfterTurn::stop) or one
/// of the others.
#[derive(Debug)]
#[must_use = "nothing is decided until one of the ends is called"]
pub struct AfterTurn {
    pub(super) turn: Turn,
    pub(super) results: Vec<ToolResult>,
    pub(super) signals: Vec<Signal>,
    pub(super) request: TurnRequest,
    /// The items that were added to the conversation since: put at the end of the loop's own list later, which then need not be copied.
    pub(super) added: Vec<Item>,
    /// The request with what was added, if somebody looked.
    pub(super) seen: OnceLock<TurnRequest>,
    pub(super) totals: Totals,
    pub(super) tools: Option<Toolkit>,
    pub(super) model: Option<NextModel>,
}

/// A model that takes over.
pub(super) struct NextModel(pub(super) Arc<dyn LanguageModel>);

/// What a loop has spent by now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Totals {
    pub(super) turns: u32,
    pub(super) usage: Usage,
    pub(super) calls: u64,
    pub(super) time_used: Duration,
}

/// What was decided.
#[derive(Debug)]
#[must_use = "a decision counts when it is returned"]
pub struct Flow {
    pub(super) after: Box<AfterTurn>,
    pub(super) step: NextStep,
}

#[derive(Debug)]
pub(super) enum NextStep {
    Next,
    Stop,
    Fail(Arc<BoxError>),
}

impl fmt::Debug for NextModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NextModel(..)")
    }
}

/// What happened.
impl AfterTurn {
    /// The number of the turn, from one.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.totals.turns
    }

    /// The turn.
    #[must_use]
    pub fn turn(&self) -> &Turn {
        &self.turn
    }

    /// The results of its calls, in the order of the calls. Signals are not among them.
    #[must_use]
    pub fn results(&self) -> &[ToolResult] {
        &self.results
    }

    /// The signals among its calls, in order.
    #[must_use]
    pub fn signals(&self) -> &[Signal] {
        &self.signals
    }

    /// The signals, to be answered. One that is not is closed with `null`.
    #[must_use]
    pub fn signals_mut(&mut self) -> &mut [Signal] {
        &mut self.signals
    }

    /// What all turns cost.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.totals.usage
    }

    /// How many calls were handed on in all turns.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.totals.calls
    }

    /// How long the loop ran.
    #[must_use]
    pub fn time_used(&self) -> Duration {
        self.totals.time_used
    }

    /// The conversation, with this turn and its results. Signals stand there as closed with `null`; their answers are
    /// filled in afterwards.
    #[must_use]
    pub fn history(&self) -> &[Item] {
        &self.request().history
    }
}

/// What comes next.
impl AfterTurn {
    /// What the model is asked next.
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

    /// What the model is asked next, to be changed: the model, the choice of tools, the history. The tools themselves are
    /// changed with [`set_tools`](AfterTurn::set_tools).
    ///
    /// The history is shared with the loop: changing it copies it. To add to it use [`push`](AfterTurn::push).
    pub fn request_mut(&mut self) -> &mut TurnRequest {
        self.seen = OnceLock::new();
        self.request.history.extend(self.added.drain(..));
        &mut self.request
    }

    /// Offers other tools from the next turn on. Tools are not part of a stored state: who starts it again brings them.
    pub fn set_tools(&mut self, kit: Toolkit) {
        self.tools = Some(kit);
    }

    /// Asks another model from the next turn on: a stronger one, or one of another provider. Like tools, models are not part
    /// of a stored state.
    pub fn set_model(&mut self, model: impl LanguageModel + 'static) {
        self.model = Some(NextModel(Arc::new(Isolated::new(model))));
    }

    /// Adds something to the conversation.
    pub fn push(&mut self, item: impl Into<Item>) {
        self.seen = OnceLock::new();
        self.added.push(item.into());
    }

    /// Asks the model again.
    pub fn next(self) -> Flow {
        self.ending(NextStep::Next)
    }

    /// Ends the loop.
    pub fn stop(self) -> Flow {
        self.ending(NextStep::Stop)
    }

    /// Ends the loop with an error. What was changed is left aside, and the decision is asked for again when the state is
    /// started again.
    pub fn fail(self, error: impl Into<BoxError>) -> Flow {
        self.ending(NextStep::Fail(Arc::new(error.into())))
    }

    /// Does what a loop does that has nobody to decide: asks again when the turn asked for calls or was paused, and ends
    /// otherwise.
    pub fn as_usual(self) -> Flow {
        if goes_on(&self.turn) { self.next() } else { self.stop() }
    }

    fn ending(self, step: NextStep) -> Flow {
        Flow { after: Box::new(self), step }
    }
}
