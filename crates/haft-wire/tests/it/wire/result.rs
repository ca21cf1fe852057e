//! Results written alone, on every wire: they are the end of the request that has the whole history.

use haft_core::{
    ContentPart, FailureKind, Finish, Item, MediaData, Reasoning, ResourceContents, ToolCall, ToolDescriptor,
    ToolFailure, ToolOutput, ToolResult, Turn, TurnRequest,
};
use haft_wire::{
    AnthropicMessages, Delivery, GeminiContent, KnownWire, OpenAiChat, ReadContext, RenderTools, Wire, WireResults,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::seeded::for_all;

/// A model that can do everything, on every wire.
const MODEL: &str = "gemini-3-pro";

/// The outcome of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sample {
    Text,
    Object,
    Parts,
    Denied,
    UnknownTool,
    FailedWithParts,
}

impl Sample {
    pub(crate) const ALL: [Self; 6] =
        [Self::Text, Self::Parts, Self::Denied, Self::UnknownTool, Self::Object, Self::FailedWithParts];

    pub(crate) fn result(self, call: &ToolCall) -> ToolResult {
        let image = ContentPart::image("image/png", MediaData::Base64("iVBORw0KGgo=".to_owned()));
        match self {
            Self::Text => ToolResult::ok(call, json!("18 \u{b0}C")),
            Self::Object => ToolResult::ok(call, json!({"celsius": 18, "$ref": "kept"})),
            Self::Parts => {
                let audio = ContentPart::audio("audio/ogg", MediaData::Base64("AAAA".to_owned()));
                let notes = ContentPart::resource("file:///a.txt", ResourceContents::Text("notes".to_owned()));
                let parts = vec![ContentPart::text("A map:"), image, audio, notes];
                ToolResult::ok(call, ToolOutput::content_only(parts))
            }
            Self::Denied => ToolResult::denied(call, "not today"),
            Self::UnknownTool => ToolResult::unknown_tool(call, &["time/now"]),
            Self::FailedWithParts => {
                let failure = ToolFailure::new(FailureKind::ExecutionError, "no signal").for_model(vec![image]);
                ToolResult::from_failure(call, failure)
            }
        }
    }
}

/// Returns all kinds of results for a turn's calls, the last one first.
pub(crate) fn sampled(turn: &Turn) -> Vec<ToolResult> {
    let calls = turn.tool_calls();
    let samples = Sample::ALL.iter().cycle();
    let mut results: Vec<_> = calls.iter().zip(samples).map(|(call, sample)| sample.result(call)).collect();
    results.reverse();
    results
}

/// Returns results in a form for snapshots.
pub(crate) fn shown(written: &WireResults) -> Value {
    let results: Value = serde_json::from_str(&written.json).unwrap();
    let dropped: Vec<_> = written.dropped.iter().map(ToString::to_string).collect();
    json!({"member": written.member, "results": results, "dropped": dropped})
}

fn weather() -> ToolDescriptor {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": false});
    ToolDescriptor::new("acme/weather", schema).describe("Gets the weather.")
}

fn context(wire: &dyn Wire) -> ReadContext {
    let request = TurnRequest::new(MODEL, Vec::new()).tools(&[weather()]);
    ReadContext::new(request.render_tools(wire.profile()))
}

fn wires() -> Vec<Box<dyn Wire>> {
    let mut wires: Vec<_> = KnownWire::ALL.into_iter().map(KnownWire::wire).collect();
    wires.push(Box::new(OpenAiChat::compatible("mistral")));
    wires.push(Box::new(GeminiContent::new().without_call_ids()));
    wires
}

/// A call, with everything that decides about the form of its result.
fn drawn_call() -> impl Strategy<Value = (String, &'static str, &'static str, Value)> {
    let id = prop_oneof!["[a-zA-Z0-9_]{0,8}", "\\PC{0,6}", "[a-z]{80}"];
    let name = prop::sample::select(vec!["acme/weather", "gone", "", "wetter f\u{fc}r oslo"]);
    let arguments = prop::sample::select(vec![r#"{"city":"Oslo"}"#, "{}", "", "{\"a\":", "[1]"]);
    let data = prop::sample::select(vec![
        json!({}),
        json!({"openai": {"type": "custom_tool_call"}}),
        json!({"openai": {"caller": {"type": "program", "caller_id": "p"}}}),
        json!({"google": {"call_id": "f1", "signature": "c2ln"}}),
        json!({"anthropic": {"toolset_name": "set", "name": "function"}}),
    ]);
    (id, name, arguments, data)
}

fn drawn() -> impl Strategy<Value = (Turn, Vec<ToolResult>)> {
    let calls = prop::collection::vec((drawn_call(), prop::sample::select(Sample::ALL.to_vec())), 1..6);
    calls.prop_flat_map(|calls| {
        let mut items = vec![Reasoning::text("a thought").into(), Item::assistant("Let me look.")];
        let mut results = Vec::new();
        for (at, ((id, name, arguments, data), sample)) in calls.into_iter().enumerate() {
            let mut call = ToolCall::new(format!("{id}{at}"), name, arguments);
            call.provider_data.clone_from(data.as_object().unwrap());
            results.push(sample.result(&call));
            items.push(call.into());
        }
        let turn = Turn::new(items, Finish::ToolCalls).model(MODEL);
        (Just(turn), Just(results).prop_shuffle())
    })
}

#[test]
fn results_alone_are_the_end_of_the_whole_request() {
    let wires = wires();
    for_all(200, drawn(), |(turn, results)| {
        for wire in &wires {
            let mut request = TurnRequest::new(MODEL, vec![Item::user("hi")]).tools(&[weather()]);
            let first_output = 1 + turn.items.len();
            turn.clone().append_to_history(&mut request.history, results.clone()).unwrap();
            let whole = wire.request(&request, Delivery::Whole).unwrap();
            let written = wire.results(&turn, &results, &context(&**wire)).unwrap();

            let body: Value = serde_json::from_str(&whole.body).unwrap();
            let end: Vec<Value> = serde_json::from_str(&written.json).unwrap();
            let list = body[written.member].as_array().unwrap();
            prop_assert_eq!(&list[list.len() - end.len()..], &end[..], "{:?}", wire.profile().name());
            // Mistral needs a message of the model between results and what the user sends.
            let is_filler = |item: &Value| *item == json!({"role": "assistant", "content": "OK."});
            let is_turn = |item: &Value| !is_filler(item) && (item["role"] == "assistant" || item["role"] == "model");
            prop_assert!(!end.is_empty() && !end.iter().any(is_turn), "{end:?}");

            let reports = whole.dropped.iter().filter(|report| report.item.is_some_and(|at| at >= first_output));
            let reports: Vec<_> = reports.map(|report| (&report.part, &report.reason)).collect();
            let own: Vec<_> = written.dropped.iter().map(|report| (&report.part, &report.reason)).collect();
            prop_assert_eq!(reports, own);
        }
        Ok(())
    });
}

#[test]
fn plain_calls_have_results_on_every_wire() {
    let items: Vec<Item> = (0..6).map(|at| ToolCall::new(format!("c{at}"), "acme/weather", "{}").into()).collect();
    let turn = Turn::new(items, Finish::ToolCalls);
    for wire in KnownWire::ALL {
        let wire_of = wire.wire();
        let written = wire_of.results(&turn, &sampled(&turn), &context(&*wire_of)).unwrap();
        insta::assert_json_snapshot!(format!("plain_calls_{wire}"), shown(&written));
    }
}

#[test]
fn a_turn_without_calls_has_no_results() {
    let turn = Turn::new(vec![Item::assistant("Hi!")], Finish::Stop);
    for wire in wires() {
        let written = wire.results(&turn, &[], &context(&*wire)).unwrap();
        assert_eq!((written.json.as_str(), written.dropped.as_slice()), ("[]", &[][..]));
    }
}

#[test]
fn reports_name_the_result_that_was_given() {
    let calls = ["a", "b"].map(|id| ToolCall::new(id, "acme/weather", "no object"));
    let turn = Turn::new(calls.iter().cloned().map(Item::from).collect(), Finish::ToolCalls);
    let results = [Sample::Text.result(&calls[1]), Sample::Parts.result(&calls[0])];
    let wire = AnthropicMessages::new();
    let written = wire.results(&turn, &results, &context(&wire)).unwrap();
    let reports: Vec<_> = written.dropped.iter().map(ToString::to_string).collect();
    assert_eq!(reports, ["item 1: audio: the API takes no audio"]);
}

#[test]
fn results_that_do_not_match_the_calls_are_rejected() {
    let [a, b, remote] = ["a", "b", "r"].map(|id| ToolCall::new(id, "t", "{}"));
    let items = vec![a.clone().into(), b.clone().into(), remote.clone().executed_by_provider().into()];
    let turn = Turn::new(items, Finish::ToolCalls);
    let of = |calls: &[&ToolCall]| -> Vec<_> { calls.iter().map(|call| ToolResult::ok(call, json!(1))).collect() };
    for wire in wires() {
        let context = context(&*wire);
        let error = |results: &[ToolResult]| wire.results(&turn, results, &context).unwrap_err().to_string();
        assert!(error(&of(&[&a])).contains("the call `b` of `t` has no result"));
        assert!(
            error(&of(&[&a, &b, &ToolCall::new("x", "t", "{}")])).starts_with("results[2]: the turn has no call `x`")
        );
        assert!(error(&of(&[&a, &b, &a])).starts_with("results[2]: the call `a` has two results"));
        let written = wire.results(&turn, &of(&[&remote, &b, &a]), &context).unwrap();
        assert_eq!(written.dropped[0].item, Some(0));
        let written: Value = serde_json::from_str(&written.json).unwrap();
        assert!(!written.to_string().contains("\"r\""), "{written}");
    }
}
