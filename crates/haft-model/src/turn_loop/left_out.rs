//! The tools of each turn, and the tools that are left out of it.
//!
//! A loop that is started with tools that can't run ends before it changes anything: they are a mistake of the
//! application. A tool that arrives later must not end the work of the others: it is not offered, an event reports it
//! once, and a call of it fails.

use haft_executor::{Snapshot, SourceFault};

use super::end::LoopEnd;
use super::error::LoopError;
use super::event::LoopEvent;
use super::isolation::isolated;
use super::machine::Machine;

/// A tool that is left out, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LeftOut {
    tool: String,
    reason: String,
}

impl Machine {
    /// Takes the first snapshot of the tools, all of which must be able to run.
    pub(super) async fn take_first_snapshot(&mut self) -> Result<(), LoopEnd> {
        let tools = self.read_source()?;
        tools.toolkit().ensure_runnable_with(&self.options).map_err(LoopError::NotRunnable)?;
        self.use_tools(tools).await;
        Ok(())
    }

    /// Takes a snapshot of the tools. It is used until the next one is taken: for the request, its retries, and the
    /// calls of the turn.
    pub(super) async fn take_snapshot(&mut self) -> Result<(), LoopEnd> {
        let tools = self.read_source()?;
        self.use_tools(tools).await;
        Ok(())
    }

    fn read_source(&self) -> Result<Snapshot, LoopEnd> {
        Ok(isolated(|| self.source.snapshot()).map_err(LoopError::source_panicked)?)
    }

    /// Uses these tools, and reports those that are left out and were not before.
    async fn use_tools(&mut self, tools: Snapshot) {
        let left_out: Vec<LeftOut> = tools.runnable_with(&self.options).faults().iter().map(LeftOut::of).collect();
        let before = std::mem::replace(&mut self.left_out, left_out.clone());
        self.tools = tools;
        for left_out in left_out.into_iter().filter(|left_out| !before.contains(left_out)) {
            let LeftOut { tool, reason } = left_out;
            self.event_slot.emit(LoopEvent::ToolLeftOut { tool, reason }).await;
        }
    }
}

impl LeftOut {
    fn of(fault: &SourceFault) -> Self {
        Self { tool: fault.tool.clone(), reason: fault.cause.to_string() }
    }
}
