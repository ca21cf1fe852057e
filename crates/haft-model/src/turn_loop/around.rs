//! The loop around an agent that is a tool of it.
//!
//! The calls of a loop run in an ambient scope that tells a sub-agent how deep it is, what is left of the budget, and where
//! it reports what it spends. A sub-agent reports to the loop that called it, which includes it in its own totals, and so
//! on outwards.

use std::sync::{Arc, Mutex, PoisonError};

use haft_core::Usage;
use haft_executor::Ambient;

use super::budget::{Budget, Spent};
use super::machine::Machine;
use super::state::LoopState;

/// The loop that a call is part of, as an ambient value.
#[derive(Clone, Debug)]
pub(super) struct AroundLoop {
    /// The number of loops around it.
    pub(super) depth: u32,
    /// The part of its budget that was left when it made the call.
    pub(super) left: LeftBudget,
    spent: NestedTotals,
}

/// The part of a budget that is left.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LeftBudget {
    tokens: Option<u64>,
    calls: Option<u64>,
}

/// The totals of sub-agents that are not part of the totals of their loop yet. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct NestedTotals(Arc<Mutex<SpentTotals>>);

/// The totals of an agent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SpentTotals {
    usage: Usage,
    turns: u32,
    calls: u64,
}

/// The budget that a sub-agent has of the loop around it, counted from its totals when it began.
#[derive(Clone, Copy, Debug)]
pub(super) struct OuterBudget {
    left: LeftBudget,
    tokens_before: u64,
    calls_before: u64,
}

impl AroundLoop {
    /// Returns the loop around the code that runs now.
    pub(super) fn current() -> Option<Self> {
        Ambient::current().get::<Self>().cloned()
    }

    /// Adds what a sub-agent has spent.
    pub(super) fn report(&self, spent: SpentTotals) {
        let mut totals = self.spent.0.lock().unwrap_or_else(PoisonError::into_inner);
        totals.usage += spent.usage;
        totals.turns = totals.turns.saturating_add(spent.turns);
        totals.calls = totals.calls.saturating_add(spent.calls);
    }
}

impl SpentTotals {
    /// Returns the totals of a state, with those of its own sub-agents.
    pub(super) fn of(state: &LoopState) -> Self {
        Self { usage: state.usage, turns: state.turns.saturating_add(state.nested_turns), calls: state.calls }
    }

    /// Returns the difference to earlier totals.
    pub(super) fn since(self, before: Self) -> Self {
        Self {
            usage: difference(self.usage, before.usage),
            turns: self.turns.saturating_sub(before.turns),
            calls: self.calls.saturating_sub(before.calls),
        }
    }
}

impl LeftBudget {
    /// Returns what is left of both budgets.
    fn of(task: &Budget, all: &Budget, state: &LoopState) -> Self {
        let least = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
        Self {
            tokens: least(task.tokens_left(&state.usage), all.tokens_left(&state.total_usage())),
            calls: least(task.calls_left(state.calls), all.calls_left(state.total_calls())),
        }
    }

    /// Returns what is left of this as well as of another one.
    fn or_less(self, other: Self) -> Self {
        let least = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
        Self { tokens: least(self.tokens, other.tokens), calls: least(self.calls, other.calls) }
    }
}

impl OuterBudget {
    pub(super) fn new(left: LeftBudget, state: &LoopState) -> Self {
        Self { left, tokens_before: Budget::spent_tokens(&state.usage), calls_before: state.calls }
    }

    /// Returns what is left of it.
    fn left(&self, state: &LoopState) -> LeftBudget {
        let tokens = Budget::spent_tokens(&state.usage).saturating_sub(self.tokens_before);
        let calls = state.calls.saturating_sub(self.calls_before);
        LeftBudget {
            tokens: self.left.tokens.map(|left| left.saturating_sub(tokens)),
            calls: self.left.calls.map(|left| left.saturating_sub(calls)),
        }
    }

    /// Returns the part that is spent.
    pub(super) fn spent(&self, state: &LoopState) -> Option<Spent> {
        match self.left(state) {
            LeftBudget { tokens: Some(0), .. } => Some(Spent::Tokens),
            LeftBudget { calls: Some(0), .. } => Some(Spent::Calls),
            LeftBudget { .. } => None,
        }
    }
}

impl Machine {
    /// Returns the ambient values of the calls that run now.
    pub(super) fn around_calls(&self) -> Ambient {
        let left = self.state.read(|state| {
            let left = LeftBudget::of(&self.settings.budget, &self.settings.conversation_budget, state);
            self.settings.outer.map_or(left, |outer| left.or_less(outer.left(state)))
        });
        let around = AroundLoop { depth: self.depth, left, spent: self.nested.clone() };
        Ambient::current().with(around)
    }

    /// Adds what sub-agents have spent to the totals of the loop.
    pub(super) fn add_nested_totals(&self) {
        let nested = std::mem::take(&mut *self.nested.0.lock().unwrap_or_else(PoisonError::into_inner));
        self.state.change(|state| {
            state.usage += nested.usage;
            state.nested_turns = state.nested_turns.saturating_add(nested.turns);
            state.calls = state.calls.saturating_add(nested.calls);
        });
    }
}

fn difference(now: Usage, before: Usage) -> Usage {
    let mut usage = Usage::new(
        now.input_tokens.saturating_sub(before.input_tokens),
        now.output_tokens.saturating_sub(before.output_tokens),
    );
    usage.total_tokens = now.total_tokens.saturating_sub(before.total_tokens);
    usage.cache_read_tokens = now.cache_read_tokens.saturating_sub(before.cache_read_tokens);
    usage.cache_write_tokens = now.cache_write_tokens.saturating_sub(before.cache_write_tokens);
    usage.reasoning_tokens = now.reasoning_tokens.saturating_sub(before.reasoning_tokens);
    usage
}
