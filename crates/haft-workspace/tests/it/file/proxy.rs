//! Requests of a workspace that go through a proxy.

use std::error::Error;

use haft_http::HttpClient;
use haft_registry::{Executor, ExecutorError};
use haft_workspace::{LoadOptions, Trust, load};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::Folder;

/// A proxy that answers every request itself.
struct Proxy {
    url: String,
    /// The first lines of the requests.
    requests: mpsc::UnboundedReceiver<String>,
}

impl Proxy {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, requests) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(socket.read_u8().await.unwrap());
                }
                let line = String::from_utf8(head).unwrap().lines().next().unwrap().to_owned();
                sender.send(line).unwrap();
                let answer =
                    "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok";
                socket.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        Self { url, requests }
    }
}

/// Loads a file with a tool for a public host and with `fetch`.
async fn executor(proxy: &Proxy, http: &str, trust: Trust) -> (Executor, Vec<String>) {
    let tool = "[toolbox.a.tool.b]\nkind = 'http'\nurl = 'http://api.example/x'\n";
    let folder = Folder::with(format!("workspace.standard.fetch = true\n{http}{tool}"));
    let client = HttpClient::builder().proxy(&proxy.url);
    let options = LoadOptions::new(haft_tools::kinds()).unwrap().trust(trust).http_client(client);
    let loaded = load(folder.file(), &options).await.unwrap();
    (loaded.executor().build(loaded.registry().unwrap().build().unwrap()), folder.remarks(&loaded))
}

fn causes(error: &ExecutorError) -> String {
    let first: &dyn Error = error;
    let all = std::iter::successors(Some(first), |error| (*error).source()).map(ToString::to_string);
    all.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_proxy_requires_a_list_of_hosts_and_the_error_names_the_key() {
    let mut proxy = Proxy::start().await;
    let (executor, _) = executor(&proxy, "", Trust::Always).await;
    for (name, input) in [("a/b", json!({})), ("fetch", json!({"url": "http://api.example/y"}))] {
        let causes = causes(&executor.run(name, input).await.unwrap_err());
        assert!(causes.contains("`only-hosts` in the section `[http]` of a workspace file"), "{name}: {causes}");
    }
    assert!(proxy.requests.try_recv().is_err());
}

#[tokio::test]
async fn tools_and_fetch_reach_the_listed_hosts_only() {
    let mut proxy = Proxy::start().await;
    let http = "[http]\nonly-hosts = ['api.example', '*.docs.example']\n";
    let (executor, remarks) = executor(&proxy, http, Trust::Always).await;
    assert!(remarks.is_empty(), "{remarks:?}");
    assert_eq!(executor.run("a/b", json!({})).await.unwrap(), "ok");
    assert_eq!(proxy.requests.recv().await.unwrap(), "GET http://api.example/x HTTP/1.1");
    let fetched = executor.run("fetch", json!({"url": "http://a.docs.example/y"})).await.unwrap();
    assert_eq!(fetched["text"], "ok");
    assert_eq!(proxy.requests.recv().await.unwrap(), "GET http://a.docs.example/y HTTP/1.1");
    let error = executor.run("fetch", json!({"url": "http://internal/y"})).await.unwrap_err();
    assert!(causes(&error).contains("not in the list of permitted hosts"), "{error:?}");
    assert!(proxy.requests.try_recv().is_err());
}

#[tokio::test]
async fn an_empty_list_permits_no_host() {
    let proxy = Proxy::start().await;
    let (executor, _) = executor(&proxy, "[http]\nonly-hosts = []\n", Trust::Always).await;
    let error = executor.run("a/b", json!({})).await.unwrap_err();
    assert!(causes(&error).contains("not in the list of permitted hosts"), "{error:?}");
}

/// Behind a proxy, a host of the list may be a private one.
#[tokio::test]
async fn the_list_of_a_file_that_is_not_trusted_is_left_out() {
    let proxy = Proxy::start().await;
    let (executor, remarks) = executor(&proxy, "[http]\nonly-hosts = ['api.example']\n", Trust::Never).await;
    assert!(remarks.iter().any(|remark| remark.starts_with("haft.toml:3:1: http.only-hosts: left out")), "{remarks:?}");
    assert!(executor.find("a/b").is_err() && executor.find("fetch").is_err());
}
