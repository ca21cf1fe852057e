use std::io::ErrorKind;
use std::net::IpAddr;

use haft_http::{AddressClass, AddressGuard, GuardRejection, HttpRequest};
use tokio::join;
use tokio::net::TcpListener;
use tokio::time::timeout;

use super::{BOUND, Names, guarded, rejected};
use crate::server::{Server, response};

const LOOPBACK: GuardRejection = GuardRejection::ResolvedAddress(AddressClass::Loopback);

/// Permits the test servers' address alone, which stands for a public one: all others in its network are rejected.
fn one_public_address() -> AddressGuard {
    AddressGuard::new().allow_net("127.0.0.1/32".parse().unwrap())
}

fn port(server: &Server) -> String {
    server.address().rsplit_once(':').unwrap().1.to_owned()
}

#[tokio::test]
async fn a_name_that_is_rebound_is_never_connected_to_its_second_address() {
    let server = Server::start().await;
    // Every connection would go here if the second answer was used. Only some systems have this address.
    let second: IpAddr = [127, 0, 0, 2].into();
    let inner = TcpListener::bind((second, port(&server).parse().unwrap())).await.ok();
    let names = Names::new([("rebound.example", &["127.0.0.1", "127.0.0.2"])]);
    let client = guarded(one_public_address(), &names);
    let url = format!("http://rebound.example:{}/", port(&server));

    let close = response(200, "connection: close\r\n", "outer");
    let first = async { join!(client.send(HttpRequest::get(&url)), server.answer(close)) };
    let (sent, answered) = timeout(BOUND, first).await.expect("the first connection goes to the first answer");
    assert_eq!(sent.unwrap().text().await.unwrap(), "outer");
    assert!(answered.0.contains(&format!("host: rebound.example:{}", port(&server))), "{}", answered.0);
    assert_eq!(names.asked().len(), 1, "the answer that was checked is the one that is connected to");

    for asked in 2..4 {
        assert_eq!(rejected(&client, &url).await, LOOPBACK);
        assert_eq!(names.asked().len(), asked);
    }
    if let Some(inner) = inner {
        let connected = inner.into_std().unwrap().accept();
        assert_eq!(connected.unwrap_err().kind(), ErrorKind::WouldBlock);
    }
}

#[tokio::test]
async fn a_pooled_connection_is_reused_for_its_host_and_port_only() {
    let (server, other) = (Server::start().await, Server::start().await);
    let names = Names::new([("a.example", &["127.0.0.1", "127.0.0.2"]), ("b.example", &["127.0.0.2"])]);
    let client = guarded(one_public_address(), &names);
    let url = format!("http://a.example:{}/", port(&server));
    let reply = response(200, "", "outer");
    let (sent, (_, mut connection)) = join!(client.send(HttpRequest::get(&url)), server.answer(&reply));
    assert_eq!(sent.unwrap().text().await.unwrap(), "outer");
    // The name is rebound now, but the connection still ends at the checked address.
    let (sent, ()) = join!(client.send(HttpRequest::get(&url)), async {
        connection.request().await;
        connection.write(&reply).await;
    });
    assert_eq!(sent.unwrap().text().await.unwrap(), "outer");
    assert_eq!(rejected(&client, &format!("http://a.example:{}/", port(&other))).await, LOOPBACK);
    assert_eq!(rejected(&client, &format!("http://b.example:{}/", port(&server))).await, LOOPBACK);
    // What the URL contains is checked for each request, pooled connection or not.
    let request = HttpRequest::get(&url).header("host", "b.example");
    assert_eq!(super::rejection(&client.send(request).await.unwrap_err()), GuardRejection::HostHeader);
}

#[tokio::test]
async fn an_exempt_host_does_not_exempt_its_other_ports() {
    let (server, other) = (Server::start().await, Server::start().await);
    let names = Names::new([("localhost", &["127.0.0.1"])]);
    let exempt = format!("localhost:{}", port(&server));
    let client = guarded(AddressGuard::new().allow_host(&exempt).unwrap(), &names);
    let reply = response(200, "", "exempt");
    let (sent, (_, mut connection)) =
        join!(client.send(HttpRequest::get(format!("http://{exempt}/"))), server.answer(&reply));
    assert_eq!(sent.unwrap().text().await.unwrap(), "exempt");
    assert_eq!(rejected(&client, &format!("http://localhost:{}/", port(&other))).await, LOOPBACK);
    let by_address = GuardRejection::Address(AddressClass::Loopback);
    assert_eq!(rejected(&client, &server.url("/")).await, by_address);
    // The exempt host keeps its connection after the rejections.
    let (sent, ()) = join!(client.send(HttpRequest::get(format!("http://{exempt}/"))), async {
        connection.request().await;
        connection.write(&reply).await;
    });
    assert_eq!(sent.unwrap().text().await.unwrap(), "exempt");
}

#[tokio::test]
async fn exempt_and_checked_requests_at_the_same_time_do_not_mix() {
    let server = Server::start().await;
    let names = Names::new([("localhost", &["127.0.0.1"])]);
    let exempt = format!("localhost:{}", port(&server));
    let client = guarded(AddressGuard::new().allow_host(&exempt).unwrap(), &names);
    let (exempt, checked) = (format!("http://{exempt}/"), "http://localhost:1/");
    let reply = response(200, "", "exempt");
    let (sent, first, second, _connection) = join!(
        client.send(HttpRequest::get(exempt)),
        rejected(&client, checked),
        rejected(&client, checked),
        server.answer(reply),
    );
    assert_eq!((first, second), (LOOPBACK, LOOPBACK));
    assert_eq!(sent.unwrap().text().await.unwrap(), "exempt");
}

#[tokio::test]
async fn an_exempt_name_that_resolves_to_a_metadata_service_is_rejected() {
    let names = Names::new([("inner.example", &["169.254.169.254"])]);
    let client = guarded(AddressGuard::new().allow_host("inner.example").unwrap(), &names);
    let rejection = rejected(&client, "http://inner.example/").await;
    assert_eq!(rejection, GuardRejection::ResolvedAddress(AddressClass::Metadata));
}

#[tokio::test]
async fn clients_without_a_guard_use_the_resolver_unchecked() {
    let server = Server::start().await;
    let names = Names::new([("any.example", &["127.0.0.1"])]);
    let client = crate::server::builder().resolver(names.clone()).build().unwrap();
    let url = format!("http://any.example:{}/", port(&server));
    let (sent, _connection) = join!(client.send(HttpRequest::get(url)), server.answer(response(200, "", "ok")));
    assert_eq!(sent.unwrap().text().await.unwrap(), "ok");
    assert_eq!(names.asked(), ["any.example"]);
}
