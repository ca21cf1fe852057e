//! A provider that fails: errors are clear, the loop retries those that may pass, and no call is left without its result.

use haft_model::{LoopError, LoopEvent, LoopOutcome, ModelError};

use super::*;

/// Returns the error that ended a loop.
#[track_caller]
fn error(outcome: &LoopOutcome) -> &ModelError {
    match &outcome.end {
        LoopEnd::Failed(LoopError::Model { source, .. }) => source,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn assert_key_hidden(error: &ModelError) {
    let shown = format!("{error} {error:?} {error:#?}");
    assert!(!shown.contains(KEY), "{shown}");
}

/// Every kind of chaos, with the kind of the error, the status, and the number of requests of a loop with two retries.
fn kinds() -> [(Value, &'static str, Option<u16>, usize); 4] {
    [
        (json!({ "dropRate": 1 }), "unavailable", Some(500), 3),
        // The server asks for a wait, which is longer than this loop waits.
        (json!({ "rateLimitRate": 1 }), "rate_limited", Some(429), 1),
        (json!({ "malformedRate": 1 }), "unreadable", Some(200), 1),
        (json!({ "disconnectRate": 1 }), "unavailable", None, 3),
    ]
}

async fn check(wire: WireName, delivery: Delivery) {
    let mock = Aimock::start(&fixtures(wire));
    let agent = agent(client(wire, mock.url(), delivery)).retries(2);
    for (chaos, kind, status, asked) in kinds() {
        let before = mock.requests().len();
        mock.set_chaos(&chaos);
        let failed = agent.start(request()).finish().await;
        let cause = error(&failed);
        assert_eq!((cause.kind(), cause.status()), (kind, status), "{chaos}: {cause}");
        assert_key_hidden(cause);
        let asked_after = cause.retry_after().map(|wait| wait.as_secs());
        assert_eq!(asked_after, (status == Some(429)).then_some(1), "{cause}");
        assert_eq!(mock.requests().len() - before, asked, "{chaos}");
        assert_eq!(failed.state.history(), request().history, "{chaos}");

        // The state is the one before the failure, so that the same loop continues from it.
        mock.set_chaos(&json!({}));
        let mut state = stored(&agent.start(stored(&failed.state)).finish().await.state);
        approve(&agent, &mut state);

        // The second request fails as well, after calls have run.
        mock.set_chaos(&chaos);
        let failed = agent.start(stored(&state)).finish().await;
        assert_eq!(error(&failed).kind(), kind, "{chaos}");
        assert_reconciled(&failed.state);
        assert_eq!(failed.state.calls(), 4, "{chaos}");
        mock.set_chaos(&json!({}));
        let done = agent.start(stored(&failed.state)).finish().await;
        assert_stopped(&done.end);
        assert_eq!((done.state.turns(), done.state.calls()), (2, 4), "no call ran twice");
        assert_reconciled(&done.state);
    }
    judged(&mock, wire);
}

#[tokio::test]
async fn openai_responses() {
    for delivery in DELIVERIES {
        check(WireName::OpenAiResponses, delivery).await;
    }
}

#[tokio::test]
async fn openai_chat() {
    for delivery in DELIVERIES {
        check(WireName::OpenAiChat, delivery).await;
    }
}

#[tokio::test]
async fn anthropic() {
    for delivery in DELIVERIES {
        check(WireName::Anthropic, delivery).await;
    }
}

#[tokio::test]
async fn gemini() {
    for delivery in DELIVERIES {
        check(WireName::Gemini, delivery).await;
    }
}

#[tokio::test]
async fn a_provider_that_recovers_is_asked_again_and_the_loop_ends_well() {
    for wire in WireName::ALL {
        let mock = Aimock::start(&fixtures(wire));
        for (chaos, asked) in [(json!({ "dropRate": 1 }), 2), (json!({ "disconnectRate": 1 }), 4)] {
            mock.set_chaos(&chaos);
            let mut run = agent(client(wire, mock.url(), Delivery::Streamed)).start(request());
            let mut retries = Vec::new();
            while let Some(event) = run.next().await {
                if let LoopEvent::Retrying { kind, .. } = event {
                    retries.push(kind);
                    mock.set_chaos(&json!({}));
                }
            }
            assert_eq!(retries, ["unavailable"]);
            assert!(run.finish().await.end.is_waiting());
            assert_eq!(judged(&mock, wire).len(), asked);
        }
    }
}

/// The fixtures, of which the first answer is cut off after some chunks, the first time that it is asked for.
fn cut_fixtures(wire: WireName, chunks: usize) -> Value {
    let mut fixtures = fixtures(wire);
    let list = fixtures.as_array_mut().unwrap();
    let mut cut = list[0].clone();
    cut["truncateAfterChunks"] = json!(chunks);
    cut["match"]["sequenceIndex"] = json!(0);
    list.insert(0, cut);
    fixtures
}

#[tokio::test]
async fn a_stream_that_is_cut_off_is_no_turn_and_is_asked_for_again() {
    for wire in WireName::ALL {
        // Gemini sends all calls in the chunk that is also the last one.
        let cuts: &[usize] = if wire == WireName::Gemini { &[1] } else { &[1, 3] };
        for &chunks in cuts {
            let mock = Aimock::start_with(&cut_fixtures(wire, chunks), &json!({ "chunkSize": 7 }));
            let model = client(wire, mock.url(), Delivery::Streamed);
            let mut run = agent(model).start(request());
            let mut retries = Vec::new();
            while let Some(event) = run.next().await {
                if let LoopEvent::Retrying { kind, .. } = event {
                    retries.push(kind);
                }
            }
            let outcome = run.finish().await;
            assert!(outcome.end.is_waiting(), "{wire:?} {chunks}: {:?}", outcome.end);
            assert_eq!(retries.len(), 1, "{wire:?} after {chunks}: {retries:?}");
            assert_eq!(outcome.state.calls(), 4, "those of the cut answer are not counted: {wire:?} {chunks}");
            assert_eq!(judged(&mock, wire).len(), 2);
        }
    }
}

#[tokio::test]
async fn a_request_without_a_fixture_is_a_clear_error() {
    for wire in WireName::ALL {
        let mock = Aimock::start(&json!([]));
        let agent = agent(client(wire, mock.url(), Delivery::Streamed)).retries(0);
        let failed = agent.start(request()).finish().await;
        let cause = error(&failed);
        assert_eq!((cause.kind(), cause.status()), ("unavailable", Some(503)), "{cause}");
        assert!(cause.to_string().contains("fixture"), "{cause}");
    }
}
