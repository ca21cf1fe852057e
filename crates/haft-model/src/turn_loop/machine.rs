//! The loop itself, step by step.
//!
//! Open business first, then turn after turn: may the model be asked, is the history whole, ask, settle the calls,
//! decide. Each step either goes on or gives the end, and leaves a state behind from which the loop can be started
//! again. The machine is a future that its reader polls; it spawns nothing.

use std::convert::Infallible;
use std::sync::Arc;

use haft_core::history::Change;
use haft_core::{CallId, Cancellation, Item, Toolkit, history};

use super::Settings;
use super::budget::Spent;
use super::end::LoopEnd;
use super::error::LoopError;
use super::event::LoopEvent;
use super::interruption::Interruption;
use super::outlet::Outlet;
use super::state_cell::StateCell;
use crate::model::LanguageModel;

/// A loop at work.
pub(super) struct Machine {
    pub(super) settings: Arc<Settings>,
    pub(super) state: StateCell,
    pub(super) outlet: Outlet,
    /// The tools of the next turn.
    pub(super) kit: Toolkit,
    /// The model of the next turn.
    pub(super) model: Arc<dyn LanguageModel>,
    pub(super) interruption: Interruption,
}

impl Machine {
    /// Runs a loop to its end.
    pub(super) async fn drive(
        settings: Arc<Settings>,
        state: StateCell,
        outlet: Outlet,
        flag: Cancellation,
    ) -> LoopEnd {
        let left = settings.budget.time_left(state.time_used());
        state.start_clock();
        let mut machine = Self {
            kit: settings.kit.clone(),
            model: Arc::clone(&settings.model),
            interruption: Interruption::new(flag, left),
            settings,
            state,
            outlet,
        };
        let Err(end) = machine.turns().await;
        machine.state.stop_clock();
        end
    }

    async fn turns(&mut self) -> Result<Infallible, LoopEnd> {
        self.resume().await?;
        loop {
            self.may_ask()?;
            self.reconcile().await?;
            let turn = self.ask().await?;
            self.settle(turn).await?;
            self.conclude().await?;
        }
    }

    /// Whether nothing forbids another request.
    pub(super) fn may_ask(&self) -> Result<(), LoopEnd> {
        if let Some(cause) = self.interruption.cause() {
            return Err(cause.into());
        }
        let (turns, usage) = self.state.read(|state| (state.turns, state.usage));
        let (calls, lacks_calls) = self.state.read(|state| (state.calls, state.lacks_calls));
        if self.settings.budget.lacks_tokens(&usage) {
            return Err(LoopEnd::Budget(Spent::Tokens));
        }
        if lacks_calls && self.settings.budget.calls_left(calls) == Some(0) {
            return Err(LoopEnd::Budget(Spent::Calls));
        }
        if turns >= self.settings.max_turns {
            return Err(LoopEnd::MaxTurns { turns });
        }
        Ok(())
    }

    /// Sees to it that every call of the history has its answer, and every answer its call.
    async fn reconcile(&mut self) -> Result<(), LoopEnd> {
        let Some(reason) = self.settings.repair.as_deref() else {
            let calls = self.state.read(|state| unreconciled(&state.request.history));
            return calls.map_or(Ok(()), |calls| Err(LoopError::Unreconciled { calls }.into()));
        };
        let changes = self.state.change(|state| {
            let repaired = history::repair(std::mem::take(&mut state.request.history), reason);
            state.request.history = repaired.history;
            repaired.changes
        });
        if !changes.is_empty() {
            self.outlet.emit(LoopEvent::Repaired { changes }).await;
        }
        Ok(())
    }
}

/// The calls for which a history is not whole.
fn unreconciled(items: &[Item]) -> Option<Vec<CallId>> {
    if history::is_reconciled(items) {
        return None;
    }
    let mut calls = Vec::new();
    for change in history::repair(items.to_vec(), "").changes {
        match change {
            Change::Moved(moved) => calls.push(moved.call_id),
            Change::Reordered(reordered) => calls.extend(reordered.call_ids),
            Change::Removed(removed) => calls.push(removed.output.call_id),
            Change::Cancelled(cancelled) => calls.push(cancelled.call_id),
            Change::Renamed(renamed) => calls.push(renamed.from),
            Change::Relabelled(relabelled) => calls.push(relabelled.call_id),
            _ => {}
        }
    }
    Some(calls)
}
