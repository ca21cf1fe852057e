//! A run's events about its calls.
//!
//! ```text
//! Toolkit::run ─> Run ─┬─ Started: an attempt reaches its handler
//!                      ├─ Progress, Preliminary ──────────> reader
//!                      ├─ ApprovalRequested, ApprovalResolved
//!                      └─ Output, or Suspended: the last event of its call
//! ```
//!
//! Events are values: they serialise, carry a version and identify their call twice, by its index in the run and by its
//! id. The index is unique; the id is not, as a model may send one id twice. One call's events are in the order in
//! which they happened, and the last one is its output; events from different calls are interleaved.
//!
//! An event with an unknown type is kept and written back unchanged. It must never be acted on.

mod unknown;

use haft_schema::JsonText;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use self::unknown::UnknownEvent;
use crate::call::CallId;
use crate::item::{ApprovalRequest, Verdict};
use crate::progress::Progress;
use crate::result::ToolResult;
use crate::tagged::{self, ReadVariant, TaggedEnum, UnknownTag, Versioning};
use crate::tool_name::ToolName;

/// One call's event in a run, tagged by `type`.
///
/// ```
/// use haft_core::{ToolCall, ToolEvent, ToolResult};
/// use serde_json::json;
///
/// let call = ToolCall::new("c1", "greet", "{}");
/// let event = ToolEvent::Output { index: 0, result: ToolResult::ok(&call, json!("hello")) };
/// assert_eq!(event.call_id(), &"c1");
/// let text = serde_json::to_string(&event)?;
/// assert_eq!(serde_json::from_str::<ToolEvent>(&text)?, event);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(remote = "Self", tag = "type", rename_all = "snake_case")]
pub enum ToolEvent {
    /// An attempt reaches the handler: it is about to be polled for the first time. It precedes the attempt's other
    /// events, and a call whose handler is never reached has none. Emitted only on request, see
    /// `RunOptions::started_events`.
    Started {
        /// The call's index in its run.
        index: usize,
        /// The call's id.
        call_id: CallId,
        /// The tool's name.
        tool: ToolName,
        /// The attempt's number, from one.
        attempt: u32,
    },
    /// The handler emitted a progress value: any JSON, see [`progress`](Self::progress).
    Progress {
        /// The call's index in its run.
        index: usize,
        /// The call's id.
        call_id: CallId,
        /// The tool's name.
        tool: ToolName,
        /// This value's number among all that the call emitted, from zero.
        seq: u64,
        /// The value.
        data: JsonText,
    },
    /// The handler emitted a preliminary result, encoded by the tool's success schema.
    Preliminary {
        /// The call's index in its run.
        index: usize,
        /// The call's id.
        call_id: CallId,
        /// The tool's name.
        tool: ToolName,
        /// This value's number among all that the call emitted, from zero.
        seq: u64,
        /// The preliminary result.
        value: JsonText,
    },
    /// The call requires approval and waits for it.
    ApprovalRequested {
        /// The call's index in its run.
        index: usize,
        /// The approval request.
        request: Box<ApprovalRequest>,
    },
    /// The approval request was resolved.
    ApprovalResolved {
        /// The call's index in its run.
        index: usize,
        /// The call's id.
        call_id: CallId,
        /// The tool's name.
        tool: ToolName,
        /// The verdict.
        response: Box<Verdict>,
    },
    /// The call waits for a verdict that arrives after this run. No further event for it follows; the run's
    /// `Suspended` holds it.
    Suspended {
        /// The call's index in its run.
        index: usize,
        /// The pending approval request.
        request: Box<ApprovalRequest>,
    },
    /// The call finished. Every call that is not suspended has exactly one such event, and none after it.
    Output {
        /// The call's index in its run.
        index: usize,
        /// The call's result.
        result: ToolResult,
    },
    /// An event whose type this version does not know, kept whole. No run emits one.
    #[serde(untagged)]
    Unknown(Box<UnknownEvent>),
}

impl ToolEvent {
    /// Returns the call's index in its run. An unknown event that names none has `usize::MAX`, which no call has.
    #[must_use]
    pub fn index(&self) -> usize {
        match self {
            Self::Started { index, .. }
            | Self::Progress { index, .. }
            | Self::Preliminary { index, .. }
            | Self::ApprovalRequested { index, .. }
            | Self::ApprovalResolved { index, .. }
            | Self::Suspended { index, .. }
            | Self::Output { index, .. } => *index,
            Self::Unknown(event) => event.index().unwrap_or(usize::MAX),
        }
    }

    /// Returns the call's id. It is empty for an unknown event that names none.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        match self {
            Self::Started { call_id, .. }
            | Self::Progress { call_id, .. }
            | Self::Preliminary { call_id, .. }
            | Self::ApprovalResolved { call_id, .. } => call_id,
            Self::ApprovalRequested { request, .. } | Self::Suspended { request, .. } => &request.call_id,
            Self::Output { result, .. } => &result.call_id,
            Self::Unknown(event) => event.call_id_or_empty(),
        }
    }

    /// Returns the tool's name, as the call spelled it. It is empty for an unknown event that names none.
    #[must_use]
    pub fn tool(&self) -> &str {
        match self {
            Self::Started { tool, .. }
            | Self::Progress { tool, .. }
            | Self::Preliminary { tool, .. }
            | Self::ApprovalResolved { tool, .. } => tool.as_str(),
            Self::ApprovalRequested { request, .. } | Self::Suspended { request, .. } => &request.tool,
            Self::Output { result, .. } => result.tool.as_str(),
            Self::Unknown(event) => event.tool_or_empty(),
        }
    }

    /// Returns the event for a call at another index. An unknown event can't be moved and becomes `None`.
    #[must_use]
    pub fn with_index(mut self, to: usize) -> Option<Self> {
        match &mut self {
            Self::Started { index, .. }
            | Self::Progress { index, .. }
            | Self::Preliminary { index, .. }
            | Self::ApprovalRequested { index, .. }
            | Self::ApprovalResolved { index, .. }
            | Self::Suspended { index, .. }
            | Self::Output { index, .. } => *index = to,
            Self::Unknown(_) => return None,
        }
        Some(self)
    }

    /// Returns the progress, if the event has a value in exactly that form. Any other value that a handler emitted is
    /// the `data` of [`ToolEvent::Progress`].
    ///
    /// ```
    /// use haft_core::{Progress, ToolEvent};
    /// use serde_json::json;
    ///
    /// let event = |data| json!({"type": "progress", "index": 0, "call_id": "c1", "tool": "copy", "seq": 0, "data": data});
    /// let read = |data| serde_json::from_value::<ToolEvent>(event(data)).map(|event| event.progress());
    /// let expected = Progress::new(1.0).total(2.0).message("one file");
    /// assert_eq!(read(json!(expected))?, Some(expected));
    /// assert_eq!(read(json!("anything else"))?, None);
    /// # Ok::<_, serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn progress(&self) -> Option<Progress> {
        match self {
            Self::Progress { data, .. } => Progress::read(data),
            Self::Started { .. }
            | Self::Preliminary { .. }
            | Self::ApprovalRequested { .. }
            | Self::ApprovalResolved { .. }
            | Self::Suspended { .. }
            | Self::Output { .. }
            | Self::Unknown(_) => None,
        }
    }

    /// Returns the approval request that stays pending after the run, if the event suspends its call.
    #[must_use]
    pub fn suspended_request(&self) -> Option<&ApprovalRequest> {
        match self {
            Self::Suspended { request, .. } => Some(request),
            Self::Started { .. }
            | Self::Progress { .. }
            | Self::Preliminary { .. }
            | Self::ApprovalRequested { .. }
            | Self::ApprovalResolved { .. }
            | Self::Output { .. }
            | Self::Unknown(_) => None,
        }
    }

    /// Returns the result, if this is its call's last event.
    #[must_use]
    pub fn result(&self) -> Option<&ToolResult> {
        match self {
            Self::Output { result, .. } => Some(result),
            Self::Started { .. }
            | Self::Progress { .. }
            | Self::Preliminary { .. }
            | Self::ApprovalRequested { .. }
            | Self::ApprovalResolved { .. }
            | Self::Suspended { .. }
            | Self::Unknown(_) => None,
        }
    }
}

/// An event without its version.
struct Unversioned<'a>(&'a ToolEvent);

impl Serialize for Unversioned<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ToolEvent::serialize(self.0, serializer)
    }
}

impl Serialize for ToolEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Unknown(event) => event.serialize(serializer),
            Self::Started { .. }
            | Self::Progress { .. }
            | Self::Preliminary { .. }
            | Self::ApprovalRequested { .. }
            | Self::ApprovalResolved { .. }
            | Self::Suspended { .. }
            | Self::Output { .. } => tagged::serialize_versioned(&Unversioned(self), serializer),
        }
    }
}

impl TaggedEnum for ToolEvent {
    const VARIANTS: &'static [(&'static str, ReadVariant<Self>)] = &[
        ("started", |members| {
            Ok(Self::Started {
                index: members.take("index")?,
                call_id: members.take("call_id")?,
                tool: members.take("tool")?,
                attempt: members.take("attempt")?,
            })
        }),
        ("progress", |members| {
            Ok(Self::Progress {
                index: members.take("index")?,
                call_id: members.take("call_id")?,
                tool: members.take("tool")?,
                seq: members.take("seq")?,
                data: members.take("data")?,
            })
        }),
        ("preliminary", |members| {
            Ok(Self::Preliminary {
                index: members.take("index")?,
                call_id: members.take("call_id")?,
                tool: members.take("tool")?,
                seq: members.take("seq")?,
                value: members.take("value")?,
            })
        }),
        ("approval_requested", |members| {
            Ok(Self::ApprovalRequested { index: members.take("index")?, request: members.take("request")? })
        }),
        ("approval_resolved", |members| {
            Ok(Self::ApprovalResolved {
                index: members.take("index")?,
                call_id: members.take("call_id")?,
                tool: members.take("tool")?,
                response: members.take("response")?,
            })
        }),
        ("suspended", |members| {
            Ok(Self::Suspended { index: members.take("index")?, request: members.take("request")? })
        }),
        ("output", |members| Ok(Self::Output { index: members.take("index")?, result: members.take("result")? })),
    ];
    const VERSION: Versioning = Versioning::Checked;
    const UNKNOWN: UnknownTag<Self> = UnknownTag::Kept(|object| Self::Unknown(Box::new(object.into())));
}

impl<'de> Deserialize<'de> for ToolEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}
