//! A server that repeats a request's credentials wherever a response has room for them.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::{CONTROLS, percent_decode_str, utf8_percent_encode};
use serde_json::json;
use tokio::net::TcpListener;

use super::scanner::in_all_forms;
use super::workspace::PLAIN;

/// The token that the token endpoint issues.
pub(super) const TOKEN: &str = r#"planted/5ecret+"token"=="#;

pub(super) struct EchoServer {
    pub(super) origin: String,
    /// The credentials that arrived, each with the path that it was sent to.
    received: Arc<Mutex<BTreeSet<(String, String)>>>,
}

impl EchoServer {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(BTreeSet::new()));
        let kept = Arc::clone(&received);
        let router = Router::new().fallback(move |request: Request| {
            let kept = Arc::clone(&kept);
            async move {
                let path = request.uri().path().to_owned();
                let credentials = credentials(request).await;
                kept.lock().unwrap().extend(credentials.iter().map(|text| (path.clone(), text.clone())));
                Ok::<_, Infallible>(answer(path.rsplit('/').next().unwrap(), &credentials))
            }
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { origin, received }
    }

    /// Reports whether a credential arrived at a path.
    pub(super) fn has_received(&self, path: &str, credential: &str) -> bool {
        self.received.lock().unwrap().contains(&(path.to_owned(), credential.to_owned()))
    }
}

/// Returns all texts in a request that may be credentials, as they arrived and decoded.
async fn credentials(request: Request) -> Vec<String> {
    let (parts, body) = request.into_parts();
    let body = String::from_utf8(to_bytes(body, 1 << 20).await.unwrap().to_vec()).unwrap();
    let mut texts = Vec::new();
    for name in ["authorization", "x-key", "cookie"] {
        let value = parts.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let Some(value) = value else { continue };
        let (_, text) = value.split_once([' ', '=']).unwrap();
        texts.push(text.to_owned());
        if let Some(pair) = value.strip_prefix("Basic ") {
            let pair = String::from_utf8(BASE64_STANDARD.decode(pair).unwrap()).unwrap();
            texts.push(pair.split_once(':').unwrap().1.to_owned());
        }
    }
    let pairs = parts.uri.query().into_iter().chain([body.as_str()]).flat_map(|pairs| pairs.split('&'));
    let pairs =
        pairs.filter_map(|pair| pair.split_once('=')).filter(|(name, _)| ["key", "client_secret"].contains(name));
    texts.extend(pairs.map(|(_, value)| value.to_owned()));
    let decoded: Vec<String> =
        texts.iter().map(|text| percent_decode_str(text).decode_utf8().unwrap().into_owned()).collect();
    texts.extend(decoded);
    texts.sort();
    texts.dedup();
    texts
}

/// Answers as the last segment of the path asks.
fn answer(behaviour: &str, credentials: &[String]) -> Response<Body> {
    let all: Vec<String> = credentials.iter().flat_map(|text| in_all_forms(text)).collect();
    let echo = all.join("\n");
    let first = credentials.iter().min_by_key(|text| text.len()).cloned().unwrap_or_default();
    let (status, content_type, body): (u16, &str, Body) = match behaviour {
        "status" => (400, "text/plain; charset=utf-8", echo.into()),
        "page" => (503, "text/html", format!("<pre>{}</pre>", echo.replace('"', "&#34;")).into()),
        "problem" => (
            422,
            "application/problem+json",
            json!({"detail": all, "inner": json!(all).to_string()}).to_string().into(),
        ),
        "rule" => (418, "text/plain", echo.into()),
        "cutstatus" => (400, "text/plain", cut(format!("{echo}\n{first}"), first.len() / 3)),
        "broken" => (200, "application/json", format!("{{\"{first}\": {first}").into()),
        "cut" => (200, "text/plain", cut(echo, first.len() / 3)),
        "wrong" => (200, "application/json", json!({"echo": first, &first: 1}).to_string().into()),
        "image" => (200, "image/png", [&b"\x89PNG\r\n\x1a\n"[..], echo.as_bytes()].concat().into()),
        "headers" => return with_header(&first),
        "ok" => (200, "application/json", json!({"echo": first}).to_string().into()),
        "token" => (200, "application/json", json!({"access_token": TOKEN, "token_type": "bearer"}).to_string().into()),
        "denied" => {
            let error = json!({"error": first, "error_description": echo, "error_uri": echo});
            (400, "application/json", error.to_string().into())
        }
        "redirect" => return redirect(&format!("{first}/redirect?{first}")),
        "private" => return redirect(&format!("http://10.0.0.1/{first}")),
        // Other secrets are no part of a host name.
        "host" if first == PLAIN => return redirect(&format!("http://{first}.example/")),
        "host" => return redirect("http://none.example/"),
        other => panic!("{other}"),
    };
    Response::builder().status(status).header("content-type", content_type).body(body).unwrap()
}

/// A response with the credential in a header, as it is or escaped.
fn with_header(first: &str) -> Response<Body> {
    let escaped = utf8_percent_encode(first, CONTROLS).to_string();
    let value = HeaderValue::from_str(&escaped).unwrap();
    Response::builder().header("content-type", "application/json").header("x-echo", value).body("{}".into()).unwrap()
}

/// A redirect, whose body repeats the location as well.
fn redirect(location: &str) -> Response<Body> {
    let location = utf8_percent_encode(location, CONTROLS).to_string();
    let header = HeaderValue::from_str(&location).unwrap();
    Response::builder().status(302).header("location", header).body(location.into()).unwrap()
}

/// A body that ends too early, this many bytes before its end.
fn cut(text: String, missing: usize) -> Body {
    let mut bytes = text.into_bytes();
    bytes.truncate(bytes.len() - missing);
    Body::from_stream(futures_util::stream::iter([Ok(bytes), Err(io::Error::other("the plug was pulled"))]))
}
