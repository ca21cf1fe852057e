//! The error of a call that can't be decoded.

use haft_core::internal::quoted;
use haft_core::{CallId, ToolCall, ToolFailure, ToolResult};

/// A call that can't be decoded: its arguments are invalid, or it is of another tool. It keeps the call, and can be
/// turned into the result to answer with.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the call {} of the tool {} can't be decoded: {}", quoted(self.0.call.call_id.as_str()), quoted(&self.0.call.name), self.0.failure)]
pub struct CallDecodeError(Box<Undecoded>);

/// On the heap, so that the results of decoding stay small.
#[derive(Clone, Debug, PartialEq)]
struct Undecoded {
    call: ToolCall,
    failure: ToolFailure,
}

impl CallDecodeError {
    pub(crate) fn new(call: ToolCall, failure: ToolFailure) -> Self {
        Self(Box::new(Undecoded { call, failure }))
    }

    /// Returns the call.
    #[must_use]
    pub fn call(&self) -> &ToolCall {
        &self.0.call
    }

    /// Returns the id of the call.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        &self.0.call.call_id
    }

    /// Returns the failure: the kind, the message for the model, and all issues of the arguments.
    #[must_use]
    pub fn failure(&self) -> &ToolFailure {
        &self.0.failure
    }

    /// Creates the result to answer the call with, the same as a run would.
    #[must_use]
    pub fn to_result(&self) -> ToolResult {
        ToolResult::from_failure(&self.0.call, self.0.failure.clone())
    }
}

impl From<CallDecodeError> for ToolCall {
    fn from(error: CallDecodeError) -> Self {
        error.0.call
    }
}

impl From<CallDecodeError> for ToolFailure {
    fn from(error: CallDecodeError) -> Self {
        error.0.failure
    }
}

impl From<CallDecodeError> for ToolResult {
    fn from(error: CallDecodeError) -> Self {
        let Undecoded { call, failure } = *error.0;
        Self::from_failure(&call, failure)
    }
}
