//! The trait of a language model: one request, one streamed answer.
//!
//! The trait names the model, and has one method that asks it. An implementation renders the request, sends it and
//! streams the response; it must not run tools, repair histories, retry or open spans: a loop does. The stream owns
//! everything it needs, so it can outlive the request value, and dropping it at any time ends the request.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use haft_core::{Delta, Turn, TurnRequest};

use crate::delta_sender::{DeltaSender, SpawnedStream, TurnEnd};
use crate::error::ModelError;
use crate::model_info::ModelInfo;

/// A language model.
///
/// The result is the turn at the end: [`Delta::TurnComplete`]. The deltas before it are for display while it arrives;
/// they need not add up to the turn, and a model may send none. Nothing after the turn is read. Dropping the stream
/// must end the request: a loop that is cancelled or past its deadline does just that.
///
/// An answer that is available immediately is created with [`TurnStream::of`]:
///
/// ```
/// use haft_core::{Delta, Finish, Item, Turn, TurnRequest};
/// use haft_model::{LanguageModel, ModelInfo, TurnStream};
///
/// /// Repeats the last item of the history.
/// struct Parrot;
///
/// impl LanguageModel for Parrot {
///     fn info(&self) -> ModelInfo {
///         ModelInfo::new("zoo").model("parrot")
///     }
///
///     fn stream_turn(&self, request: &TurnRequest) -> TurnStream {
///         let last = request.history.last().cloned();
///         let text = format!("{last:?}");
///         TurnStream::of([
///             Ok(Delta::text(text.clone())),
///             Ok(Delta::complete(Turn::new(vec![Item::assistant(text)], Finish::Stop))),
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
///
/// One that arrives later as a whole is created with [`TurnStream::from_future`], and one that arrives in pieces is
/// written by an async block, with [`TurnStream::spawn`]. Any other stream is passed to [`TurnStream::new`].
pub trait LanguageModel: Send + Sync {
    /// Returns the names of the provider and the model. A model that wraps another one returns that of the other.
    fn info(&self) -> ModelInfo;

    /// Requests one turn. The stream ends with [`Delta::TurnComplete`] or with an error; a stream that ends without
    /// either counts as [`ModelError::IncompleteTurn`]. No request outlives its stream.
    fn stream_turn(&self, request: &TurnRequest) -> TurnStream;
}

/// One answer as a stream of deltas. Dropping it ends the request.
#[must_use = "a model is not asked until its stream is polled"]
pub struct TurnStream(Pin<Box<dyn Stream<Item = Result<Delta, ModelError>> + Send>>);

impl TurnStream {
    /// Creates an answer from any stream.
    pub fn new(deltas: impl Stream<Item = Result<Delta, ModelError>> + Send + 'static) -> Self {
        Self(Box::pin(deltas))
    }

    /// Creates an answer from deltas that are available immediately.
    pub fn of<I>(deltas: I) -> Self
    where
        I: IntoIterator<Item = Result<Delta, ModelError>, IntoIter: Send + 'static>,
    {
        Self::new(IterStream(deltas.into_iter()))
    }

    /// Creates an answer from a future of the whole turn. Dropping the stream drops the future.
    ///
    /// ```
    /// use haft_core::{Finish, Item, Turn, TurnRequest};
    /// use haft_model::{LanguageModel, ModelError, ModelInfo, TurnStream};
    ///
    /// /// Waits first, then answers in one piece.
    /// struct Thoughtful;
    ///
    /// impl LanguageModel for Thoughtful {
    ///     fn info(&self) -> ModelInfo {
    ///         ModelInfo::new("example")
    ///     }
    ///
    ///     fn stream_turn(&self, request: &TurnRequest) -> TurnStream {
    ///         let heard = request.history.len();
    ///         TurnStream::from_future(async move {
    ///             tokio::task::yield_now().await; // where a client waits for its provider
    ///             Ok(Turn::new(vec![Item::assistant(format!("I heard {heard}."))], Finish::Stop))
    ///         })
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), ModelError> {
    /// let request = TurnRequest::new("any", vec![Item::user("a"), Item::user("b")]);
    /// assert_eq!(Thoughtful.stream_turn(&request).into_turn().await?.text(), "I heard 2.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_future(turn: impl Future<Output = Result<Turn, ModelError>> + Send + 'static) -> Self {
        Self::new(FutureStream(Some(Box::pin(turn))))
    }

    /// Creates an answer that an async block writes, delta by delta. The block ends with the turn, or with `()` if it has
    /// sent the turn as [`Delta::TurnComplete`]; one that ends without a turn is [`ModelError::IncompleteTurn`].
    ///
    /// The block is polled by the reader of the stream, and no task is spawned: nothing happens until the stream is
    /// polled, dropping the stream drops the block at its current `await`, and a panic in it reaches the reader. The
    /// block is at most a few deltas ahead of its reader. An error that it returns is read after the deltas that it has
    /// sent.
    ///
    /// ```
    /// use haft_core::{Delta, Finish, Item, Turn, TurnRequest};
    /// use haft_model::{LanguageModel, ModelError, ModelInfo, TurnStream};
    ///
    /// /// Streams one word at a time.
    /// struct Slow;
    ///
    /// impl LanguageModel for Slow {
    ///     fn info(&self) -> ModelInfo {
    ///         ModelInfo::new("example")
    ///     }
    ///
    ///     fn stream_turn(&self, _request: &TurnRequest) -> TurnStream {
    ///         TurnStream::spawn(|out| async move {
    ///             let mut whole = String::new();
    ///             for word in ["All ", "in ", "good ", "time."] {
    ///                 tokio::task::yield_now().await; // where a client waits for its provider
    ///                 whole.push_str(word);
    ///                 out.send(Delta::text(word)).await?;
    ///             }
    ///             Ok(Turn::new(vec![Item::assistant(whole)], Finish::Stop))
    ///         })
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), ModelError> {
    /// let turn = Slow.stream_turn(&TurnRequest::new("slow", vec![Item::user("when?")])).into_turn().await?;
    /// assert_eq!(turn.text(), "All in good time.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn spawn<F, T>(block: impl FnOnce(DeltaSender) -> F) -> Self
    where
        F: Future<Output = Result<T, ModelError>> + Send + 'static,
        T: TurnEnd,
    {
        Self::new(SpawnedStream::new(block))
    }

    /// Creates an answer that is one error.
    pub fn failed(error: ModelError) -> Self {
        Self::of([Err(error)])
    }

    /// Returns the next delta; `None` at the end of the answer.
    pub async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        poll_fn(|task| self.0.as_mut().poll_next(task)).await
    }

    /// Waits for the complete turn and ignores the deltas before it. A stream that ends without a turn is
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
    fn info(&self) -> ModelInfo {
        M::info(self)
    }

    fn stream_turn(&self, request: &TurnRequest) -> TurnStream {
        M::stream_turn(self, request)
    }
}

impl<M: LanguageModel + ?Sized> LanguageModel for Box<M> {
    fn info(&self) -> ModelInfo {
        M::info(self)
    }

    fn stream_turn(&self, request: &TurnRequest) -> TurnStream {
        M::stream_turn(self, request)
    }
}

impl<M: LanguageModel + ?Sized> LanguageModel for &M {
    fn info(&self) -> ModelInfo {
        M::info(self)
    }

    fn stream_turn(&self, request: &TurnRequest) -> TurnStream {
        M::stream_turn(self, request)
    }
}

/// A stream over an iterator, which never waits.
struct IterStream<I>(I);

impl<I> Unpin for IterStream<I> {}

impl<I: Iterator> Stream for IterStream<I> {
    type Item = I::Item;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<I::Item>> {
        Poll::Ready(self.0.next())
    }
}

/// A stream of the one turn of a future.
struct FutureStream<F>(Option<Pin<Box<F>>>);

impl<F: Future<Output = Result<Turn, ModelError>>> Stream for FutureStream<F> {
    type Item = Result<Delta, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(turn) = &mut self.0 else { return Poll::Ready(None) };
        let turn = ready!(turn.as_mut().poll(task));
        self.0 = None;
        Poll::Ready(Some(turn.map(Delta::complete)))
    }
}
