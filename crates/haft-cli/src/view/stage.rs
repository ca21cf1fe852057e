//! A call's stages, from its run's events.

use haft::approval::ApprovalDecision;
use haft::run::{FailureKind, ToolEvent, ToolResult};

use crate::terminal::one_line;

/// The longest message from a call, in characters: more than a row holds.
const MAX_MESSAGE: usize = 500;

/// A call's stage.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CallStage {
    /// The call waits for its turn.
    Queued,
    /// A person or a policy has to approve the call.
    WaitsForApproval,
    /// The handler runs.
    Running {
        /// The finished part, from 0 to 1, if the handler reported it.
        fraction: Option<f64>,
        /// The handler's last message.
        message: String,
    },
    /// The verdict comes after this run.
    Suspended,
    /// The call has its result.
    Finished(CallEnd),
}

/// A call's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallEnd {
    Done,
    Failed,
    /// The arguments or the call itself are invalid, so nothing ran.
    Rejected,
    /// An approver or a permission denied the call.
    Denied,
    Cancelled,
}

/// The number of calls in each stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StageCounts {
    queued: usize,
    active: usize,
    finished: usize,
    unsuccessful: usize,
}

impl CallStage {
    /// Moves to the stage after an event.
    pub(super) fn advance(&mut self, event: &ToolEvent) {
        let running = |message: String| Self::Running { fraction: None, message };
        *self = match event {
            ToolEvent::Started { attempt: 0 | 1, .. } => running(String::new()),
            ToolEvent::Started { attempt, .. } => running(format!("attempt {attempt}")),
            ToolEvent::Progress { data, .. } => match event.progress() {
                Some(progress) => Self::Running { fraction: progress.fraction(), message: message(&progress.message) },
                None => running(message(data.as_str())),
            },
            ToolEvent::Preliminary { value, .. } => running(message(value.as_str())),
            ToolEvent::ApprovalRequested { .. } => Self::WaitsForApproval,
            ToolEvent::ApprovalResolved { response, .. } => match response.decision {
                ApprovalDecision::Approved | ApprovalDecision::Edited(_) => Self::Queued,
                _ => self.clone(),
            },
            ToolEvent::Suspended { .. } => Self::Suspended,
            ToolEvent::Output { result, .. } => Self::Finished(CallEnd::of(result)),
            // An event from a later version.
            ToolEvent::Unknown(_) => return,
        };
    }

    /// Reports whether a person wants to see the call.
    pub(super) fn is_active(&self) -> bool {
        match self {
            Self::WaitsForApproval | Self::Running { .. } => true,
            Self::Queued | Self::Suspended | Self::Finished(_) => false,
        }
    }
}

impl CallEnd {
    /// Returns the end by a result.
    pub(super) fn of(result: &ToolResult) -> Self {
        match result.failure().map(|failure| &failure.kind) {
            None => Self::Done,
            Some(FailureKind::Denied | FailureKind::PermissionDenied) => Self::Denied,
            Some(FailureKind::Cancelled | FailureKind::Interrupted) => Self::Cancelled,
            Some(
                FailureKind::UnknownTool
                | FailureKind::NonLocalTool
                | FailureKind::InputValidationError
                | FailureKind::DuplicateCallId,
            ) => Self::Rejected,
            Some(_) => Self::Failed,
        }
    }

    /// Returns the word for it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
        }
    }
}

impl StageCounts {
    pub(super) fn of<'a>(stages: impl Iterator<Item = &'a CallStage>) -> Self {
        let mut counts = Self::default();
        for stage in stages {
            match stage {
                CallStage::Queued => counts.queued += 1,
                CallStage::WaitsForApproval | CallStage::Running { .. } => counts.active += 1,
                CallStage::Suspended | CallStage::Finished(CallEnd::Done) => counts.finished += 1,
                CallStage::Finished(_) => {
                    counts.finished += 1;
                    counts.unsuccessful += 1;
                }
            }
        }
        counts
    }

    /// Describes the calls, some of which have their own rows.
    pub(super) fn describe(self, rows: usize) -> String {
        let total = self.queued + self.active + self.finished;
        let mut text = format!("{} of {total} calls finished", self.finished);
        if self.unsuccessful > 0 {
            text.push_str(&format!(", {} of them without success", self.unsuccessful));
        }
        let hidden = self.active.saturating_sub(rows);
        if hidden > 0 {
            text.push_str(&format!(", {hidden} more running"));
        }
        if self.queued > 0 {
            text.push_str(&format!(", {} waiting", self.queued));
        }
        text
    }
}

/// Returns a message for one row.
fn message(text: &str) -> String {
    let end = text.char_indices().nth(MAX_MESSAGE).map_or(text.len(), |(at, _)| at);
    one_line(&text[..end])
}

#[cfg(test)]
mod tests {
    use haft::run::{ToolCall, ToolResult};
    use serde_json::{Value, json};

    use super::*;

    fn event(value: Value) -> ToolEvent {
        serde_json::from_value(value).unwrap()
    }

    fn progress(data: &Value) -> ToolEvent {
        event(json!({"type": "progress", "index": 0, "call_id": "c1", "tool": "copy", "seq": 0, "data": data}))
    }

    fn output(result: ToolResult) -> ToolEvent {
        ToolEvent::Output { index: 0, result }
    }

    #[test]
    fn a_call_goes_through_its_stages() {
        let mut stage = CallStage::Queued;
        let started = |attempt: u32| {
            event(json!({"type": "started", "index": 0, "call_id": "c1", "tool": "copy", "attempt": attempt}))
        };
        stage.advance(&started(1));
        assert_eq!(stage, CallStage::Running { fraction: None, message: String::new() });
        stage.advance(&progress(&json!({"done": 1, "total": 4, "message": "one\nfile\u{1b}"})));
        assert_eq!(stage, CallStage::Running { fraction: Some(0.25), message: "one file\\u{1b}".to_owned() });
        stage.advance(&progress(&json!(["anything"])));
        assert_eq!(stage, CallStage::Running { fraction: None, message: "[\"anything\"]".to_owned() });
        stage.advance(&started(2));
        assert_eq!(stage, CallStage::Running { fraction: None, message: "attempt 2".to_owned() });
        stage.advance(&output(ToolResult::ok(&ToolCall::new("c1", "copy", "{}"), json!(1))));
        assert_eq!(stage, CallStage::Finished(CallEnd::Done));
    }

    #[test]
    fn each_failure_has_its_end() {
        let call = ToolCall::new("c1", "copy", "{}");
        for (kind, end) in [
            ("denied", CallEnd::Denied),
            ("permission_denied", CallEnd::Denied),
            ("cancelled", CallEnd::Cancelled),
            ("unknown_tool", CallEnd::Rejected),
            ("input_validation_error", CallEnd::Rejected),
            ("timed_out", CallEnd::Failed),
            ("out_of_stock", CallEnd::Failed),
        ] {
            assert_eq!(CallEnd::of(&ToolResult::failed(&call, kind, "")), end, "{kind}");
        }
    }

    #[test]
    fn the_counts_say_what_has_no_row() {
        let running = CallStage::Running { fraction: None, message: String::new() };
        let mut stages = vec![CallStage::Queued; 3];
        stages.extend(vec![running; 5]);
        stages.extend([CallStage::Finished(CallEnd::Done), CallStage::Finished(CallEnd::Denied)]);
        let counts = StageCounts::of(stages.iter());
        let text = "2 of 10 calls finished, 1 of them without success, 3 more running, 3 waiting";
        assert_eq!(counts.describe(2), text);
        assert_eq!(StageCounts::of([CallStage::Queued].iter()).describe(0), "0 of 1 calls finished, 1 waiting");
    }
}
