//! Errors from running a tool by name.

use haft_core::{FailureKind, ToolFailure};
use haft_schema::Issue;

use crate::error::LookupError;
use crate::name::FullName;

/// The reason why [`Executor::run`](super::Executor::run) has no output.
///
/// The variants follow a run's steps. Each has the call's failure as its source, whose own source is the underlying
/// error, for the operator.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecutorError {
    /// The name means no tool, or several.
    #[error(transparent)]
    NotFound(#[from] LookupError),
    /// The tool's schema or its implementation rejects the input. Nothing was sent or started.
    #[error("the input of `{tool}` is invalid: {}", .failure.message)]
    InputValidation {
        /// The tool's full name.
        tool: FullName,
        /// The failure, with all issues.
        #[source]
        failure: Box<ToolFailure>,
    },
    /// The tool ran, but its schema or the requested type rejects the output.
    #[error("the output of `{tool}` is invalid: {}", .failure.message)]
    OutputValidation {
        /// The tool's full name.
        tool: FullName,
        /// The failure, with all issues.
        #[source]
        failure: Box<ToolFailure>,
    },
    /// The call was not permitted, was not approved, or failed. [`kind`](Self::kind) tells you which.
    #[error("`{tool}` failed: {}", .failure.message)]
    Execution {
        /// The tool's full name.
        tool: FullName,
        /// The failure.
        #[source]
        failure: Box<ToolFailure>,
    },
}

impl ExecutorError {
    /// Creates the error for a failed call.
    pub(super) fn of_failure(tool: FullName, failure: ToolFailure) -> Self {
        let failure = Box::new(failure);
        match failure.kind {
            FailureKind::InputValidationError => Self::InputValidation { tool, failure },
            FailureKind::OutputValidationError => Self::OutputValidation { tool, failure },
            _ => Self::Execution { tool, failure },
        }
    }

    /// Creates the error for an input that can't be written as JSON.
    pub(super) fn unwritable(tool: FullName, error: serde_json::Error) -> Self {
        let failure = ToolFailure::new(FailureKind::InputValidationError, "the input can't be written as JSON");
        Self::of_failure(tool, failure.cause(error))
    }

    /// Creates the error for a call that waits for a verdict beyond its run.
    pub(super) fn suspended(tool: FullName) -> Self {
        let message = "the call requires approval that is not given during the run; run it as a batch, which can be \
                       suspended";
        Self::of_failure(tool, ToolFailure::new(FailureKind::Denied, message))
    }

    /// Returns the failure kind: `unknown_tool` if the tool was not found.
    #[must_use]
    pub fn kind(&self) -> &FailureKind {
        self.failure().map_or(&FailureKind::UnknownTool, |failure| &failure.kind)
    }

    /// Returns the call's failure, unless the tool was not found.
    #[must_use]
    pub fn failure(&self) -> Option<&ToolFailure> {
        match self {
            Self::NotFound(_) => None,
            Self::InputValidation { failure, .. }
            | Self::OutputValidation { failure, .. }
            | Self::Execution { failure, .. } => Some(failure),
        }
    }

    /// Returns all issues with the input or the output.
    #[must_use]
    pub fn issues(&self) -> &[Issue] {
        self.failure().map(|failure| failure.issues.as_slice()).unwrap_or_default()
    }

    /// Returns the tool's full name, unless it was not found.
    #[must_use]
    pub fn tool(&self) -> Option<&FullName> {
        match self {
            Self::NotFound(_) => None,
            Self::InputValidation { tool, .. } | Self::OutputValidation { tool, .. } | Self::Execution { tool, .. } => {
                Some(tool)
            }
        }
    }
}
