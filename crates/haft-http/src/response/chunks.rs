//! A response's body as chunks.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;

use super::body::ResponseBody;
use crate::endpoint::Endpoint;
use crate::error::HttpError;

/// A body's chunks, as they arrive. The stream ends after its first error. Dropping it cancels the request.
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct BodyChunks {
    body: ResponseBody,
    limit: usize,
    left: usize,
}

impl BodyChunks {
    /// Creates the stream. Fails if the declared length exceeds the limit.
    pub(super) fn new(body: ResponseBody, limit: usize) -> Result<Self, HttpError> {
        if body.length().is_some_and(|length| length > limit as u64) {
            return Err(HttpError::TooLarge { endpoint: body.endpoint().clone(), limit });
        }
        Ok(Self { body, limit, left: limit })
    }

    /// Waits for the next chunk. Cancelling the wait loses nothing.
    pub async fn next(&mut self) -> Option<Result<Bytes, HttpError>> {
        poll_fn(|cx| self.poll_chunk(cx)).await
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        self.body.endpoint()
    }

    pub(super) fn close(&mut self) {
        self.body.close();
    }

    pub(super) fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, HttpError>>> {
        let chunk = match ready!(self.body.poll_chunk(cx)) {
            Some(Ok(chunk)) => chunk,
            other => return Poll::Ready(other),
        };
        let Some(left) = self.left.checked_sub(chunk.len()) else {
            self.close();
            let error = HttpError::TooLarge { endpoint: self.endpoint().clone(), limit: self.limit };
            return Poll::Ready(Some(Err(error)));
        };
        self.left = left;
        Poll::Ready(Some(Ok(chunk)))
    }
}

impl Stream for BodyChunks {
    type Item = Result<Bytes, HttpError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_chunk(cx)
    }
}
