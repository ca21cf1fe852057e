//! The form of server-sent events.
//!
//! One struct has the members of all events that are read, so that each is parsed once, and its texts are borrowed.
//! Members that no reader needs (log probabilities, obfuscation, sequence numbers) are skipped.

use haft_core::Delta;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::text::Text;
use crate::wire::WireEvent;
use crate::wire_error::ReadError;

/// The ends of the types of events that report progress only. What they report is part of other events too.
const PROGRESS: [&str; 11] = [
    ".in_progress",
    ".searching",
    ".interpreting",
    ".generating",
    ".compacting",
    ".completed",
    ".failed",
    ".done",
    "content_part.added",
    "response.created",
    "response.queued",
];

/// An event.
#[derive(Deserialize)]
pub(super) struct EventBody<'e> {
    #[serde(rename = "type", borrow, default)]
    pub(super) event_type: Option<Text<'e>>,
    #[serde(borrow, default)]
    pub(super) delta: Option<Text<'e>>,
    #[serde(borrow, default)]
    pub(super) item_id: Option<Text<'e>>,
    #[serde(default)]
    pub(super) output_index: Option<u64>,
    #[serde(default)]
    pub(super) content_index: Option<u64>,
    #[serde(default)]
    pub(super) summary_index: Option<u64>,
    #[serde(borrow, default)]
    pub(super) text: Option<Text<'e>>,
    #[serde(borrow, default)]
    pub(super) refusal: Option<Text<'e>>,
    #[serde(borrow, default)]
    pub(super) item: Option<&'e RawValue>,
    #[serde(borrow, default)]
    pub(super) annotation: Option<&'e RawValue>,
    #[serde(borrow, default)]
    pub(super) response: Option<&'e RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'e RawValue>,
}

impl<'e> EventBody<'e> {
    /// Reads an event; `None` if it is JSON of another form.
    pub(super) fn read(data: &'e str) -> Result<Option<Self>, ReadError> {
        match serde_json::from_str(data) {
            Ok(event) => Ok(Some(event)),
            Err(error) if error.is_data() => Ok(None),
            Err(error) => Err(ReadError::json("an event of the stream", error)),
        }
    }
}

/// Reports whether an event of this type says nothing that others do not.
pub(super) fn is_progress(event_type: &str) -> bool {
    matches!(event_type, "keepalive" | "ping")
        || (event_type.starts_with("response.") && PROGRESS.iter().any(|end| event_type.ends_with(end)))
}

/// Keeps an event that is not known.
pub(super) fn kept(provider: &str, event: WireEvent<'_>) -> Result<Delta, ReadError> {
    let read = |source| ReadError::json("an event of the stream", source);
    let value: Value = serde_json::from_str(event.data).map_err(read)?;
    if let Ok(delta @ Delta::Unknown(_)) = Delta::deserialize(&value) {
        return Ok(delta);
    }
    // It has no type, or that of a delta of our own.
    let name = event.name.unwrap_or("event");
    Delta::deserialize(json!({"type": format!("{provider}.{name}"), "event": value})).map_err(read)
}
