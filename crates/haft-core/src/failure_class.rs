//! Classes of failures, by the party that can act on them.

use crate::failure_kind::FailureKind;

/// A class of failures that an application may want to handle alike.
///
/// ```
/// use haft_core::{FailureClass, FailureKind};
///
/// assert_eq!(FailureKind::ExecutionError.class(), FailureClass::Internal);
/// assert_eq!(FailureKind::from("out_of_stock").class(), FailureClass::Declared);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FailureClass {
    /// The call is invalid: an unknown tool, a tool that is not run here, or a repeated call id.
    Call,
    /// The arguments are invalid.
    Parameters,
    /// The tool reported the failure: a declared failure, or a custom kind.
    Declared,
    /// An internal error: an undeclared error, a panic, a lost reply, or a result that violates its schema or its cap.
    Internal,
    /// The call was rejected by a permit, a policy or an approver, or nobody could be asked.
    Denied,
    /// The call timed out.
    TimedOut,
    /// The call was cancelled, or not started because the response was truncated.
    Cancelled,
}

impl FailureClass {
    /// Every class.
    pub const ALL: [Self; 7] =
        [Self::Call, Self::Parameters, Self::Declared, Self::Internal, Self::Denied, Self::TimedOut, Self::Cancelled];
}

impl FailureKind {
    /// Returns the class of the kind.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        match self {
            Self::UnknownTool | Self::NonLocalTool | Self::DuplicateCallId => FailureClass::Call,
            Self::InputValidationError => FailureClass::Parameters,
            Self::ToolFailed | Self::Custom(_) => FailureClass::Declared,
            Self::OutputValidationError | Self::ExecutionError | Self::OutputTooLarge | Self::OutcomeUnknown => {
                FailureClass::Internal
            }
            Self::PermissionDenied | Self::Denied | Self::InputRequired => FailureClass::Denied,
            Self::TimedOut => FailureClass::TimedOut,
            Self::Cancelled | Self::Interrupted => FailureClass::Cancelled,
        }
    }
}
