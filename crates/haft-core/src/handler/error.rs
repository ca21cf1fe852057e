//! How a handler fails.

use std::any::Any;
use std::error::Error;
use std::fmt;

use crate::emit::EmitError;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::handler::{Failure, NoFailure, invalid_output};
use crate::tool::Tool;

/// Any error, owned.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// What the model is told about an error that isn't declared.
pub(crate) const OPAQUE_MESSAGE: &str = "the tool failed; what went wrong is known to its operator";

/// How a handler fails: with the failure its tool declares, or with an error that the model doesn't get to see.
///
/// `?` turns every [`Error`] into the opaque form, except an `F` itself, which stays declared. A [`ToolFailure`] that
/// comes this way is handed on as it is: so a handler can choose its own kind, message and cause.
///
/// ```
/// use haft_core::HandlerError;
///
/// fn parse(text: &str) -> Result<u8, HandlerError<String>> {
///     let number: u8 = text.parse()?;
///     if number == 0 { Err(HandlerError::Declared("zero is not allowed".to_owned())) } else { Ok(number) }
/// }
///
/// assert!(matches!(parse("x"), Err(HandlerError::Opaque(_))));
/// assert!(matches!(parse("0"), Err(HandlerError::Declared(_))));
/// ```
#[derive(Debug)]
pub enum HandlerError<F = NoFailure> {
    /// The failure the tool declares.
    Declared(F),
    /// Anything else: for the operator alone.
    Opaque(BoxError),
}

impl<F> HandlerError<F> {
    /// An opaque error from anything that can be one, plain text included.
    pub fn opaque(error: impl Into<BoxError>) -> Self {
        Self::Opaque(error.into())
    }
}

impl<F: Failure> HandlerError<F> {
    /// The failure of the call, with the declared value encoded by the tool's failure schema.
    pub(crate) fn into_failure(self, tool: &Tool) -> ToolFailure {
        match self {
            Self::Declared(declared) => declared_failure(&declared, tool),
            Self::Opaque(error) => opaque_failure(error),
        }
    }
}

/// Errors are opaque, unless the error is the declared failure itself.
impl<F: 'static, E: Error + Send + Sync + 'static> From<E> for HandlerError<F> {
    fn from(error: E) -> Self {
        let mut slot = Some(error);
        let declared = (&mut slot as &mut dyn Any).downcast_mut::<Option<F>>().and_then(Option::take);
        match (declared, slot) {
            (Some(declared), _) => Self::Declared(declared),
            (None, Some(error)) => Self::Opaque(Box::new(error)),
            (None, None) => Self::Opaque(OPAQUE_MESSAGE.into()),
        }
    }
}

fn declared_failure<F: Failure>(declared: &F, tool: &Tool) -> ToolFailure {
    let details = match tool.failure().encode(declared) {
        Ok(details) => details,
        Err(issues) => return invalid_output(issues),
    };
    let mut failure = ToolFailure::new(FailureKind::ToolFailed, declared.message()).details(details);
    failure.retryable = declared.retryable();
    match declared.retry_after() {
        Some(wait) => failure.retry_after(wait),
        None => failure,
    }
}

/// A failure that a handler made itself stays as it is, and a preliminary value that doesn't fit is as wrong as a final
/// one; everything else is kept from the model.
fn opaque_failure(error: BoxError) -> ToolFailure {
    let error = match error.downcast::<ToolFailure>() {
        Ok(failure) => return *failure,
        Err(error) => error,
    };
    match error.downcast::<EmitError>().map(|error| *error) {
        Ok(EmitError::Preliminary(issues)) => invalid_output(issues),
        Ok(error) => ToolFailure::new(FailureKind::ExecutionError, OPAQUE_MESSAGE).cause(error),
        Err(error) => ToolFailure::new(FailureKind::ExecutionError, OPAQUE_MESSAGE).cause(error),
    }
}

impl<F: fmt::Display> fmt::Display for HandlerError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Declared(declared) => declared.fmt(f),
            Self::Opaque(error) => error.fmt(f),
        }
    }
}
