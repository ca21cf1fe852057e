//! The ways in which a failed call is reported to the calling code.

use serde::{Deserialize, Serialize};

/// The way in which a failed call is reported to the calling code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureMode {
    /// As an error, to be handled by the caller.
    #[default]
    Error,
    /// As an ordinary result, to be sent to the model.
    Return,
}
