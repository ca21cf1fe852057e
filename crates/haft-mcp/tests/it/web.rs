//! A hostile server over HTTP.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use haft_http::{AddressGuard, HttpClient};
use haft_mcp::{Era, McpServer};
use serde_json::{Value, json};

/// The server.
#[derive(Clone)]
pub(crate) struct Web(Arc<WebState>);

struct WebState {
    host: String,
    tools: Value,
    /// The token that every request must have.
    token: Mutex<Option<&'static str>>,
    /// The answer to a request without the token.
    challenge: Mutex<(StatusCode, &'static str)>,
    requests: Mutex<Vec<(String, HeaderMap, Value)>>,
}

impl Web {
    pub(crate) async fn start(tools: Value, token: Option<&'static str>) -> Self {
        Self::start_beside(tools, token, axum::Router::new()).await
    }

    /// Starts the server beside other routes.
    pub(crate) async fn start_beside(tools: Value, token: Option<&'static str>, routes: axum::Router) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let token = Mutex::new(token);
        let challenge = Mutex::new((StatusCode::UNAUTHORIZED, "Bearer realm=\"x\""));
        let web = Self(Arc::new(WebState { host, tools, token, challenge, requests: Mutex::default() }));
        let router = axum::Router::new().fallback(handle).with_state(web.clone()).merge(routes);
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        web
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.0.host)
    }

    /// Returns the server with a client whose guard permits it.
    pub(crate) fn server(&self, era: Era) -> McpServer {
        let guard = AddressGuard::new().allow_host(&self.0.host).unwrap();
        let client = HttpClient::builder().no_proxy().guarded(guard).unwrap();
        McpServer::http(self.url()).named("web").era(era).http_client(client)
    }

    pub(crate) fn set_token(&self, token: &'static str) {
        *self.0.token.lock().unwrap() = Some(token);
    }

    pub(crate) fn set_challenge(&self, status: u16, header: &'static str) {
        *self.0.challenge.lock().unwrap() = (StatusCode::from_u16(status).unwrap(), header);
    }

    /// Returns the headers and the messages of the requests with this JSON-RPC method, or this HTTP method.
    pub(crate) fn received(&self, method: &str) -> Vec<(HeaderMap, Value)> {
        let requests = self.0.requests.lock().unwrap();
        let found = requests.iter().filter(|(verb, _, message)| verb == method || message["method"] == method);
        found.map(|(_, headers, message)| (headers.clone(), message.clone())).collect()
    }
}

async fn handle(State(web): State<Web>, method: Method, headers: HeaderMap, body: Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    web.0.requests.lock().unwrap().push((method.to_string(), headers.clone(), message.clone()));
    let token = headers.get("authorization").and_then(|value| value.to_str().ok());
    if web.0.token.lock().unwrap().is_some_and(|expected| token != Some(expected)) {
        let (status, challenge) = *web.0.challenge.lock().unwrap();
        return (status, [("www-authenticate", challenge)]).into_response();
    }
    match method {
        Method::POST if message["id"].is_null() || message["method"].is_null() => StatusCode::ACCEPTED.into_response(),
        Method::POST => answer(&web, &headers, &message),
        Method::DELETE => StatusCode::NO_CONTENT.into_response(),
        _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
}

fn answer(web: &Web, headers: &HeaderMap, message: &Value) -> Response {
    let (id, version) = (&message["id"], &message["params"]["protocolVersion"]);
    let is_modern = headers.get("mcp-protocol-version").is_some_and(|version| version == "2026-07-28");
    let info = json!({"name": "web", "version": "1"});
    match message["method"].as_str().unwrap_or_default() {
        "server/discover" if web.0.host.is_empty() => StatusCode::NOT_FOUND.into_response(),
        "server/discover" if is_modern && web.received("initialize").is_empty() => json_answer(
            id,
            &json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                "ttlMs": 0, "cacheScope": "private", "_meta": {"io.modelcontextprotocol/serverInfo": info}}),
        ),
        "initialize" => {
            let result = json!({"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info});
            ([("mcp-session-id", "s1")], json_answer(id, &result)).into_response()
        }
        "tools/list" => json_answer(
            id,
            &json!({"tools": web.0.tools, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}),
        ),
        "tools/call" if message["params"]["name"] == "rights" => rights(headers, id),
        "tools/call" => call(web, message),
        _ => (StatusCode::BAD_REQUEST, error(id, -32601)).into_response(),
    }
}

/// Answers a call for which the first token is not enough.
fn rights(headers: &HeaderMap, id: &Value) -> Response {
    if headers.get("authorization").is_some_and(|token| token == "Bearer at-2") {
        return json_answer(id, &json!({"content": [{"type": "text", "text": "granted"}], "resultType": "complete"}));
    }
    let challenge = "Bearer error=\"insufficient_scope\", scope=\"write\"";
    (StatusCode::FORBIDDEN, [("www-authenticate", challenge)]).into_response()
}

fn call(web: &Web, message: &Value) -> Response {
    let (id, params) = (&message["id"], &message["params"]);
    let token = &params["_meta"]["progressToken"];
    let text = |text: &str| json!({"content": [{"type": "text", "text": text}], "resultType": "complete"});
    let event = |message: &Value| format!("data: {message}\n\n");
    let answered = |result: &Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
    let progress = |done: f64| {
        let params = json!({"progressToken": token, "progress": done});
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
    };
    match params["name"].as_str().unwrap_or_default() {
        "echo" => json_answer(id, &text(&params["arguments"].to_string())),
        "stream" => {
            let events = [progress(1.0), progress(2.0), progress(1.5), answered(&text("streamed"))];
            events_of(events.iter().map(event).collect())
        }
        "odd" => {
            let result = json!({"content": [{"type": "hologram"}, {"type": "text", "text": "x"}], "tools": []});
            events_of(vec![event(&json!("stray")), event(&answered(&result))])
        }
        // Whether there is a stream on which it could ask something.
        "heard" => json_answer(id, &text(&web.received("GET").len().to_string())),
        "junk" => {
            let events = futures_util::stream::repeat_with(|| Ok::<_, Infallible>("data: \"stray\"\n\n"));
            ([("content-type", "text/event-stream")], Body::from_stream(events)).into_response()
        }
        "big" => json_answer(id, &text(&"x".repeat(1_000_000))),
        "big-stream" => events_of(vec![event(&progress(1.0)), event(&answered(&text(&"x".repeat(1_000_000))))]),
        "cut" => events_of(vec![event(&progress(1.0))]),
        "garbage" => ([("content-type", "application/json")], "<html>").into_response(),
        "status" => (StatusCode::BAD_GATEWAY, "sk-planted-secret").into_response(),
        "busy" => (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "3")]).into_response(),
        "wait" => {
            let waiting = futures_util::stream::pending::<Result<Bytes, Infallible>>();
            ([("content-type", "text/event-stream")], Body::from_stream(waiting)).into_response()
        }
        // The session is lost once.
        "lost" if web.received("initialize").len() == 1 => StatusCode::NOT_FOUND.into_response(),
        "lost" => json_answer(id, &text("found")),
        _ => json_error(id, -32602),
    }
}

fn json_answer(id: &Value, result: &Value) -> Response {
    let body = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    ([("content-type", "application/json")], body).into_response()
}

fn json_error(id: &Value, code: i64) -> Response {
    error(id, code).into_response()
}

fn error(id: &Value, code: i64) -> impl IntoResponse + use<> {
    let error = json!({"code": code, "message": "no"});
    ([("content-type", "application/json")], json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string())
}

fn events_of(events: Vec<String>) -> Response {
    let events = events.into_iter().map(Ok::<_, Infallible>);
    ([("content-type", "text/event-stream")], Body::from_stream(futures_util::stream::iter(events))).into_response()
}

/// The longest time that a test waits.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
