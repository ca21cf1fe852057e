//! The error of a handler.

use std::any::Any;
use std::error::Error;
use std::fmt;

use haft_core::internal::OPAQUE_MESSAGE;
use haft_core::{FailureKind, ToolFailure};

use crate::cx::emit::EmitError;
use crate::executor::AskError;
use crate::handler::{Failure, NoFailure, checked_failure, invalid_output};
use crate::tool::Tool;

/// A boxed error of any type.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// The error of a handler: the failure that its tool declares, or an error that the model does not see.
///
/// `?` converts every [`Error`] into the opaque form, except an `F` itself, which stays declared. A [`ToolFailure`] in
/// the opaque form is passed on unchanged: so a handler can choose its kind, message and cause.
///
/// ```
/// use haft_executor::HandlerError;
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
    /// The failure that the tool declares.
    Declared(F),
    /// Any other error, only for the operator.
    Opaque(BoxError),
}

impl<F> HandlerError<F> {
    /// Creates an opaque error from any error or text.
    pub fn opaque(error: impl Into<BoxError>) -> Self {
        Self::Opaque(error.into())
    }
}

impl<F: Failure> HandlerError<F> {
    /// Converts the error into the failure of the call, with the declared value encoded by the tool's failure schema.
    pub(crate) fn into_failure(self, tool: &Tool) -> ToolFailure {
        match self {
            Self::Declared(declared) => declared_failure(&declared, tool),
            Self::Opaque(error) => opaque_failure(error),
        }
    }
}

/// Errors become opaque, unless the error is the declared failure itself.
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

/// Returns the failure for an opaque error. A [`ToolFailure`] of the handler is passed on unchanged unless it nests too
/// deep, a question without an answer is reported as such, and an invalid preliminary value as an invalid final one
/// would be; everything else is hidden from the model.
pub(crate) fn opaque_failure(error: BoxError) -> ToolFailure {
    let error = match error.downcast::<ToolFailure>() {
        Ok(failure) => return checked_failure(*failure),
        Err(error) => error,
    };
    let error = match error.downcast::<AskError>() {
        Ok(error) => return ToolFailure::from(*error),
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
