//! A run's live view on a terminal: a bar or spinner per call, then a summary.
//!
//! ```text
//! ToolEvent ─> stage.rs ─> row.rs: bars on standard error
//! ToolResult ────────────> summary.rs: a table on standard output
//! ```
//!
//! If all calls fit on the screen, each has its row from the start. With more calls, only those that run or wait for
//! approval have one, as far as there is room, and the last row counts the others. Nothing is drawn unless standard
//! error is a terminal. The events must contain the calls' starts: see
//! [`started_events`](haft::run::RunOptions::started_events).

mod row;
mod stage;
mod summary;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use haft::run::{ToolCall, ToolEvent, ToolResult};
use indicatif::ProgressBar;

use self::row::{RowLayout, tail_bar};
use self::stage::{CallStage, StageCounts};
use crate::error::CommandError;
use crate::screen::Screen;
use crate::terminal::{Terminal, one_line};

/// The screen rows that are left to what was written before.
const SPARE_ROWS: usize = 3;

/// A run's live view. Its bars are removed when it is dropped.
#[derive(Debug)]
pub(crate) struct LiveView {
    screen: Screen,
    calls: Vec<ViewedCall>,
    layout: RowLayout,
    /// The most calls that can be shown.
    capacity: usize,
    /// The bars on the screen, by their call's index.
    rows: BTreeMap<usize, ProgressBar>,
    /// The row that counts the calls without one.
    tail: Option<ProgressBar>,
}

/// A call as the view shows it.
#[derive(Debug)]
struct ViewedCall {
    id: String,
    tool: String,
    stage: CallStage,
    /// The time at which the handler was reached first.
    started: Option<Instant>,
    /// The time from there to the result.
    took: Option<Duration>,
}

impl LiveView {
    /// Creates the view for these calls.
    pub(crate) fn new(screen: Screen, calls: &[ToolCall]) -> Self {
        let calls: Vec<ViewedCall> = calls.iter().map(ViewedCall::new).collect();
        let terminal = screen.terminal();
        let layout = RowLayout::new(terminal.width(), calls.iter().map(|call| (&*call.tool, &*call.id)));
        let capacity = terminal.height().saturating_sub(SPARE_ROWS).max(1);
        let mut view = Self { screen, calls, layout, capacity, rows: BTreeMap::new(), tail: None };
        if !view.screen.is_drawn() {
            return view;
        }
        if view.is_crowded() {
            view.tail = Some(view.screen.bars().add(tail_bar()));
            view.count();
        } else {
            for index in 0..view.calls.len() {
                view.draw(index);
            }
        }
        view
    }

    /// Shows an event.
    pub(crate) fn event(&mut self, event: &ToolEvent) {
        let index = event.index();
        let Some(call) = self.calls.get_mut(index) else { return };
        call.stage.advance(event);
        match &call.stage {
            CallStage::Running { .. } if call.started.is_none() => call.started = Some(Instant::now()),
            CallStage::Finished(_) if call.took.is_none() => call.took = call.started.map(|start| start.elapsed()),
            _ => {}
        }
        if !self.screen.is_drawn() {
            return;
        }
        self.draw(index);
        if self.is_crowded() {
            self.fill();
            self.count();
        }
    }

    /// Removes the bars and prints the summary: one line per call, in call order, with the result in short, and
    /// rejected calls' issues below.
    pub(crate) fn finish(mut self, terminal: Terminal, results: &[ToolResult]) -> Result<(), CommandError> {
        self.clear();
        let text = summary::render(&self.calls, results, terminal.width());
        if text.is_empty() { Ok(()) } else { terminal.print(text) }
    }

    /// Reports whether there are more calls than rows.
    fn is_crowded(&self) -> bool {
        self.calls.len() > self.capacity
    }

    /// Brings a call's row up to date, with a new bar if the call needs one.
    fn draw(&mut self, index: usize) {
        let is_crowded = self.is_crowded();
        let Some(call) = self.calls.get(index) else { return };
        if is_crowded && !call.stage.is_active() {
            if let Some(bar) = self.rows.remove(&index) {
                bar.finish_and_clear();
                self.screen.bars().remove(&bar);
            }
            return;
        }
        if !self.rows.contains_key(&index) {
            if self.rows.len() >= self.capacity {
                return;
            }
            let above = self.rows.range(..index).count();
            let bar = self.screen.bars().insert(above, ProgressBar::new_spinner());
            self.rows.insert(index, bar);
        }
        if let Some(bar) = self.rows.get(&index) {
            self.layout.show(bar, call);
        }
    }

    /// Gives freed rows to active calls without one.
    fn fill(&mut self) {
        if self.rows.len() >= self.capacity {
            return;
        }
        let active = self.calls.iter().enumerate().filter(|(_, call)| call.stage.is_active());
        let without: Vec<usize> =
            active.map(|(index, _)| index).filter(|index| !self.rows.contains_key(index)).collect();
        for index in without {
            self.draw(index);
        }
    }

    /// Brings the last row up to date.
    fn count(&self) {
        if let Some(tail) = &self.tail {
            let counts = StageCounts::of(self.calls.iter().map(|call| &call.stage));
            tail.set_message(counts.describe(self.rows.len()));
        }
    }

    fn clear(&mut self) {
        for bar in std::mem::take(&mut self.rows).into_values().chain(self.tail.take()) {
            bar.finish_and_clear();
        }
        // What can't be cleared is a terminal that is gone.
        let _ = self.screen.bars().clear();
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        self.clear();
    }
}

impl ViewedCall {
    fn new(call: &ToolCall) -> Self {
        let (id, tool) = (one_line(call.call_id.as_str()), one_line(&call.name));
        Self { id, tool, stage: CallStage::Queued, started: None, took: None }
    }
}
