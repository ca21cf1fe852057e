//! Failures by who is to do something about them.

use crate::failure_kind::FailureKind;

/// A class of failures: what a program that runs calls may want to treat alike.
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
    /// The call itself is wrong: no such tool, not run here, an id that was there before.
    Call,
    /// The arguments don't fit.
    Parameters,
    /// The tool said so: a declared failure, or a kind of its own.
    Declared,
    /// Something is broken here: an error nobody declared, a panic, a result that breaks its schema or its cap.
    Internal,
    /// Somebody or something said no.
    Refused,
    /// It took too long.
    TimedOut,
    /// It was called off, or never begun because the response was cut off.
    Cancelled,
}

impl FailureClass {
    /// Every class.
    pub const ALL: [Self; 7] =
        [Self::Call, Self::Parameters, Self::Declared, Self::Internal, Self::Refused, Self::TimedOut, Self::Cancelled];
}

impl FailureKind {
    /// The class of the kind.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        match self {
            Self::UnknownTool | Self::NonLocalTool | Self::DuplicateCallId => FailureClass::Call,
            Self::InputValidationError => FailureClass::Parameters,
            Self::ToolFailed | Self::Custom(_) => FailureClass::Declared,
            Self::OutputValidationError | Self::ExecutionError | Self::OutputTooLarge => FailureClass::Internal,
            Self::PermissionDenied | Self::Denied => FailureClass::Refused,
            Self::TimedOut => FailureClass::TimedOut,
            Self::Cancelled | Self::Interrupted => FailureClass::Cancelled,
        }
    }
}
