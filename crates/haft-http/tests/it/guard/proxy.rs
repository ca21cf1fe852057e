use std::env;
use std::process::Command;

use haft_http::{AddressClass, AddressGuard, GuardRejection, GuardedClient, HttpClient, HttpError, HttpRequest};
use tokio::join;
use tokio::task::spawn_blocking;

use super::{Names, rejected};
use crate::server::{Server, builder, response};

fn listed() -> AddressGuard {
    AddressGuard::new().allow_only_hosts(["api.example", "*.public.example", "proxy.example", "127.0.0.1"]).unwrap()
}

#[tokio::test]
async fn a_proxy_requires_a_list_of_hosts() {
    let error = builder().proxy("http://user:sk-123@proxy.example").guarded(AddressGuard::new()).unwrap_err();
    assert!(matches!(error, HttpError::UncheckedProxy { set_by: "HttpClientBuilder::proxy" }), "{error:?}");
    assert!(!error.sent() && !error.retryable() && error.endpoint().is_none());
    let shown = error.to_string();
    assert!(shown.contains("allow_only_hosts") && shown.contains("no_proxy") && !shown.contains("sk-123"), "{shown}");
    let exempt = AddressGuard::new().allow_host("api.example").unwrap();
    assert!(builder().proxy("http://proxy.example").guarded(exempt).is_err(), "an exempt host is no list");
    assert!(builder().proxy("http://proxy.example").guarded(listed()).is_ok());
}

#[tokio::test]
async fn only_listed_hosts_are_reached_through_a_proxy() {
    let proxy = Server::start().await;
    let names = Names::new([("proxy.example", &["127.0.0.1"])]);
    let url = format!("http://Proxy.example:{}", proxy.address().rsplit_once(':').unwrap().1);
    let client = builder().proxy(url).resolver(names.clone()).guarded(listed()).unwrap();
    for host in ["api.example", "a.public.example"] {
        let request = HttpRequest::get(format!("http://{host}/v1"));
        let reply = response(200, "connection: close\r\n", "by proxy");
        let (sent, answered) = join!(client.send(request), proxy.answer(reply));
        assert_eq!(sent.unwrap().text().await.unwrap(), "by proxy");
        assert!(answered.0.starts_with(&format!("GET http://{host}/v1 HTTP/1.1\r\n")), "{}", answered.0);
    }
    let asked = names.asked();
    assert!(asked.len() == 2 && asked.iter().all(|name| name.eq_ignore_ascii_case("proxy.example")), "{asked:?}");
    for (url, expected) in [
        ("http://other.example/", GuardRejection::UnlistedHost),
        ("https://public.example/", GuardRejection::UnlistedHost),
        ("http://127.0.0.1/", GuardRejection::Address(AddressClass::Loopback)),
        ("http://10.0.0.1/", GuardRejection::UnlistedHost),
        // The proxy's address is not checked, so it must not be a URL's host either.
        ("http://proxy.example/", GuardRejection::ProxyHost),
        ("http://PROXY.example.:8080/", GuardRejection::ProxyHost),
    ] {
        assert_eq!(rejected(&client, url).await, expected, "{url}");
    }
    assert_eq!(names.asked().len(), 2);
}

/// Runs this test again in a process whose environment has a proxy: this process's environment can't be changed safely.
#[tokio::test]
async fn a_proxy_of_the_environment_requires_a_list_of_hosts() {
    const CHILD: &str = "HAFT_HTTP_GUARD_PROXY_TEST";
    if env::var_os(CHILD).is_some() {
        let error = GuardedClient::new().unwrap_err();
        assert!(matches!(error, HttpError::UncheckedProxy { set_by: "https_proxy" }), "{error:?}");
        let direct = HttpClient::builder().no_proxy().guarded(AddressGuard::new()).unwrap();
        assert_eq!(rejected(&direct, "http://127.0.0.1/").await, GuardRejection::Address(AddressClass::Loopback));
        // Hosts that the environment excludes are resolved here, so their addresses are checked.
        let names = Names::new([("direct.public.example", &["127.0.0.1"]), ("api.example", &["127.0.0.1"])]);
        let client = HttpClient::builder().resolver(names).guarded(listed()).unwrap();
        let loopback = GuardRejection::ResolvedAddress(AddressClass::Loopback);
        assert_eq!(rejected(&client, "https://direct.public.example/").await, loopback);
        // There is no proxy for this scheme, so that the connection is direct too.
        assert_eq!(rejected(&client, "http://api.example/").await, loopback);
        return;
    }
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", "guard::proxy::a_proxy_of_the_environment_requires_a_list_of_hosts"]).env(CHILD, "1");
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy", "NO_PROXY", "REQUEST_METHOD"] {
        child.env_remove(name);
    }
    child.env("https_proxy", "http://proxy.example:3128").env("no_proxy", "direct.public.example");
    let output = spawn_blocking(move || child.output().unwrap()).await.unwrap();
    assert!(output.status.success(), "{output:?}");
}
