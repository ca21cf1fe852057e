//! Servers that we did not write.

use std::time::Duration;

use haft_core::FailureKind;
use haft_http::Method;
use haft_parts::{Httpbin, OAuth2Server};
use serde_json::{Value, json};

use super::{SECRET, call, http_tool, of_entry, of_kind, open_entry};

async fn httpbin(server: &Httpbin, mut settings: Value, arguments: Value) -> Result<Value, haft_core::ToolFailure> {
    settings["url"] = format!("{}{}", server.url(), settings["url"].as_str().unwrap()).into();
    let mut entry = open_entry();
    entry.settings = settings;
    call(&of_entry(entry).await.unwrap(), arguments).await
}

#[tokio::test]
async fn httpbin_reads_what_was_meant() {
    let server = Httpbin::start();
    let arguments = json!({"a": "x y&z", "l": ["1", "é"], "n": null});
    let get = httpbin(&server, json!({"url": "/get"}), arguments.clone()).await.unwrap();
    assert_eq!(get["args"], json!({"a": "x y&z", "l": ["1", "é"]}));

    let post = httpbin(&server, json!({"url": "/post", "method": "POST"}), arguments.clone()).await.unwrap();
    assert_eq!(post["json"], arguments);
    for (format, field) in [("form", "form"), ("multipart", "form")] {
        let settings = json!({"url": "/post", "body": {"format": format}});
        let form = httpbin(&server, settings, arguments.clone()).await.unwrap();
        assert_eq!(form[field], json!({"a": "x y&z", "l": ["1", "é"]}), "{format}");
    }
    let settings = json!({"url": "/put", "method": "PUT", "body": {"argument": "t", "format": "text"}});
    assert_eq!(httpbin(&server, settings, json!({"t": "line\n2"})).await.unwrap()["data"], "line\n2");

    let settings = json!({"url": "/anything/{x}", "headers": {"x-h": "{h}"}, "cookies": {"c": "{c}"}});
    let any = httpbin(&server, settings, json!({"x": "a b?#é", "h": "v", "c": "1"})).await.unwrap();
    assert_eq!(any["headers"]["X-H"], "v");
    assert!(any["url"].as_str().unwrap().ends_with("/anything/a%20b%3F%23é"), "{any}");
}

#[tokio::test]
async fn httpbin_accepts_our_credentials_and_we_its_answers() {
    let server = Httpbin::start();
    let bearer = httpbin(&server, json!({"url": "/bearer", "auth": {"bearer": "key"}}), json!({})).await.unwrap();
    // It returns the token that it received, which is removed from the result.
    assert_eq!(bearer, json!({"authenticated": true, "token": "[removed]"}));
    let settings = json!({"url": "/basic-auth/ada/pass", "auth": {"basic": {"user": "ada", "password": "other"}}});
    let failure = httpbin(&server, settings, json!({})).await.unwrap_err();
    assert_eq!(failure.details.unwrap().to_value()["status"], 401);
    let settings =
        json!({"url": "/basic-auth/ada/0th3r-secret", "auth": {"basic": {"user": "ada", "password": "other"}}});
    assert_eq!(httpbin(&server, settings, json!({})).await.unwrap()["authenticated"], true);

    let status = json!({"url": "/status/404", "status": {"404": "null"}});
    assert_eq!(httpbin(&server, status, json!({})).await.unwrap(), json!(null));
    let xml = httpbin(&server, json!({"url": "/xml"}), json!({})).await.unwrap();
    assert!(xml.as_str().unwrap().starts_with("<?xml"));
    let picture = httpbin(&server, json!({"url": "/image/png"}), json!({})).await.unwrap();
    assert_eq!(picture["content_type"], "image/png");
    let pointer = json!({"url": "/json", "result": {"json-path": "$.slideshow.slides[*].title"}});
    assert_eq!(httpbin(&server, pointer, json!({})).await.unwrap().as_array().unwrap().len(), 2);
    let zipped = httpbin(&server, json!({"url": "/gzip"}), json!({})).await.unwrap_err();
    assert!(zipped.message.contains("compressed"), "{zipped}");
    let large = json!({"url": "/bytes/2000", "result": {"max-bytes": 1999}});
    assert_eq!(httpbin(&server, large, json!({})).await.unwrap_err().kind, FailureKind::OutputTooLarge);
}

#[tokio::test]
async fn the_model_reads_of_httpbin_what_it_should() {
    let server = Httpbin::start();
    // The teapot is for the operator.
    let teapot = httpbin(&server, json!({"url": "/status/418"}), json!({})).await.unwrap_err();
    assert_eq!(teapot.details.as_ref().unwrap().to_value(), json!({"status": 418}));
    assert!(std::error::Error::source(&teapot).unwrap().to_string().contains("teapot"), "{teapot:?}");
    assert!(!teapot.to_model_text().contains("-=["), "{teapot:?}");
    let shown = httpbin(&server, json!({"url": "/status/418", "errors": "body"}), json!({})).await.unwrap_err();
    assert!(shown.to_model_text().contains("-=["), "{shown:?}");

    let headers = json!({"url": "/response-headers", "result": {"headers": ["etag", "link"], "pointer": "/ETag"}});
    let found = httpbin(&server, headers, json!({"ETag": "v7", "Link": "</2>; rel=next"})).await.unwrap();
    assert_eq!(found, json!({"body": "v7", "headers": {"etag": "v7", "link": "</2>; rel=next"}}));

    for (path, media_type) in
        [("/image/png", "image/png"), ("/image/jpeg", "image/jpeg"), ("/image/webp", "image/webp")]
    {
        let tool = http_tool(Method::GET, format!("{}{path}", server.url())).build(&open_entry()).unwrap();
        let kit = haft_executor::Toolkit::new().with(tool).unwrap();
        let calls = [haft_core::ToolCall::new("c1", "t", "{}")];
        let result = kit.run_with(calls, super::options()).collect_results().await.remove(0);
        match result.outcome.output().unwrap().content().unwrap() {
            [haft_core::ContentPart::Image(media)] => assert_eq!(media.media_type.as_deref(), Some(media_type)),
            parts => panic!("{path}: {parts:?}"),
        }
    }
}

#[tokio::test]
async fn redirects_of_httpbin_are_followed_up_to_a_limit_and_never_inward() {
    let server = Httpbin::start();
    for path in ["/redirect/3", "/relative-redirect/5", "/absolute-redirect/2"] {
        let arrived = httpbin(&server, json!({"url": path}), json!({})).await.unwrap();
        assert_eq!(arrived["url"], format!("{}/get", server.url()), "{path}");
    }
    let failure = httpbin(&server, json!({"url": "/redirect/6"}), json!({})).await.unwrap_err();
    assert_eq!(failure.message, "the server redirected the request too often");
    for inward in ["http://10.0.0.1/", "http://[::1]/", "http://169.254.169.254/latest/meta-data"] {
        let to = json!({"url": inward});
        let failure = httpbin(&server, json!({"url": "/redirect-to"}), to).await.unwrap_err();
        assert!(failure.message.contains("the address of the server is not permitted"), "{inward}: {failure}");
        assert!(!failure.retryable, "{inward}");
    }
}

#[tokio::test]
async fn httpbin_is_slow_or_unavailable() {
    let server = Httpbin::start();
    let url = |path: &str| format!("{}{path}", server.url());
    // Its answer never comes in time, however slow this machine is.
    let slow = http_tool(Method::GET, url("/delay/10")).timeout(Duration::from_millis(100));
    let failure = call(&slow.build(&open_entry()).unwrap(), json!({})).await.unwrap_err();
    assert_eq!((failure.kind, failure.retryable), (FailureKind::TimedOut, true));

    let settings = json!({"url": "/status/503", "retry": {"attempts": 3, "first-wait-seconds": 0}});
    let failure = httpbin(&server, settings, json!({})).await.unwrap_err();
    assert_eq!((failure.retryable, &failure.details.unwrap().to_value()["status"]), (true, &json!(503)));
}

#[tokio::test]
async fn a_real_token_server_issues_our_token() {
    let (mut issuer, server) = (OAuth2Server::start(), Httpbin::start());
    for style in ["basic", "body"] {
        let oauth = json!({
            "token-url": issuer.token_url(), "client-id": "haft", "client-secret": "key", "scopes": ["read", "write"],
            "style": style,
        });
        let settings = json!({"url": format!("{}/bearer", server.url()), "auth": {"oauth2": oauth}});
        let tool = of_kind(settings).await.unwrap();
        let (first, second) = (call(&tool, json!({})).await.unwrap(), call(&tool, json!({})).await.unwrap());
        let requests = issuer.requests();
        assert_eq!(requests.len(), 1, "{requests:?}");
        let request = &requests[0];
        assert_eq!(first, json!({"authenticated": true, "token": "[removed]"}));
        assert_eq!(first, second);
        assert_eq!(request["body"]["grant_type"], "client_credentials");
        assert_eq!(request["body"]["scope"], "read write");
        match style {
            "basic" => assert!(request["authorization"].as_str().unwrap().starts_with("Basic "), "{request}"),
            _ => assert_eq!(request["body"]["client_secret"], SECRET),
        }
    }
}
