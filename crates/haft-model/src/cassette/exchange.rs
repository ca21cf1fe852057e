//! The lines of a recording.
//!
//! The first is the header, every other one an exchange. Exchanges are numbered in the order in which they began and
//! written in the order in which they ended, which differs for concurrent exchanges.

use haft_core::{Delta, FormatVersion, Secret, TurnRequest};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::WrittenError;
use crate::model_info::ModelInfo;

/// The first line of a recording.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    #[serde(default)]
    v: FormatVersion,
    recording: RecordingKind,
    /// The model that was recorded; unset in recordings of versions that did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<ModelInfo>,
}

/// The kind of a recording. There is one so far.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RecordingKind {
    Model,
}

/// Any other line: one request and its answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exchange {
    /// The number of the exchange, from 1.
    #[serde(rename = "exchange")]
    pub(super) number: u64,
    pub(super) request: TurnRequest,
    pub(super) deltas: Vec<Delta>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<WrittenError>,
    /// The end of the recorded stream.
    #[serde(default)]
    pub(super) end: StreamEnd,
}

/// The end of a recorded stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StreamEnd {
    /// The answer was complete.
    #[default]
    Over,
    /// The reader dropped the stream before the end.
    Dropped,
}

impl Header {
    pub(super) fn new(model: ModelInfo) -> Self {
        Self { v: FormatVersion::default(), recording: RecordingKind::Model, model: Some(model) }
    }
}

/// The error of an invalid line. The line number of `serde_json` is removed from it, as it is always 1.
#[derive(Debug, thiserror::Error)]
#[error("{}", without_line(.0))]
pub(super) struct LineError(#[from] serde_json::Error);

/// The members of a tool that no model reads: how its values are checked here, and notes of the application. Recordings
/// of earlier versions do not have them.
const NOT_READ: [&str; 4] = ["enforcement", "failure_schema", "emits", "annotations"];

/// Returns a request as it is read back from a file, so that both sides of a comparison have the same losses, and
/// without what no model reads. Each process seals secrets in its own way.
pub(super) fn comparable(request: &TurnRequest) -> Result<Value, serde_json::Error> {
    let text = serde_json::to_string(request)?;
    let mut request = serde_json::to_value(serde_json::from_str::<TurnRequest>(&text)?)?;
    let tools = request.get_mut("tools").and_then(Value::as_array_mut);
    for tool in tools.into_iter().flatten().filter_map(Value::as_object_mut) {
        tool.retain(|member, _| !NOT_READ.contains(&member.as_str()));
    }
    Secret::mask_sealed(&mut request);
    Ok(request)
}

fn without_line(error: &serde_json::Error) -> String {
    let location = format!(" at line {} column {}", error.line(), error.column());
    error.to_string().replace(&location, &format!(" at column {}", error.column()))
}
