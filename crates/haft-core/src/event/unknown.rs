//! Events of a type that this version does not know.
//!
//! A log of events may have been written by a newer version. What that version added is kept whole and written back
//! unchanged, so that reading and storing a log never loses a part of it. Nothing acts on such an event, and no run
//! and no loop emits one.

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::call::CallId;
use crate::tagged::UnknownObject;

/// An event of a type that this version does not know, as it was read.
///
/// ```
/// use haft_core::ToolEvent;
/// use serde_json::json;
///
/// let paused = json!({"v": 1, "type": "paused", "index": 2, "call_id": "c1", "until": "noon"});
/// let event: ToolEvent = serde_json::from_value(paused.clone())?;
/// let ToolEvent::Unknown(unknown) = &event else { panic!() };
/// assert_eq!((unknown.event_type(), unknown.index()), ("paused", Some(2)));
/// assert_eq!(serde_json::to_value(&event)?, paused);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownEvent {
    object: UnknownObject,
    index: Option<usize>,
    /// Empty if the event names no call.
    call_id: CallId,
}

impl UnknownEvent {
    /// Returns the type of the event: its `type` member.
    #[must_use]
    pub fn event_type(&self) -> &str {
        self.object.tag()
    }

    /// Returns the whole event.
    #[must_use]
    pub fn json(&self) -> &Value {
        self.object.json()
    }

    /// Returns the index of the call in its run, if the event has an `index` that is one.
    #[must_use]
    pub fn index(&self) -> Option<usize> {
        self.index
    }

    /// Returns the id of the call, if the event has a `call_id` that is a string.
    #[must_use]
    pub fn call_id(&self) -> Option<&CallId> {
        self.json()["call_id"].is_string().then_some(&self.call_id)
    }

    /// Returns the id of the call, which is empty if the event names none.
    pub(super) fn call_id_or_empty(&self) -> &CallId {
        &self.call_id
    }

    /// Returns the name of the tool, which is empty if the event names none.
    pub(super) fn tool_or_empty(&self) -> &str {
        self.json()["tool"].as_str().unwrap_or_default()
    }
}

impl From<UnknownObject> for UnknownEvent {
    fn from(object: UnknownObject) -> Self {
        let json = object.json();
        let index = json["index"].as_u64().and_then(|index| usize::try_from(index).ok());
        let call_id = CallId::from(json["call_id"].as_str().unwrap_or_default());
        Self { object, index, call_id }
    }
}

impl Serialize for UnknownEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(serializer)
    }
}
