//! A response's body on its way, with its timeouts.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::deadline::Deadline;
use crate::endpoint::Endpoint;
use crate::error::HttpError;
use crate::timeouts::TimeoutKind;

type ByteStream = Pin<Box<dyn Stream<Item = reqwest::Result<Bytes>> + Send>>;

/// The body. It ends with its first error, and dropping it closes the connection if anything is left to read.
pub(crate) struct ResponseBody {
    endpoint: Endpoint,
    /// The declared length.
    length: Option<u64>,
    /// None once the body has ended.
    stream: Option<ByteStream>,
    total: Option<Deadline>,
    idle: Option<Duration>,
    /// The end of the current wait for a chunk; `None` if nobody waits.
    wait: Option<Deadline>,
    /// A timer that fires at the current wait's end or earlier. The first wait creates it. It moves only when it fires
    /// too early, so that the waits between quick chunks leave it alone.
    timer: Option<Pin<Box<Sleep>>>,
}

impl ResponseBody {
    pub(crate) fn new(
        response: reqwest::Response,
        endpoint: Endpoint,
        idle: Option<Duration>,
        total: Option<Deadline>,
    ) -> Self {
        let length = response.content_length();
        let stream: ByteStream = Box::pin(response.bytes_stream());
        Self { endpoint, length, stream: Some(stream), total, idle, wait: None, timer: None }
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    pub(crate) fn length(&self) -> Option<u64> {
        self.length
    }

    /// Ends the body, as if it had been read whole.
    pub(crate) fn close(&mut self) {
        self.stream = None;
        self.timer = None;
    }

    pub(crate) fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, HttpError>>> {
        let Some(stream) = &mut self.stream else { return Poll::Ready(None) };
        // A body that always has a chunk ready must not outlast its total timeout.
        if let Some(total) = self.total.filter(|total| total.at <= Instant::now()) {
            return Poll::Ready(Some(Err(self.fail(|endpoint| total.error(endpoint)))));
        }
        match stream.as_mut().poll_next(cx) {
            Poll::Ready(Some(Ok(chunk))) => {
                self.wait = None;
                Poll::Ready(Some(Ok(chunk)))
            }
            Poll::Ready(Some(Err(error))) => {
                Poll::Ready(Some(Err(self.fail(|endpoint| HttpError::of_body(error, endpoint)))))
            }
            Poll::Ready(None) => {
                self.close();
                Poll::Ready(None)
            }
            Poll::Pending => {
                self.poll_timeout(cx).map(|expired| Some(Err(self.fail(|endpoint| expired.error(endpoint)))))
            }
        }
    }

    /// Waits for the current wait's end.
    fn poll_timeout(&mut self, cx: &mut Context<'_>) -> Poll<Deadline> {
        if self.wait.is_none() {
            let idle = self.idle.and_then(|idle| Deadline::new(Instant::now(), TimeoutKind::Idle, Some(idle)));
            self.wait = Deadline::earlier(idle, self.total);
        }
        let Some(wait) = self.wait else { return Poll::Pending };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(wait.at)));
        loop {
            std::task::ready!(timer.as_mut().poll(cx));
            // Waits only ever end later than earlier ones, so the timer is never too late.
            if timer.deadline() >= wait.at {
                return Poll::Ready(wait);
            }
            timer.as_mut().reset(wait.at);
        }
    }

    fn fail(&mut self, error: impl FnOnce(Endpoint) -> HttpError) -> HttpError {
        self.close();
        error(self.endpoint.clone())
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseBody").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}
