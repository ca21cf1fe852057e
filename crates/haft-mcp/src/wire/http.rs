//! Messages over HTTP, by haft's own client: guarded addresses, size limits, secrets that are never shown.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{BoxStream, StreamExt};
use haft_core::Secret;
use haft_http::{
    GuardedClient, HttpError, HttpRequest, HttpResponse, Method, SizeLimits, SseEvents, StatusCode, Timeouts,
};
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::Sse;
use tokio::sync::watch;
use tokio::time::timeout;

use super::message;
use super::tap::Tap;

const SESSION_ID: &str = "mcp-session-id";
const LAST_EVENT_ID: &str = "last-event-id";
const EVENT_STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";
/// Servers that mount an application redirect `/mcp` to `/mcp/`.
const REDIRECTS: usize = 3;
/// The longest time that a call waits for the stream on which a server of the old era may ask something.
const LISTENING: Duration = Duration::from_secs(1);
/// The size of an error response that is read.
const MAX_ERROR_BODY: usize = 64 * 1024;

type Error = StreamableHttpError<HttpError>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// The HTTP client of one server.
#[derive(Clone)]
pub(crate) struct HttpTransport {
    pub(crate) client: GuardedClient,
    pub(crate) bearer: Option<Secret>,
    pub(crate) headers: Arc<[(String, Secret)]>,
    /// The size of one message in bytes.
    pub(crate) limit: usize,
    pub(crate) tap: Arc<Tap>,
    /// Keeps what a server demands of a login.
    pub(crate) challenges: Option<Challenges>,
    /// Becomes true when the server has answered the request for a stream of its own messages.
    pub(crate) is_listening: watch::Sender<bool>,
}

/// Gets the header with which a server demands a login.
pub(crate) type Challenges = Arc<dyn Fn(&str) + Send + Sync>;

impl HttpTransport {
    /// Creates a request. The call's own timeouts apply, and a stream stays open for as long as the server likes.
    fn request(
        &self,
        method: Method,
        uri: &str,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> HttpRequest {
        let limits = SizeLimits::default().body(self.limit).event(self.limit).stream(usize::MAX);
        let mut request = HttpRequest::new(method, uri).timeouts(Timeouts::none()).limits(limits).redirects(REDIRECTS);
        for (name, value) in headers {
            request = request.header(name.as_str(), value);
        }
        for (name, value) in &*self.headers {
            request = request.secret_header(name, value);
        }
        match token.map(Secret::new).or_else(|| self.bearer.clone()) {
            Some(token) => request.bearer(&token),
            None => request,
        }
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, Error> {
        let response = self.client.send(request).await.map_err(StreamableHttpError::Client)?;
        let challenge = header(&response, WWW_AUTHENTICATE.as_str());
        if let (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, Some(challenge), Some(keep)) =
            (response.status(), &challenge, &self.challenges)
        {
            keep(challenge);
        }
        match (response.status(), challenge) {
            (StatusCode::UNAUTHORIZED, challenge) => {
                Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge.unwrap_or_default())))
            }
            (StatusCode::FORBIDDEN, Some(challenge)) => {
                Err(StreamableHttpError::InsufficientScope(InsufficientScopeError::new(challenge, None)))
            }
            _ => Ok(response),
        }
    }

    /// Waits until the server has answered the request for a stream of its own messages. What it asks before that is
    /// lost with some servers, and the call waits for ever.
    async fn until_listening(&self) {
        let mut is_listening = self.is_listening.subscribe();
        if timeout(LISTENING, is_listening.wait_for(|&is_listening| is_listening)).await.is_err() {
            // It answers with the first message only.
            self.is_listening.send_replace(true);
        }
    }

    /// Reads a stream of events, of which the tap sees each first.
    fn events(&self, response: HttpResponse, request: Option<RequestId>) -> Result<Events, Error> {
        let events = response.events().map_err(StreamableHttpError::Client)?;
        let stream = EventStream { events, tap: Arc::clone(&self.tap), request, has_ended: false };
        Ok(futures_util::stream::unfold(stream, EventStream::next).boxed())
    }

    /// Returns the message of a failed request: the server's own error, or one that the handshake understands.
    async fn failed(
        message: &ClientJsonRpcMessage,
        in_session: bool,
        response: HttpResponse,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let status = response.status();
        let retry_after = header(&response, RETRY_AFTER.as_str());
        let is_json = header(&response, CONTENT_TYPE.as_str()).is_some_and(|kind| kind.starts_with(JSON));
        let error = if is_json && status != StatusCode::TOO_MANY_REQUESTS {
            let body = response.body().await.map_err(StreamableHttpError::Client)?;
            let body = &body[..body.len().min(MAX_ERROR_BODY)];
            match serde_json::from_slice::<ServerJsonRpcMessage>(body) {
                Ok(JsonRpcMessage::Error(error)) => Some(error),
                _ => None,
            }
        } else {
            None
        };
        if let JsonRpcMessage::Request(request) = message
            && matches!(request.request, ClientRequest::DiscoverRequest(_))
            && !in_session
            && status.is_client_error()
        {
            // A legacy server rejects the question itself. Its answer can't have the id.
            let error = error.map_or_else(
                || ErrorData::new(ErrorCode::INVALID_REQUEST, format!("HTTP {}", status.as_u16()), None),
                |error| error.error,
            );
            let error = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            return Ok(StreamableHttpPostResponse::Json(error, None));
        }
        match error {
            Some(error) => Ok(StreamableHttpPostResponse::Json(JsonRpcMessage::Error(error), None)),
            None => Err(HttpStatusError::new(status.as_u16(), retry_after).into()),
        }
    }
}

/// The events of one response.
struct EventStream {
    events: SseEvents,
    tap: Arc<Tap>,
    /// The request that the stream answers.
    request: Option<RequestId>,
    has_ended: bool,
}

impl EventStream {
    async fn next(mut self) -> Option<(Result<Sse, SseError>, Self)> {
        if self.has_ended || self.tap.end_reason().is_some() {
            return None;
        }
        let data = match self.events.next_event().await {
            Some(Ok(event)) => {
                // What rmcp does not need still has its id, by which a stream is resumed.
                let message = self.tap.incoming(event.data.trim().as_bytes());
                message.and_then(|message| serde_json::to_string(&message).ok())
            }
            Some(Err(error)) => {
                self.has_ended = true;
                return match self.too_large(&error) {
                    Some(data) => Some((Ok(self.event(Some(data))), self)),
                    None => Some((Err(SseError::Body(Box::new(error))), self)),
                };
            }
            None => {
                // An id and a pause without data are meant for the next stream.
                self.has_ended = true;
                None
            }
        };
        Some((Ok(self.event(data)), self))
    }

    fn event(&self, data: Option<String>) -> Sse {
        let id = Some(self.events.last_event_id()).filter(|id| !id.is_empty()).map(str::to_owned);
        let retry = self.events.retry().and_then(|retry| retry.as_millis().try_into().ok());
        Sse { event: None, data, id, retry }
    }

    /// Answers the request in place of a message that is too large: resuming the stream would send it again.
    fn too_large(&self, error: &HttpError) -> Option<String> {
        let HttpError::TooLarge { limit, .. } = error else { return None };
        let id = self.request.clone()?;
        self.tap.too_large(&id, *limit);
        let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, "the message is too large", None);
        serde_json::to_string(&ServerJsonRpcMessage::error(error, Some(id))).ok()
    }
}

impl StreamableHttpClient for HttpTransport {
    type Error = HttpError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let in_session = session_id.is_some();
        if in_session && is_call(&message) {
            self.until_listening().await;
        }
        let text = self.tap.outgoing(&message)?;
        let mut request = self
            .request(Method::POST, &uri, token, headers)
            .header(ACCEPT, format!("{EVENT_STREAM}, {JSON}"))
            .json_text(text);
        if let Some(id) = session_id {
            request = request.header(SESSION_ID, &*id);
        }
        if let Some((slot, ..)) = message::slot(&message) {
            slot.set_sent(true);
        }
        let response = self.send(request).await?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && in_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        if !status.is_success() {
            return Self::failed(&message, in_session, response).await;
        }
        let session_id = header(&response, SESSION_ID);
        if response.is_event_stream() {
            return Ok(StreamableHttpPostResponse::Sse(self.events(response, request_id(&message))?, session_id));
        }
        let expects_answer = matches!(message, JsonRpcMessage::Request(_));
        if !expects_answer {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let body = response.body().await.map_err(StreamableHttpError::Client)?;
        match self.tap.incoming(body.trim_ascii()) {
            Some(answer) => Ok(StreamableHttpPostResponse::Json(answer, session_id)),
            None => Err(StreamableHttpError::UnexpectedServerResponse("the response is no MCP message".into())),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Error> {
        let request = self.request(Method::DELETE, &uri, token, headers).header(SESSION_ID, &*session_id);
        self.send(request).await.map(drop)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, Error> {
        let mut request = self.request(Method::GET, &uri, token, headers).header(ACCEPT, EVENT_STREAM);
        if let Some(id) = session_id {
            request = request.header(SESSION_ID, &*id);
        }
        if let Some(id) = last_event_id {
            request = request.header(LAST_EVENT_ID, id);
        }
        let response = self.send(request).await;
        self.is_listening.send_replace(true);
        let response = response?;
        let status = response.status();
        if status == StatusCode::METHOD_NOT_ALLOWED || (status.is_success() && !response.is_event_stream()) {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        if !status.is_success() {
            return Err(HttpStatusError::new(status.as_u16(), header(&response, RETRY_AFTER.as_str())).into());
        }
        self.events(response, None)
    }
}

fn is_call(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::CallToolRequest(_)))
}

fn request_id(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    if let JsonRpcMessage::Request(request) = message { Some(request.id.clone()) } else { None }
}

fn header(response: &HttpResponse, name: &str) -> Option<String> {
    response.headers().get(name)?.to_str().ok().map(str::to_owned)
}
