//! The server over HTTP: who may reach it, and what hostile clients can't do.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::StreamExt as _;
use haft_core::Secret;
use haft_executor::{Cx, Tool, Toolkit};
use haft_mcp::serve::{BearerTokens, CallerAccess, McpHttp, Serve, ServeError, ServeLimits, serve};
use http::request::{Builder, Parts};
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tower_service::Service as _;

use super::line_client::{NEW, OLD};

fn who() -> Tool {
    Tool::new("who").handler(|(), cx: Cx| async move { cx.caller().map(ToString::to_string) }).unwrap()
}

fn server() -> Serve {
    serve(Toolkit::from_iter([who()]))
}

fn tokens() -> BearerTokens {
    BearerTokens::new().token(&Secret::new("t-ana"), "ana").token(&Secret::new("t-ben"), "ben")
}

fn open() -> McpHttp {
    server().anonymous(CallerAccess::everyone()).http().unwrap()
}

fn post(era: &str) -> Builder {
    let request = Request::post("http://localhost/mcp").header("host", "localhost");
    let request = request.header("accept", "application/json, text/event-stream");
    request.header("content-type", "application/json").header("mcp-protocol-version", era)
}

/// Returns a call of the new era.
fn call(request: Builder, name: &str) -> Request<Body> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": NEW,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": name, "arguments": {}, "_meta": meta});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let request = request.header("mcp-method", "tools/call").header("mcp-name", name);
    request.body(Body::from(message.to_string())).unwrap()
}

fn initialize(request: Builder) -> Request<Body> {
    let info = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": OLD, "capabilities": {}, "clientInfo": info});
    let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    request.body(Body::from(message.to_string())).unwrap()
}

/// Sends a request and returns the status, the session and the message in the answer.
async fn send(service: &McpHttp, request: Request<Body>) -> (StatusCode, Option<String>, Value) {
    let response: Response<_> = service.clone().call(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let session = parts.headers.get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned());
    let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
    let event = text.lines().filter_map(|line| line.strip_prefix("data:")).find(|data| data.trim().starts_with('{'));
    (parts.status, session, serde_json::from_str(event.unwrap_or(&text)).unwrap_or(Value::String(text)))
}

#[tokio::test]
async fn nobody_is_let_in_unless_the_application_says_who() {
    let closed = server().http().unwrap();
    assert_eq!(send(&closed, call(post(NEW), "who")).await.0, StatusCode::UNAUTHORIZED);
    let guarded = server().authenticate(tokens()).http().unwrap();
    for wrong in ["", "Bearer", "Bearer t-an", "Bearer t-anax", "Basic t-ana"] {
        let request = call(post(NEW).header("authorization", wrong), "who");
        let response = guarded.clone().call(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{wrong}");
        assert_eq!(response.headers()["www-authenticate"], "Bearer");
    }
    for (token, caller) in [("Bearer t-ana", "ana"), ("bearer t-ben", "ben")] {
        let (_, _, answer) = send(&guarded, call(post(NEW).header("authorization", token), "who")).await;
        assert_eq!(answer["result"]["content"][0]["text"], caller, "{answer}");
    }
    assert_eq!(send(&open(), call(post(NEW), "who")).await.2["result"]["content"][0]["text"], "null");
}

#[tokio::test]
async fn an_authenticator_that_fails_lets_nobody_in_and_says_nothing() {
    async fn fails(_: Parts) -> Result<Option<CallerAccess>, String> {
        Err("the database at sk-planted-secret is down".to_owned())
    }
    async fn panics(request: Parts) -> Option<CallerAccess> {
        panic!("sk-planted-secret {request:?}")
    }
    for server in [server().authenticate(fails), server().authenticate(panics)] {
        let server = server.anonymous(CallerAccess::everyone()).http().unwrap();
        let (status, _, answer) = send(&server, call(post(NEW), "who")).await;
        assert_eq!((status, answer), (StatusCode::INTERNAL_SERVER_ERROR, json!("Internal Server Error")));
    }
}

#[test]
fn hosts_beyond_this_machine_need_an_authenticator() {
    for host in ["mcp.example.org", "192.168.1.7:8080", "localhost.example.org", "127.0.0.1.example.org"] {
        let error = server().anonymous(CallerAccess::everyone()).hosts([host]).http().unwrap_err();
        assert!(matches!(&error, ServeError::NoAuthenticator { host: named } if named == host), "{error}");
        server().authenticate(tokens()).hosts([host]).http().unwrap();
    }
    for host in ["localhost", "localhost:8080", "127.0.0.1:3000", "[::1]:3000", "::1"] {
        server().anonymous(CallerAccess::everyone()).hosts([host]).http().unwrap();
    }
}

#[tokio::test]
async fn pages_and_names_of_elsewhere_do_not_reach_it() {
    let service = open();
    let with = |host: &'static str, origin: Option<&'static str>| {
        let mut request = call(post(NEW), "who");
        request.headers_mut().insert("host", host.parse().unwrap());
        if let Some(origin) = origin {
            request.headers_mut().insert("origin", origin.parse().unwrap());
        }
        request
    };
    for (host, origin) in [
        ("evil.example", None),
        ("localhost.evil.example", None),
        ("localhost", Some("http://evil.example")),
        ("localhost", Some("http://localhost.evil.example")),
        ("localhost", Some("null")),
        ("127.0.0.1:3000", Some("https://evil.example:3000")),
    ] {
        assert_eq!(send(&service, with(host, origin)).await.0, StatusCode::FORBIDDEN, "{host} {origin:?}");
    }
    for (host, origin) in [("localhost:8080", None), ("127.0.0.1", Some("http://localhost:6274"))] {
        assert_eq!(send(&service, with(host, origin)).await.0, StatusCode::OK, "{host} {origin:?}");
    }
    let page = server().anonymous(CallerAccess::everyone()).origins(["https://app.example.org:443"]).http().unwrap();
    assert_eq!(send(&page, with("localhost", Some("https://app.example.org"))).await.0, StatusCode::OK);
    assert_eq!(send(&page, with("localhost", Some("http://localhost:6274"))).await.0, StatusCode::FORBIDDEN);
}

#[tokio::test(start_paused = true)]
async fn a_body_is_neither_too_large_nor_too_slow() {
    let limits = ServeLimits::default().message(10_000).body_timeout(Duration::from_secs(3));
    let service = server().anonymous(CallerAccess::everyone()).limits(limits).http().unwrap();
    let stated = post(NEW).header("content-length", "10001").body(Body::from("{}")).unwrap();
    assert_eq!(send(&service, stated).await.0, StatusCode::PAYLOAD_TOO_LARGE);
    let endless = futures_util::stream::repeat_with(|| Ok::<_, Infallible>(Bytes::from_static(&[b' '; 1000])));
    let endless = post(NEW).body(Body::from_stream(endless)).unwrap();
    assert_eq!(send(&service, endless).await.0, StatusCode::PAYLOAD_TOO_LARGE);
    let slow = futures_util::stream::pending::<Result<Bytes, Infallible>>();
    let slow = post(NEW).body(Body::from_stream(slow)).unwrap();
    assert_eq!(send(&service, slow).await.0, StatusCode::REQUEST_TIMEOUT);
    let broken = futures_util::stream::iter([Err::<Bytes, _>(std::io::Error::other("gone"))]);
    let broken = post(NEW).body(Body::from_stream(broken)).unwrap();
    assert_eq!(send(&service, broken).await.0, StatusCode::BAD_REQUEST);
    for nonsense in ["", "{", "[]", "null", "{\"jsonrpc\":\"2.0\"}", "\u{0}", &"[".repeat(9_000)] {
        let request = post(NEW).body(Body::from(nonsense.to_owned())).unwrap();
        let (status, _, _) = send(&service, request).await;
        assert!(status.is_client_error(), "{nonsense:.20}: {status}");
    }
    assert_eq!(send(&service, call(post(NEW), "who")).await.0, StatusCode::OK);
}

#[tokio::test]
async fn a_session_is_its_callers_alone() {
    let service = server().authenticate(tokens()).http().unwrap();
    let ana = || post(OLD).header("authorization", "Bearer t-ana");
    let (_, session, _) = send(&service, initialize(ana())).await;
    let session = session.unwrap();
    let list = |request: Builder| {
        let message = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}});
        request.header("mcp-session-id", &session).body(Body::from(message.to_string())).unwrap()
    };
    let (status, _, listed) = send(&service, list(ana())).await;
    assert_eq!((status, &listed["result"]["tools"][0]["name"]), (StatusCode::OK, &json!("who")));
    assert_eq!(listed["result"]["cacheScope"], "private");
    let ben = || post(OLD).header("authorization", "Bearer t-ben");
    assert_eq!(send(&service, list(ben())).await.0, StatusCode::NOT_FOUND);
    let request = |token: &str, method: Method| {
        let request = Request::builder().method(method).uri("http://localhost/mcp").header("host", "localhost");
        let request = request.header("accept", "text/event-stream").header("mcp-protocol-version", OLD);
        let request = request.header("authorization", format!("Bearer {token}")).header("mcp-session-id", &session);
        request.body(Body::empty()).unwrap()
    };
    assert_eq!(send(&service, request("t-ben", Method::GET)).await.0, StatusCode::NOT_FOUND);
    send(&service, request("t-ben", Method::DELETE)).await;
    assert_eq!(send(&service, list(ana())).await.0, StatusCode::OK, "another caller can't end it");
    send(&service, request("t-ana", Method::DELETE)).await;
    assert_eq!(send(&service, list(ana())).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn thousands_of_sessions_are_refused_and_take_nobody_down() {
    let limits = ServeLimits::default().sessions(20).sessions_per_caller(15);
    let service = server().authenticate(tokens()).limits(limits).http().unwrap();
    let by = |token: &str| initialize(post(OLD).header("authorization", format!("Bearer {token}")));
    let (mut opened, mut refused) = (Vec::new(), 0);
    for _ in 0..2000 {
        match send(&service, by("t-ana")).await {
            (StatusCode::OK, session, _) => opened.push(session.unwrap()),
            (status, _, _) => {
                assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
                refused += 1;
            }
        }
    }
    assert_eq!((opened.len(), refused), (15, 1985));
    let mut others = 0;
    while send(&service, by("t-ben")).await.0 == StatusCode::OK {
        others += 1;
    }
    assert_eq!(others, 5);
    // Clients of the new era have no sessions.
    let request = call(post(NEW).header("authorization", "Bearer t-ben"), "who");
    assert_eq!(send(&service, request).await.2["result"]["content"][0]["text"], "ben");
    let end = Request::delete("http://localhost/mcp").header("host", "localhost").header("mcp-protocol-version", OLD);
    let end = end.header("authorization", "Bearer t-ana").header("mcp-session-id", &opened[0]);
    send(&service, end.body(Body::empty()).unwrap()).await;
    assert_eq!(send(&service, by("t-ana")).await.0, StatusCode::OK);
}

#[tokio::test]
async fn headers_say_what_the_body_says_and_nothing_about_hidden_tools() {
    let service = open();
    let mut wrong = call(post(NEW), "who");
    wrong.headers_mut().insert("mcp-name", "other".parse().unwrap());
    let (status, _, answer) = send(&service, wrong).await;
    assert_eq!((status, &answer["error"]["code"]), (StatusCode::BAD_REQUEST, &json!(-32020)), "{answer}");
    let mut stray = call(post(NEW), "missing");
    stray.headers_mut().insert("mcp-param-region", "eu".parse().unwrap());
    assert_eq!(send(&service, stray).await.2["error"]["message"], "unknown tool: missing");
}

#[tokio::test]
async fn a_closed_stream_cancels_its_call() {
    struct Ends(Arc<Notify>);
    impl Drop for Ends {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let (started, ended) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (begin, end) = (Arc::clone(&started), Arc::clone(&ended));
    let wait = Tool::new("wait").handler(move |(), _cx| {
        let (begin, end) = (Arc::clone(&begin), Ends(Arc::clone(&end)));
        async move {
            let _end = end;
            begin.notify_one();
            std::future::pending::<()>().await;
        }
    });
    let kit: Toolkit = Toolkit::from_iter([wait.unwrap()]);
    let service = serve(kit).anonymous(CallerAccess::everyone()).http().unwrap();
    let running = tokio::spawn(service.clone().call(call(post(NEW), "wait")));
    started.notified().await;
    running.abort();
    ended.notified().await;
}

#[tokio::test]
async fn a_shutdown_answers_what_runs_and_ends_what_listens() {
    let (started, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (begin, going) = (Arc::clone(&started), Arc::clone(&go));
    let slow = Tool::new("slow").handler(move |(), _cx| {
        let (begin, going) = (Arc::clone(&begin), Arc::clone(&going));
        async move {
            begin.notify_one();
            going.notified().await;
            "finished"
        }
    });
    let kit: Toolkit = Toolkit::from_iter([slow.unwrap()]);
    let server = serve(kit).anonymous(CallerAccess::everyone());
    let shutdown = server.shutdown();
    let service = server.http().unwrap();
    let caller = service.clone();
    let running = tokio::spawn(async move { send(&caller, call(post(NEW), "slow")).await });
    started.notified().await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": NEW,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
    let message = json!({"jsonrpc": "2.0", "id": 9, "method": "subscriptions/listen", "params": params});
    let listen = post(NEW).header("mcp-method", "subscriptions/listen").body(Body::from(message.to_string())).unwrap();
    let listening = service.clone().call(listen).await.unwrap();
    assert_eq!(listening.status(), StatusCode::OK);
    let mut events = listening.into_body().into_data_stream();
    assert!(String::from_utf8_lossy(&events.next().await.unwrap().unwrap()).contains("acknowledged"));

    let ending = tokio::spawn(async move { shutdown.graceful(Duration::from_secs(3600)).await });
    let mut rest = String::new();
    while let Some(event) = events.next().await {
        rest.push_str(&String::from_utf8_lossy(&event.unwrap()));
    }
    assert!(rest.contains("\"id\":9"), "the subscription ends with its result: {rest}");
    assert_eq!(send(&service, call(post(NEW), "slow")).await.0, StatusCode::SERVICE_UNAVAILABLE);
    go.notify_one();
    let (status, _, answer) = running.await.unwrap();
    assert_eq!((status, &answer["result"]["content"][0]["text"]), (StatusCode::OK, &json!("finished")));
    ending.await.unwrap();
}

#[tokio::test]
async fn a_stream_that_is_open_too_often_is_refused() {
    let limits = ServeLimits::default().sessions_per_caller(1);
    let service = server().anonymous(CallerAccess::everyone()).limits(limits).http().unwrap();
    assert_eq!(send(&service, initialize(post(OLD))).await.0, StatusCode::OK);
    assert_eq!(send(&service, initialize(post(OLD))).await.0, StatusCode::SERVICE_UNAVAILABLE);
}
