//! Failures that end a loop.
//!
//! A failure is an answer that the model reads; in the classes that the application names it also ends the loop. The
//! turn is concluded first: its other calls have finished, and the history contains every output.

use haft_core::{FailureClass, FailureKind, ToolFailure, ToolResult};

use super::end::LoopEnd;
use super::machine::Machine;
use super::state::LoopPhase;
use super::triage::{CHOICE_VIOLATION, REPEATED_CALL};

impl Machine {
    /// Closes the open turn and ends the loop if one of its calls failed in a class that ends it.
    pub(super) async fn ensure_no_call_failed(&mut self) -> Result<(), LoopEnd> {
        let mut failed = self.state.change(|state| std::mem::take(&mut state.failures));
        if self.settings.fail_on.is_empty() {
            return Ok(());
        }
        let ends = |result: &ToolResult| {
            result.failure().is_some_and(|failure| self.settings.fail_on.contains(&class_of(failure)))
        };
        failed.retain(ends);
        self.state.read(|state| {
            let results = state.phase.open().into_iter().flat_map(|open| &open.results);
            failed.extend(results.filter(|result| ends(result)).cloned());
        });
        if failed.is_empty() {
            return Ok(());
        }
        self.close_turn(LoopPhase::Ready).await;
        Err(LoopEnd::CallsFailed { results: failed })
    }
}

/// Returns the class of a failure. The loop rejects calls with kinds of its own, which are not those of a tool.
fn class_of(failure: &ToolFailure) -> FailureClass {
    match &failure.kind {
        FailureKind::Custom(kind) if !failure.started && [CHOICE_VIOLATION, REPEATED_CALL].contains(&kind.as_str()) => {
            FailureClass::Call
        }
        kind => kind.class(),
    }
}
