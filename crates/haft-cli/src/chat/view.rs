//! A conversation's events, as a person reads them: the answer on standard output, everything else on standard error.
//!
//! On a terminal the answer is written as it arrives. For a program, only the whole last answer is written: a retried
//! request makes its deltas void, and text before calls is not an answer.

use std::time::Duration;

use anstyle::Style;
use haft::conversation::{Delta, Finish, Turn};
use haft::model::{LoopEnd, LoopEvent};
use indicatif::{ProgressBar, ProgressStyle};

use super::call_view::{CallView, is_denied};
use super::report::RequestNotes;
use crate::error::CommandError;
use crate::screen::Screen;
use crate::terminal::{Terminal, one_line, printable};

const DIM: Style = Style::new().dimmed();

/// The time between two spinner frames.
const TICK: Duration = Duration::from_millis(100);

/// Reads a conversation's events.
pub(crate) trait ChatView {
    /// Shows an event.
    fn event(&mut self, event: &LoopEvent) -> Result<(), CommandError>;

    /// Reports whether a call was denied or is not permitted.
    fn has_denied(&self) -> bool;
}

/// Events as JSON lines.
#[derive(Debug)]
pub(crate) struct JsonView {
    terminal: Terminal,
    has_denied: bool,
}

/// A person's view.
#[derive(Debug)]
pub(crate) struct PersonView {
    terminal: Terminal,
    screen: Screen,
    notes: RequestNotes,
    answer: AnswerForm,
    line: OpenLine,
    /// The part of the answer that was written last.
    part: Option<usize>,
    /// The turn's text so far.
    text: String,
    wait: Option<ProgressBar>,
    calls: CallView,
    has_denied: bool,
}

/// The answer's form on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerForm {
    /// The text as it arrives.
    Streamed,
    /// The last answer, when it is complete, for a program.
    Whole,
}

/// The text that the cursor is behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenLine {
    None,
    Text,
    Reasoning,
}

impl JsonView {
    pub(crate) fn new(terminal: Terminal) -> Self {
        Self { terminal, has_denied: false }
    }
}

impl ChatView for JsonView {
    fn event(&mut self, event: &LoopEvent) -> Result<(), CommandError> {
        self.has_denied |= denies(event);
        let text = serde_json::to_string(event).map_err(|error| CommandError::Output(error.into()))?;
        self.terminal.print(text)
    }

    fn has_denied(&self) -> bool {
        self.has_denied
    }
}

impl PersonView {
    pub(crate) fn new(screen: Screen, notes: RequestNotes, answer: AnswerForm) -> Self {
        Self {
            terminal: screen.terminal(),
            calls: CallView::new(screen.clone()),
            screen,
            notes,
            answer,
            line: OpenLine::None,
            part: None,
            text: String::new(),
            wait: None,
            has_denied: false,
        }
    }

    fn delta(&mut self, delta: &Delta) -> Result<(), CommandError> {
        match delta {
            Delta::TextDelta { text, part } | Delta::RefusalDelta { text, part } => self.write_text(text, *part),
            Delta::ReasoningDelta { text, part, .. } => self.write_reasoning(text, *part),
            Delta::ToolCallStart { name, .. } => {
                self.wait_for(&format!("calls {}", one_line(name)));
                Ok(())
            }
            Delta::ProviderCallStart { name, .. } => self.note(&format!("the provider runs {}", one_line(name))),
            Delta::TurnComplete(turn) => {
                self.end_line()?;
                self.calls.begin(turn.tool_calls());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn write_text(&mut self, text: &str, part: usize) -> Result<(), CommandError> {
        self.stop_waiting();
        let is_next_part = self.part.is_some_and(|last| last != part) && !self.text.is_empty();
        let separator = if is_next_part { "\n\n" } else { "" };
        self.part = Some(part);
        self.text.push_str(separator);
        self.text.push_str(text);
        if self.answer == AnswerForm::Whole {
            return Ok(());
        }
        if self.line == OpenLine::Reasoning {
            self.end_line()?;
        }
        let text = format!("{separator}{text}");
        self.line = if text.ends_with('\n') { OpenLine::None } else { OpenLine::Text };
        self.terminal.write(printable(&text))
    }

    fn write_reasoning(&mut self, text: &str, part: usize) -> Result<(), CommandError> {
        if !self.terminal.stderr {
            return Ok(());
        }
        self.stop_waiting();
        if self.line == OpenLine::Text || (self.line == OpenLine::Reasoning && self.part != Some(part)) {
            self.end_line()?;
        }
        self.part = Some(part);
        self.line = OpenLine::Reasoning;
        self.terminal.write_note(format_args!("{DIM}{}{DIM:#}", printable(text)));
        Ok(())
    }

    /// Writes a message on its own line.
    fn note(&mut self, text: &str) -> Result<(), CommandError> {
        self.stop_waiting();
        self.end_line()?;
        self.terminal.note(format_args!("{DIM}{}{DIM:#}", printable(text)));
        Ok(())
    }

    /// Ends the line that the cursor is in.
    fn end_line(&mut self) -> Result<(), CommandError> {
        self.stop_waiting();
        match std::mem::replace(&mut self.line, OpenLine::None) {
            OpenLine::None => Ok(()),
            OpenLine::Text => self.terminal.write("\n"),
            OpenLine::Reasoning => {
                self.terminal.write_note("\n");
                Ok(())
            }
        }
    }

    /// Shows that the command waits for the model, while nothing else is shown.
    fn wait_for(&mut self, message: &str) {
        if !self.screen.is_drawn() || self.line != OpenLine::None {
            return;
        }
        if self.wait.is_none() {
            let style = ProgressStyle::with_template("{spinner:.cyan} {wide_msg:.dim}");
            let bar = ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            let bar = self.screen.bars().add(bar);
            bar.enable_steady_tick(TICK);
            self.wait = Some(bar);
        }
        if let Some(bar) = &self.wait {
            bar.set_message(message.to_owned());
        }
    }

    fn stop_waiting(&mut self) {
        if let Some(bar) = self.wait.take() {
            bar.finish_and_clear();
            self.screen.bars().remove(&bar);
        }
    }

    fn show_results(&mut self) -> Result<(), CommandError> {
        for line in self.calls.finish() {
            self.note(&line)?;
        }
        Ok(())
    }

    /// Ends a turn. Text before calls is no answer.
    fn end_turn(&mut self, turn: &Turn) -> Result<(), CommandError> {
        self.end_line()?;
        if !turn.tool_calls().is_empty() && self.answer == AnswerForm::Whole && !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            self.note(&text)?;
        }
        self.show_results()?;
        match &turn.finish {
            Finish::Length => self.note("the answer was cut off: the limit of the output or of the context is reached"),
            Finish::ContentFilter => self.note("the answer was cut off by a content filter of the provider"),
            Finish::Refusal => self.note("the model declined to go on"),
            _ => Ok(()),
        }
    }

    fn end(&mut self, end: &LoopEnd) -> Result<(), CommandError> {
        self.end_line()?;
        self.show_results()?;
        let has_answer = end.is_stopped() || matches!(end, LoopEnd::Truncated { .. });
        if self.answer == AnswerForm::Whole && has_answer {
            let mut text = std::mem::take(&mut self.text);
            if !text.ends_with('\n') {
                text.push('\n');
            }
            return self.terminal.write_data(&text);
        }
        Ok(())
    }
}

impl ChatView for PersonView {
    fn event(&mut self, event: &LoopEvent) -> Result<(), CommandError> {
        self.has_denied |= denies(event);
        if let Some(note) = self.notes.take() {
            self.note(&note)?;
        }
        match event {
            LoopEvent::TurnStarted { .. } => {
                self.end_line()?;
                (self.text, self.part) = (String::new(), None);
                self.wait_for("waits for the model");
                Ok(())
            }
            LoopEvent::Delta(delta) => self.delta(delta),
            LoopEvent::Retrying { message, wait, .. } => {
                let is_void = !self.text.is_empty() && self.answer == AnswerForm::Streamed;
                (self.text, self.part) = (String::new(), None);
                let seconds = wait.as_secs_f64();
                let void = if is_void { "; the text above is void" } else { "" };
                self.note(&format!("the request failed: {message}; trying again in {seconds:.1} s{void}"))?;
                self.wait_for("waits for the model");
                Ok(())
            }
            LoopEvent::Tool(event) => {
                self.stop_waiting();
                self.calls.event(event);
                Ok(())
            }
            LoopEvent::TurnEnded { turn, .. } => self.end_turn(turn),
            LoopEvent::Repaired { changes } => {
                self.note(&format!("the stored history was incomplete and is repaired: {} changes", changes.len()))
            }
            LoopEvent::ToolLeftOut { tool, reason } => self.note(&format!("the tool {tool} is left out: {reason}")),
            LoopEvent::VerdictRejected { reason, .. } => self.note(&format!("a verdict is rejected: {reason}")),
            LoopEvent::Unplaced { reason, .. } => self.note(&format!("a result is not used: {reason}")),
            LoopEvent::Ended { end, .. } => self.end(end),
            _ => Ok(()),
        }
    }

    fn has_denied(&self) -> bool {
        self.has_denied
    }
}

impl Drop for PersonView {
    fn drop(&mut self) {
        self.stop_waiting();
    }
}

/// Reports whether an event is a denied call's result.
fn denies(event: &LoopEvent) -> bool {
    matches!(event, LoopEvent::Tool(event) if event.result().is_some_and(is_denied))
}
