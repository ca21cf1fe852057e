//! Clients send one request per turn. The loop decides about another one.

use std::time::Duration;

use haft_core::{Backoff, Toolkit};
use haft_model::{LoopEnd, LoopError, LoopEvent, LoopOutcome, TurnLoop};

use super::*;

/// Runs a loop against these replies, one connection each, and returns its end and the kinds of the errors that it retried.
async fn run(provider: Provider, replies: &[String], retries: u32) -> (LoopOutcome, Vec<String>) {
    let server = Server::start().await;
    let agent = TurnLoop::new(provider.model(&server), Toolkit::default())
        .retries(retries)
        .backoff(Backoff::constant(Duration::ZERO));
    let mut run = agent.start(request());
    let looped = async {
        let mut kinds = Vec::new();
        while let Some(event) = run.next().await {
            if let LoopEvent::Retrying { kind, .. } = event {
                kinds.push(kind);
            }
        }
        (run.finish().await, kinds)
    };
    let served = async {
        for reply in replies {
            let (sent, connection) = answer(&server, reply).await;
            assert_eq!(sent.matches(r#""hi""#).count(), 1, "every request is the same: {sent}");
            connection.end().await;
        }
        // One more request than there are replies fails the test.
        server.accept().await;
        panic!("there is one request too many");
    };
    tokio::select! {
        ended = looped => ended,
        () = served => unreachable!(),
    }
}

fn limited(provider: Provider) -> String {
    response(429, &format!("{JSON}retry-after: 0\r\n"), &provider.error("x", "slow down"))
}

/// A stream that ends in the middle.
fn cut_stream(provider: Provider) -> String {
    let events = provider.events();
    format!("HTTP/1.1 200 OK\r\n{EVENTS}\r\n{}", sse(&events[..1]))
}

#[tokio::test]
async fn the_loop_retries_what_may_pass() {
    for provider in ALL {
        let replies = [limited(provider), cut_stream(provider), provider.stream()];
        let (outcome, kinds) = run(provider, &replies, 3).await;
        assert_eq!((&outcome.end, outcome.state.text().as_str()), (&LoopEnd::Stopped, "Hello"));
        assert_eq!(kinds, ["rate_limited", "incomplete_turn"], "{provider:?}");
        assert_eq!(outcome.state.history().len(), 2, "nothing is left of the attempts that failed");
        assert_eq!(outcome.state.turns(), 1);
    }
}

#[tokio::test]
async fn the_loop_does_not_retry_what_stays_wrong() {
    for provider in ALL {
        for (status, expected) in [(400, "invalid_request"), (401, "authentication"), (404, "unknown_model")] {
            let gemini = r#"{"error":{"message":"no such model"}}"#.to_owned();
            let body = if provider == Provider::Gemini { gemini } else { provider.error("x", "no such model") };
            let (outcome, kinds) = run(provider, &[response(status, JSON, &body)], 3).await;
            let LoopEnd::Failed(LoopError::Model { source, .. }) = &outcome.end else { panic!("{:?}", outcome.end) };
            assert_eq!((source.kind(), kinds.len()), (expected, 0), "{provider:?}");
            assert_eq!(outcome.state.history(), request().history);
        }
    }
}

#[tokio::test]
async fn without_retries_one_request_is_sent() {
    for provider in ALL {
        for (reply, expected) in [(limited(provider), "rate_limited"), (cut_stream(provider), "incomplete_turn")] {
            let (outcome, kinds) = run(provider, &[reply], 0).await;
            let LoopEnd::Failed(LoopError::Model { source, .. }) = &outcome.end else { panic!("{:?}", outcome.end) };
            assert_eq!((source.kind(), kinds.len()), (expected, 0), "{provider:?}: {source}");
        }
    }
}
