//! Results written alone: after the turn that they answer, the SDKs accept them. Every SDK sample is recognised, whole
//! and streamed.

use haft_core::{Item, TurnRequest};
use haft_parts::WireName;
use haft_wire::{Delivery, KnownWire, WireRequest};
use serde_json::Value;

use super::{JudgedWire, body_of, compatible, sample_tools, wires};
use crate::wire::result::{sampled, shown};

fn known(name: WireName) -> KnownWire {
    match name {
        WireName::OpenAiResponses => KnownWire::OpenAi,
        WireName::OpenAiChat => KnownWire::OpenAiChat,
        WireName::Anthropic => KnownWire::Anthropic,
        WireName::Gemini => KnownWire::Gemini,
    }
}

/// Returns the request that a program makes from its conversation, the response and the results.
fn continued(wire: &JudgedWire, body: &Value) -> Option<WireRequest> {
    let turn = wire.wire.response(&body.to_string(), &wire.context()).ok()?;
    let results = sampled(&turn);
    if results.is_empty() || turn.is_cut_off() {
        return None;
    }
    let written = shown(&wire.wire.results(&turn, &results, &wire.context()).unwrap());
    let mut request = TurnRequest::new(wire.model, vec![Item::user("hi")]).tools(&sample_tools());
    turn.append_to_history(&mut request.history, results).unwrap();
    let mut sent = wire.wire.request(&request, Delivery::Whole).unwrap();
    let mut body = body_of(&sent);
    let list = body[written["member"].as_str().unwrap()].as_array_mut().unwrap();
    let results = written["results"].as_array().unwrap();
    let turn = list.len() - results.len();
    list.splice(turn.., results.iter().cloned());
    sent.body = body.to_string();
    Some(sent)
}

#[test]
fn the_sdks_accept_results_behind_their_turn() {
    for wire in wires().into_iter().chain([compatible()]) {
        let mut judged = 0;
        for sample in wire.samples() {
            let Some(sent) = sample.body.as_ref().and_then(|body| continued(&wire, body)) else { continue };
            let faults = wire.faults(&sent);
            assert!(faults.is_empty(), "{}, {}: {faults:#?}\n{:#}", wire.label(), sample.name, body_of(&sent));
            judged += 1;
        }
        assert!(judged > 1, "{}", wire.label());
    }
}

#[test]
fn every_sample_is_recognised() {
    for wire in wires() {
        for sample in wire.samples() {
            let whole = sample.body.map(|body| body.to_string());
            for text in whole.iter().chain(&sample.sse) {
                let found = KnownWire::recognise(text);
                assert_eq!(found, Some(known(wire.name)), "{}, {}: {text:.2000}", wire.label(), sample.name);
            }
        }
    }
}
