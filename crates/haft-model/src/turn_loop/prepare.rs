//! The preparation of a request: the history is shortened before the model reads it.
//!
//! A hook works on a copy, and its result replaces the history of the state, so that there is one history: the one that
//! the model reads, that tools get as their messages, and that is stored. A result that can't be sent is rejected, and the
//! state stays as it was. Without a hook nothing is done here.

use std::pin::Pin;
use std::sync::Arc;

use haft_core::{History, Item, Usage};
use haft_executor::BoxError;

use super::end::LoopEnd;
use super::error::LoopError;
use super::event::LoopEvent;
use super::isolation::{caught, isolated};
use super::machine::Machine;
use super::waiting::WaitingCalls;

/// A hook that prepares each request of a loop; see [`TurnLoop::prepare`](crate::TurnLoop::prepare).
///
/// An async closure from [`BeforeRequest`] to `Result<BeforeRequest, BoxError>` is one. [`ClearToolResults`] and
/// [`Summarize`] are ready to use.
///
/// [`ClearToolResults`]: crate::ClearToolResults
/// [`Summarize`]: crate::Summarize
pub trait Prepare: Send + Sync {
    /// Prepares a request. An error ends the loop with [`LoopError::Prepare`], and the state stays as it was.
    fn prepare(&self, request: BeforeRequest) -> PrepareFuture<'_>;
}

/// The future of a prepared request.
pub type PrepareFuture<'a> = Pin<Box<dyn Future<Output = Result<BeforeRequest, BoxError>> + Send + 'a>>;

impl<F, Fut> Prepare for F
where
    F: Fn(BeforeRequest) -> Fut + Send + Sync,
    Fut: Future<Output = Result<BeforeRequest, BoxError>> + Send + 'static,
{
    fn prepare(&self, request: BeforeRequest) -> PrepareFuture<'_> {
        Box::pin(self(request))
    }
}

/// A request that is about to be sent. [Its history](BeforeRequest::history_mut) can be changed.
#[derive(Clone, Debug)]
#[must_use = "a hook returns the request"]
pub struct BeforeRequest {
    history: History,
    number: u32,
    input_tokens: Option<u64>,
    too_long: Option<String>,
    usage: Usage,
}

impl BeforeRequest {
    /// Returns the number of the turn that is requested, from one.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns the history that will be sent.
    #[must_use]
    pub fn history(&self) -> &[Item] {
        &self.history
    }

    /// Returns the history that will be sent, to be changed. A call and its output must be removed together.
    pub fn history_mut(&mut self) -> &mut Vec<Item> {
        &mut self.history
    }

    /// Returns the number of tokens that the model read in the turn before, as the provider reported it. Unset in the first
    /// request of a run, and if the provider reports nothing.
    #[must_use]
    pub fn input_tokens(&self) -> Option<u64> {
        self.input_tokens
    }

    /// Returns the provider's message if it rejected this request because the conversation is too long.
    #[must_use]
    pub fn too_long(&self) -> Option<&str> {
        self.too_long.as_deref()
    }

    /// Counts the usage of a model that the hook has asked as usage of the loop.
    pub fn add_usage(&mut self, usage: Usage) {
        self.usage += usage;
    }

    /// Reports whether it is time to shorten the history: the turn before read at least this many tokens, or the provider
    /// rejected this request as too long.
    #[must_use]
    pub fn exceeds(&self, input_tokens: u64) -> bool {
        self.too_long.is_some() || self.input_tokens.is_some_and(|read| read >= input_tokens)
    }
}

/// The reason why the hooks are called.
#[derive(Clone, Copy)]
pub(super) enum PrepareCause<'a> {
    /// A turn is about to be requested.
    NextTurn,
    /// The provider rejected the request as too long, with this message.
    TooLong(&'a str),
}

impl Machine {
    /// Calls the hooks, and takes over the history that they return. Reports whether it is shorter than before, as text.
    pub(super) async fn prepare(&mut self, cause: PrepareCause<'_>) -> Result<bool, LoopEnd> {
        if self.settings.prepare.is_empty() {
            return Ok(false);
        }
        let settings = Arc::clone(&self.settings);
        let (number, before) = self.state.read(|state| (state.turns.saturating_add(1), state.request.history.clone()));
        let too_long = match cause {
            PrepareCause::NextTurn => None,
            PrepareCause::TooLong(message) => Some(message.to_owned()),
        };
        let (input_tokens, usage) = (self.input_tokens, Usage::default());
        let mut request = BeforeRequest { history: before.clone(), number, input_tokens, too_long, usage };
        for hook in &settings.prepare {
            let preparing = isolated(|| hook.prepare(request)).map_err(LoopError::prepare_panicked)?;
            let prepared = self.interruption.or(caught(preparing)).await?.map_err(LoopError::prepare_panicked)?;
            request = prepared.map_err(|error| LoopError::Prepare(Arc::new(error)))?;
        }
        let BeforeRequest { history, usage, .. } = request;
        self.state.change(|state| state.usage += usage);
        if *history == *before {
            return Ok(false);
        }
        if history.is_empty() {
            return Err(LoopError::PreparedHistory { reason: "it is empty".to_owned() }.into());
        }
        if let Some(changes) = WaitingCalls::default().faults(&history) {
            return Err(LoopError::prepared_history(&changes).into());
        }
        let (items_before, items) = (before.len(), history.len());
        let shrank = match cause {
            PrepareCause::NextTurn => false,
            PrepareCause::TooLong(_) => text_length(&history) < text_length(&before),
        };
        self.state.change(|state| state.request.history = history);
        self.event_slot.emit(LoopEvent::HistoryRewritten { items_before, items }).await;
        Ok(shrank)
    }
}

/// Returns the length of a history as JSON text.
fn text_length(items: &[Item]) -> usize {
    serde_json::to_vec(items).map_or(usize::MAX, |text| text.len())
}
