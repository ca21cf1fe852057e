//! A model: something that answers a conversation, once.
//!
//! The trait has one method and no loop in it. Whoever implements it renders the request, sends it, and streams what
//! comes back; it runs no tool, repairs no history and retries nothing. The stream owns what it needs, so it can outlive
//! the request and be dropped at any time, which ends the request.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use haft_core::{Delta, Turn, TurnRequest};

use crate::error::ModelError;

/// A model that answers a conversation.
///
/// ```
/// use haft_core::{Delta, Finish, Item, Turn, TurnRequest};
/// use haft_model::{LanguageModel, TurnStream};
///
/// /// Says again what it was told last.
/// struct Parrot;
///
/// impl LanguageModel for Parrot {
///     fn stream_turn(&self, request: &TurnRequest) -> TurnStream {
///         let said = request.history.last().cloned();
///         let heard = format!("{said:?}");
///         TurnStream::of([
///             Ok(Delta::TextDelta { text: heard.clone() }),
///             Ok(Delta::complete(Turn::new(vec![Item::assistant(heard)], Finish::Stop))),
///         ])
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), haft_model::ModelError> {
/// let turn = Parrot.stream_turn(&TurnRequest::new("parrot", vec![Item::user("hello")])).into_turn().await?;
/// assert!(turn.text().contains("hello"));
/// # Ok(())
/// # }
/// ```
pub trait LanguageModel: Send + Sync {
    /// Asks once. The stream ends with [`Delta::TurnComplete`], or with an error.
    fn stream_turn(&self, request: &TurnRequest) -> TurnStream;
}

/// One answer as it grows. Dropping it ends the request.
#[must_use = "a model is not asked until its stream is polled"]
pub struct TurnStream(Pin<Box<dyn Stream<Item = Result<Delta, ModelError>> + Send>>);

impl TurnStream {
    /// An answer from any stream.
    pub fn new(deltas: impl Stream<Item = Result<Delta, ModelError>> + Send + 'static) -> Self {
        Self(Box::pin(deltas))
    }

    /// An answer that is known already.
    pub fn of<I>(deltas: I) -> Self
    where
        I: IntoIterator<Item = Result<Delta, ModelError>, IntoIter: Send + 'static>,
    {
        Self::new(Known(deltas.into_iter()))
    }

    /// An answer that is one error.
    pub fn failed(error: ModelError) -> Self {
        Self::of([Err(error)])
    }

    /// The next piece; `None` when the answer is over.
    pub async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        poll_fn(|task| self.0.as_mut().poll_next(task)).await
    }

    /// Waits for the whole turn, whatever grows on the way. A stream that ends without one is
    /// [`ModelError::IncompleteTurn`].
    pub async fn into_turn(mut self) -> Result<Turn, ModelError> {
        while let Some(delta) = self.next().await {
            if let Delta::TurnComplete(turn) = delta? {
                return Ok(*turn);
            }
        }
        Err(ModelError::IncompleteTurn)
    }
}

impl Stream for TurnStream {
    type Item = Result<Delta, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(task)
    }
}

impl fmt::Debug for TurnStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TurnStream(..)")
    }
}

impl<M: LanguageModel + ?Sized> LanguageModel for Arc<M> {
    fn stream_turn(&self, request: &TurnRequest) -> TurnStream {
        M::stream_turn(self, request)
    }
}

impl<M: LanguageModel + ?Sized> LanguageModel for Box<M> {
    fn stream_turn(&self, request: &TurnRequest) -> TurnStream {
        M::stream_turn(self, request)
    }
}

impl<M: LanguageModel + ?Sized> LanguageModel for &M {
    fn stream_turn(&self, request: &TurnRequest) -> TurnStream {
        M::stream_turn(self, request)
    }
}

/// An iterator as a stream that never waits.
struct Known<I>(I);

impl<I> Unpin for Known<I> {}

impl<I: Iterator> Stream for Known<I> {
    type Item = I::Item;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<I::Item>> {
        Poll::Ready(self.0.next())
    }
}
