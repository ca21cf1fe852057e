//! Servers that stop answering. The clock is paused from then on, so that no test waits.

use std::time::Duration;

use haft_http::Timeouts;
use tokio::time::{pause, resume};

use super::server::{CHUNKED, LONG, builder, chunk};
use super::*;

const AFTER: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_server_that_does_not_answer_in_time_is_a_timeout() {
    for timeouts in [Timeouts::none().first_byte(AFTER), Timeouts::none().total(AFTER)] {
        let server = Server::start().await;
        let model = local(server.url("")).timeouts(timeouts);
        let (turn, _connection) = join!(model.stream_turn(&request()).into_turn(), async {
            let mut connection = server.accept().await;
            connection.request().await;
            pause();
            connection
        });
        resume();
        let error = turn.unwrap_err();
        assert!(matches!(error, ModelError::TimedOut { after: AFTER }), "{error:?}");
        assert!(error.retryable());
    }
}

#[tokio::test]
async fn a_stream_that_stops_is_a_timeout_and_never_a_turn() {
    for provider in ALL {
        for timeouts in [Timeouts::none().idle(AFTER), Timeouts::none().total(AFTER)] {
            let server = Server::start().await;
            let http = builder().connect_timeout(LONG).timeouts(timeouts).build().unwrap();
            let model = provider.with(&server, http, false);
            let head = CHUNKED.replace("\r\n\r\n", &format!("\r\n{EVENTS}\r\n"));
            let begun = sse(&provider.events()[..1]);
            let (turn, _connection) = join!(model.stream_turn(&request()).into_turn(), async {
                let (_, connection) = answer(&server, [head, chunk(&begun)].concat()).await;
                pause();
                connection
            });
            resume();
            let error = turn.unwrap_err();
            assert!(matches!(error, ModelError::TimedOut { after: AFTER }), "{provider:?}: {error:?}");
        }
    }
}
