//! The tool `fetch` against a server on the loopback interface.

use axum::Router;
use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use haft_core::{FailureKind, Outcome, ToolCall, ToolFailure};
use haft_executor::{CallArguments, Cx, Permission, Permit, Permitting, RunOptions, Services, Tool, Toolkit};
use haft_http::{AddressGuard, GuardedClient, HttpClient, canonical_host, canonical_url};
use haft_tools::standard;
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::net::TcpListener;

const PAGE: &str = "<!doctype html><title>T &amp; U</title><script>alert('<p>')</script><p>One</p><p>Two &lt;3</p>";

fn typed(content_type: &'static str, body: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, content_type)], body.into()).into_response()
}

/// Starts the server and returns its host and port.
async fn start() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new()
        .route("/page", get(|| async { typed("text/html; charset=utf-8", PAGE) }))
        .route("/json", get(|| async { typed("application/json", r#"{"a":1}"#) }))
        .route("/bytes", get(|| async { typed("image/png", vec![0x89, b'P', 0xff]) }))
        .route("/latin", get(|| async { typed("text/plain", vec![b'a', 0xe4, b'b']) }))
        .route("/umlaut", get(|| async { typed("text/plain; charset=iso-8859-1", vec![b'a', 0xe4]) }))
        .route(
            "/packed",
            get(|| async { ([(header::CONTENT_ENCODING, "gzip")], typed("text/html", vec![0x1f, 0x8b])) }),
        )
        .route("/long", get(|| async { typed("text/plain", "ä".repeat(300_000)) }))
        .route("/empty", get(|| async { StatusCode::NO_CONTENT }))
        .route("/missing", get(|| async { (StatusCode::NOT_FOUND, "nothing here") }))
        .route("/moved", get(|| async { (StatusCode::FOUND, [(header::LOCATION, "/json?a=b")]) }))
        .route("/inward", get(|| async { (StatusCode::FOUND, [(header::LOCATION, "http://127.0.0.1:9/secret")]) }))
        .route("/loop", get(|| async { (StatusCode::FOUND, [(header::LOCATION, "/loop")]) }));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address.to_string()
}

fn client(host: &str, redirects: usize) -> GuardedClient {
    let guard = AddressGuard::new().allow_host(host).unwrap();
    HttpClient::builder().no_proxy().redirects(redirects).guarded(guard).unwrap()
}

async fn call(client: GuardedClient, arguments: Value) -> Result<Value, ToolFailure> {
    let kit: Toolkit =
        Toolkit::new().with(standard::fetch().unwrap()).unwrap().with_services(Services::new().with(client));
    let result = kit.run_call(&ToolCall::new("c1", "fetch", arguments.to_string())).await;
    match result.outcome {
        Outcome::Ok(output) => Ok(serde_json::from_str(output.value().unwrap().as_str()).unwrap()),
        Outcome::Failed(failure) => Err(*failure),
    }
}

async fn fetched(host: &str, path: &str, extra: Value) -> Value {
    let mut arguments = json!({"url": format!("http://{host}{path}")});
    arguments.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    let mut answer = call(client(host, 0), arguments).await.unwrap();
    let url = answer.as_object_mut().unwrap().remove("url").unwrap();
    assert_eq!(url, format!("http://{host}{path}"));
    answer
}

#[tokio::test]
async fn answers_are_values_of_any_status_and_type() {
    let host = start().await;
    let json = "application/json";
    let plain = "text/plain; charset=utf-8";
    let none = json!({});
    for (path, extra, expected) in [
        (
            "/json?q=1",
            none.clone(),
            json!({"status": 200, "content_type": json, "text": r#"{"a":1}"#, "lossy": false, "truncated": false}),
        ),
        (
            "/bytes",
            none.clone(),
            json!({"status": 200, "content_type": "image/png", "base64": "iVD/", "lossy": false, "truncated": false}),
        ),
        (
            "/latin",
            none.clone(),
            json!({"status": 200, "content_type": "text/plain", "text": "a\u{fffd}b", "lossy": true, "truncated": false}),
        ),
        (
            "/umlaut",
            none.clone(),
            json!({"status": 200, "content_type": "text/plain; charset=iso-8859-1", "text": "aä", "lossy": false, "truncated": false}),
        ),
        (
            "/packed",
            none.clone(),
            json!({"status": 200, "content_type": "text/html", "content_encoding": "gzip", "base64": "H4s=", "lossy": false, "truncated": false}),
        ),
        (
            "/missing",
            none.clone(),
            json!({"status": 404, "content_type": plain, "text": "nothing here", "lossy": false, "truncated": false}),
        ),
        ("/empty", none.clone(), json!({"status": 204, "lossy": false, "truncated": false})),
        (
            "/json",
            json!({"method": "HEAD"}),
            json!({"status": 200, "content_type": json, "lossy": false, "truncated": false}),
        ),
        (
            "/page",
            none.clone(),
            json!({"status": 200, "content_type": "text/html; charset=utf-8", "text": PAGE, "lossy": false, "truncated": false}),
        ),
        (
            "/page",
            json!({"format": "text"}),
            json!({"status": 200, "content_type": "text/html; charset=utf-8", "text": "T & U\nOne\nTwo <3", "lossy": false, "truncated": false}),
        ),
        (
            "/json",
            json!({"format": "text"}),
            json!({"status": 200, "content_type": json, "text": r#"{"a":1}"#, "lossy": false, "truncated": false}),
        ),
        (
            "/json",
            json!({"max_bytes": 7}),
            json!({"status": 200, "content_type": json, "text": r#"{"a":1}"#, "lossy": false, "truncated": false}),
        ),
        (
            "/json",
            json!({"max_bytes": 6}),
            json!({"status": 200, "content_type": json, "text": r#"{"a":1"#, "lossy": false, "truncated": true}),
        ),
    ] {
        assert_eq!(fetched(&host, path, extra).await, expected, "{path}");
    }
}

#[tokio::test]
async fn a_long_body_is_cut_between_characters() {
    let host = start().await;
    let answer = fetched(&host, "/long", json!({})).await;
    assert_eq!(answer["text"].as_str().unwrap(), "ä".repeat(128 * 1024));
    assert_eq!((&answer["truncated"], &answer["lossy"]), (&json!(true), &json!(false)));
    let answer = fetched(&host, "/long", json!({"max_bytes": 5})).await;
    assert_eq!(answer["text"], "ää");
    let answer = fetched(&host, "/long", json!({"max_bytes": 600_000})).await;
    assert_eq!((answer["text"].as_str().unwrap().len(), &answer["truncated"]), (600_000, &json!(false)));
}

#[tokio::test]
async fn redirects_are_followed_as_the_client_decides() {
    let host = start().await;
    let url = format!("http://{host}/moved");
    let answer = call(client(&host, 0), json!({"url": url})).await.unwrap();
    assert_eq!(answer["status"], 302);
    assert_eq!(answer["location"], format!("http://{host}/json?a=b"));
    let answer = call(client(&host, 3), json!({"url": url})).await.unwrap();
    assert_eq!((&answer["status"], &answer["url"]), (&json!(200), &json!(format!("http://{host}/json?a=b"))));
}

#[tokio::test]
async fn failures_name_their_cause_and_nothing_inside() {
    let host = start().await;
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap().to_string()
    };
    let guard = AddressGuard::new().allow_host(&host).unwrap().allow_host(&closed).unwrap();
    let client = HttpClient::builder().no_proxy().redirects(3).guarded(guard).unwrap();
    let label = "a".repeat(64);
    for (url, reason, retryable) in [
        ("http://127.0.0.1:1/".to_owned(), "forbidden", false),
        ("http://localhost:1/".to_owned(), "forbidden", false),
        ("http://169.254.169.254/latest/meta-data".to_owned(), "forbidden", false),
        (format!("http://{host}/inward"), "forbidden_redirect", false),
        (format!("http://{host}/loop"), "too_many_redirects", false),
        (format!("http://{closed}/"), "unreachable", true),
        (format!("http://{label}.example/"), "unknown_host", true),
        (format!("https://{host}/"), "untrusted", false),
    ] {
        let failure = call(client.clone(), json!({"url": url})).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::ToolFailed, "{url}: {failure:?}");
        assert_eq!(failure.retryable, retryable, "{url}");
        let details: Value = serde_json::from_str(failure.details.as_ref().unwrap().as_str()).unwrap();
        assert_eq!(details, json!({"reason": reason}), "{url}");
        let shown = failure.to_model_text();
        for inner in ["127.0.0.1", "loopback", "metadata", "allow_host", "os error", "secret"] {
            assert!(!shown.contains(inner), "{url}: {shown}");
        }
        assert!(std::error::Error::source(&failure).is_some(), "the operator sees the error");
    }
}

#[tokio::test]
async fn arguments_and_services_are_checked_before_the_call() {
    let host = start().await;
    let url = format!("http://{host}/json");
    for arguments in [
        json!({}),
        json!({"url": ""}),
        json!({"url": "not a url"}),
        json!({"url": "file:///etc/passwd"}),
        json!({"url": format!("http://user@{host}/json")}),
        json!({"url": url, "method": "POST"}),
        json!({"url": url, "max_bytes": 0}),
        json!({"url": url, "max_bytes": 4_194_305}),
        json!({"url": url, "format": "pdf"}),
        json!({"url": url, "headers": {}}),
    ] {
        let failure = call(client(&host, 0), arguments.clone()).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::InputValidationError, "{arguments}: {failure:?}");
    }
    let kit: Toolkit = Toolkit::new().with(standard::fetch().unwrap()).unwrap();
    assert!(kit.ensure_runnable().unwrap_err().to_string().contains("GuardedClient"));
    let tool = standard::fetch().unwrap();
    assert!(tool.annotations().readonly() && tool.annotations().open_world() && !tool.annotations().destructive());
}

/// A rule about one spelling of a URL decides about all spellings.
#[tokio::test]
async fn no_spelling_of_a_url_dodges_a_rule() {
    struct NotInternal;

    impl Permit for NotInternal {
        fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
            Permission::Allowed.into()
        }

        fn permits_arguments(&self, _: &Tool, _: &ToolCall, arguments: &CallArguments<'_>, _: &Cx) -> Permitting {
            let url = arguments.tree().unwrap()["url"].as_str().unwrap().to_owned();
            let is_internal = url.starts_with("https://internal/") || url == "http://10.0.0.1/a/~b";
            if is_internal { Permission::denied("internal").into() } else { Permission::Allowed.into() }
        }
    }

    let kit: Toolkit = Toolkit::new().with(standard::fetch().unwrap()).unwrap();
    let kit = kit.with_services(Services::new().with(client("localhost:1", 0)));
    let options = RunOptions::new().permit(NotInternal);
    for url in [
        "https://internal",
        "HTTPS://Internal/x",
        "https://INTERNAL:443/x",
        "https://internal./x",
        "https:internal/x",
        "https:\\\\internal\\x",
        " https://internal/x ",
        "https://int\tern\nal/x",
        "https://%69nternal/x",
        "https://\u{ff49}nternal/x",
        "https://internal/../x?y#z",
        "http://10.0.0.1/a/~b",
        "http://10.0.0.1:80/a/%7Eb",
        "http://0xa.1/a/%7eb#top",
        "http://167772161/./a/c/../~b",
        "http://012.0.0.01/%61/%7Eb",
        "http://[::ffff:10.0.0.1]/a/%2e%2E/a/~b",
    ] {
        let call = ToolCall::new("c1", "fetch", json!({"url": url}).to_string());
        let result = kit.run_call_with(&call, &options).await;
        assert_eq!(result.failure().unwrap().message, "internal", "{url}");
    }
}

/// The canonical spelling of a URL has no other canonical spelling.
#[test]
fn canonical_urls_stay_as_they_are() {
    let pieces = [
        "http",
        "HTTPS",
        ":",
        "//",
        "/",
        "\\",
        ".",
        "..",
        "%2e",
        "%2F",
        "%7e",
        "%",
        "%%41",
        "%25",
        "?",
        "#",
        "@",
        "&",
        "=",
        "+",
        "[",
        "]",
        "|",
        "'",
        "internal",
        "B\u{fc}cher",
        ":443",
        ":80",
        "127.1",
        "0x7f000001",
        "[::1]",
        " ",
        "\t",
        "a",
        "!",
        "*",
        "~",
    ];
    let drawn = prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..10);
    proptest!(ProptestConfig::with_cases(2000), |(scheme in prop::sample::select(vec!["http://", "HTTPS:", ""]), pieces in drawn)| {
        let written = format!("{scheme}{}", pieces.concat());
        if let Ok(once) = canonical_url(&written) {
            prop_assert_eq!(canonical_url(&once), Ok(once.clone()), "{}", written);
            prop_assert!(once.starts_with("http://") || once.starts_with("https://"));
            prop_assert!(!once.contains(['#', ' ', '|', '\\']), "{}", once);
        }
        if let Ok(host) = canonical_host(&written) {
            prop_assert_eq!(canonical_host(&host), Ok(host.clone()), "{}", written);
        }
    });
}
