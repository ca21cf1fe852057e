//! Server-sent events.
//!
//! One struct has all event members that are read, so each event is parsed once and its texts are borrowed. Members
//! that no reader needs (log probabilities, obfuscation, sequence numbers) are skipped.

use haft_core::Delta;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::wire::WireEvent;
use crate::wire::response::text::Text;
use crate::wire_error::ReadError;

/// Event subjects, as in `response.SUBJECT.STATE`, whose states occur in other events too.
const SUBJECTS: [&str; 17] = [
    "code_interpreter_call",
    "code_interpreter_call_code",
    "compaction",
    "content_part",
    "custom_tool_call_input",
    "file_search_call",
    "function_call_arguments",
    "image_generation_call",
    "mcp_call",
    "mcp_call_arguments",
    "mcp_list_tools",
    "output_text",
    "reasoning_summary_part",
    "reasoning_summary_text",
    "reasoning_text",
    "refusal",
    "web_search_call",
];
/// The states that report progress only.
const STATES: [&str; 9] =
    ["added", "in_progress", "searching", "interpreting", "generating", "compacting", "completed", "failed", "done"];

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
    pub(super) arguments: Option<Text<'e>>,
    #[serde(borrow, default)]
    pub(super) input: Option<Text<'e>>,
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
    /// Reads an event. Returns `None` if it is some other JSON.
    pub(super) fn read(data: &'e str) -> Result<Option<Self>, ReadError> {
        match serde_json::from_str(data) {
            Ok(event) => Ok(Some(event)),
            Err(error) if error.is_data() => Ok(None),
            Err(error) => Err(ReadError::json("an event of the stream", error)),
        }
    }
}

/// Reports whether events of this type say nothing that others do not.
pub(super) fn is_progress(event_type: &str) -> bool {
    if matches!(event_type, "keepalive" | "ping" | "response.created" | "response.queued" | "response.in_progress") {
        return true;
    }
    let Some((subject, state)) = event_type.strip_prefix("response.").and_then(|rest| rest.rsplit_once('.')) else {
        return false;
    };
    STATES.contains(&state) && SUBJECTS.contains(&subject)
}

/// Keeps an event that is not known.
pub(super) fn kept(provider: &str, event: WireEvent<'_>) -> Result<Delta, ReadError> {
    let read = |source| ReadError::json("an event of the stream", source);
    let value: Value = serde_json::from_str(event.data).map_err(read)?;
    if let Ok(delta @ Delta::Unknown(_)) = Delta::deserialize(&value) {
        return Ok(delta);
    }
    // It has no type, or one of our own delta types.
    let name = event.name.unwrap_or("event");
    Delta::deserialize(json!({"type": format!("{provider}.{name}"), "event": value})).map_err(read)
}
