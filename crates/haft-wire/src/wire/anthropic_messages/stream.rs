//! Streamed Messages API responses.
//!
//! ```text
//! message_start  (content_block_start  content_block_delta…  content_block_stop)…  message_delta  message_stop
//! ```
//!
//! Each event is read in one pass into [`StreamEvent`], which has the members of all events.

use std::collections::BTreeMap;

use haft_core::Delta;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::error;
use super::response::{MessageEnd, MessageReader, OpenBlock, ReadMessage};
use crate::wire::response::depth;
use crate::wire::response::text::Text;
use crate::wire::{ReadContext, StreamReader, WireEvent};
use crate::wire_error::ReadError;

/// The events that this version knows.
const EVENTS: [&str; 8] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
    "error",
];

/// A streamed response in progress.
pub(super) struct MessageStream {
    /// The response, until it is complete.
    message: Option<MessageReader>,
    /// The open blocks by number.
    blocks: BTreeMap<u64, OpenBlock>,
}

/// An event, with the members of all event types.
#[derive(Deserialize)]
struct StreamEvent<'e> {
    #[serde(borrow, rename = "type")]
    kind: Text<'e>,
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    delta: Option<EventDelta<'e>>,
    #[serde(borrow, default)]
    content_block: Option<&'e RawValue>,
    #[serde(borrow, default)]
    message: Option<&'e RawValue>,
    #[serde(borrow, default)]
    usage: Option<&'e RawValue>,
    #[serde(borrow, default)]
    context_management: Option<&'e RawValue>,
}

/// A change to a block or to the response, with the members of all change types.
#[derive(Deserialize)]
struct EventDelta<'e> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Text<'e>>,
    #[serde(borrow, default)]
    text: Option<Text<'e>>,
    #[serde(borrow, default)]
    partial_json: Option<Text<'e>>,
    #[serde(borrow, default)]
    thinking: Option<Text<'e>>,
    #[serde(borrow, default)]
    signature: Option<Text<'e>>,
    #[serde(borrow, default)]
    citation: Option<&'e RawValue>,
    #[serde(borrow, default)]
    stop_reason: Option<Text<'e>>,
    #[serde(borrow, default)]
    stop_sequence: Option<&'e RawValue>,
    #[serde(borrow, default)]
    stop_details: Option<&'e RawValue>,
    #[serde(borrow, default)]
    container: Option<&'e RawValue>,
}

impl MessageStream {
    pub(super) fn new(provider: &str, context: &ReadContext) -> Self {
        Self { message: Some(MessageReader::new(provider, context)), blocks: BTreeMap::new() }
    }

    fn read(&mut self, event: StreamEvent<'_>, data: &str, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        // Whatever follows the end does not belong to the response.
        let Some(message) = &mut self.message else { return Ok(()) };
        match event.kind.as_str() {
            "content_block_delta" => {
                let index = event.index()?;
                let Some(delta) = event.delta else { return Ok(()) };
                change_block(message, self.blocks.get_mut(&index), index, &delta, data, deltas)
            }
            "content_block_start" => {
                let index = event.index()?;
                let Some(block) = event.content_block else { return Err(missing("content_block")) };
                let open = message.start_block(index, block, deltas)?;
                if let OpenBlock::Other(_) = open {
                    deltas.extend(unknown(data));
                }
                // A block that another one replaces has ended.
                if let Some(mut replaced) = self.blocks.insert(index, open) {
                    message.end_block(&mut replaced, deltas)?;
                }
                Ok(())
            }
            "content_block_stop" => match self.blocks.remove(&event.index()?) {
                Some(mut open) => message.end_block(&mut open, deltas),
                None => Ok(()),
            },
            "message_start" => {
                let Some(raw) = event.message else { return Err(missing("message")) };
                let start: ReadMessage<'_> = serde_json::from_str(raw.get())
                    .map_err(|error| ReadError::json("the start of the stream", error))?;
                message.start(&start)?;
                message.start_usage(&start, deltas)
            }
            "message_delta" => {
                message.usage(event.usage, deltas)?;
                let Some(delta) = event.delta else { return Ok(()) };
                let EventDelta { stop_reason, stop_sequence, stop_details, container, .. } = delta;
                let context_management = event.context_management;
                let end = MessageEnd { stop_reason, stop_sequence, stop_details, container, context_management };
                message.end(end, deltas)
            }
            "message_stop" => self.complete(deltas),
            "error" => Err(ReadError::Provider(error::report(data))),
            "ping" => Ok(()),
            _ => {
                deltas.extend(unknown(data));
                Ok(())
            }
        }
    }

    fn complete(&mut self, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        let Some(mut message) = self.message.take() else { return Ok(()) };
        for mut open in std::mem::take(&mut self.blocks).into_values() {
            message.end_block(&mut open, deltas)?;
        }
        deltas.push(Delta::complete(message.finish()));
        Ok(())
    }
}

impl StreamReader for MessageStream {
    fn event(&mut self, event: WireEvent<'_>, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        let data = event.data.trim();
        // Some servers end streams as another API does.
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        depth::check(data)?;
        match serde_json::from_str::<StreamEvent<'_>>(data) {
            Ok(event) => self.read(event, data, deltas),
            // The members of an event that this version does not know may have any shape.
            Err(error) => match unknown(data).filter(|delta| !is_known_event(delta)) {
                Some(delta) => {
                    deltas.extend(self.message.is_some().then_some(delta));
                    Ok(())
                }
                None => Err(ReadError::json("an event of the stream", error)),
            },
        }
    }

    fn end(&mut self, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        match &self.message {
            None => Ok(()),
            // Only the end mark is missing.
            Some(message) if message.is_ended() && self.blocks.is_empty() => self.complete(deltas),
            Some(_) => Err(ReadError::Incomplete),
        }
    }
}

/// Reads a block change.
fn change_block(
    message: &mut MessageReader,
    open: Option<&mut OpenBlock>,
    index: u64,
    delta: &EventDelta<'_>,
    data: &str,
    deltas: &mut Vec<Delta>,
) -> Result<(), ReadError> {
    match (delta.kind.as_ref().map_or("", Text::as_str), open) {
        // Text is displayed even if its start was lost; a call without a start has no name.
        ("text_delta", None | Some(OpenBlock::Text)) => message.text(index, text_of(delta.text.as_ref()), deltas),
        ("thinking_delta", None | Some(OpenBlock::Thinking)) => {
            message.thinking(index, text_of(delta.thinking.as_ref()), deltas);
        }
        ("signature_delta", None | Some(OpenBlock::Thinking)) => {
            message.signature(index, text_of(delta.signature.as_ref()));
        }
        ("citations_delta", None | Some(OpenBlock::Text)) => {
            if let Some(citation) = delta.citation {
                message.citation(index, citation, deltas)?;
            }
        }
        ("input_json_delta", Some(open)) => message.input(open, text_of(delta.partial_json.as_ref()), deltas),
        ("input_json_delta", None) => {
            let message = format!("arguments for block {index} of the stream arrived before its start");
            return Err(ReadError::invalid(message));
        }
        (_, Some(OpenBlock::Other(block))) => {
            merge(block, data);
            deltas.extend(unknown(data));
        }
        _ => deltas.extend(unknown(data)),
    }
    Ok(())
}

/// Adds a change's members to a block with an unknown type. They replace the block's initial ones.
fn merge(block: &mut Map<String, Value>, data: &str) {
    let event = serde_json::from_str::<Map<String, Value>>(data).unwrap_or_default();
    if let Some(Value::Object(delta)) = event.get("delta") {
        let members = delta.iter().filter(|(name, _)| *name != "type");
        block.extend(members.map(|(name, value)| (name.clone(), value.clone())));
    }
}

fn text_of<'t>(text: Option<&'t Text<'_>>) -> &'t str {
    text.map_or("", Text::as_str)
}

/// Keeps an event that this version does not know. An event that has one of our delta types is left out: a provider
/// must not write our deltas.
fn unknown(data: &str) -> Option<Delta> {
    serde_json::from_str::<Delta>(data).ok().filter(|delta| matches!(delta, Delta::Unknown(_)))
}

fn is_known_event(delta: &Delta) -> bool {
    matches!(delta, Delta::Unknown(unknown) if EVENTS.contains(&unknown.delta_type()))
}

fn missing(member: &str) -> ReadError {
    ReadError::invalid(format!("an event of the stream has no `{member}`"))
}

impl StreamEvent<'_> {
    fn index(&self) -> Result<u64, ReadError> {
        self.index.ok_or_else(|| missing("index"))
    }
}
