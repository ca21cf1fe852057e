//! Servers on the loopback interface.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, Response};
use axum::response::IntoResponse;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A server that keeps the requests and answers them with a function of the request and its number, counted from one.
pub(crate) struct Server {
    origin: String,
    requests: Arc<Mutex<Vec<Received>>>,
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Server {
    pub(crate) async fn start<R: IntoResponse>(
        answer: impl Fn(&Received, usize) -> R + Clone + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        let router = Router::new().fallback(move |request: Request| {
            let (answer, kept) = (answer.clone(), Arc::clone(&kept));
            async move {
                let received = Received::read(request).await;
                let number = {
                    let mut kept = kept.lock().unwrap();
                    kept.push(received.clone());
                    kept.len()
                };
                answer(&received, number).into_response()
            }
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { origin, requests }
    }

    /// A server that answers every request with `{}`.
    pub(crate) async fn echo() -> Self {
        Self::start(|_, _| json_answer(200, &json!({}))).await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }

    pub(crate) fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    /// Returns the requests since the last time.
    pub(crate) fn take(&self) -> Vec<Received> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }

    /// Returns the only request since the last time.
    pub(crate) fn one(&self) -> Received {
        let mut requests = self.take();
        assert_eq!(requests.len(), 1, "{requests:?}");
        requests.remove(0)
    }
}

impl Received {
    async fn read(request: Request) -> Self {
        let (parts, body) = request.into_parts();
        let body = to_bytes(body, 1 << 20).await.unwrap();
        Self {
            method: parts.method.to_string(),
            path: parts.uri.path().to_owned(),
            query: parts.uri.query().unwrap_or_default().to_owned(),
            headers: parts.headers,
            body: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    /// Returns the value of a header, empty if there is none.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

pub(crate) fn json_answer(status: u16, body: &Value) -> Response<Body> {
    answer(status, "application/json", body.to_string())
}

pub(crate) fn answer(status: u16, content_type: &str, body: impl Into<Body>) -> Response<Body> {
    Response::builder().status(status).header("content-type", content_type).body(body.into()).unwrap()
}

/// A server whose test writes every byte.
pub(crate) struct RawServer {
    listener: TcpListener,
}

impl RawServer {
    pub(crate) async fn start() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").await.unwrap() }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.listener.local_addr().unwrap())
    }

    /// Accepts a connection and reads the head of a request.
    pub(crate) async fn accept(&self) -> TcpStream {
        let (mut socket, _) = self.listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.windows(4).any(|window| window == b"\r\n\r\n") {
            assert_ne!(socket.read_buf(&mut head).await.unwrap(), 0, "no request");
        }
        socket
    }

    /// Answers one request with these bytes and closes the connection.
    pub(crate) async fn answer_once(&self, bytes: &[u8]) {
        let mut socket = self.accept().await;
        socket.write_all(bytes).await.unwrap();
        socket.shutdown().await.unwrap();
    }
}
