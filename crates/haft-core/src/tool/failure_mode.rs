//! What a failed call is to the code that called.

use serde::{Deserialize, Serialize};

/// What a failed call is to the code that called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureMode {
    /// An error, to be handled by the caller.
    #[default]
    Error,
    /// A result like any other, to be shown to the model.
    Return,
}
