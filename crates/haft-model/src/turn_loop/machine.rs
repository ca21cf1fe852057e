//! The steps of a loop, in order.
//!
//! Open calls are resumed first, once the rest of the history is consistent. Then, turn by turn: check the limits,
//! check the history, prepare it, ask the model, run its calls, decide. Each step either continues or returns the end, and must
//! leave a state from which the loop can be started again. The machine is a future that its reader polls; it spawns
//! nothing.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use haft_core::{ToolEvent, ToolResult};
use haft_executor::{Cancellation, RunOptions, Snapshot, ToolSource};

use super::around::{AroundLoop, NestedTotals};
use super::budget::Spent;
use super::end::LoopEnd;
use super::error::LoopError;
use super::event::LoopEvent;
use super::event_slot::EventSlot;
use super::interruption::Interruption;
use super::left_out::LeftOut;
use super::open_turn::OpenTurn;
use super::prepare::PrepareCause;
use super::resume::ResumedWork;
use super::settings::Settings;
use super::span::AgentSpan;
use super::state::LoopState;
use super::state_cell::StateCell;
use super::waiting::{RepairedHistory, WaitingCalls};
use crate::model::LanguageModel;
use crate::model_info::ModelInfo;

/// A running loop.
pub(super) struct Machine {
    pub(super) settings: Arc<Settings>,
    /// The number of this run among those of the loop.
    pub(super) start: u64,
    /// The options of the runs of calls: those of the loop and of the conversation.
    pub(super) options: RunOptions,
    pub(super) state: StateCell,
    pub(super) event_slot: EventSlot,
    /// The source of the tools of the next turn.
    pub(super) source: Arc<dyn ToolSource>,
    /// The tools that the model was offered last, or that calls are resumed with. Empty until there are some.
    pub(super) tools: Snapshot,
    /// The faults of those tools, which were reported.
    pub(super) left_out: Vec<LeftOut>,
    /// The model of the next turn.
    pub(super) model: Arc<dyn LanguageModel>,
    /// The names of the model that was asked last.
    pub(super) asked: ModelInfo,
    /// The tokens that the model read in the last turn of this run, if the provider reported them.
    pub(super) input_tokens: Option<u64>,
    pub(super) interruption: Interruption,
    /// The number of loops around this one.
    pub(super) depth: u32,
    /// The totals of sub-agents, until they are part of the state.
    pub(super) nested: NestedTotals,
}

impl Machine {
    /// Runs a loop to its end.
    pub(super) async fn drive(
        settings: Arc<Settings>,
        options: RunOptions,
        state: StateCell,
        event_slot: EventSlot,
        flag: Cancellation,
    ) -> LoopEnd {
        // Dropped after everything that is polled inside of it.
        let span = AgentSpan::open(&settings, &state);
        let task = settings.budget.time_left(state.time_used());
        let all = settings.conversation_budget.time_left(state.read(LoopState::total_time_used));
        let left = task.into_iter().chain(all).min();
        state.start_clock();
        let mut machine = Self {
            start: settings.count_start(),
            source: Arc::clone(&settings.source),
            tools: Snapshot::default(),
            left_out: Vec::new(),
            model: Arc::clone(&settings.model),
            asked: ModelInfo::new(""),
            input_tokens: None,
            interruption: Interruption::new(flag, left),
            depth: AroundLoop::current().map_or(0, |around| around.depth.saturating_add(1)),
            nested: NestedTotals::default(),
            settings,
            options,
            state,
            event_slot,
        };
        let Err(end) = {
            let mut turns = pin!(machine.turns());
            poll_fn(|task| span.within(|| turns.as_mut().poll(task))).await
        };
        machine.state.stop_clock();
        span.end(&end);
        end
    }

    async fn turns(&mut self) -> Result<Infallible, LoopEnd> {
        let mut has_tools = self.resume().await? == ResumedWork::Nothing;
        loop {
            self.may_ask()?;
            // No call waits at this point. The decide function may have added a request of the provider.
            self.ensure_nothing_waits()?;
            self.reconcile(&WaitingCalls::default()).await?;
            if !std::mem::take(&mut has_tools) {
                self.take_snapshot().await?;
            }
            self.prepare(PrepareCause::NextTurn).await?;
            let turn = self.ask().await?;
            self.input_tokens = Some(turn.usage.input_tokens).filter(|tokens| *tokens > 0);
            self.execute_turn(turn).await?;
            self.conclude().await?;
        }
    }

    /// Checks that the limits allow another request.
    pub(super) fn may_ask(&self) -> Result<(), LoopEnd> {
        if let Some(cause) = self.interruption.cause() {
            return Err(cause.into());
        }
        if let Some(spent) = self.settings.outer.and_then(|outer| self.state.read(|state| outer.spent(state))) {
            return Err(LoopEnd::Budget(spent));
        }
        let (turns, usage) = self.state.read(|state| (state.turns, state.usage));
        let (calls, lacks_calls) = self.state.read(|state| (state.calls, state.lacks_calls));
        let (total_usage, total_calls) = self.state.read(|state| (state.total_usage(), state.total_calls()));
        let (task, all) = (&self.settings.budget, &self.settings.conversation_budget);
        if task.lacks_tokens(&usage) || all.lacks_tokens(&total_usage) {
            return Err(LoopEnd::Budget(Spent::Tokens));
        }
        if lacks_calls && (task.calls_left(calls) == Some(0) || all.calls_left(total_calls) == Some(0)) {
            return Err(LoopEnd::Budget(Spent::Calls));
        }
        if turns >= self.settings.max_turns {
            return Err(LoopEnd::MaxTurns { turns });
        }
        Ok(())
    }

    /// Checks, or repairs, that every call of the history has its output, except those that wait, and every output its
    /// call.
    pub(super) async fn reconcile(&mut self, waiting: &WaitingCalls) -> Result<(), LoopEnd> {
        let Some(reason) = self.settings.repair.as_deref() else {
            let faults = self.state.read(|state| waiting.faults(&state.request.history));
            return faults.map_or(Ok(()), |changes| Err(LoopError::unreconciled(changes).into()));
        };
        let RepairedHistory { changes, closed } = self.state.change(|state| waiting.repair(state, reason));
        if !changes.is_empty() {
            self.event_slot.emit(LoopEvent::Repaired { changes }).await;
        }
        self.emit_outputs(closed).await;
        Ok(())
    }

    /// Emits the results of calls of the open turn that were not run.
    pub(super) async fn emit_outputs(&mut self, results: Vec<ToolResult>) {
        if results.is_empty() {
            return;
        }
        let indexes = self.state.read(|state| state.phase.open().map(OpenTurn::indexes)).unwrap_or_default();
        for result in results {
            let index = indexes.get(&result.call_id).copied().unwrap_or_default();
            self.event_slot.emit(LoopEvent::Tool(ToolEvent::Output { index, result })).await;
        }
    }
}
