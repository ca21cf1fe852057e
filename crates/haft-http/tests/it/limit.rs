use haft_http::{HttpError, HttpRequest, HttpResponse, SizeLimits, SseEvent};
use tokio::join;

use crate::server::{CHUNKED, Connection, LAST_CHUNK, Server, chunk, client, response};

async fn receive(limits: SizeLimits, reply: &str) -> (HttpResponse, Connection) {
    let server = Server::start().await;
    let client = client();
    let request = HttpRequest::get(server.url("/")).limits(limits);
    let (sent, (_, connection)) = join!(client.send(request), server.answer(reply));
    (sent.unwrap(), connection)
}

#[track_caller]
fn assert_too_large(error: &HttpError, expected: usize) {
    assert!(matches!(error, HttpError::TooLarge { limit, .. } if *limit == expected), "{error:?}");
    assert!(error.sent() && !error.retryable());
}

#[tokio::test]
async fn a_body_at_the_limit_is_read_and_a_larger_one_is_not() {
    let limits = SizeLimits::default().body(5);
    let chunked = |data: [&str; 2]| [CHUNKED, &chunk(data[0]), &chunk(data[1]), LAST_CHUNK].concat();
    for reply in [response(200, "", "12345"), chunked(["123", "45"])] {
        let (received, _connection) = receive(limits, &reply).await;
        assert_eq!(received.body().await.unwrap(), "12345");
    }
    for reply in [response(200, "", "123456"), chunked(["123", "456"])] {
        let (received, _connection) = receive(limits, &reply).await;
        assert_too_large(&received.body().await.unwrap_err(), 5);
    }
}

#[tokio::test]
async fn a_declared_length_beyond_the_limit_fails_before_the_body_is_read() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 9000000000000000000\r\n\r\n";
    let (received, connection) = receive(SizeLimits::default(), head).await;
    assert_too_large(&received.body().await.unwrap_err(), SizeLimits::default().body);
    connection.closed().await;
    let (received, connection) = receive(SizeLimits::default(), head).await;
    assert_too_large(&received.chunks().unwrap_err(), SizeLimits::default().stream);
    connection.closed().await;
}

#[tokio::test]
async fn an_endless_body_is_cut_off_at_the_limit() {
    let (received, mut connection) = receive(SizeLimits::default().body(100_000), CHUNKED).await;
    let (error, ()) = join!(received.body(), connection.write_until_closed(chunk(&"x".repeat(1000))));
    assert_too_large(&error.unwrap_err(), 100_000);
}

#[tokio::test]
async fn a_stream_has_a_limit_of_its_own() {
    let limits = SizeLimits::default().body(1).stream(8);
    let reply = [CHUNKED, &chunk("12345"), &chunk("678"), &chunk("9"), &chunk("0"), LAST_CHUNK].concat();
    let (received, _connection) = receive(limits, &reply).await;
    let mut chunks = received.chunks().unwrap();
    let mut length = 0;
    let error = loop {
        match chunks.next().await.unwrap() {
            Ok(chunk) => length += chunk.len(),
            Err(error) => break error,
        }
    };
    assert!(length <= 8);
    assert_too_large(&error, 8);
    assert!(chunks.next().await.is_none());
}

#[tokio::test]
async fn an_endless_event_is_cut_off_at_the_limit() {
    let (received, mut connection) = receive(SizeLimits::default().event(10_000), CHUNKED).await;
    let mut events = received.events().unwrap();
    connection.write(chunk("data: one\n\ndata: ")).await;
    assert_eq!(events.next_event().await.unwrap().unwrap().data, "one");
    let endless = chunk(&"x".repeat(1000));
    let (error, ()) = join!(
        async { events.next_event().await.unwrap().map(SseEvent::into_owned).unwrap_err() },
        connection.write_until_closed(&endless),
    );
    assert_too_large(&error, 10_000);
    assert!(events.next_event().await.is_none());
}
