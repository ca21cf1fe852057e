//! Handlers that return a stream of outputs.
//!
//! A stream of outputs yields preliminary forms of the result and then the result. Exactly one value is final; the
//! stream is not polled after it, and a stream that ends without a final value is a failure, never an empty success.
//! Every value of the stream counts as activity of the call, whether it is emitted or held back.

use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use haft_schema::isolation::Isolated;
use serde::Serialize;

use crate::cx::Cx;
use crate::handler::{HandlerError, NoFailure};

/// One item of a handler's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlerOutput<T> {
    /// A preliminary form of the result.
    Preliminary(T),
    /// The result.
    Final(T),
}

/// The stream of a handler's outputs.
///
/// ```
/// use haft_executor::{HandlerOutput, Outputs};
/// use futures_util::stream;
///
/// let steps = [HandlerOutput::Preliminary(1), HandlerOutput::Final(2)];
/// let outputs: Outputs<i32> = Outputs::new(stream::iter(steps));
/// let same: Outputs<i32> = Outputs::values(stream::iter([1, 2]));
/// # let _ = (outputs, same);
/// ```
#[must_use = "a stream does nothing unless it is polled"]
pub struct Outputs<T, F = NoFailure>(OutputStream<T, F>);

type BoxStream<T> = Pin<Box<dyn Stream<Item = T> + Send>>;

enum OutputStream<T, F> {
    /// Every item is tagged as preliminary or final.
    Tagged(BoxStream<Result<HandlerOutput<T>, F>>),
    /// The last item is the final one.
    Values(BoxStream<Result<T, F>>),
}

/// A stream of outputs that ended before its final value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the handler's stream ended without a final value")]
#[non_exhaustive]
pub struct NoFinalOutput;

impl<T: Send + 'static, F: Send + 'static> Outputs<T, F> {
    /// Creates outputs from a stream that can't fail.
    pub fn new(stream: impl Stream<Item = HandlerOutput<T>> + Send + 'static) -> Self {
        Self(OutputStream::Tagged(Box::pin(Infallibly::new(stream))))
    }

    /// Creates outputs from a stream that may end with a failure.
    pub fn try_new(stream: impl Stream<Item = Result<HandlerOutput<T>, F>> + Send + 'static) -> Self {
        Self(OutputStream::Tagged(Box::pin(stream)))
    }

    /// Creates outputs from a stream of values that can't fail. The last value is final, so each value is emitted when
    /// the next one arrives.
    pub fn values(stream: impl Stream<Item = T> + Send + 'static) -> Self {
        Self(OutputStream::Values(Box::pin(Infallibly::new(stream))))
    }

    /// Creates outputs from a stream of values that may end with a failure. The last value is final, so each value is
    /// emitted when the next one arrives, and a value right before a failure is not emitted.
    pub fn try_values(stream: impl Stream<Item = Result<T, F>> + Send + 'static) -> Self {
        Self(OutputStream::Values(Box::pin(stream)))
    }
}

impl<T: Serialize + Send + 'static, F: Send + 'static> Outputs<T, F> {
    /// Emits every preliminary value through the context and returns the final one.
    pub(crate) async fn finish(self, cx: &Cx) -> Result<T, HandlerError<F>> {
        match self.0 {
            OutputStream::Tagged(stream) => finish_tagged(stream, cx).await,
            OutputStream::Values(stream) => finish_values(stream, cx).await,
        }
    }
}

impl<T, F> fmt::Debug for Outputs<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outputs").finish_non_exhaustive()
    }
}

async fn finish_tagged<T, F>(mut stream: BoxStream<Result<HandlerOutput<T>, F>>, cx: &Cx) -> Result<T, HandlerError<F>>
where
    T: Serialize + Send + 'static,
    F: Send + 'static,
{
    while let Some(output) = next(&mut stream, cx).await {
        match output.map_err(HandlerError::Declared)? {
            HandlerOutput::Preliminary(value) => emit(value, cx).await?,
            HandlerOutput::Final(value) => return Ok(value),
        }
    }
    Err(HandlerError::opaque(NoFinalOutput))
}

async fn finish_values<T, F>(mut stream: BoxStream<Result<T, F>>, cx: &Cx) -> Result<T, HandlerError<F>>
where
    T: Serialize + Send + 'static,
    F: Send + 'static,
{
    // Isolated from the stream: both may panic, and are dropped together.
    let mut last: Option<Isolated<T>> = None;
    while let Some(value) = next(&mut stream, cx).await {
        let value = value.map_err(HandlerError::Declared)?;
        if let Some(earlier) = last.replace(Isolated::new(value)) {
            emit(earlier.into_inner(), cx).await?;
        }
    }
    last.map(Isolated::into_inner).ok_or_else(|| HandlerError::opaque(NoFinalOutput))
}

/// Emits a preliminary value. A value that violates the success schema fails the call, as a final one would.
async fn emit<T: Serialize + Send, F>(value: T, cx: &Cx) -> Result<(), HandlerError<F>> {
    cx.preliminary(value).await.map_err(|error| HandlerError::Opaque(error.into()))
}

/// Returns the next value. Each counts as activity, also one that is held back because it may be the last.
async fn next<T>(stream: &mut BoxStream<T>, cx: &Cx) -> Option<T> {
    let item = poll_fn(|task| stream.as_mut().poll_next(task)).await;
    if let (Some(_), Some(handle)) = (&item, cx.call_handle()) {
        handle.touch();
    }
    item
}

/// Wraps every item in `Ok`.
struct Infallibly<S, F> {
    stream: Pin<Box<S>>,
    failure: PhantomData<fn() -> F>,
}

impl<S, F> Infallibly<S, F> {
    fn new(stream: S) -> Self {
        Self { stream: Box::pin(stream), failure: PhantomData }
    }
}

impl<S: Stream, F> Stream for Infallibly<S, F> {
    type Item = Result<S::Item, F>;

    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().stream.as_mut().poll_next(task).map(|item| item.map(Ok))
    }
}
