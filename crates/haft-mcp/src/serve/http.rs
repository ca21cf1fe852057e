//! The server over HTTP: a tower service that mounts anywhere.
//!
//! ```text
//! request ─> who? ─> whole body, bounded ─> rmcp: host, origin, headers, session ─> handler
//!            401     413, 408               403, 400, 404
//! ```

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use haft_core::Decider;
use haft_executor::BoxError;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName, RETRY_AFTER, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::time::timeout;
use tower_service::Service;

use super::access::{Authenticator, CallerAccess};
use super::handler::{RequestOrigin, ServedHandler};
use super::lifecycle::Open;
use super::server_state::ServerState;
use super::session::Sessions;

tokio::task_local! {
    /// The request that the current task answers.
    static CURRENT: CurrentRequest;
}

#[derive(Clone)]
struct CurrentRequest {
    access: CallerAccess,
    is_refused: Arc<AtomicBool>,
}

/// Returns the access of the request that the current task answers.
pub(super) fn current_access() -> Option<CallerAccess> {
    CURRENT.try_with(|request| request.access.clone()).ok()
}

/// Answers the current request with 503, whatever else is answered.
pub(super) fn refuse() {
    // Outside of a request there is nothing to refuse.
    let _ = CURRENT.try_with(|request| request.is_refused.store(true, Ordering::Relaxed));
}

/// A server over HTTP: a [`tower` service](Service) of requests, for both eras at one address. Clones share the server.
///
/// Mount it into a router:
///
/// ```
/// use axum::Router;
/// use haft_executor::{Tool, Toolkit};
/// use haft_mcp::serve::{CallerAccess, serve};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools: Toolkit = Toolkit::from_iter([Tool::new("ping").handler(|(), _cx| async { "pong" })?]);
/// let server = serve(tools).anonymous(CallerAccess::everyone());
/// let shutdown = server.shutdown();
/// let app: Router = Router::new().route_service("/mcp", server.http()?);
/// # let _ = (app, shutdown);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct McpHttp {
    inner: StreamableHttpService<ServedHandler, Sessions>,
    server: Arc<ServerState>,
    authenticator: Option<Arc<dyn Authenticator>>,
    anonymous: Option<CallerAccess>,
}

/// The body of an answer. It counts as open until its end.
pub struct McpBody {
    body: BoxBody<Bytes, Infallible>,
    open: Option<Open>,
}

/// The parties that may reach a server over HTTP.
pub(super) struct HttpAccess {
    pub(super) authenticator: Option<Arc<dyn Authenticator>>,
    pub(super) anonymous: Option<CallerAccess>,
    pub(super) hosts: Vec<String>,
    pub(super) origins: Vec<String>,
}

impl McpHttp {
    pub(super) fn new(server: Arc<ServerState>, access: HttpAccess, decider: Decider) -> Self {
        let HttpAccess { authenticator, anonymous, hosts, origins } = access;
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(hosts)
            .with_allowed_origins(origins)
            .enforce_origin_validation()
            .with_json_response(true)
            .with_max_request_body_bytes(server.limits.message)
            .with_cancellation_token(server.lifecycle.ended().clone());
        let sessions = Arc::new(Sessions::new(Arc::clone(&server)));
        let handled = Arc::clone(&server);
        let handler = move || Ok(ServedHandler::new(Arc::clone(&handled), RequestOrigin::Http, decider));
        Self { inner: StreamableHttpService::new(handler, sessions, config), server, authenticator, anonymous }
    }

    async fn respond<B>(&self, request: Request<B>) -> Response<McpBody>
    where
        B: Body<Data: Send> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let open = self.server.lifecycle.enter();
        if self.server.lifecycle.is_closing() {
            return later();
        }
        let (mut parts, body) = request.into_parts();
        let access = match self.access(&parts).await {
            Ok(access) => access,
            Err(response) => return response,
        };
        let body = match self.body(&parts, body).await {
            Ok(body) => body,
            Err(response) => return response,
        };
        parts.extensions.insert(access.clone());
        // A stream of its own is open for as long as the client likes.
        let is_answer = parts.method == Method::POST;
        let current = CurrentRequest { access, is_refused: Arc::default() };
        let is_refused = Arc::clone(&current.is_refused);
        let response = CURRENT.scope(current, self.inner.handle(Request::from_parts(parts, Full::new(body)))).await;
        if is_refused.load(Ordering::Relaxed) {
            return later();
        }
        response.map(|body| McpBody { body, open: is_answer.then_some(open) })
    }

    /// Finds out who a request is from.
    async fn access(&self, parts: &Parts) -> Result<CallerAccess, Response<McpBody>> {
        let known = match &self.authenticator {
            None => Ok(None),
            Some(authenticator) => {
                let checking = std::panic::AssertUnwindSafe(Arc::clone(authenticator).check(parts.clone()));
                checking.catch_unwind().await.unwrap_or_else(|_| Err("the authenticator panicked".into()))
            }
        };
        match known {
            Ok(known) => known.or_else(|| self.anonymous.clone()).ok_or_else(|| {
                let challenge = (WWW_AUTHENTICATE, "Bearer");
                plain(StatusCode::UNAUTHORIZED, Some(challenge), "Unauthorized: send the token of a caller")
            }),
            Err(error) => {
                tracing::error!(%error, "a request can't be authenticated");
                Err(plain(StatusCode::INTERNAL_SERVER_ERROR, None, "Internal Server Error"))
            }
        }
    }

    /// Reads the body, which must not be too large or too slow.
    async fn body<B>(&self, parts: &Parts, body: B) -> Result<Bytes, Response<McpBody>>
    where
        B: Body<Data: Send> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let most = self.server.limits.message;
        let too_large = || {
            let text = format!("Payload Too Large: a message may have {most} bytes");
            plain(StatusCode::PAYLOAD_TOO_LARGE, None, &text)
        };
        let stated = parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if stated.is_some_and(|stated| usize::try_from(stated).map_or(true, |stated| stated > most)) {
            return Err(too_large());
        }
        match timeout(self.server.limits.body_timeout, Limited::new(body, most).collect()).await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
            Ok(Err(_)) => Err(plain(StatusCode::BAD_REQUEST, None, "Bad Request: the body can't be read")),
            Err(_) => Err(plain(StatusCode::REQUEST_TIMEOUT, None, "Request Timeout: the body takes too long")),
        }
    }
}

/// Asks the client to come back.
fn later() -> Response<McpBody> {
    plain(StatusCode::SERVICE_UNAVAILABLE, Some((RETRY_AFTER, "5")), "Service Unavailable")
}

fn plain(status: StatusCode, header: Option<(HeaderName, &'static str)>, text: &str) -> Response<McpBody> {
    let body = McpBody { body: Full::new(Bytes::from(text.to_owned())).boxed(), open: None };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("text/plain; charset=utf-8"));
    if let Some((name, value)) = header {
        response.headers_mut().insert(name, http::HeaderValue::from_static(value));
    }
    response
}

impl<B> Service<Request<B>> for McpHttp
where
    B: Body<Data: Send> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<McpBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.respond(request).await) })
    }
}

impl Body for McpBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let polled = Pin::new(&mut self.body).poll_frame(task);
        if let Poll::Ready(None) = polled {
            self.open = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl fmt::Debug for McpHttp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpHttp").field("config", &self.inner.config).finish_non_exhaustive()
    }
}

impl fmt::Debug for McpBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpBody").field("is_open", &self.open.is_some()).finish_non_exhaustive()
    }
}
