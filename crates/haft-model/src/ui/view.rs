//! From events of a loop to events that a user may see.
//!
//! Deltas are for display and need not add up to their turn: a model may stream nothing, or something else. The turn
//! decides: where it differs from what was shown, the step is reset and the turn is shown instead. So after each step a
//! user sees exactly what is in the history.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::Arc;

use haft_core::{ApprovalId, ApprovalRequest, CallId, Delta, Item, ResultParts, Role, ToolEvent, Turn};
use haft_schema::JsonText;

use super::event::{UiEnd, UiEvent};
use super::shown;
use crate::error::ModelError;
use crate::turn_delta::{DeltaSize, deltas_of};
use crate::turn_loop::{LoopEnd, LoopError, LoopEvent};

/// The function that words an error for the user.
pub(super) type ErrorText = Arc<dyn Fn(&LoopError) -> String + Send + Sync>;

/// The part of a conversation that a user has seen.
pub(crate) struct View {
    /// The number of the current step.
    step: u32,
    shown: ShownStep,
    /// The approval requests that were shown.
    requested: HashSet<ApprovalId>,
    error_text: ErrorText,
    events: Vec<UiEvent>,
}

/// The part of a step's answer that was shown.
#[derive(Default)]
struct ShownStep {
    text: String,
    reasoning: String,
    /// The parts, in order, without those that ended.
    open: Vec<usize>,
    calls: Vec<CallId>,
    /// The calls that the provider executes.
    provider_calls: HashMap<CallId, ShownProviderCall>,
    sources: usize,
}

/// A call that the provider executes.
#[derive(Default)]
struct ShownProviderCall {
    name: String,
    arguments: String,
    has_output: bool,
}

impl View {
    pub(crate) fn new() -> Self {
        Self {
            step: 0,
            shown: ShownStep::default(),
            requested: HashSet::new(),
            error_text: Arc::new(|error| error_text(error).to_owned()),
            events: Vec::new(),
        }
    }

    /// Sets the function that words an error.
    pub(super) fn word_errors(&mut self, error_text: ErrorText) {
        self.error_text = error_text;
    }

    /// Returns what a user may see of an event.
    pub(crate) fn read(&mut self, event: LoopEvent) -> Vec<UiEvent> {
        match event {
            LoopEvent::TurnStarted { number, .. } => self.start_step(number),
            LoopEvent::Delta(Delta::TurnComplete(turn)) => self.complete(&turn),
            LoopEvent::Delta(delta) => self.add(delta),
            LoopEvent::Retrying { .. } => self.reset(),
            LoopEvent::CallsResumed { calls } => self.events.extend(calls.iter().map(shown::called)),
            LoopEvent::Tool(event) => self.tool(event),
            LoopEvent::VerdictRejected { response, .. } => {
                self.events.push(UiEvent::VerdictRejected { request_id: response.request_id });
            }
            LoopEvent::TurnEnded { number, .. } => self.events.push(UiEvent::StepEnded { step: number }),
            LoopEvent::Ended { end, .. } => self.end(end),
            // For the operator, or seen by its effect.
            LoopEvent::Repaired { .. }
            | LoopEvent::HistoryRewritten { .. }
            | LoopEvent::ToolLeftOut { .. }
            | LoopEvent::ProviderApproval { .. }
            | LoopEvent::Unplaced { .. }
            | LoopEvent::Signal(_)
            | LoopEvent::AnswerRejected { .. }
            | LoopEvent::Unknown(_) => {}
        }
        mem::take(&mut self.events)
    }

    /// Shows a whole turn, as one step.
    pub(super) fn show_turn(&mut self, number: u32, turn: &Turn) -> Vec<UiEvent> {
        self.start_step(number);
        self.show(turn);
        mem::take(&mut self.events)
    }

    /// Shows an approval request, unless it was shown before.
    pub(super) fn show_request(&mut self, request: &ApprovalRequest) -> Option<UiEvent> {
        self.requested.insert(request.request_id.clone()).then(|| shown::approval_requested(request))
    }

    fn start_step(&mut self, number: u32) {
        self.step = number;
        self.shown = ShownStep::default();
        self.events.push(UiEvent::StepStarted { step: number });
    }

    /// Voids what was shown of the step.
    fn reset(&mut self) {
        if !mem::take(&mut self.shown).is_empty() {
            self.events.push(UiEvent::StepReset { step: self.step });
        }
    }

    /// Shows a delta.
    fn add(&mut self, delta: Delta) {
        let event = match delta {
            Delta::TextDelta { text, part } | Delta::RefusalDelta { text, part } => {
                self.shown.text.push_str(&text);
                UiEvent::TextDelta { part: self.part(part), text }
            }
            Delta::ReasoningDelta { text, part, .. } => {
                self.shown.reasoning.push_str(&text);
                UiEvent::ReasoningDelta { part: self.part(part), text }
            }
            Delta::CitationDelta { citation, .. } => {
                let Some(url) = citation.url else { return };
                self.shown.sources += 1;
                UiEvent::Source { url, title: citation.title }
            }
            Delta::ToolCallStart { call_id, name } => {
                self.shown.calls.push(call_id.clone());
                UiEvent::CallStarted { call_id, tool: name, by_provider: false }
            }
            Delta::ProviderCallStart { call_id, name } => {
                let call = ShownProviderCall { name: name.clone(), ..ShownProviderCall::default() };
                self.shown.provider_calls.insert(call_id.clone(), call);
                UiEvent::CallStarted { call_id, tool: name, by_provider: true }
            }
            Delta::ToolCallArgsDelta { call_id, arguments } => UiEvent::ArgumentsDelta { call_id, text: arguments },
            Delta::ProviderCallArgsDelta { call_id, arguments } => {
                let Some(call) = self.shown.provider_calls.get_mut(&call_id) else { return };
                call.arguments.push_str(&arguments);
                UiEvent::ArgumentsDelta { call_id, text: arguments }
            }
            Delta::ProviderCallOutput { call_id, is_error, .. } => return self.show_provider_output(call_id, is_error),
            _ => return,
        };
        self.events.push(event);
    }

    /// Returns the name of a part, which is open from now on.
    fn part(&mut self, part: usize) -> String {
        if !self.shown.open.contains(&part) {
            self.shown.open.push(part);
        }
        part_name(self.step, part)
    }

    /// Shows that a provider executed a call. Its output is in the provider's format, and may hold what only the provider
    /// can read.
    fn show_provider_output(&mut self, call_id: CallId, is_error: bool) {
        let Some(call) = self.shown.provider_calls.get_mut(&call_id) else { return };
        if !mem::replace(&mut call.has_output, true) {
            self.events.push(provider_called(&call_id, call));
        }
        let tool = call.name.clone();
        self.events.push(if is_error {
            let (kind, message) = (shown::UNKNOWN_KIND.to_owned(), "the provider reported a failure".to_owned());
            UiEvent::CallFailed { call_id, tool, kind, message, by_provider: true }
        } else {
            UiEvent::Output { call_id, tool, output: JsonText::null(), by_provider: true }
        });
    }

    /// Shows the end of an answer, and the answer itself where it differs from what was shown.
    fn complete(&mut self, turn: &Turn) {
        if self.shown.is_that_of(turn) {
            self.finish(turn);
        } else {
            self.reset();
            self.show(turn);
        }
    }

    fn show(&mut self, turn: &Turn) {
        for delta in deltas_of(turn, DeltaSize::Whole) {
            self.add(delta);
        }
        self.finish(turn);
    }

    /// Shows what has no delta, and ends the parts.
    fn finish(&mut self, turn: &Turn) {
        let step = self.step;
        let ended = mem::take(&mut self.shown.open).into_iter();
        self.events.extend(ended.map(|part| UiEvent::PartEnded { part: part_name(step, part) }));
        let open = self.shown.provider_calls.iter().filter(|(_, call)| !call.has_output);
        self.events.extend(open.map(|(call_id, call)| provider_called(call_id, call)));
        for item in &turn.items {
            match item {
                Item::Message(message) if message.role == Role::Assistant => {
                    let files = message.content.iter().filter_map(shown::file);
                    self.events.extend(files.map(|file| UiEvent::Media { file }));
                }
                Item::ToolCall(call) if !call.provider_executed => self.events.push(shown::called(call)),
                _ => {}
            }
        }
    }

    fn tool(&mut self, event: ToolEvent) {
        let shown = match event {
            ToolEvent::Progress { call_id, tool, data, .. } => {
                UiEvent::Progress { call_id, tool: tool.as_str().to_owned(), data }
            }
            ToolEvent::Preliminary { call_id, tool, value, .. } => {
                UiEvent::Preliminary { call_id, tool: tool.as_str().to_owned(), output: value }
            }
            ToolEvent::ApprovalRequested { request, .. } | ToolEvent::Suspended { request, .. } => {
                let event = self.show_request(&request);
                self.events.extend(event);
                return;
            }
            ToolEvent::ApprovalResolved { call_id, response, .. } => {
                let decision = response.decision.as_str().to_owned();
                UiEvent::ApprovalResolved {
                    request_id: response.request_id,
                    call_id,
                    decision,
                    reason: response.reason,
                }
            }
            ToolEvent::Output { result, .. } => {
                // What the model reads contains the outcome; browsers get no repairs.
                let ResultParts { call_id: _, tool, outcome: _, repairs: _ } = result.parts();
                shown::output(&result.to_call_output(), tool.as_str())
            }
            _ => return,
        };
        self.events.push(shown);
    }

    fn end(&mut self, end: LoopEnd) {
        let end = match end {
            LoopEnd::Failed(error) => {
                let message = (self.error_text)(&error);
                self.events.push(UiEvent::Failed { kind: error.kind().to_owned(), message });
                return;
            }
            LoopEnd::Waiting { interactions, approvals } => {
                let requests: Vec<_> = approvals.iter().filter_map(|request| self.show_request(request)).collect();
                self.events.extend(requests);
                self.events.extend(interactions.iter().map(|interaction| UiEvent::AnswerRequested {
                    call_id: interaction.call_id().clone(),
                    tool: interaction.name().to_owned(),
                    arguments: interaction.arguments.clone(),
                }));
                UiEnd::Waiting
            }
            LoopEnd::Stopped => UiEnd::Stopped,
            LoopEnd::Truncated { .. } => UiEnd::Truncated,
            LoopEnd::MaxTurns { .. } => UiEnd::MaxTurns,
            LoopEnd::Budget(_) => UiEnd::Budget,
            LoopEnd::CallsFailed { .. } => UiEnd::CallsFailed,
            LoopEnd::RepeatedCalls => UiEnd::RepeatedCalls,
            LoopEnd::Cancelled => UiEnd::Cancelled,
        };
        self.events.push(UiEvent::Ended { end });
    }
}

impl ShownStep {
    fn is_empty(&self) -> bool {
        let Self { text, reasoning, open, calls, provider_calls, sources } = self;
        let is_silent = text.is_empty() && reasoning.is_empty() && open.is_empty();
        is_silent && calls.is_empty() && provider_calls.is_empty() && *sources == 0
    }

    /// Reports whether a turn is what was shown. Providers may disclose more or less reasoning in the turn.
    fn is_that_of(&self, turn: &Turn) -> bool {
        let mut whole = Self::default();
        for delta in deltas_of(turn, DeltaSize::Whole) {
            match delta {
                Delta::TextDelta { text, .. } | Delta::RefusalDelta { text, .. } => whole.text.push_str(&text),
                Delta::ReasoningDelta { text, .. } => whole.reasoning.push_str(&text),
                Delta::CitationDelta { citation, .. } => whole.sources += usize::from(citation.url.is_some()),
                Delta::ToolCallStart { call_id, .. } => whole.calls.push(call_id),
                _ => {}
            }
        }
        let provider_calls = turn.items.iter().filter(|item| match item {
            Item::ToolCall(call) => call.provider_executed,
            Item::ProviderCall(_) => true,
            _ => false,
        });
        let lacks = |shown: usize, all: usize| shown == 0 && all > 0;
        self.text == whole.text
            && self.calls == whole.calls
            && !lacks(self.reasoning.len(), whole.reasoning.len())
            && !lacks(self.sources, whole.sources)
            && !lacks(self.provider_calls.len(), provider_calls.count())
    }
}

fn part_name(step: u32, part: usize) -> String {
    format!("{step}.{part}")
}

fn provider_called(call_id: &CallId, call: &ShownProviderCall) -> UiEvent {
    UiEvent::Called {
        call_id: call_id.clone(),
        tool: call.name.clone(),
        arguments: shown::arguments(&call.arguments),
        by_provider: true,
    }
}

/// Returns the text about an error that a user reads. It is about the cause only as far as the user can act on it.
fn error_text(error: &LoopError) -> &'static str {
    match error {
        LoopError::Model { source, .. } => match **source {
            ModelError::ContextTooLong { .. } => "The conversation is too long. Start a new one.",
            ref error if error.retryable() => "The service is busy. Try again in a moment.",
            _ => "Something went wrong. Try again later.",
        },
        _ => "Something went wrong. Try again later.",
    }
}
