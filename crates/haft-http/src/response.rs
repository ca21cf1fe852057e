//! A response whose headers have arrived.

pub(crate) mod body;
mod chunks;
mod events;

use std::fmt;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, LOCATION};
use http::{HeaderMap, StatusCode};
use reqwest::Url;

use self::body::ResponseBody;
pub use self::chunks::BodyChunks;
pub use self::events::SseEvents;
use crate::endpoint::Endpoint;
use crate::error::HttpError;
use crate::size_limits::SizeLimits;

/// A response. You read its body in one of three ways: whole, as chunks, or as server-sent events. Dropping it cancels
/// the request.
pub struct HttpResponse {
    status: StatusCode,
    url: Url,
    headers: HeaderMap,
    body: ResponseBody,
    limits: SizeLimits,
}

impl HttpResponse {
    pub(crate) fn new(
        mut response: reqwest::Response,
        limits: SizeLimits,
        body: impl FnOnce(reqwest::Response) -> ResponseBody,
    ) -> Self {
        let headers = std::mem::take(response.headers_mut());
        Self { status: response.status(), url: response.url().clone(), headers, body: body(response), limits }
    }

    /// Returns the status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Returns the host and path that answered, after redirects.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        self.body.endpoint()
    }

    /// Returns the URL that answered, after redirects, without user, password and fragment. Unlike the
    /// [endpoint](Self::endpoint) it has a query, which may hold credentials.
    #[must_use]
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// Returns the absolute URL that a redirect leads to, or `None` if the response is not a redirect or has no valid
    /// location.
    #[must_use]
    pub fn location(&self) -> Option<String> {
        let location = self.headers.get(LOCATION).filter(|_| self.status.is_redirection())?;
        self.url.join(location.to_str().ok()?).ok().map(String::from)
    }

    /// Returns whether the body is declared as a server-sent event stream.
    #[must_use]
    pub fn is_event_stream(&self) -> bool {
        let declared = self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let essence = declared.split(';').next().unwrap_or_default();
        essence.trim().eq_ignore_ascii_case("text/event-stream")
    }

    /// Reads the whole body, up to [`SizeLimits::body`].
    pub async fn body(self) -> Result<Bytes, HttpError> {
        let mut chunks = BodyChunks::new(self.body, self.limits.body)?;
        let first = chunks.next().await.transpose()?.unwrap_or_default();
        let Some(second) = chunks.next().await.transpose()? else {
            // The usual small body is one chunk, which needs no copy.
            return Ok(first);
        };
        let mut whole = Vec::with_capacity(2 * (first.len() + second.len()));
        whole.extend_from_slice(&first);
        whole.extend_from_slice(&second);
        while let Some(chunk) = chunks.next().await.transpose()? {
            whole.extend_from_slice(&chunk);
        }
        Ok(whole.into())
    }

    /// Reads the whole body as UTF-8, up to [`SizeLimits::body`]. Invalid bytes become U+FFFD.
    pub async fn text(self) -> Result<String, HttpError> {
        let body = Vec::from(self.body().await?);
        Ok(String::from_utf8(body).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// Reads the body as it arrives, up to [`SizeLimits::stream`]. Fails at once if the declared length is larger.
    pub fn chunks(self) -> Result<BodyChunks, HttpError> {
        BodyChunks::new(self.body, self.limits.stream)
    }

    /// Reads the body as server-sent events, up to [`SizeLimits::stream`] and each up to [`SizeLimits::event`],
    /// whatever its declared type.
    pub fn events(self) -> Result<SseEvents, HttpError> {
        let limit = self.limits.event;
        Ok(SseEvents::new(self.chunks()?, limit))
    }
}

impl fmt::Debug for HttpResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.keys().map(http::HeaderName::as_str).collect();
        f.debug_struct("HttpResponse")
            .field("status", &self.status)
            .field("endpoint", self.endpoint())
            .field("headers", &names)
            .finish_non_exhaustive()
    }
}
