//! Redirects are followed as far as the client permits.

use haft_http::Method;
use serde_json::json;

use super::server::{Server, answer};
use super::{call, http_tool, open_entry};

#[tokio::test]
async fn a_redirect_is_a_failed_status_unless_the_client_follows_it() {
    let server = Server::start(|_, _| {
        let mut response = answer(302, "text/plain", "moved");
        response.headers_mut().insert("location", "/elsewhere".parse().unwrap());
        response
    })
    .await;
    let tool = http_tool(Method::GET, server.url("/")).build(&open_entry()).unwrap();
    let failure = call(&tool, json!({})).await.unwrap_err();
    assert_eq!(failure.details.unwrap().to_value(), json!({"status": 302, "body": "moved"}));
    assert_eq!(server.count(), 1);
}
