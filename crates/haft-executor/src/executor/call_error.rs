//! The error of a typed call.

use std::error::Error;
use std::fmt;

use haft_core::ToolFailure;

use crate::handler::{Failure, NoFailure};
use crate::toolkit::AmbiguousTool;

/// The error of a typed call that returned no value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CallError<F = NoFailure> {
    /// The failure that the tool declares.
    Declared(F),
    /// Any other failure: invalid arguments, an error of the handler, a timeout.
    Fault(ToolFailure),
    /// The toolkit has several tools of the type. Nothing was called.
    Ambiguous(AmbiguousTool),
}

impl<F: Failure> fmt::Display for CallError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Declared(declared) => write!(f, "the tool failed: {}", declared.message()),
            Self::Fault(failure) => failure.fmt(f),
            Self::Ambiguous(error) => error.fmt(f),
        }
    }
}

impl<F: Failure + fmt::Debug> Error for CallError<F> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Declared(_) | Self::Ambiguous(_) => None,
            Self::Fault(failure) => failure.source(),
        }
    }
}
