//! Messages API responses.
//!
//! The same [`MessageReader`] reads whole and streamed responses, so they can't differ: a whole response is a stream
//! whose blocks arrive at once.

mod block;

use haft_core::{Citation, Delta, Finish, Item, Turn, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

pub(super) use self::block::OpenBlock;
use super::error;
use crate::wire::ReadContext;
use crate::wire::response::text::Text;
use crate::wire::response::turn_builder::TurnBuilder;
use crate::wire_error::ReadError;

/// The provider data member with the id of the container that a call runs in.
pub(super) const CONTAINER: &str = "container";

/// Stop reasons.
const FINISHES: [(&str, Finish); 8] = [
    ("end_turn", Finish::Stop),
    ("stop_sequence", Finish::Stop),
    ("tool_use", Finish::ToolCalls),
    ("max_tokens", Finish::Length),
    ("model_context_window_exceeded", Finish::Length),
    ("pause_turn", Finish::Pause),
    // The context was summarised. The turn continues when the summary is sent back.
    ("compaction", Finish::Pause),
    ("refusal", Finish::Refusal),
];

/// The key for the text that explains a refusal. No block has this number.
const EXPLANATION: u64 = u64::MAX;

/// A response, or the start of a streamed one.
#[derive(Debug, Deserialize)]
pub(super) struct ReadMessage<'b> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Text<'b>>,
    #[serde(borrow, default)]
    id: Option<Text<'b>>,
    #[serde(borrow, default)]
    model: Option<Text<'b>>,
    #[serde(borrow, default)]
    content: Option<Vec<&'b RawValue>>,
    /// An error from a server in front of the API, which names no type.
    #[serde(borrow, default)]
    error: Option<&'b RawValue>,
    #[serde(borrow, default)]
    usage: Option<&'b RawValue>,
    #[serde(borrow, default)]
    stop_reason: Option<Text<'b>>,
    #[serde(borrow, default)]
    stop_sequence: Option<&'b RawValue>,
    #[serde(borrow, default)]
    stop_details: Option<&'b RawValue>,
    #[serde(borrow, default)]
    container: Option<&'b RawValue>,
    #[serde(borrow, default)]
    context_management: Option<&'b RawValue>,
}

/// The response members that a stream has at its end.
#[derive(Debug, Default)]
pub(super) struct MessageEnd<'b> {
    pub(super) stop_reason: Option<Text<'b>>,
    pub(super) stop_sequence: Option<&'b RawValue>,
    pub(super) stop_details: Option<&'b RawValue>,
    pub(super) container: Option<&'b RawValue>,
    pub(super) context_management: Option<&'b RawValue>,
}

/// Reads a whole response.
pub(super) fn read(provider: &str, body: &str, context: &ReadContext) -> Result<Turn, ReadError> {
    let message: ReadMessage<'_> =
        serde_json::from_str(body).map_err(|error| ReadError::json("the response", error))?;
    let is_error = message.kind.as_ref().is_some_and(|kind| kind.as_str() == "error");
    if is_error || (message.content.is_none() && message.error.is_some()) {
        return Err(ReadError::Provider(error::report(body)));
    }
    let Some(content) = &message.content else {
        return Err(ReadError::invalid("the response has no `content`"));
    };
    let mut reader = MessageReader::new(provider, context);
    // What a stream displays is not needed.
    let mut deltas = Vec::new();
    reader.start(&message)?;
    for (at, block) in content.iter().enumerate() {
        let key = u64::try_from(at).unwrap_or(EXPLANATION);
        let mut open = reader.start_block(key, block, &mut deltas)?;
        reader.end_block(&mut open, &mut deltas)?;
        deltas.clear();
    }
    let ReadMessage { usage, stop_reason, stop_sequence, stop_details, container, context_management, .. } = message;
    reader.usage(usage, &mut deltas)?;
    reader.end(MessageEnd { stop_reason, stop_sequence, stop_details, container, context_management }, &mut deltas)?;
    Ok(reader.finish())
}

/// A response in progress.
#[derive(Debug)]
pub(super) struct MessageReader {
    provider: String,
    turn: TurnBuilder,
    /// The server tool call's id, if that call is the last block.
    last_server_call: Option<haft_core::CallId>,
    /// The provider's counts, as far as they were reported.
    counts: Map<String, Value>,
    /// Further turn data.
    data: Map<String, Value>,
    stop_reason: Option<String>,
}

impl MessageReader {
    pub(super) fn new(provider: &str, context: &ReadContext) -> Self {
        Self {
            provider: provider.to_owned(),
            turn: TurnBuilder::new(context),
            last_server_call: None,
            counts: Map::new(),
            data: Map::new(),
            stop_reason: None,
        }
    }

    /// Reads what a response has at its start.
    pub(super) fn start(&mut self, message: &ReadMessage<'_>) -> Result<(), ReadError> {
        if let Some(id) = &message.id {
            self.turn.response_id(id.as_str());
        }
        if let Some(model) = &message.model {
            self.turn.model(model.as_str());
        }
        self.keep(CONTAINER, message.container)
    }

    /// Reads the counts at a stream's start.
    pub(super) fn start_usage(&mut self, message: &ReadMessage<'_>, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        self.usage(message.usage, deltas)
    }

    /// Reads counts, which replace earlier ones. They are cumulative.
    pub(super) fn usage(&mut self, usage: Option<&RawValue>, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        let Some(usage) = usage else { return Ok(()) };
        let Value::Object(counts) = tree("usage", usage)? else {
            return Err(ReadError::invalid("the `usage` of the response is no object"));
        };
        self.counts.extend(counts.into_iter().filter(|(_, count)| !count.is_null()));
        let count = |name: &str| self.counts.get(name).and_then(Value::as_u64).unwrap_or(0);
        let (read, written) = (count("cache_read_input_tokens"), count("cache_creation_input_tokens"));
        let details = self.counts.get("output_tokens_details");
        let reasoning = details.and_then(|details| details.get("thinking_tokens")).and_then(Value::as_u64).unwrap_or(0);
        // The API counts cached tokens separately.
        let input = count("input_tokens").saturating_add(read).saturating_add(written);
        let usage =
            Usage::new(input, count("output_tokens")).cache_read(read).cache_write(written).reasoning(reasoning);
        deltas.push(self.turn.usage(usage));
        Ok(())
    }

    /// Reads what a response has at its end.
    pub(super) fn end(&mut self, end: MessageEnd<'_>, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        self.keep("stop_sequence", end.stop_sequence)?;
        self.keep("stop_details", end.stop_details)?;
        self.keep(CONTAINER, end.container)?;
        self.keep("context_management", end.context_management)?;
        if let Some(reason) = end.stop_reason {
            self.stop_reason = Some(reason.0.into_owned());
        }
        let explanation = self.data.get("stop_details").and_then(|details| details.get("explanation")?.as_str());
        if let Some(explanation) = explanation.filter(|text| !text.is_empty() && end.stop_details.is_some()) {
            deltas.push(self.turn.refusal_at(EXPLANATION, explanation));
            let marked = Value::Object(Map::from_iter([("explanation".to_owned(), true.into())]));
            self.turn.refusal_mut(EXPLANATION).provider_data.insert(self.provider.clone(), marked);
        }
        Ok(())
    }

    /// Reports whether the reason for the end is known.
    pub(super) fn is_ended(&self) -> bool {
        self.stop_reason.is_some()
    }

    /// Completes the turn.
    pub(super) fn finish(mut self) -> Turn {
        let finish = self.stop_reason.as_deref().map_or_else(|| Finish::Other("none".to_owned()), finish_of);
        let mut data = std::mem::take(&mut self.data);
        let container = data.get(CONTAINER).and_then(|container| container.get("id")).cloned();
        if !self.counts.is_empty() {
            data.insert("usage".to_owned(), Value::Object(self.counts));
        }
        if let Some(reason) = self.stop_reason {
            data.insert("stop_reason".to_owned(), reason.into());
        }
        self.turn.provider_data().insert(self.provider.clone(), Value::Object(data));
        let mut turn = self.turn.finish(finish);
        // The next request finds the container through the last call, because it only has items.
        if let Some(id) = container
            && let Some(data) = turn.items.iter_mut().rev().find_map(call_data)
        {
            let own = data.entry(self.provider).or_insert_with(|| Value::Object(Map::new()));
            own.as_object_mut().into_iter().for_each(|own| drop(own.insert(CONTAINER.to_owned(), id.clone())));
        }
        turn
    }

    /// Keeps a response member with the turn.
    fn keep(&mut self, name: &str, value: Option<&RawValue>) -> Result<(), ReadError> {
        if let Some(value) = value {
            self.data.insert(name.to_owned(), tree(name, value)?);
        }
        Ok(())
    }

    /// Reads a citation. It is kept whole, because the provider expects it back.
    pub(super) fn citation(&mut self, key: u64, raw: &RawValue, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        let whole = tree("a citation", raw)?;
        let text = |names: &[&str]| names.iter().find_map(|name| whole.get(name)?.as_str()).map(str::to_owned);
        let mut citation = text(&["url", "source"]).map_or_else(Citation::default, Citation::url);
        citation.title = text(&["title", "document_title"]);
        citation.quote = text(&["cited_text"]);
        citation.file_id = text(&["file_id"]);
        citation.provider_data.insert(self.provider.clone(), whole);
        deltas.push(self.turn.citation_at(key, citation));
        Ok(())
    }
}

/// Returns the meaning of a stop reason.
fn finish_of(reason: &str) -> Finish {
    let known = FINISHES.iter().find(|(name, _)| *name == reason);
    known.map_or_else(|| Finish::from(reason), |(_, finish)| finish.clone())
}

fn call_data(item: &mut Item) -> Option<&mut Map<String, Value>> {
    match item {
        Item::ToolCall(call) => Some(&mut call.provider_data),
        Item::ProviderCall(call) => Some(&mut call.provider_data),
        _ => None,
    }
}

/// Reads a response part as a tree.
fn tree(part: &str, raw: &RawValue) -> Result<Value, ReadError> {
    serde_json::from_str(raw.get()).map_err(|error| ReadError::json(part, error))
}
