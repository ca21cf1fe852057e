//! No error contains a credential, whatever its cause: not in its text, not in its debug output, not in its sources.

use haft_http::{HttpError, HttpRequest, Secret, SizeLimits, Timeouts};
use tokio::join;
use tokio::time::{pause, resume};

use crate::server::{CHUNKED, LONG, Server, builder, chunk, client, response};

const SECRET: &str = "sk-123";

fn request(scheme: &str, address: &str) -> HttpRequest {
    HttpRequest::post(format!("{scheme}://{SECRET}:{SECRET}@{address}/shown?key={SECRET}#{SECRET}"))
        .bearer(&Secret::new(SECRET))
        .secret_header("x-api-key", &Secret::new(SECRET))
        .header("x-plain", SECRET)
        .body(SECRET)
}

#[track_caller]
fn assert_hidden(error: &HttpError) {
    let mut shown = format!("{error} {error:?} {error:#?}");
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        shown += &format!("{error} {error:?}");
        source = error.source();
    }
    assert!(!shown.contains(SECRET), "{shown}");
    assert!(shown.contains("/shown"), "{shown}");
}

#[tokio::test]
async fn errors_without_a_response_contain_no_secret() {
    let server = Server::start().await;
    let client = client();
    let address = server.address();

    let (sent, ()) = join!(client.send(request("http", &address)), async { server.accept().await.reset() });
    assert_hidden(&sent.unwrap_err());
    let (sent, ()) = join!(client.send(request("https", &address)), async { drop(server.accept().await) });
    assert_hidden(&sent.unwrap_err());
    let timeouts = Timeouts::none().first_byte(LONG);
    let (sent, _connection) = join!(client.send(request("http", &address).timeouts(timeouts)), async {
        let mut connection = server.accept().await;
        connection.request().await;
        pause();
        connection
    });
    assert_hidden(&sent.unwrap_err());
    resume();
    drop(server);
    assert_hidden(&client.send(request("http", &address)).await.unwrap_err());
    let host = format!("{}.example", "a".repeat(64));
    assert_hidden(&client.send(request("https", &host)).await.unwrap_err());
}

#[tokio::test]
async fn errors_of_a_body_and_of_redirects_contain_no_secret() {
    let server = Server::start().await;
    let client = builder().redirects(1).limits(SizeLimits::default().body(10)).build().unwrap();
    let address = server.address();

    let reply = [CHUNKED, &chunk(SECRET)].concat();
    let (sent, _) = join!(client.send(request("http", &address)), server.answer(&reply));
    assert_hidden(&sent.unwrap().body().await.unwrap_err());
    let reply = response(200, &format!("x-secret: {SECRET}\r\nconnection: close\r\n"), "more than ten bytes");
    let (sent, _) = join!(client.send(request("http", &address)), server.answer(&reply));
    let sent = sent.unwrap();
    assert!(!format!("{sent:?}").contains(SECRET), "{sent:?}");
    assert_hidden(&sent.body().await.unwrap_err());
    let again = response(302, &format!("location: /shown?key={SECRET}\r\nconnection: close\r\n"), "");
    let (sent, ()) = join!(client.send(request("http", &address)), async {
        server.answer(&again).await;
        server.answer(&again).await;
    });
    assert_hidden(&sent.unwrap_err());
}
