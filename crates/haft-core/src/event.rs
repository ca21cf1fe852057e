//! What happens while calls run.
//!
//! Events are values: they serialise, carry a version and name their call twice, by its index in the run and by its id.
//! The index is what tells calls apart, as a model may send one id twice. Per call they come in the order they happened,
//! and the last one is its output; between calls they come as they happen.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::call::CallId;
use crate::item::{ApprovalRequest, ApprovalResponse};
use crate::json_text::JsonText;
use crate::reading;
use crate::result::ToolResult;
use crate::schema::tree;
use crate::tool::ToolName;
use crate::version::FormatVersion;

/// Something that happened to one call of a run. Told apart by `type`.
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
#[non_exhaustive]
pub enum ToolEvent {
    /// The handler showed something.
    Progress {
        /// The place of the call in its run.
        index: usize,
        /// The id of the call.
        call_id: CallId,
        /// The name of the tool.
        tool: ToolName,
        /// The place among everything this call showed, from zero.
        seq: u64,
        /// What it showed.
        data: JsonText,
    },
    /// The handler showed an early form of its result, encoded by the tool's success schema.
    Preliminary {
        /// The place of the call in its run.
        index: usize,
        /// The id of the call.
        call_id: CallId,
        /// The name of the tool.
        tool: ToolName,
        /// The place among everything this call showed, from zero.
        seq: u64,
        /// The early result.
        value: JsonText,
    },
    /// The call waits for somebody to agree.
    ApprovalRequested {
        /// The place of the call in its run.
        index: usize,
        /// The question.
        request: Box<ApprovalRequest>,
    },
    /// Somebody answered.
    ApprovalResolved {
        /// The place of the call in its run.
        index: usize,
        /// The id of the call.
        call_id: CallId,
        /// The name of the tool.
        tool: ToolName,
        /// The answer.
        response: Box<ApprovalResponse>,
    },
    /// The call waits for an answer that comes after this run. Nothing follows for it here; the run's
    /// [`Suspended`](crate::Suspended) holds it.
    Suspended {
        /// The place of the call in its run.
        index: usize,
        /// The question that is open.
        request: Box<ApprovalRequest>,
    },
    /// The call is done. Every call that is not suspended has exactly one of these, and nothing after it.
    Output {
        /// The place of the call in its run.
        index: usize,
        /// The one answer to the call.
        result: ToolResult,
    },
}

impl ToolEvent {
    /// The place of the call in its run.
    #[must_use]
    pub fn index(&self) -> usize {
        match self {
            Self::Progress { index, .. }
            | Self::Preliminary { index, .. }
            | Self::ApprovalRequested { index, .. }
            | Self::ApprovalResolved { index, .. }
            | Self::Suspended { index, .. }
            | Self::Output { index, .. } => *index,
        }
    }

    /// The id of the call.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        match self {
            Self::Progress { call_id, .. }
            | Self::Preliminary { call_id, .. }
            | Self::ApprovalResolved { call_id, .. } => call_id,
            Self::ApprovalRequested { request, .. } | Self::Suspended { request, .. } => &request.call_id,
            Self::Output { result, .. } => &result.call_id,
        }
    }

    /// The name of the tool, as the call spelled it.
    #[must_use]
    pub fn tool(&self) -> &str {
        match self {
            Self::Progress { tool, .. } | Self::Preliminary { tool, .. } | Self::ApprovalResolved { tool, .. } => {
                tool.as_str()
            }
            Self::ApprovalRequested { request, .. } | Self::Suspended { request, .. } => &request.tool,
            Self::Output { result, .. } => result.tool.as_str(),
        }
    }

    /// The result, when this is the last event of its call.
    #[must_use]
    pub fn result(&self) -> Option<&ToolResult> {
        match self {
            Self::Output { result, .. } => Some(result),
            _ => None,
        }
    }
}

/// An event without its version.
struct Tagged<'a>(&'a ToolEvent);

impl Serialize for Tagged<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ToolEvent::serialize(self.0, serializer)
    }
}

impl Serialize for ToolEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Versioned<'a> {
            v: FormatVersion,
            #[serde(flatten)]
            event: Tagged<'a>,
        }
        Versioned { v: FormatVersion::default(), event: Tagged(self) }.serialize(serializer)
    }
}

#[derive(Deserialize)]
struct Shown {
    index: usize,
    call_id: CallId,
    tool: ToolName,
    seq: u64,
    data: JsonText,
}

#[derive(Deserialize)]
struct ShownEarly {
    index: usize,
    call_id: CallId,
    tool: ToolName,
    seq: u64,
    value: JsonText,
}

#[derive(Deserialize)]
struct Asked {
    index: usize,
    request: Box<ApprovalRequest>,
}

#[derive(Deserialize)]
struct Answered {
    index: usize,
    call_id: CallId,
    tool: ToolName,
    response: Box<ApprovalResponse>,
}

#[derive(Deserialize)]
struct Done {
    index: usize,
    result: ToolResult,
}

const TAG: &str = "type";

fn body<T: DeserializeOwned, E: Error>(event: Value) -> Result<T, E> {
    reading::body(event, TAG)
}

impl<'de> Deserialize<'de> for ToolEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let event = tree(deserializer)?;
        if let Some(version) = event.get("v") {
            FormatVersion::deserialize(version).map_err(D::Error::custom)?;
        }
        match reading::tag::<D::Error>(&event, TAG)? {
            "progress" => body(event).map(|Shown { index, call_id, tool, seq, data }| Self::Progress {
                index,
                call_id,
                tool,
                seq,
                data,
            }),
            "preliminary" => body(event).map(|ShownEarly { index, call_id, tool, seq, value }| Self::Preliminary {
                index,
                call_id,
                tool,
                seq,
                value,
            }),
            "approval_requested" => {
                body(event).map(|Asked { index, request }| Self::ApprovalRequested { index, request })
            }
            "approval_resolved" => body(event).map(|Answered { index, call_id, tool, response }| {
                Self::ApprovalResolved { index, call_id, tool, response }
            }),
            "suspended" => body(event).map(|Asked { index, request }| Self::Suspended { index, request }),
            "output" => body(event).map(|Done { index, result }| Self::Output { index, result }),
            other => Err(D::Error::unknown_variant(
                other,
                &["progress", "preliminary", "approval_requested", "approval_resolved", "suspended", "output"],
            )),
        }
    }
}
