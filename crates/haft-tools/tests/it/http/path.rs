//! An argument never leaves its segment of the path, let alone the host.

use haft_http::Method;
use proptest::test_runner::TestRunner;
use proptest::{prop_assert, prop_assert_eq};
use serde_json::json;

use super::server::Server;
use super::{call, http_tool, open_entry, rejected};

#[tokio::test]
async fn values_are_escaped_or_rejected() {
    let server = Server::echo().await;
    let tool = http_tool(Method::GET, server.url("/v1/{x}/end")).build(&open_entry()).unwrap();
    for (value, path) in [
        ("a b", "/v1/a%20b/end"),
        ("a/b", "/v1/a%2Fb/end"),
        ("https://evil.example/x", "/v1/https%3A%2F%2Fevil.example%2Fx/end"),
        ("@evil.example", "/v1/%40evil.example/end"),
        (":80", "/v1/%3A80/end"),
        ("?a=b", "/v1/%3Fa%3Db/end"),
        ("#f", "/v1/%23f/end"),
        ("a;b=c", "/v1/a%3Bb%3Dc/end"),
        ("...", "/v1/.../end"),
        ("a..b", "/v1/a..b/end"),
        (".hidden", "/v1/.hidden/end"),
        ("100%", "/v1/100%25/end"),
        ("%zz", "/v1/%25zz/end"),
        ("%41", "/v1/%2541/end"),
        ("日本", "/v1/%E6%97%A5%E6%9C%AC/end"),
        ("{y}", "/v1/%7By%7D/end"),
        ("a\\b", "/v1/a%5Cb/end"),
        (" ", "/v1/%20/end"),
    ] {
        call(&tool, json!({"x": value})).await.unwrap();
        assert_eq!(server.one().path, path, "{value}");
    }
    for value in [
        "",
        ".",
        "..",
        "../x",
        "a/../b",
        "a/..",
        "..;x",
        "a/..;b=c/d",
        "..\\x",
        "a\\..\\b",
        "%2e",
        "%2e%2e",
        "%2E.",
        ".%2e",
        "%2e%2e%2fx",
        "a%2f..%2fb",
        "%252e%252e",
        "..%5cx",
        "/etc",
        "\\x",
        "%2fetc",
        "//evil.example",
        "a\0",
        "a\r\nb",
        "a%0d%0ab",
        "\u{7f}",
        "%00",
        "\u{85}",
    ] {
        assert_eq!(rejected(&tool, json!({"x": value})).await, ["/x"], "{value:?}");
    }
    for value in [json!(null), json!([]), json!(["..", "/"]), json!({"..": null})] {
        if value == json!(["..", "/"]) {
            call(&tool, json!({"x": value})).await.unwrap();
            assert_eq!(server.one().path, "/v1/..,%2F/end");
            continue;
        }
        assert_eq!(rejected(&tool, json!({"x": value})).await, ["/x"], "{value}");
    }
    assert_eq!(rejected(&tool, json!({})).await, ["/x"]);
    assert_eq!(server.count(), 0);
}

#[tokio::test]
async fn a_segment_is_checked_as_a_whole() {
    let server = Server::echo().await;
    let tool = http_tool(Method::GET, server.url("/.{x}/{a}{b}")).build(&open_entry()).unwrap();
    assert_eq!(rejected(&tool, json!({"x": ".", "a": "a", "b": "b"})).await, ["/x"]);
    assert_eq!(rejected(&tool, json!({"x": "x", "a": ".", "b": "."})).await, ["/b"]);
    assert_eq!(rejected(&tool, json!({"x": "x", "a": "", "b": ""})).await, ["/b"]);
    call(&tool, json!({"x": "git", "a": "", "b": "b"})).await.unwrap();
    assert_eq!(server.one().path, "/.git/b");
}

#[tokio::test]
async fn a_variable_of_several_segments_keeps_its_slashes() {
    let server = Server::echo().await;
    let tool = http_tool(Method::GET, server.url("/files/{+path}")).build(&open_entry()).unwrap();
    call(&tool, json!({"path": "src/a b/x?.rs"})).await.unwrap();
    assert_eq!(server.one().path, "/files/src/a%20b/x%3F.rs");
    for value in ["", "/", "/etc", "a//b", "a/", "../x", "a/../b", "a/./b", "a/%2e%2e/b", "a/..%2fb", "a\\..\\b"] {
        assert_eq!(rejected(&tool, json!({"path": value})).await, ["/path"], "{value:?}");
    }
    assert_eq!(server.count(), 0);
}

/// Whatever the argument, a request arrives at its own path with one segment, or nothing is sent.
#[test]
fn any_text_stays_in_its_segment() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = runtime.block_on(Server::echo());
    let tool = http_tool(Method::GET, server.url("/v1/{x}/end")).build(&open_entry()).unwrap();
    let texts = "[./\\\\%a-f0-9?#@: \\PC]{0,12}";
    let checked = TestRunner::default().run(&texts, |value| {
        let result = runtime.block_on(call(&tool, json!({"x": value})));
        let received = server.take();
        prop_assert_eq!(received.len(), usize::from(result.is_ok()));
        for request in received {
            let inner = request.path.strip_prefix("/v1/").and_then(|path| path.strip_suffix("/end"));
            prop_assert!(inner.is_some_and(|inner| !inner.is_empty() && !inner.contains('/')), "{}", request.path);
            prop_assert_eq!(request.query, "");
        }
        Ok(())
    });
    checked.unwrap();
}
