//! One line per call on standard error: for people, or as JSON if it is no terminal.
//!
//! It has neither arguments nor results.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use haft::conversation::Timestamp;
use haft::run::{RunOptions, ToolEvent};
use serde_json::json;
use tokio::task;

use crate::terminal::{Terminal, escaped, escaped_json};

/// The most calls whose beginning is remembered.
const MOST: usize = 100_000;

/// Writes the lines.
pub(super) struct CallLog {
    terminal: Terminal,
    /// By the task that answers the request. A call that goes on in another one has no duration.
    started: Mutex<HashMap<task::Id, Instant>>,
}

impl CallLog {
    pub(super) fn new(terminal: Terminal) -> Self {
        Self { terminal, started: Mutex::default() }
    }

    /// Adds the log to the options of a caller's calls.
    pub(super) fn observing(self: &Arc<Self>, caller: Option<&str>, options: RunOptions) -> RunOptions {
        let (log, caller) = (Arc::clone(self), caller.map(str::to_owned));
        options.started_events().observe(move |event| log.event(caller.as_deref(), event))
    }

    fn event(&self, caller: Option<&str>, event: &ToolEvent) {
        match event {
            ToolEvent::Started { attempt: 1, .. } => {
                let mut started = self.started();
                if let Some(task) = task::try_id().filter(|_| started.len() < MOST) {
                    started.insert(task, Instant::now());
                }
            }
            ToolEvent::Suspended { request, .. } => self.line(caller, &request.tool, "waits"),
            ToolEvent::Output { result, .. } => {
                let outcome = result.failure().map_or("ok", |failure| failure.kind.as_str());
                self.line(caller, result.tool.as_str(), outcome);
            }
            _ => {}
        }
    }

    fn line(&self, caller: Option<&str>, tool: &str, outcome: &str) {
        let took =
            task::try_id().and_then(|task| self.started().remove(&task)).map(|started| started.elapsed().as_millis());
        if self.terminal.stderr {
            let took = took.map(|took| format!(" {took} ms")).unwrap_or_default();
            let caller = caller.map(|caller| format!("{} ", escaped(caller))).unwrap_or_default();
            self.terminal.note(format!("{caller}{} {}{took}", escaped(tool), escaped(outcome)));
            return;
        }
        let took = took.map(|took| u64::try_from(took).unwrap_or(u64::MAX));
        self.terminal.note(escaped_json(&json!({
            "at_ms": Timestamp::from(SystemTime::now()),
            "caller": caller,
            "tool": tool,
            "outcome": outcome,
            "duration_ms": took,
        })));
    }

    fn started(&self) -> std::sync::MutexGuard<'_, HashMap<task::Id, Instant>> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for CallLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallLog").finish_non_exhaustive()
    }
}
