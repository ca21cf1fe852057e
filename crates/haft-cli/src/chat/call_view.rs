//! A turn's calls as a person sees them: bars while they run, then one line each.

use haft::approval::ApprovalDecision;
use haft::run::{FailureClass, ResultParts, ToolCall, ToolEvent, ToolResult};

use crate::run_output::has_hidden_cause;
use crate::screen::Screen;
use crate::terminal::{cut, one_line};
use crate::view::LiveView;

/// The running turn's calls.
#[derive(Debug)]
pub(crate) struct CallView {
    screen: Screen,
    calls: Vec<ToolCall>,
    live: Option<LiveView>,
    results: Vec<ToolResult>,
}

impl CallView {
    pub(crate) fn new(screen: Screen) -> Self {
        Self { screen, calls: Vec::new(), live: None, results: Vec::new() }
    }

    /// Begins a turn's calls.
    pub(crate) fn begin(&mut self, calls: Vec<ToolCall>) {
        if !calls.is_empty() {
            self.live = Some(LiveView::new(self.screen.clone(), &calls));
        }
        self.calls = calls;
    }

    /// Shows an event.
    pub(crate) fn event(&mut self, event: &ToolEvent) {
        if let Some(live) = &mut self.live {
            live.event(event);
        }
        if let ToolEvent::ApprovalResolved { index, response, .. } = event
            && let ApprovalDecision::Edited(arguments) = &response.decision
            && let Some(call) = self.calls.get_mut(*index)
        {
            call.arguments = arguments.as_str().into();
        }
        self.results.extend(event.result().cloned());
    }

    /// Removes the bars, and returns a line for each call that has its result, in call order.
    pub(crate) fn finish(&mut self) -> Vec<String> {
        self.live = None;
        let mut results = std::mem::take(&mut self.results);
        let position = |result: &ToolResult| self.calls.iter().position(|call| call.call_id == result.call_id);
        results.sort_by_key(|result| position(result).unwrap_or(usize::MAX));
        let width = self.screen.terminal().width();
        results.iter().map(|result| line(result, position(result).map(|at| &self.calls[at]), width)).collect()
    }
}

/// Reports whether a call was denied or is not permitted.
pub(crate) fn is_denied(result: &ToolResult) -> bool {
    result.failure().is_some_and(|failure| failure.kind.class() == FailureClass::Denied)
}

/// Returns a call and its result in one line.
fn line(result: &ToolResult, call: Option<&ToolCall>, width: usize) -> String {
    let ResultParts { call_id: _, tool, outcome, repairs: _ } = result.parts();
    let sign = if result.is_ok() { '✓' } else { '✗' };
    let arguments = call.map(|call| one_line(&call.arguments)).unwrap_or_default();
    let arguments = if matches!(arguments.as_str(), "" | "{}") {
        String::new()
    } else {
        format!(" {}", cut(&arguments, width / 2))
    };
    let outcome = match outcome.failure() {
        Some(failure) if has_hidden_cause(failure) => {
            format!("{}: {} (`-v` shows it)", failure.kind.as_str(), one_line(&failure.message))
        }
        Some(failure) => format!("{}: {}", failure.kind.as_str(), one_line(&failure.message)),
        None => one_line(&result.to_model_text()),
    };
    cut(&format!("{sign} {}{arguments} → {outcome}", one_line(tool.as_str())), width).into_owned()
}

#[cfg(test)]
mod tests {
    use haft::serde_json::json;

    use super::*;

    #[test]
    fn a_call_and_its_result_are_one_line() {
        let call = ToolCall::new("c1", "add", "{\"a\": 1,\n \"b\": 2}");
        assert_eq!(line(&ToolResult::ok(&call, json!(3)), Some(&call), 80), "✓ add {\"a\": 1, \"b\": 2} → 3");
        let denied = ToolResult::denied(&call, "not\u{1b}[2J now");
        assert_eq!(line(&denied, None, 80), "✗ add → denied: not\\u{1b}[2J now");
        assert!(is_denied(&denied));
        let plain = ToolCall::new("c1", "now", "{}");
        assert_eq!(line(&ToolResult::ok(&plain, json!("x".repeat(99))), Some(&plain), 20), "✓ now → xxxxxxxxxxx…");
    }
}
