//! Resuming a state: answers and verdicts that arrived while the loop did not run.
//!
//! Nothing is resumed in an inconsistent history: the id in an answer or a verdict could mean another call there.
//! Answered calls are finished first and once, then the turn that waited for them is concluded. As long as a call
//! waits, the model must not be asked.

use super::end::LoopEnd;
use super::error::LoopError;
use super::interaction::Interaction;
use super::machine::Machine;
use super::record::answer;
use super::state::LoopState;
use super::waiting::WaitingCalls;

/// The work that was left in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResumedWork {
    /// Nothing: the tools were not used yet.
    Nothing,
    /// Calls that waited, or a turn that was not concluded.
    Turn,
}

impl Machine {
    /// Checks that the state can be started, and resumes open calls until the model can be asked.
    pub(super) async fn resume(&mut self) -> Result<ResumedWork, LoopEnd> {
        self.state.read(LoopState::check).map_err(LoopError::from)?;
        if let Some(cause) = self.interruption.cause() {
            return Err(cause.into());
        }
        let rejected = self.state.read(LoopState::is_done).then(|| self.check_stored_answer()).transpose()?;
        self.take_first_snapshot().await?;
        if let Some(issues) = rejected {
            self.re_ask(issues).await;
        }
        let waiting = self.state.read(WaitingCalls::of);
        self.reconcile(&waiting).await?;
        self.settle_remote_approvals().await;
        self.place_answers().await?;
        self.resume_approvals().await?;
        self.ensure_nothing_waits()?;
        let has_turn = self.state.read(|state| state.phase.open().is_some());
        if has_turn {
            self.conclude().await?;
        } else {
            self.ensure_no_call_failed().await?;
        }
        Ok(if has_turn || !waiting.is_empty() { ResumedWork::Turn } else { ResumedWork::Nothing })
    }

    /// Records the answers to interactions. An invalid one ends the loop before any is recorded.
    async fn place_answers(&mut self) -> Result<(), LoopEnd> {
        // Validators may be user code, so they run on a copy, without the lock.
        let interactions = self.state.read(|state| state.interactions().to_vec());
        let answers = interactions.iter().filter_map(|interaction| interaction.result(self.tools.toolkit()));
        let results = answers.collect::<Result<Vec<_>, LoopError>>()?;
        let unplaced = self.state.change(|state| {
            let open = state.phase.open_mut()?;
            open.interactions.retain(Interaction::is_open);
            open.add(results.iter().cloned());
            answer(&mut state.request.history, results.clone())
        });
        if let Some(unplaced) = unplaced {
            self.event_slot.emit(unplaced).await;
        }
        self.emit_outputs(results).await;
        Ok(())
    }
}
