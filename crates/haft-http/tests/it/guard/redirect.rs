use haft_http::{AddressClass, AddressGuard, GuardRejection, HttpError, HttpRequest, StatusCode};
use tokio::join;

use super::{Names, guarded};
use crate::server::{Server, builder, response};

#[tokio::test]
async fn a_redirect_inward_is_rejected() {
    let server = Server::start().await;
    let names = Names::new([("inner.example", &["10.0.0.1"]), ("mixed.example", &["93.184.215.14 127.0.0.1"])]);
    let client = guarded(AddressGuard::new().allow_host(&server.address()).unwrap(), &names);
    let loopback = AddressClass::Loopback;
    let table = [
        ("http://127.0.0.1/", GuardRejection::Address(loopback)),
        ("//2130706433:8080/", GuardRejection::Address(loopback)),
        ("http://[::ffff:127.0.0.1]/", GuardRejection::Address(loopback)),
        ("http://a.example@0x7f.1/", GuardRejection::Address(loopback)),
        ("http://169.254.169.254/latest", GuardRejection::Address(AddressClass::Metadata)),
        ("https://inner.example/", GuardRejection::ResolvedAddress(AddressClass::Private)),
        ("http://mixed.example/", GuardRejection::ResolvedAddress(loopback)),
        ("http://metadata.google.internal/", GuardRejection::MetadataHost),
    ];
    for status in [301, 302, 303, 307, 308] {
        for (location, expected) in table {
            let reply = response(status, &format!("location: {location}\r\nconnection: close\r\n"), "");
            let request = HttpRequest::post(server.url("/first")).body("text");
            let (sent, _answered) = join!(client.send(request), server.answer(reply));
            let error = sent.unwrap_err();
            assert_eq!(super::rejection(&error), expected, "{status} {location}");
            assert!(error.sent(), "the first request has arrived");
            assert_eq!(error.endpoint().unwrap().redirects(), 1, "{error:?}");
        }
    }
}

#[tokio::test]
async fn a_redirect_to_an_exempt_host_is_followed() {
    let (server, other) = (Server::start().await, Server::start().await);
    let guard = AddressGuard::new().allow_host(&server.address()).unwrap().allow_host(&other.address()).unwrap();
    let client = guarded(guard, &Names::default());
    let reply = response(302, &format!("location: {}\r\n", other.url("/second?q=1")), "");
    let url = server.url("/first").replacen("http://", "http://user:pass@", 1);
    let done = response(200, "", "done");
    let (sent, _first, _second) = join!(client.send(HttpRequest::get(url)), server.answer(reply), other.answer(done));
    let sent = sent.unwrap();
    assert_eq!(sent.url(), other.url("/second?q=1"));
    assert_eq!(sent.location(), None);
    assert_eq!(sent.text().await.unwrap(), "done");
}

#[tokio::test]
async fn a_redirect_that_is_not_followed_has_a_location_and_no_user() {
    let server = Server::start().await;
    let client = builder().guarded(AddressGuard::new().allow_host(&server.address()).unwrap()).unwrap();
    let url = server.url("/a/b?q=1").replacen("http://", "http://user:pass@", 1);
    let reply = response(302, "location: ../c\r\n", "");
    let (sent, _answered) = join!(client.send(HttpRequest::get(url)), server.answer(reply));
    let sent = sent.unwrap();
    assert_eq!(sent.status(), StatusCode::FOUND);
    assert_eq!(sent.url(), server.url("/a/b?q=1"));
    assert_eq!(sent.location(), Some(server.url("/c")));
}

#[tokio::test]
async fn redirects_are_limited() {
    let server = Server::start().await;
    let client = guarded(AddressGuard::new().allow_host(&server.address()).unwrap(), &Names::default());
    let (sent, ()) = join!(client.send(HttpRequest::get(server.url("/"))), async {
        for _ in 0..6 {
            server.answer(response(302, "location: /\r\nconnection: close\r\n", "")).await;
        }
    });
    assert!(matches!(sent, Err(HttpError::TooManyRedirects { limit: 5, .. })), "{sent:?}");
}
