//! What a handler may return, and how its kind is told from its type.
//!
//! A plain value, a `Result` with a declared failure, a `Result` with any other error, a stream, or a `Result` that mixes
//! both kinds of error: each is one number, so that the kinds never overlap as trait implementations although
//! `Result` is itself a serialisable value. Which number a type has is found by [`Probe`], by its type and not by how
//! it was spelled.

use std::future::{Future, ready};
use std::marker::PhantomData;

use serde::Serialize;

use crate::cx::Cx;
use crate::handler::{BoxError, Failure, HandlerError, NoFailure, Outputs};

/// A value, sent as it is.
pub const PLAIN: u8 = 0;
/// A `Result` whose error is a [`Failure`].
pub const DECLARED: u8 = 1;
/// A `Result` whose error the model doesn't see.
pub const OPAQUE: u8 = 2;
/// A stream of [`Outputs`].
pub const STREAM: u8 = 3;
/// A `Result` whose error is a [`HandlerError`].
pub const MIXED: u8 = 4;

/// Something a handler returned, read as kind `KIND`.
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

    /// The value of a success that is there without waiting: most are, and can be encoded where they stand.
    fn success(&self) -> Option<&Self::Success> {
        None
    }

    /// The final value, if it is there without waiting; else what was returned.
    fn ready(self) -> Result<Result<Self::Success, HandlerError<Self::Failure>>, Self> {
        Err(self)
    }

    /// Waits for the final value, showing early ones through the context.
    fn settle(self, cx: &Cx) -> impl Future<Output = Result<Self::Success, HandlerError<Self::Failure>>> + Send;
}

/// Something returned that is final at once: everything but a stream.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the result of a blocking tool",
    label = "can't be the result of a blocking tool",
    note = "return the final value; only a tool that doesn't block can return a stream of `Outputs`"
)]
pub trait ReturnedNow<const KIND: u8>: Returned<KIND> {
    /// The final value.
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

    fn settle(self, _: &Cx) -> impl Future<Output = Result<T, HandlerError>> + Send {
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

    fn settle(self, _: &Cx) -> impl Future<Output = Result<T, HandlerError<F>>> + Send {
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

    fn settle(self, _: &Cx) -> impl Future<Output = Result<T, HandlerError>> + Send {
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

    fn settle(self, cx: &Cx) -> impl Future<Output = Result<T, HandlerError<F>>> + Send {
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

    fn settle(self, _: &Cx) -> impl Future<Output = Self> + Send {
        ready(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + Send + 'static, F: Failure> ReturnedNow<MIXED> for Result<T, HandlerError<F>> {
    fn now(self) -> Self {
        self
    }
}

/// Asks a type what it is.
///
/// An inherent constant is preferred to one of a trait, and is only there when its bounds hold: so
/// `Probe::<T>::IS_RESULT`, with [`ProbeDefault`] in scope, is `true` for results, under any alias, and `false` for
/// everything else.
#[derive(Debug)]
pub struct Probe<R>(PhantomData<fn() -> R>);

/// The answers of a [`Probe`] that knows nothing better.
pub trait ProbeDefault {
    /// Whether the type is a `Result`.
    const IS_RESULT: bool = false;
    /// Whether it is a `Result` whose error is a [`Failure`].
    const IS_DECLARED: bool = false;
    /// Whether it is a `Result` whose error is a [`HandlerError`].
    const IS_MIXED: bool = false;
    /// Whether it is a stream of [`Outputs`].
    const IS_STREAM: bool = false;
}

impl<R> ProbeDefault for Probe<R> {}

impl<T, E> Probe<Result<T, E>> {
    /// It is a `Result`.
    pub const IS_RESULT: bool = true;
}

impl<T, F: Failure> Probe<Result<T, F>> {
    /// Its error is a [`Failure`].
    pub const IS_DECLARED: bool = true;
}

impl<T, F> Probe<Result<T, HandlerError<F>>> {
    /// Its error is a [`HandlerError`].
    pub const IS_MIXED: bool = true;
}

impl<T, F> Probe<Outputs<T, F>> {
    /// It is a stream of outputs.
    pub const IS_STREAM: bool = true;
}

/// The kind that a probe's answers amount to.
#[must_use]
#[allow(clippy::fn_params_excessive_bools, reason = "called by `kind_of!` alone, with the probe's four answers")]
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
