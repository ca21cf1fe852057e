//! From events to chunks.

use std::collections::{HashMap, HashSet};

use haft_core::{ApprovalDecision, ApprovalId, CallId};
use haft_schema::JsonText;

use super::chunk::{ApprovalDescriptor, Chunk, EndMetadata, ProgressData, RejectedData};
use crate::ui::event::{UiEnd, UiEvent};

/// The end of the stream.
const DONE: &str = "data: [DONE]\n\n";
/// The kind of a call that was denied.
const DENIED: &str = "denied";

/// A writer of chunks, which knows what the message in the browser contains.
#[derive(Default)]
pub(in crate::ui) struct ChunkWriter {
    message_id: Option<String>,
    /// True between the start and the end of a step.
    in_step: bool,
    /// The parts that are open, and what they are.
    open: HashMap<String, PartKind>,
    /// The calls of the message, and the arguments that it has of them.
    calls: HashMap<CallId, Option<JsonText>>,
    /// The calls of the current step, which a reset removes.
    step_calls: Vec<CallId>,
    requests: HashSet<ApprovalId>,
    /// The calls that a verdict of this stream denied.
    denied: HashSet<CallId>,
    sources: u32,
}

#[derive(Clone, Copy)]
enum PartKind {
    Text,
    Reasoning,
}

impl ChunkWriter {
    /// Sets the id of the message.
    pub(in crate::ui) fn name(&mut self, message_id: String) {
        self.message_id = Some(message_id);
    }

    /// Writes an event.
    pub(in crate::ui) fn write(&mut self, event: &UiEvent) -> Vec<String> {
        let mut text = Vec::new();
        self.write_to(event, &mut text);
        text
    }

    fn write_to(&mut self, event: &UiEvent, text: &mut Vec<String>) {
        let mut put = |chunk: Chunk<'_>| text.push(chunk.to_sse());
        match event {
            UiEvent::Started => put(Chunk::Start { message_id: self.message_id.as_deref() }),
            UiEvent::StepStarted { .. } => {
                self.step_calls.clear();
                self.in_step = true;
                put(Chunk::StartStep);
            }
            UiEvent::StepReset { .. } => {
                self.open.clear();
                for call_id in self.step_calls.drain(..) {
                    self.calls.remove(&call_id);
                }
                put(Chunk::ResetStep);
            }
            UiEvent::StepEnded { .. } => {
                if std::mem::take(&mut self.in_step) {
                    put(Chunk::FinishStep);
                }
            }
            UiEvent::TextDelta { part, text: delta } => {
                if self.open.insert(part.clone(), PartKind::Text).is_none() {
                    put(Chunk::TextStart { id: part });
                }
                put(Chunk::TextDelta { id: part, delta });
            }
            UiEvent::ReasoningDelta { part, text: delta } => {
                if self.open.insert(part.clone(), PartKind::Reasoning).is_none() {
                    put(Chunk::ReasoningStart { id: part });
                }
                put(Chunk::ReasoningDelta { id: part, delta });
            }
            UiEvent::PartEnded { part } => match self.open.remove(part) {
                Some(PartKind::Text) => put(Chunk::TextEnd { id: part }),
                Some(PartKind::Reasoning) => put(Chunk::ReasoningEnd { id: part }),
                None => {}
            },
            UiEvent::Source { url, title } => {
                self.sources += 1;
                let source_id = format!("source-{}", self.sources);
                put(Chunk::SourceUrl { source_id: &source_id, url, title: title.as_deref() });
            }
            UiEvent::Media { file } => put(Chunk::File { url: &file.url, media_type: &file.media_type }),
            UiEvent::Ended { end } => self.finish(*end, text),
            UiEvent::Failed { message, .. } => {
                put(Chunk::Error { error_text: message });
                text.push(DONE.to_owned());
            }
            // Only in a history.
            UiEvent::UserMessage { .. } => {}
            UiEvent::CallStarted { .. }
            | UiEvent::ArgumentsDelta { .. }
            | UiEvent::Called { .. }
            | UiEvent::Progress { .. }
            | UiEvent::Preliminary { .. }
            | UiEvent::Output { .. }
            | UiEvent::CallFailed { .. }
            | UiEvent::ApprovalRequested { .. }
            | UiEvent::ApprovalResolved { .. }
            | UiEvent::VerdictRejected { .. }
            | UiEvent::AnswerRequested { .. } => self.write_call(event, text),
        }
    }

    /// Writes an event of a call.
    fn write_call(&mut self, event: &UiEvent, text: &mut Vec<String>) {
        match event {
            UiEvent::CallStarted { call_id, tool, by_provider } => {
                self.calls.insert(call_id.clone(), None);
                self.step_calls.push(call_id.clone());
                let chunk =
                    Chunk::ToolInputStart { tool_call_id: call_id, tool_name: tool, provider_executed: *by_provider };
                text.push(chunk.to_sse());
            }
            UiEvent::ArgumentsDelta { call_id, text: delta }
                if self.calls.get(call_id).is_some_and(Option::is_none) =>
            {
                text.push(Chunk::ToolInputDelta { tool_call_id: call_id, input_text_delta: delta }.to_sse());
            }
            UiEvent::Called { call_id, tool, arguments, by_provider } => {
                self.introduce(call_id, tool, arguments, *by_provider, text);
            }
            UiEvent::AnswerRequested { call_id, tool, arguments } => {
                self.introduce(call_id, tool, arguments, false, text);
            }
            UiEvent::Progress { call_id, tool, data } => {
                let data = ProgressData { tool_name: tool, progress: data };
                text.push(Chunk::ToolProgress { id: call_id, data, transient: true }.to_sse());
            }
            UiEvent::Preliminary { call_id, tool, output } => {
                self.put_output(call_id, tool, output, Finality::Preliminary, text);
            }
            UiEvent::Output { call_id, tool, output, by_provider } => {
                self.put_output(call_id, tool, output, Finality::Final { by_provider: *by_provider }, text);
            }
            UiEvent::CallFailed { call_id, tool, kind, message, by_provider } => {
                self.ensure_introduced(call_id, tool, *by_provider, text);
                let (tool_call_id, provider_executed) = (call_id, *by_provider);
                let chunk = if kind == DENIED && self.denied.contains(call_id) {
                    Chunk::ToolOutputDenied { tool_call_id }
                } else {
                    Chunk::ToolOutputError { tool_call_id, error_text: message, provider_executed }
                };
                text.push(chunk.to_sse());
            }
            UiEvent::ApprovalRequested {
                request_id: approval_id,
                call_id,
                tool,
                arguments,
                question,
                digest,
                expires_at,
                by_provider,
            } => {
                // What is approved is what is shown: the arguments of the request, in one spelling.
                self.introduce(call_id, tool, arguments, *by_provider, text);
                self.requests.insert(approval_id.clone());
                let approval_descriptor =
                    Some(ApprovalDescriptor { digest, expires_at: *expires_at, question: question.as_deref() });
                let chunk = Chunk::ToolApprovalRequest { approval_id, tool_call_id: call_id, approval_descriptor };
                text.push(chunk.to_sse());
            }
            UiEvent::ApprovalResolved { request_id: approval_id, call_id, decision, reason } => {
                self.resolve(approval_id, call_id, decision, reason.as_deref(), text);
            }
            UiEvent::VerdictRejected { request_id: approval_id } => {
                let data = RejectedData { approval_id };
                text.push(Chunk::VerdictRejected { id: approval_id, data, transient: true }.to_sse());
            }
            _ => {}
        }
    }

    /// Writes a decision. The message gets its request first, as it may have been in another stream.
    fn resolve(
        &mut self,
        approval_id: &ApprovalId,
        call_id: &CallId,
        decision: &str,
        reason: Option<&str>,
        text: &mut Vec<String>,
    ) {
        if !self.calls.contains_key(call_id) {
            return;
        }
        if self.requests.insert(approval_id.clone()) {
            let request = Chunk::ToolApprovalRequest { approval_id, tool_call_id: call_id, approval_descriptor: None };
            text.push(request.to_sse());
        }
        let approved = !is_denial(decision);
        if approved {
            self.denied.remove(call_id)
        } else {
            self.denied.insert(call_id.clone())
        };
        text.push(Chunk::ToolApprovalResponse { approval_id, approved, reason }.to_sse());
    }

    fn put_output(
        &mut self,
        call_id: &CallId,
        tool: &str,
        output: &JsonText,
        finality: Finality,
        text: &mut Vec<String>,
    ) {
        let (preliminary, provider_executed) = match finality {
            Finality::Preliminary => (true, false),
            Finality::Final { by_provider } => (false, by_provider),
        };
        self.ensure_introduced(call_id, tool, provider_executed, text);
        let chunk = Chunk::ToolOutputAvailable { tool_call_id: call_id, output, preliminary, provider_executed };
        text.push(chunk.to_sse());
    }

    /// Writes a call with its arguments, unless the message has exactly that.
    fn introduce(
        &mut self,
        call_id: &CallId,
        tool: &str,
        arguments: &JsonText,
        by_provider: bool,
        text: &mut Vec<String>,
    ) {
        let known = self.calls.insert(call_id.clone(), Some(arguments.clone()));
        match known {
            Some(Some(written)) if written == *arguments => return,
            Some(_) => {}
            None => self.step_calls.push(call_id.clone()),
        }
        let chunk = Chunk::ToolInputAvailable {
            tool_call_id: call_id,
            tool_name: tool,
            input: arguments,
            provider_executed: by_provider,
        };
        text.push(chunk.to_sse());
    }

    /// Writes a call without arguments, unless the message has it: its event was removed, or was in another stream.
    fn ensure_introduced(&mut self, call_id: &CallId, tool: &str, by_provider: bool, text: &mut Vec<String>) {
        if !self.calls.contains_key(call_id) {
            self.introduce(call_id, tool, &JsonText::null(), by_provider, text);
        }
    }

    fn finish(&mut self, end: UiEnd, text: &mut Vec<String>) {
        if std::mem::take(&mut self.in_step) {
            text.push(Chunk::FinishStep.to_sse());
        }
        let (finish_reason, is_named) = match end {
            UiEnd::Stopped => ("stop", true),
            UiEnd::Truncated => ("length", true),
            UiEnd::Waiting => ("tool-calls", true),
            UiEnd::MaxTurns | UiEnd::Budget | UiEnd::CallsFailed | UiEnd::RepeatedCalls | UiEnd::Cancelled => {
                ("other", false)
            }
        };
        if end == UiEnd::Cancelled {
            text.push(Chunk::Abort { reason: "cancelled" }.to_sse());
        }
        let message_metadata = (!is_named).then(|| EndMetadata { end: end.as_str() });
        text.push(Chunk::Finish { finish_reason, message_metadata }.to_sse());
        text.push(DONE.to_owned());
    }
}

/// An output that may be replaced, or the last one.
#[derive(Clone, Copy)]
enum Finality {
    Preliminary,
    Final { by_provider: bool },
}

/// Reports whether a decision is a denial. A call that a person edits or answers has an output, so it counts as approved.
fn is_denial(decision: &str) -> bool {
    let (edited, answered) = (ApprovalDecision::Edited(JsonText::null()), ApprovalDecision::Answered(JsonText::null()));
    ![ApprovalDecision::Approved.as_str(), edited.as_str(), answered.as_str()].contains(&decision)
}
