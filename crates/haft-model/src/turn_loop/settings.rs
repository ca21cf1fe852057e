//! The settings of a loop.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use haft_core::FailureClass;
use haft_executor::{Backoff, Cancellation, RunOptions, ToolSource};

use super::TurnLoop;
use super::after_turn::{AfterTurn, Flow};
use super::around::OuterBudget;
use super::budget::Budget;
use super::final_answer::TypedAnswer;
use super::prepare::Prepare;
use crate::model::LanguageModel;
use crate::trace::ModelTrace;

/// The default limit of turns.
const MAX_TURNS: u32 = 16;
/// The default limit of equal calls in a row.
const REPEATED_CALLS: u32 = 10;
/// The default number of retries of a failed request.
const RETRIES: u32 = 10;
/// The default wait before the first retry.
const FIRST_RETRY_WAIT: Duration = Duration::from_secs(1);
/// The default limit of the waits before the retries of one request.
const MAX_RETRY_WAIT: Duration = Duration::from_secs(300);

/// The function that decides after each turn.
pub(super) type DecideFn = dyn Fn(AfterTurn) -> Pin<Box<dyn Future<Output = Flow> + Send>> + Send + Sync;

/// The settings of a loop.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) model: Arc<dyn LanguageModel>,
    pub(super) source: Arc<dyn ToolSource>,
    pub(super) options: RunOptions,
    pub(super) max_turns: u32,
    pub(super) budget: Budget,
    pub(super) conversation_budget: Budget,
    pub(super) repeated_calls: u32,
    pub(super) retries: u32,
    pub(super) max_retry_wait: Duration,
    pub(super) backoff: Backoff,
    pub(super) repair: Option<String>,
    pub(super) decide: Option<Arc<DecideFn>>,
    /// The hooks that prepare each request, in order.
    pub(super) prepare: Vec<Arc<dyn Prepare>>,
    /// The classes of failures that end the loop.
    pub(super) fail_on: Vec<FailureClass>,
    pub(super) cancellation: Option<Cancellation>,
    /// The type of the final answer, if it has one.
    pub(super) answer: Option<Arc<TypedAnswer>>,
    /// The name of the agent in spans.
    pub(super) name: Option<Arc<str>>,
    pub(super) trace: ModelTrace,
    /// The budget of the loop around, if this is a sub-agent.
    pub(super) outer: Option<OuterBudget>,
    /// The number of runs that were started. Clones of a loop share it.
    starts: Arc<AtomicU64>,
}

impl Settings {
    /// Creates the default settings.
    pub(super) fn new(model: Arc<dyn LanguageModel>, source: Arc<dyn ToolSource>) -> Self {
        Self {
            model,
            source,
            options: RunOptions::new(),
            max_turns: MAX_TURNS,
            budget: Budget::new(),
            conversation_budget: Budget::new(),
            repeated_calls: REPEATED_CALLS,
            retries: RETRIES,
            max_retry_wait: MAX_RETRY_WAIT,
            backoff: Backoff::exponential(FIRST_RETRY_WAIT),
            repair: None,
            decide: None,
            prepare: Vec::new(),
            fail_on: Vec::new(),
            cancellation: None,
            answer: None,
            name: None,
            trace: ModelTrace::new(),
            outer: None,
            starts: Arc::default(),
        }
    }

    /// Counts a start, and returns its number. It tells the jitter of concurrent runs apart, and is the same number in
    /// every execution of a test.
    pub(super) fn count_start(&self) -> u64 {
        self.starts.fetch_add(1, Ordering::Relaxed)
    }
}

impl fmt::Debug for TurnLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnLoop")
            .field("options", &self.0.options)
            .field("max_turns", &self.0.max_turns)
            .field("budget", &self.0.budget)
            .field("conversation_budget", &self.0.conversation_budget)
            .field("repeated_calls", &self.0.repeated_calls)
            .field("retries", &self.0.retries)
            .field("max_retry_wait", &self.0.max_retry_wait)
            .field("decides", &self.0.decide.is_some())
            .field("fail_on", &self.0.fail_on)
            .finish_non_exhaustive()
    }
}
