//! The lines of a recording.
//!
//! The first is the header, every other one an exchange. Exchanges are numbered in the order they began and written in
//! the order they ended, which differ when several run at once.

use haft_core::{Delta, FormatVersion, TurnRequest};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::WrittenError;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    #[serde(default)]
    v: FormatVersion,
    recording: RecordingKind,
}

/// What is recorded. There is one kind so far.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RecordingKind {
    Model,
}

/// Any other line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exchange {
    /// Its number, from 1.
    #[serde(rename = "exchange")]
    pub(super) number: u64,
    pub(super) request: TurnRequest,
    pub(super) deltas: Vec<Delta>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<WrittenError>,
    /// Whether this is all there was, or only what there was when the reader dropped the stream.
    #[serde(default)]
    pub(super) end: StreamEnd,
}

/// Why nothing more of an answer is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StreamEnd {
    /// The answer was over.
    #[default]
    Over,
    /// The reader dropped it midway.
    Dropped,
}

impl Header {
    pub(super) fn new() -> Self {
        Self { v: FormatVersion::default(), recording: RecordingKind::Model }
    }
}

/// Why a line is not what it should be. `serde_json` counts lines of its own, which there is always one of.
#[derive(Debug, thiserror::Error)]
#[error("{}", without_line(.0))]
pub(super) struct LineError(#[from] serde_json::Error);

/// A request as it is compared: as it would be read from a file, so that both sides have lost the same.
pub(super) fn comparable(request: &TurnRequest) -> Result<Value, serde_json::Error> {
    let text = serde_json::to_string(request)?;
    serde_json::to_value(serde_json::from_str::<TurnRequest>(&text)?)
}

fn without_line(error: &serde_json::Error) -> String {
    let place = format!(" at line {} column {}", error.line(), error.column());
    error.to_string().replace(&place, &format!(" at column {}", error.column()))
}
