//! How a typed call fails.

use std::error::Error;
use std::fmt;

use crate::failure::ToolFailure;
use crate::handler::{Failure, NoFailure};

/// Why a typed call gave no value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CallError<F = NoFailure> {
    /// The failure that the tool declares.
    Declared(F),
    /// Anything else: the arguments don't fit, the handler broke, it took too long.
    Fault(ToolFailure),
}

impl<F: Failure> fmt::Display for CallError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Declared(declared) => write!(f, "the tool failed: {}", declared.message()),
            Self::Fault(failure) => failure.fmt(f),
        }
    }
}

impl<F: Failure + fmt::Debug> Error for CallError<F> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Declared(_) => None,
            Self::Fault(failure) => failure.source(),
        }
    }
}
