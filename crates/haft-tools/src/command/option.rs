//! The data formats that a command reads and writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The data that a command reads from its standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StdinFormat {
    /// The arguments of the call: one JSON object in one line.
    Json,
    /// Nothing.
    None,
}

/// The meaning of what a command writes to its standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StdoutFormat {
    /// The result is the text, without the line breaks at its end. Bytes that are not UTF-8 are replaced by U+FFFD.
    #[default]
    Text,
    /// The result is one JSON value.
    Json,
    /// Every line is a JSON value, and blank lines are ignored. The value of a line `{"progress": value}` is progress,
    /// and that of a line `{"result": value}` is the result, after which nothing may follow. Any other value is progress
    /// if another line follows, and the result if it is the last line.
    JsonLines,
}

/// The reader of what a command writes to its standard error, if it fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StderrReader {
    /// The operator alone: it is part of the cause of the failure.
    #[default]
    Operator,
    /// The model too: the message of the failure ends with it.
    Model,
}
