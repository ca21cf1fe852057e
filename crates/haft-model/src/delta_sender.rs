//! Answers that an async block writes.
//!
//! The block and its reader share a short queue. The block is polled by the reader, in place: no task is spawned, so
//! dropping the stream drops the block, and a block whose queue is full waits until the reader has taken a delta. The
//! queue has wakers of its own, because the sender may be used inside of a combinator that polls only what was woken,
//! or moved to another task.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use haft_core::{Delta, Turn};
use haft_schema::isolation::isolated;

use crate::error::ModelError;

/// The number of deltas that a block may be ahead of its reader.
const QUEUED: usize = 16;

/// The end of an answer that is written by an async block: the turn, or `()` if the block has sent it as
/// [`Delta::TurnComplete`]. See [`TurnStream::spawn`](crate::TurnStream::spawn).
pub trait TurnEnd {
    /// Returns the turn, unless it was sent.
    fn into_turn(self) -> Option<Turn>;
}

impl TurnEnd for Turn {
    fn into_turn(self) -> Option<Turn> {
        Some(self)
    }
}

impl TurnEnd for () {
    fn into_turn(self) -> Option<Turn> {
        None
    }
}

/// The writing side of an answer. See [`TurnStream::spawn`](crate::TurnStream::spawn).
pub struct DeltaSender(Arc<Mutex<Queue>>);

impl DeltaSender {
    /// Sends one delta. Waits while the reader has many deltas to read.
    ///
    /// The error is [`ModelError::Cancelled`]: nobody reads the answer any more. Only a task that outlives the stream
    /// can observe that, as the block itself is dropped with the stream.
    pub async fn send(&self, delta: Delta) -> Result<(), ModelError> {
        let mut delta = Some(delta);
        poll_fn(|task| self.poll_send(&mut delta, task)).await
    }

    /// Sends several deltas, in order, as [`send`](Self::send) does.
    pub async fn send_all(&self, deltas: impl IntoIterator<Item = Delta>) -> Result<(), ModelError> {
        for delta in deltas {
            self.send(delta).await?;
        }
        Ok(())
    }

    fn poll_send(&self, delta: &mut Option<Delta>, task: &mut Context<'_>) -> Poll<Result<(), ModelError>> {
        let mut waker = None;
        loop {
            let mut queue = lock(&self.0);
            if queue.is_closed {
                return Poll::Ready(Err(ModelError::Cancelled));
            }
            if queue.deltas.len() < QUEUED {
                queue.deltas.extend(delta.take());
                let reader = queue.reader.take();
                drop(queue);
                wake(reader);
                return Poll::Ready(Ok(()));
            }
            if queue.senders.iter().any(|waiting| waiting.will_wake(task.waker())) {
                return Poll::Pending;
            }
            if let Some(waker) = waker.take() {
                queue.senders.push(waker);
                return Poll::Pending;
            }
            // A waker is user code, so it is cloned without the lock.
            drop(queue);
            waker = Some(task.waker().clone());
        }
    }
}

impl fmt::Debug for DeltaSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DeltaSender(..)")
    }
}

/// The deltas between a block and its reader.
#[derive(Default)]
struct Queue {
    deltas: VecDeque<Delta>,
    /// The tasks that wait for room.
    senders: Vec<Waker>,
    /// The task that waits for a delta.
    reader: Option<Waker>,
    /// Set when no delta is read any more.
    is_closed: bool,
}

/// The stream of an answer that an async block writes.
pub(crate) struct SpawnedStream {
    /// The block. Absent once it has ended or panicked.
    block: Option<Block>,
    queue: Arc<Mutex<Queue>>,
    /// The result of the block, which is read after the queue.
    last: Option<Result<Delta, ModelError>>,
}

/// A running block, which ends with the turn unless it has sent it.
type Block = Pin<Box<dyn Future<Output = Result<Option<Turn>, ModelError>> + Send>>;

impl SpawnedStream {
    pub(crate) fn new<F, T>(block: impl FnOnce(DeltaSender) -> F) -> Self
    where
        F: Future<Output = Result<T, ModelError>> + Send + 'static,
        T: TurnEnd,
    {
        let queue = Arc::new(Mutex::new(Queue::default()));
        let block = block(DeltaSender(Arc::clone(&queue)));
        Self { block: Some(Box::pin(async { block.await.map(T::into_turn) })), queue, last: None }
    }

    /// Takes the next delta of the queue, and wakes those that wait for room.
    fn take(&mut self) -> Option<Delta> {
        let mut queue = lock(&self.queue);
        let (delta, reader) = (queue.deltas.pop_front(), queue.reader.take());
        let senders = std::mem::take(&mut queue.senders);
        drop(queue);
        // The reader is not waiting: it is here.
        drop(reader);
        wake(senders);
        delta
    }

    /// Rejects further deltas. Those of the queue can still be read.
    fn close(&self) {
        let mut queue = lock(&self.queue);
        queue.is_closed = true;
        let senders = std::mem::take(&mut queue.senders);
        drop(queue);
        wake(senders);
    }

    /// Ends the answer: nothing after the turn is read.
    fn end(&mut self) {
        self.close();
        let unread = std::mem::take(&mut lock(&self.queue).deltas);
        drop(unread);
        (self.block, self.last) = (None, None);
    }
}

impl Stream for SpawnedStream {
    type Item = Result<Delta, ModelError>;

    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let stream = self.get_mut();
        loop {
            if let Some(delta) = stream.take() {
                if let Delta::TurnComplete(_) = &delta {
                    stream.end();
                }
                return Poll::Ready(Some(Ok(delta)));
            }
            // Taken out while it is polled: a block that panics is not polled again.
            let Some(mut block) = stream.block.take() else { return Poll::Ready(stream.last.take()) };
            match block.as_mut().poll(task) {
                Poll::Ready(ended) => {
                    let complete = |turn: Option<Turn>| turn.map(Delta::complete).ok_or(ModelError::IncompleteTurn);
                    stream.last = Some(ended.and_then(complete));
                    stream.close();
                }
                Poll::Pending => {
                    stream.block = Some(block);
                    let reader = task.waker().clone();
                    let mut queue = lock(&stream.queue);
                    if queue.deltas.is_empty() {
                        queue.reader = Some(reader);
                        return Poll::Pending;
                    }
                }
            }
        }
    }
}

/// Ends the sends of tasks that outlive the stream.
impl Drop for SpawnedStream {
    fn drop(&mut self) {
        self.close();
    }
}

fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Wakes tasks. Their wakers are user code, which may panic.
fn wake(wakers: impl IntoIterator<Item = Waker>) {
    for waker in wakers {
        drop(isolated(|| waker.wake()));
    }
}
