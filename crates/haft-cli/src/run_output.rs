//! A run's output: events as JSON lines, a live view with a summary, or what to send back to a provider.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use haft::conversation::Turn;
use haft::run::{CallId, FailureKind, Run, ToolCall, ToolEvent, ToolFailure, ToolResult};
use haft::tool::ToolDescriptor;

use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::events::{self, EventFile};
use crate::exit::ExitStatus;
use crate::screen::Screen;
use crate::terminal::printable;
use crate::view::LiveView;
use crate::wire::WireName;

/// The output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputForm {
    /// Events as JSON lines.
    Lines,
    /// A live view, then a summary.
    View,
    /// The results, as a provider takes them back.
    Results(WireName),
}

/// One run's output.
#[derive(Debug)]
pub(crate) struct RunOutput {
    shown: Shown,
    events: Option<EventFile>,
}

/// The output that goes to standard output.
#[derive(Debug)]
enum Shown {
    Lines,
    View(LiveView),
    Results { provider: WireName, view: LiveView },
}

/// The exit status for failed calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failures {
    /// They are results like others.
    Ignored,
    /// They fail the command.
    Counted,
}

impl OutputForm {
    /// Returns the form for a terminal or a program.
    pub(crate) fn of(cx: &Context, results: Option<WireName>, json: bool) -> Self {
        match results {
            Some(provider) => Self::Results(provider),
            None if cx.terminal.stdout && !json => Self::View,
            None => Self::Lines,
        }
    }
}

impl RunOutput {
    /// Begins the output. With a path, all events go to that file as well.
    pub(crate) fn new(
        form: OutputForm,
        screen: &Screen,
        calls: &[ToolCall],
        events: Option<&Path>,
    ) -> Result<Self, Fault> {
        let events = events.map(EventFile::create).transpose()?;
        let shown = match form {
            OutputForm::Lines => Shown::Lines,
            OutputForm::View => Shown::View(LiveView::new(screen.clone(), calls)),
            OutputForm::Results(provider) => Shown::Results { provider, view: LiveView::new(screen.clone(), calls) },
        };
        Ok(Self { shown, events })
    }

    /// Writes or shows an event.
    pub(crate) fn event(&mut self, cx: &Context, event: &ToolEvent) -> Result<(), CommandError> {
        if let Some(events) = &mut self.events {
            events.write(event)?;
        }
        match &mut self.shown {
            Shown::Lines => cx.terminal.print_json(events::line_of(event)?),
            Shown::View(view) | Shown::Results { view, .. } => {
                view.event(event);
                Ok(())
            }
        }
    }

    /// Writes what comes last. `turn` has the calls, and `tools` are those it was made with.
    pub(crate) fn finish(
        self,
        cx: &Context,
        turn: &Turn,
        results: &[ToolResult],
        tools: &[Arc<ToolDescriptor>],
    ) -> Result<(), CommandError> {
        note_causes(cx, results);
        let (provider, view) = match self.shown {
            Shown::Lines => return Ok(()),
            Shown::View(view) => return view.finish(cx.terminal, results),
            Shown::Results { provider, view } => (provider, view),
        };
        drop(view);
        let written = provider.results(turn, results, tools)?;
        for dropped in &written.dropped {
            cx.terminal.note(format!("note: {}", printable(&dropped.to_string())));
        }
        cx.terminal.print_json(&written.json)?;
        if cx.terminal.stderr {
            cx.terminal.note(format!("append these to `{}`, behind the response", written.member));
        }
        Ok(())
    }
}

/// The calls that wait when a command ends.
#[derive(Debug)]
pub(crate) struct Waiting<'w> {
    pub(crate) path: &'w Path,
    pub(crate) calls: Vec<&'w CallId>,
}

impl RunOutput {
    /// Writes what comes last while calls still wait. What goes back to a provider has to be whole, so a status takes
    /// its place.
    pub(crate) fn finish_waiting(
        self,
        cx: &Context,
        turn: &Turn,
        results: &[ToolResult],
        waiting: &Waiting<'_>,
    ) -> Result<(), CommandError> {
        if !matches!(self.shown, Shown::Results { .. }) {
            return self.finish(cx, turn, results, &[]);
        }
        drop(self);
        let Waiting { path, calls } = waiting;
        cx.terminal.print_json(serde_json::json!({
            "status": "suspended",
            "file": path.display().to_string(),
            "waiting": calls,
            "finished": results.len(),
        }))
    }
}

/// Tells how to see the causes that models don't read.
fn note_causes(cx: &Context, results: &[ToolResult]) {
    if cx.global.verbose > 0 {
        return;
    }
    match results.iter().filter(|result| result.failure().is_some_and(has_hidden_cause)).count() {
        0 => {}
        1 => cx.terminal.note("1 call failed with an internal error; `-v` shows its cause"),
        count => cx.terminal.note(format!("{count} calls failed with internal errors; `-v` shows their causes")),
    }
}

/// Reports whether a failure has a cause that its message for the model leaves out.
pub(crate) fn has_hidden_cause(failure: &ToolFailure) -> bool {
    failure.kind == FailureKind::ExecutionError && failure.source().is_some()
}

/// Returns the exit status for a run whose calls have these results.
fn status(failures: Failures, results: &[ToolResult]) -> ExitStatus {
    if failures == Failures::Ignored {
        return ExitStatus::Done;
    }
    let statuses: Vec<ExitStatus> = results.iter().map(status_of).collect();
    let order = [ExitStatus::Failed, ExitStatus::Denied];
    order.into_iter().find(|status| statuses.contains(status)).unwrap_or(ExitStatus::Done)
}

fn status_of(result: &ToolResult) -> ExitStatus {
    match result.failure().map(|failure| &failure.kind) {
        None => ExitStatus::Done,
        Some(FailureKind::Denied | FailureKind::PermissionDenied) => ExitStatus::Denied,
        Some(_) => ExitStatus::Failed,
    }
}

/// Returns the status for a run whose reader may have gone away: then nobody got some results.
pub(crate) fn unread(cx: &Context, outcome: Result<ExitStatus, CommandError>) -> Result<ExitStatus, CommandError> {
    match outcome {
        Err(error) if error.is_broken_pipe() && cx.interrupt.is_raised() => Ok(ExitStatus::Interrupted),
        Err(error) if error.is_broken_pipe() => Ok(ExitStatus::Failed),
        outcome => outcome,
    }
}

/// Tells where calls wait, and how to go on.
pub(crate) fn note_waiting(cx: &Context, path: &Path, count: usize) {
    let calls = if count == 1 { "1 call waits".to_owned() } else { format!("{count} calls wait") };
    let path = path.display();
    cx.terminal.note(format!("{calls} for approval in `{path}`; go on with `haft resume {path}`"));
}

/// Reports verdicts that were not accepted. Their calls were denied.
pub(crate) fn note_rejected(cx: &Context, run: &Run) {
    for rejected in run.rejected_verdicts() {
        let call = rejected.response.call_id.as_ref().map_or("", CallId::as_str);
        let text = format!("warning: the verdict on `{call}` was rejected: {}", rejected.fault);
        cx.terminal.note(printable(&text));
    }
}

/// Returns a run's exit status.
pub(crate) fn exit_status(cx: &Context, failures: Failures, results: &[ToolResult], is_waiting: bool) -> ExitStatus {
    if cx.interrupt.is_raised() {
        return ExitStatus::Interrupted;
    }
    match status(failures, results) {
        ExitStatus::Done if is_waiting && failures == Failures::Counted => ExitStatus::Denied,
        status => status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_wins_over_a_denial() {
        let call = ToolCall::new("c1", "t", "{}");
        let fine = ToolResult::ok(&call, haft::serde_json::json!(1));
        let denied = ToolResult::denied(&call, "no");
        let failed = ToolResult::execution_error(&call, "broken");
        let counted = |results: &[&ToolResult]| {
            let results: Vec<ToolResult> = results.iter().map(|result| (*result).clone()).collect();
            status(Failures::Counted, &results)
        };
        assert_eq!(counted(&[&fine]), ExitStatus::Done);
        assert_eq!(counted(&[&fine, &denied]), ExitStatus::Denied);
        assert_eq!(counted(&[&denied, &failed]), ExitStatus::Failed);
        assert_eq!(status(Failures::Ignored, &[failed]), ExitStatus::Done);
    }
}
