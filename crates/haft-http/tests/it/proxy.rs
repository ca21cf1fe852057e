use std::env;
use std::process::Command;

use haft_http::{HttpClient, HttpError, HttpRequest};
use tokio::task::spawn_blocking;
use tokio::{join, select};

use crate::server::{Server, builder, response};

#[tokio::test]
async fn a_set_proxy_receives_requests_for_other_hosts() {
    let proxy = Server::start().await;
    let client = builder().proxy(format!("http://user:pass@{}", proxy.address())).build().unwrap();
    let request = HttpRequest::get("http://api.example/v1?a=b");
    let (sent, answered) = join!(client.send(request), proxy.answer(response(200, "", "by proxy")));
    assert_eq!(sent.unwrap().text().await.unwrap(), "by proxy");
    assert!(answered.0.starts_with("GET http://api.example/v1?a=b HTTP/1.1\r\n"), "{}", answered.0);
    assert!(answered.0.contains("proxy-authorization: Basic dXNlcjpwYXNz\r\n"));
}

#[tokio::test]
async fn a_proxy_that_rejects_the_tunnel_is_a_proxy_error() {
    let proxy = Server::start().await;
    let client = builder().proxy(format!("http://user:sk-123@{}", proxy.address())).build().unwrap();
    let request = HttpRequest::get("https://api.example/v1?key=sk-123");
    let (sent, answered) = join!(client.send(request), async {
        let (request, connection) = proxy.answer("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").await;
        drop(connection);
        request
    });
    assert!(answered.starts_with("CONNECT api.example:443 HTTP/1.1\r\n"), "{answered}");
    let error = sent.unwrap_err();
    assert!(matches!(error, HttpError::Proxy { .. }), "{error:?}");
    assert!(error.retryable() && !error.sent());
    assert!(!format!("{error} {error:?}").contains("sk-123"), "{error:?}");
}

#[tokio::test]
async fn a_proxy_that_can_not_be_reached_is_a_proxy_error() {
    let proxy = Server::start().await;
    let client = builder().proxy(format!("http://{}", proxy.address())).build().unwrap();
    drop(proxy);
    for url in ["http://api.example/", "https://api.example/"] {
        let error = client.send(HttpRequest::get(url)).await.unwrap_err();
        assert!(matches!(error, HttpError::Proxy { .. }), "{error:?}");
    }
}

/// Runs this test again in a process whose environment has a proxy: this process's environment can't be changed safely.
#[tokio::test]
async fn the_environment_sets_the_proxy_unless_the_client_does() {
    const CHILD: &str = "HAFT_HTTP_PROXY_TEST";
    if let Ok(server) = env::var(CHILD) {
        let by_environment = HttpClient::new().unwrap().send(HttpRequest::get("http://api.example/env")).await.unwrap();
        assert_eq!(by_environment.text().await.unwrap(), "by proxy");
        let direct = HttpClient::builder().no_proxy().build().unwrap();
        let direct = direct.send(HttpRequest::get(format!("http://{server}/direct"))).await.unwrap();
        assert_eq!(direct.text().await.unwrap(), "direct");
        return;
    }
    let (proxy, server) = (Server::start().await, Server::start().await);
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", "proxy::the_environment_sets_the_proxy_unless_the_client_does"]);
    child.env(CHILD, server.address()).env("HTTP_PROXY", proxy.url(""));
    for variable in ["NO_PROXY", "no_proxy", "REQUEST_METHOD"] {
        child.env_remove(variable);
    }
    let mut child = spawn_blocking(move || child.output().unwrap());
    let answers = async {
        let first = proxy.answer(response(200, "", "by proxy")).await;
        let second = server.answer(response(200, "", "direct")).await;
        (first, second)
    };
    let (first, second) = select! {
        output = &mut child => panic!("{output:?}"),
        answers = answers => answers,
    };
    let output = child.await.unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(first.0.starts_with("GET http://api.example/env HTTP/1.1\r\n"), "{}", first.0);
    assert!(second.0.starts_with("GET /direct HTTP/1.1\r\n"), "{}", second.0);
}
