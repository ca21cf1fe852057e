//! Every server here stops answering at some point. The clock is paused from then on: it advances to the next timer as
//! soon as nothing else can happen, so no test waits, and none depends on a timeout's duration.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake};
use std::time::Duration;

use futures_util::Stream;
use haft_http::{BodyChunks, HttpError, HttpRequest, TimeoutKind, Timeouts};
use tokio::join;
use tokio::sync::Notify;
use tokio::time::{advance, pause, resume};

use crate::server::{CHUNKED, Server, builder, chunk, client};

const AFTER: Duration = Duration::from_secs(30);

#[track_caller]
fn assert_timed_out(error: &HttpError, expected: TimeoutKind, sent: bool) {
    match error {
        HttpError::TimedOut { timeout, after, .. } => assert_eq!((*timeout, *after), (expected, AFTER)),
        other => panic!("{other:?}"),
    }
    assert!(error.retryable());
    assert_eq!(error.sent(), sent);
}

#[tokio::test]
async fn a_server_without_an_answer_exceeds_the_first_byte_or_the_total_timeout() {
    for (timeouts, expected) in [
        (Timeouts::default().first_byte(AFTER), TimeoutKind::FirstByte),
        (Timeouts::default().total(AFTER), TimeoutKind::Total),
    ] {
        let server = Server::start().await;
        let client = client();
        let request = HttpRequest::get(server.url("/")).timeouts(timeouts);
        let (sent, _connection) = join!(client.send(request), async {
            let mut connection = server.accept().await;
            connection.request().await;
            // Half of the headers are no answer.
            connection.write("HTTP/1.1 200 OK\r\ncontent-").await;
            pause();
            connection
        });
        let error = sent.unwrap_err();
        assert_timed_out(&error, expected, true);
        assert!(error.to_string().ends_with(" within 30s"), "{error}");
        resume();
    }
}

#[tokio::test]
async fn a_stalled_body_exceeds_the_idle_or_the_total_timeout() {
    for (timeouts, expected) in [
        (Timeouts::default().idle(AFTER), TimeoutKind::Idle),
        (Timeouts::none().total(AFTER), TimeoutKind::Total),
        (Timeouts::none().idle(AFTER * 2).total(AFTER), TimeoutKind::Total),
        (Timeouts::none().idle(AFTER).total(AFTER * 2), TimeoutKind::Idle),
    ] {
        let server = Server::start().await;
        let client = builder().timeouts(timeouts).build().unwrap();
        let (sent, (_, mut connection)) = join!(client.send(HttpRequest::get(server.url("/"))), server.answer(CHUNKED));
        let mut chunks = sent.unwrap().chunks().unwrap();
        connection.write(chunk("one")).await;
        assert_eq!(chunks.next().await.unwrap().unwrap(), "one");
        pause();
        assert_timed_out(&chunks.next().await.unwrap().unwrap_err(), expected, true);
        assert!(chunks.next().await.is_none(), "the stream ends after its error");
        resume();
        connection.closed().await;
    }
}

#[tokio::test]
async fn a_whole_body_is_subject_to_the_idle_timeout() {
    let server = Server::start().await;
    let client = builder().timeouts(Timeouts::none().idle(AFTER)).build().unwrap();
    let (sent, _connection) = join!(client.send(HttpRequest::get(server.url("/"))), async {
        let (_, mut connection) = server.answer(CHUNKED).await;
        connection.write(chunk("one")).await;
        connection
    });
    let sent = sent.unwrap();
    pause();
    assert_timed_out(&sent.body().await.unwrap_err(), TimeoutKind::Idle, true);
}

#[tokio::test]
async fn a_slow_reader_is_not_idle() {
    let server = Server::start().await;
    let client = builder().timeouts(Timeouts::none().idle(AFTER)).build().unwrap();
    let (sent, (_, mut connection)) = join!(client.send(HttpRequest::get(server.url("/"))), server.answer(CHUNKED));
    let mut chunks = sent.unwrap().chunks().unwrap();
    // The wait begins, and its task does not poll again although the data arrives.
    let arrived = Arrival::of(&mut chunks);
    connection.write(chunk("one")).await;
    arrived.0.notified().await;
    pause();
    advance(AFTER * 10).await;
    assert_eq!(chunks.next().await.unwrap().unwrap(), "one");
}

/// A waker that a test waits for.
struct Arrival(Notify);

impl Arrival {
    /// Begins to wait for a chunk.
    fn of(chunks: &mut BodyChunks) -> Arc<Self> {
        let arrival = Arc::new(Self(Notify::new()));
        let waker = Arc::clone(&arrival).into();
        assert!(Pin::new(chunks).poll_next(&mut Context::from_waker(&waker)).is_pending());
        arrival
    }
}

impl Wake for Arrival {
    fn wake(self: Arc<Self>) {
        self.0.notify_one();
    }
}

#[tokio::test]
async fn the_idle_timeout_starts_again_with_every_chunk() {
    let server = Server::start().await;
    let client = builder().timeouts(Timeouts::none().idle(AFTER)).build().unwrap();
    let (sent, (_, mut connection)) = join!(client.send(HttpRequest::get(server.url("/"))), server.answer(CHUNKED));
    let mut chunks = sent.unwrap().chunks().unwrap();
    for _ in 0..5 {
        let (chunk, ()) = join!(chunks.next(), async {
            pause();
            advance(AFTER / 2).await;
            resume();
            connection.write(chunk("one")).await;
        });
        assert_eq!(chunk.unwrap().unwrap(), "one");
    }
}

#[tokio::test]
async fn a_chunk_that_is_ready_does_not_prevent_the_total_timeout() {
    let server = Server::start().await;
    let client = builder().timeouts(Timeouts::none().total(AFTER)).build().unwrap();
    let (sent, (_, mut connection)) = join!(client.send(HttpRequest::get(server.url("/"))), server.answer(CHUNKED));
    let mut chunks = sent.unwrap().chunks().unwrap();
    let arrived = Arrival::of(&mut chunks);
    connection.write(chunk("one")).await;
    arrived.0.notified().await;
    pause();
    advance(AFTER).await;
    assert_timed_out(&chunks.next().await.unwrap().unwrap_err(), TimeoutKind::Total, true);
}

#[tokio::test]
async fn a_handshake_without_an_answer_exceeds_the_connect_timeout() {
    let server = Server::start().await;
    let client = builder().connect_timeout(AFTER).build().unwrap();
    let request = HttpRequest::get(format!("https://{}/", server.address()));
    let (sent, _connection) = join!(client.send(request), async {
        let mut connection = server.accept().await;
        assert!(connection.read_some().await > 0);
        pause();
        connection
    });
    let error = sent.unwrap_err();
    assert_timed_out(&error, TimeoutKind::Connect, false);
    assert!(error.to_string().starts_with("no connection from 127.0.0.1:"), "{error}");
}

#[tokio::test]
async fn a_timeout_without_end_never_expires() {
    let server = Server::start().await;
    let forever = Timeouts::none().first_byte(Duration::MAX).idle(Duration::MAX).total(Duration::MAX);
    let client = builder().timeouts(forever).build().unwrap();
    let (sent, (_, mut connection)) = join!(client.send(HttpRequest::get(server.url("/"))), server.answer(CHUNKED));
    let mut chunks = sent.unwrap().chunks().unwrap();
    let (chunk, ()) = join!(chunks.next(), connection.write(chunk("one")));
    assert_eq!(chunk.unwrap().unwrap(), "one");
}
