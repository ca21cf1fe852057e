//! Clients send one request per turn. The loop decides about another one.

use std::time::Duration;

use haft_executor::{Backoff, Toolkit};
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
async fn a_conflict_is_retried() {
    for provider in ALL {
        for body in [provider.error("x", "locked"), String::new()] {
            let (outcome, kinds) = run(provider, &[response(409, JSON, &body), provider.stream()], 3).await;
            assert_eq!((&outcome.end, kinds), (&LoopEnd::Stopped, vec!["unavailable".to_owned()]), "{provider:?}");
        }
    }
}

#[tokio::test]
async fn the_provider_decides_about_a_retry_whatever_the_status_is() {
    for provider in ALL {
        for (status, stated, retried) in [
            (400, "true", true),
            (401, "true", true),
            (429, "false", false),
            (503, "false", false),
            (503, "maybe", true),
            (400, "maybe", false),
        ] {
            let headers = format!("{JSON}retry-after: 0\r\nx-should-retry: {stated}\r\n");
            let failed = response(status, &headers, &provider.error("x", "no"));
            let replies = if retried { vec![failed, provider.stream()] } else { vec![failed] };
            let (outcome, kinds) = run(provider, &replies, 3).await;
            let is_stopped = outcome.end == LoopEnd::Stopped;
            assert_eq!((is_stopped, kinds.len()), (retried, usize::from(retried)), "{provider:?} {status} {stated}");
        }
    }
}

#[tokio::test]
async fn a_wait_that_the_message_states_is_read() {
    let text = "Rate limit reached for gpt-4.1 on requests per min. Please try again in 1.2s. Visit the documentation.";
    for provider in ALL {
        let server = Server::start().await;
        let model = provider.model(&server);
        let reply = response(429, JSON, &provider.error("x", text));
        let error = rejected(&model, &server, &reply).await;
        assert_eq!(error.retry_after(), Some(Duration::from_millis(1200)), "{provider:?}: {error}");
        // A header is more reliable.
        let reply = response(429, &format!("{JSON}retry-after-ms: 700\r\n"), &provider.error("x", text));
        let error = rejected(&model, &server, &reply).await;
        assert_eq!(error.retry_after(), Some(Duration::from_millis(700)), "{provider:?}: {error}");
        // An error inside of a stream has no header of its own.
        let mut events = provider.events();
        events.truncate(1);
        events.push(match provider {
            Provider::Responses => {
                format!(r#"{{"type":"error","code":"rate_limit_exceeded","message":"{text}","param":null}}"#)
            }
            Provider::Chat => format!(r#"{{"error":{{"code":"rate_limit_exceeded","message":"{text}"}}}}"#),
            Provider::Anthropic => {
                format!(r#"{{"type":"error","error":{{"type":"rate_limit_error","message":"{text}"}}}}"#)
            }
            Provider::Gemini => {
                format!(r#"{{"error":{{"code":429,"status":"RESOURCE_EXHAUSTED","message":"{text}"}}}}"#)
            }
        });
        let error = rejected(&model, &server, &response(200, EVENTS, &sse(&events))).await;
        let found = (error.kind(), error.retry_after());
        assert_eq!(found, ("rate_limited", Some(Duration::from_millis(1200))), "{provider:?}: {error}");
    }
}

/// Errors of a key or a request that arrive inside of a stream, as providers and gateways write them.
#[rustfmt::skip]
const IN_STREAM: &[(Provider, &str, &str)] = &[
    (Provider::Responses, r#"{"type":"error","code":"invalid_api_key","message":"expired"}"#, "authentication"),
    (Provider::Responses, r#"{"type":"error","code":401,"message":"expired"}"#, "authentication"),
    (Provider::Responses, r#"{"type":"error","error":{"type":"x","code":"401","message":"expired"}}"#, "authentication"),
    (Provider::Chat, r#"{"error":{"message":"expired","code":401}}"#, "authentication"),
    (Provider::Chat, r#"{"error":{"message":"expired","code":"401"}}"#, "authentication"),
    (Provider::Chat, r#"{"id":"r1","choices":[],"error":{"message":"no credit","code":402}}"#, "quota_exceeded"),
    (Provider::Chat, r#"{"error":{"message":"bad","type":"invalid_request_error"}}"#, "invalid_request"),
    (Provider::Chat, r#"{"error":{"message":"bad","type":"BadRequestError","code":400}}"#, "invalid_request"),
    (Provider::Anthropic, r#"{"type":"error","error":{"type":"authentication_error","message":"expired"}}"#, "authentication"),
    (Provider::Gemini, r#"{"error":{"code":401,"status":"UNAUTHENTICATED","message":"expired"}}"#, "authentication"),
];

#[tokio::test]
async fn an_error_of_the_key_inside_of_a_stream_is_not_retried() {
    for &(provider, event, expected) in IN_STREAM {
        let mut events = provider.events();
        events.truncate(1);
        events.push(event.to_owned());
        let (outcome, kinds) = run(provider, &[response(200, EVENTS, &sse(&events))], 3).await;
        let LoopEnd::Failed(LoopError::Model { source, .. }) = &outcome.end else { panic!("{:?}", outcome.end) };
        assert_eq!((source.kind(), kinds.len()), (expected, 0), "{provider:?}: {event}");
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
