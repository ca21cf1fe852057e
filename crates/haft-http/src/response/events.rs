//! A response's body as server-sent events.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use futures_core::Stream;

use super::chunks::BodyChunks;
use crate::error::HttpError;
use crate::sse::{SseDecoder, SseError, SseEvent};

/// A body's server-sent events, as they arrive.
///
/// The stream ends after its first error. If the body ends within an event, its last item is
/// [`HttpError::IncompleteEvent`]. If you have seen your protocol's final event, you may ignore it;
/// [`unfinished_event`](Self::unfinished_event) returns what arrived. Dropping the stream cancels the request.
#[must_use = "streams do nothing unless polled"]
pub struct SseEvents {
    chunks: BodyChunks,
    decoder: SseDecoder,
    /// The part of the last chunk that is not decoded yet.
    rest: Bytes,
    ended: bool,
}

impl SseEvents {
    pub(super) fn new(chunks: BodyChunks, limit: usize) -> Self {
        Self { chunks, decoder: SseDecoder::with_limit(limit), rest: Bytes::new(), ended: false }
    }

    /// Waits for the next event, which is borrowed from the decoder. As a [`Stream`], this type returns copies instead.
    /// Cancelling the wait loses nothing.
    pub async fn next_event(&mut self) -> Option<Result<SseEvent<'_>, HttpError>> {
        let found = poll_fn(|cx| self.poll_advance(cx)).await?;
        Some(found.map(|()| self.decoder.event()))
    }

    /// Returns the event that the body ended in, after [`HttpError::IncompleteEvent`]. Its data may be cut off; see
    /// [`SseDecoder::unfinished`].
    pub fn unfinished_event(&mut self) -> Option<SseEvent<'_>> {
        self.decoder.unfinished()
    }

    /// Returns the id to send as `Last-Event-ID` when you reconnect; empty if there is none.
    #[must_use]
    pub fn last_event_id(&self) -> &str {
        self.decoder.last_event_id()
    }

    /// Returns the time to wait before reconnecting, if the server stated it.
    #[must_use]
    pub fn retry(&self) -> Option<Duration> {
        self.decoder.retry()
    }

    /// Advances the decoder to the next event's end.
    fn poll_advance(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<(), HttpError>>> {
        while !self.ended {
            let mut input = &*self.rest;
            let found = self.decoder.advance(&mut input);
            let left = input.len();
            self.rest.advance(self.rest.len() - left);
            match found {
                Ok(true) => return Poll::Ready(Some(Ok(()))),
                Ok(false) => {}
                Err(SseError::TooLarge { limit }) => {
                    let endpoint = self.chunks.endpoint().clone();
                    return Poll::Ready(Some(Err(self.fail(HttpError::TooLarge { endpoint, limit }))));
                }
            }
            match ready!(self.chunks.poll_chunk(cx)) {
                Some(Ok(chunk)) => self.rest = chunk,
                Some(Err(error)) => return Poll::Ready(Some(Err(self.fail(error)))),
                None if self.decoder.is_within_event() => {
                    let endpoint = self.chunks.endpoint().clone();
                    return Poll::Ready(Some(Err(self.fail(HttpError::IncompleteEvent { endpoint }))));
                }
                None => self.ended = true,
            }
        }
        Poll::Ready(None)
    }

    fn fail(&mut self, error: HttpError) -> HttpError {
        self.ended = true;
        self.rest.clear();
        self.chunks.close();
        error
    }
}

impl Stream for SseEvents {
    type Item = Result<SseEvent<'static>, HttpError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let found = ready!(this.poll_advance(cx));
        Poll::Ready(found.map(|found| found.map(|()| this.decoder.event().into_owned())))
    }
}

impl fmt::Debug for SseEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { chunks, decoder, rest: _, ended } = self;
        f.debug_struct("SseEvents")
            .field("chunks", chunks)
            .field("decoder", decoder)
            .field("ended", ended)
            .finish_non_exhaustive()
    }
}
