//! Return types of handlers, and how their kind is inferred.
//!
//! The kinds are a plain value, a `Result` with a declared failure, a `Result` with any other error, a stream, and a
//! `Result` that mixes both kinds of error, and that of a handler that may wait. Each is a number, so that the implementations never overlap although
//! `Result` is itself serialisable. [`KindProbe`] infers the number from the type, not from how the type is spelled.

use std::future::{Future, ready};
use std::marker::PhantomData;

use haft_core::ToolFailure;
use serde::Serialize;

use crate::cx::Cx;
use crate::handler::{BoxError, Failure, HandlerError, NoFailure, Outputs};
use crate::resumable::Resumable;

/// A plain value.
pub const PLAIN: u8 = 0;
/// A `Result` whose error is a [`Failure`].
pub const DECLARED: u8 = 1;
/// A `Result` whose error the model does not see.
pub const OPAQUE: u8 = 2;
/// A stream of [`Outputs`].
pub const STREAM: u8 = 3;
/// A `Result` whose error is a [`HandlerError`].
pub const MIXED: u8 = 4;
/// A `Result` of a [`Resumable`] whose error is a [`HandlerError`].
pub(crate) const RESUMABLE: u8 = 5;

/// A return value of a handler, interpreted as kind `KIND`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the result of a tool",
    label = "can't be the result of a tool",
    note = "return a value that derives `Serialize` and `JsonSchema`, or a `Result` of one",
    note = "the error of a `Result` derives `Failure` or is text, and the model reads it; or it implements `std::error::Error`, and the model doesn't"
)]
pub trait Returned<const KIND: u8>: Sized + Send {
    /// The value of a success.
    type Success: Serialize + Send + 'static;
    /// The declared failure.
    type Failure: Failure;

    /// Returns the value of a success that is available without waiting. Most are, and can be encoded in place.
    fn success(&self) -> Option<&Self::Success> {
        None
    }

    /// Returns the final value if it is available without waiting, otherwise `self`.
    fn ready(self) -> Result<Result<Self::Success, HandlerError<Self::Failure>>, Self> {
        Err(self)
    }

    /// Waits for the final value, and emits preliminary ones through the context.
    fn resolve(self, cx: &Cx) -> impl Future<Output = Result<Self::Success, HandlerError<Self::Failure>>> + Send;
}

/// A return value that is final immediately: everything but a stream.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the result of a blocking tool",
    label = "can't be the result of a blocking tool",
    note = "return the final value; only a tool that doesn't block can return a stream of `Outputs`"
)]
pub trait ReturnedNow<const KIND: u8>: Returned<KIND> {
    /// Returns the final value.
    fn now(self) -> Result<Self::Success, HandlerError<Self::Failure>>;
}

impl<T: Serialize + Send + 'static> Returned<PLAIN> for T {
    type Success = T;
    type Failure = NoFailure;

    #[inline]
    fn success(&self) -> Option<&T> {
        Some(self)
    }

    fn ready(self) -> Result<Result<T, HandlerError<NoFailure>>, Self> {
        Ok(self.now())
    }

    fn resolve(self, _: &Cx) -> impl Future<Output = Result<T, HandlerError>> + Send {
        ready(self.now())
    }
}

impl<T: Serialize + Send + 'static> ReturnedNow<PLAIN> for T {
    fn now(self) -> Result<T, HandlerError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + Send + 'static, F: Failure> Returned<DECLARED> for Result<T, F> {
    type Success = T;
    type Failure = F;

    #[inline]
    fn success(&self) -> Option<&T> {
        self.as_ref().ok()
    }

    fn ready(self) -> Result<Result<T, HandlerError<F>>, Self> {
        Ok(ReturnedNow::<DECLARED>::now(self))
    }

    fn resolve(self, _: &Cx) -> impl Future<Output = Result<T, HandlerError<F>>> + Send {
        ready(ReturnedNow::<DECLARED>::now(self))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + Send + 'static, F: Failure> ReturnedNow<DECLARED> for Result<T, F> {
    fn now(self) -> Result<T, HandlerError<F>> {
        self.map_err(HandlerError::Declared)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + Send + 'static, E: Into<BoxError> + Send> Returned<OPAQUE> for Result<T, E> {
    type Success = T;
    type Failure = NoFailure;

    #[inline]
    fn success(&self) -> Option<&T> {
        self.as_ref().ok()
    }

    fn ready(self) -> Result<Result<T, HandlerError<NoFailure>>, Self> {
        Ok(ReturnedNow::<OPAQUE>::now(self))
    }

    fn resolve(self, _: &Cx) -> impl Future<Output = Result<T, HandlerError>> + Send {
        ready(ReturnedNow::<OPAQUE>::now(self))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + Send + 'static, E: Into<BoxError> + Send> ReturnedNow<OPAQUE> for Result<T, E> {
    fn now(self) -> Result<T, HandlerError> {
        self.map_err(HandlerError::opaque)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + Send + 'static, F: Failure> Returned<STREAM> for Outputs<T, F> {
    type Success = T;
    type Failure = F;

    fn resolve(self, cx: &Cx) -> impl Future<Output = Result<T, HandlerError<F>>> + Send {
        self.finish(cx)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + Send + 'static, F: Failure> Returned<MIXED> for Result<T, HandlerError<F>> {
    type Success = T;
    type Failure = F;

    #[inline]
    fn success(&self) -> Option<&T> {
        self.as_ref().ok()
    }

    fn ready(self) -> Result<Result<T, HandlerError<F>>, Self> {
        Ok(ReturnedNow::<MIXED>::now(self))
    }

    fn resolve(self, _: &Cx) -> impl Future<Output = Self> + Send {
        ready(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + Send + 'static, F: Failure> ReturnedNow<MIXED> for Result<T, HandlerError<F>> {
    fn now(self) -> Self {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + Send + 'static, F: Failure> Returned<RESUMABLE> for Result<Resumable<T>, HandlerError<F>> {
    type Success = T;
    type Failure = F;

    #[inline]
    fn success(&self) -> Option<&T> {
        match self {
            Ok(Resumable::Done(value)) => Some(value),
            Ok(Resumable::Wait(_)) | Err(_) => None,
        }
    }

    fn ready(self) -> Result<Result<T, HandlerError<F>>, Self> {
        Ok(done(self))
    }

    fn resolve(self, _: &Cx) -> impl Future<Output = Result<T, HandlerError<F>>> + Send {
        ready(done(self))
    }
}

/// Turns a wait into the failure by which the executor recognises it.
fn done<T, F>(returned: Result<Resumable<T>, HandlerError<F>>) -> Result<T, HandlerError<F>> {
    match returned {
        Ok(Resumable::Done(value)) => Ok(value),
        Err(error) => Err(error),
        Ok(Resumable::Wait(wait)) => Err(HandlerError::Opaque(Box::new(ToolFailure::from(wait)))),
    }
}

/// Infers the kind of a return type.
///
/// An inherent constant takes precedence over one of a trait, and only exists if its bounds hold: so
/// `KindProbe::<T>::IS_RESULT`, with [`KindProbeDefault`] in scope, is `true` for results, under any alias, and `false`
/// for everything else.
#[derive(Debug)]
pub struct KindProbe<R>(PhantomData<fn() -> R>);

/// The constants of a [`KindProbe`] for types without inherent ones.
pub trait KindProbeDefault {
    /// `true` if the type is a `Result`.
    const IS_RESULT: bool = false;
    /// `true` if the type is a `Result` whose error is a [`Failure`].
    const IS_DECLARED: bool = false;
    /// `true` if the type is a `Result` whose error is a [`HandlerError`].
    const IS_MIXED: bool = false;
    /// `true` if the type is a stream of [`Outputs`].
    const IS_STREAM: bool = false;
}

impl<R> KindProbeDefault for KindProbe<R> {}

impl<T, E> KindProbe<Result<T, E>> {
    /// The type is a `Result`.
    pub const IS_RESULT: bool = true;
}

impl<T, F: Failure> KindProbe<Result<T, F>> {
    /// The error is a [`Failure`].
    pub const IS_DECLARED: bool = true;
}

impl<T, F> KindProbe<Result<T, HandlerError<F>>> {
    /// The error is a [`HandlerError`].
    pub const IS_MIXED: bool = true;
}

impl<T, F> KindProbe<Outputs<T, F>> {
    /// The type is a stream of [`Outputs`].
    pub const IS_STREAM: bool = true;
}

/// Returns the kind for the constants of a [`KindProbe`].
#[must_use]
#[allow(clippy::fn_params_excessive_bools, reason = "called only by `kind_of!`, with the four constants of the probe")]
pub const fn kind(is_result: bool, is_declared: bool, is_mixed: bool, is_stream: bool) -> u8 {
    if is_stream {
        STREAM
    } else if is_mixed {
        MIXED
    } else if is_declared {
        DECLARED
    } else if is_result {
        OPAQUE
    } else {
        PLAIN
    }
}
