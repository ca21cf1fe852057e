//! The deltas of a turn that is already complete.
//!
//! A reader of deltas must not have to know whether an answer was streamed, so a turn that arrives whole is sent as
//! deltas too. They always add up to the turn: texts, calls started, filled and ended, and the usage.

use haft_core::{CallId, ContentPart, Delta, Item, Reasoning, ReasoningForm, Role, ToolCall, Turn, Usage};
use haft_schema::JsonText;
use serde::Serialize;

/// The size of the deltas of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DeltaSize {
    /// Pieces, as a provider would stream them: at least two if the text has two characters, at most [`MOST_PIECES`].
    Piece,
    /// The whole text.
    Whole,
}

/// Returns the deltas that a provider would stream before the turn is complete.
pub(crate) fn deltas_of(turn: &Turn, size: DeltaSize) -> Vec<Delta> {
    let mut draft = DeltaDraft { deltas: Vec::new(), parts: 0, size };
    for item in &turn.items {
        match item {
            Item::Message(message) if message.role == Role::Assistant => {
                message.content.iter().for_each(|part| draft.add_part(part));
            }
            Item::Reasoning(reasoning) => draft.add_reasoning(reasoning),
            Item::ToolCall(call) if call.provider_executed => {
                draft.add_provider_call(&call.call_id, &call.name, &call.arguments);
            }
            Item::ToolCall(call) => draft.add_call(call),
            Item::ProviderCall(call) => {
                let count = draft.deltas.len();
                let call_id = call.call_id.clone().unwrap_or_else(|| format!("provider_call_{count}").into());
                draft.add_provider_call(&call_id, &call.name, "");
                draft.add_provider_output(call_id, &call.payload, call.is_error);
            }
            Item::ToolOutput(output) => {
                draft.add_provider_output(output.call_id.clone(), &output.output, output.is_error);
            }
            _ => {}
        }
    }
    if turn.usage != Usage::default() {
        draft.deltas.push(Delta::UsageUpdate(turn.usage));
    }
    draft.deltas
}

/// The deltas of a turn while they are created.
struct DeltaDraft {
    deltas: Vec<Delta>,
    /// The number of parts so far.
    parts: usize,
    size: DeltaSize,
}

impl DeltaDraft {
    fn add_part(&mut self, part: &ContentPart) {
        match part {
            ContentPart::Text(text) => {
                let part = self.next_part();
                self.deltas.extend(self.size.split(&text.text).map(|text| Delta::TextDelta { text, part }));
                let citations = text.citations.iter().cloned();
                self.deltas.extend(citations.map(|citation| Delta::CitationDelta { citation, part }));
            }
            ContentPart::Refusal(refusal) => {
                let part = self.next_part();
                self.deltas.extend(self.size.split(&refusal.text).map(|text| Delta::RefusalDelta { text, part }));
            }
            _ => {}
        }
    }

    fn add_reasoning(&mut self, reasoning: &Reasoning) {
        let (texts, form) = match &reasoning.text {
            Some(text) => (std::slice::from_ref(text), ReasoningForm::Text),
            None => (&*reasoning.summary, ReasoningForm::Summary),
        };
        for text in texts {
            let part = self.next_part();
            self.deltas.extend(self.size.split(text).map(|text| Delta::ReasoningDelta { text, form, part }));
        }
    }

    fn add_call(&mut self, call: &ToolCall) {
        let id = || CallId::clone(&call.call_id);
        self.deltas.push(Delta::ToolCallStart { call_id: id(), name: call.name.clone() });
        let arguments =
            self.size.split(&call.arguments).map(|arguments| Delta::ToolCallArgsDelta { call_id: id(), arguments });
        self.deltas.extend(arguments);
        self.deltas.push(Delta::ToolCallEnd { call_id: id() });
    }

    fn add_provider_call(&mut self, call_id: &CallId, name: &str, arguments: &str) {
        self.deltas.push(Delta::ProviderCallStart { call_id: call_id.clone(), name: name.to_owned() });
        let pieces = self.size.split(arguments);
        self.deltas
            .extend(pieces.map(|arguments| Delta::ProviderCallArgsDelta { call_id: call_id.clone(), arguments }));
    }

    fn add_provider_output(&mut self, call_id: CallId, output: &impl Serialize, is_error: bool) {
        // An output that can't be written as JSON can't be stored either; the turn still has it.
        if let Ok(output) = JsonText::encode(output) {
            self.deltas.push(Delta::ProviderCallOutput { call_id, output, is_error });
        }
    }

    fn next_part(&mut self) -> usize {
        self.parts += 1;
        self.parts - 1
    }
}

impl DeltaSize {
    /// Splits a text. An empty one has no deltas.
    fn split(self, text: &str) -> impl Iterator<Item = String> {
        let length = text.chars().count();
        let size = match self {
            Self::Piece => length.div_ceil(2).min(USUAL_PIECE).max(length.div_ceil(MOST_PIECES)),
            Self::Whole => length,
        };
        let mut rest = text.chars();
        std::iter::from_fn(move || Some(rest.by_ref().take(size).collect()).filter(|piece: &String| !piece.is_empty()))
    }
}

/// The number of characters in a piece, unless the text is very short or very long.
const USUAL_PIECE: usize = 4;
/// The maximum number of pieces.
const MOST_PIECES: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_into_pieces_that_add_up() {
        for (text, count) in [("", 0), ("a", 1), ("ab", 2), ("abc", 2), ("a€😀b€", 2), (&*"ü".repeat(1_000), 32)]
        {
            let pieces: Vec<String> = DeltaSize::Piece.split(text).collect();
            assert_eq!(pieces.len(), count, "{text}");
            assert_eq!(pieces.concat(), text);
            let whole: Vec<String> = DeltaSize::Whole.split(text).collect();
            assert_eq!((whole.concat().as_str(), whole.len()), (text, count.min(1)));
        }
    }
}
