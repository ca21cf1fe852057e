//! Two turns: a response of a provider, and the request that continues it.

use haft_core::{History, Item, ToolResult, Turn, TurnRequest};
use haft_parts::{Sample, WireName};
use haft_wire::Delivery;
use serde_json::{Value, json};

use super::{JudgedServer, JudgedWire, body_of, compatible, pruned, sample_tools, wire};

/// Returns a history that continues a turn: every call has a result, the second one an error, and every approval
/// request has a verdict.
pub(super) fn continued(turn: &Turn, ending: Option<&str>) -> History {
    let mut history = History::from(vec![Item::user("What is the weather?")]);
    let mut results = turn.interrupted_results();
    if !turn.is_cut_off() {
        let calls = turn.tool_calls();
        results = calls.iter().enumerate().map(|(at, call)| result(at, call)).collect();
    }
    turn.clone().append_to_history(&mut history, results).unwrap();
    let requests: Vec<_> = turn.items.iter().filter_map(approval).collect();
    for item in requests {
        history.push(item);
    }
    if let Some(text) = ending {
        history.push(Item::user(text));
    }
    history
}

fn result(at: usize, call: &haft_core::ToolCall) -> ToolResult {
    let output = match call.name.as_str() {
        "computer" => {
            json!({"output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,iVBORw0KGgo="}})
        }
        "local_shell" => json!({"output": "a.txt"}),
        "apply_patch" => json!({"status": "completed"}),
        "shell" => {
            let output = json!({"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}});
            json!({"output": [output], "max_output_length": 100})
        }
        _ if at == 1 => return ToolResult::interrupted(call, "the station does not answer"),
        _ => json!({"celsius": 21}),
    };
    ToolResult::ok(call, output)
}

fn approval(item: &Item) -> Option<Item> {
    if let Item::ApprovalRequest(request) = item { Some(request.approve().into()) } else { None }
}

/// Returns a response's parts that the model wrote, as the response has them.
fn written(name: WireName, body: &Value) -> Vec<Value> {
    let parts = match name {
        WireName::OpenAiResponses => &body["output"],
        WireName::OpenAiChat => return vec![pruned(&body["choices"][0]["message"])],
        WireName::Anthropic => &body["content"],
        WireName::Gemini => &body["candidates"][0]["content"]["parts"],
    };
    parts.as_array().unwrap().iter().map(pruned).collect()
}

/// Returns the same parts, as the next request has them.
fn echoed(name: WireName, body: &Value) -> Vec<Value> {
    let of_model = |list: &Value, role: &str| {
        let items = list.as_array().unwrap().iter();
        items.filter(|item| item["role"] == role).cloned().collect::<Vec<_>>()
    };
    match name {
        WireName::OpenAiResponses => {
            let is_of_model = |item: &&Value| {
                let kind = item["type"].as_str().unwrap();
                item["role"] != "user" && !kind.ends_with("_output") && kind != "mcp_approval_response"
            };
            body["input"].as_array().unwrap().iter().filter(is_of_model).map(pruned).collect()
        }
        WireName::OpenAiChat => of_model(&body["messages"], "assistant").iter().map(pruned).collect(),
        WireName::Anthropic => {
            of_model(&body["messages"], "assistant").iter().flat_map(|message| list(&message["content"])).collect()
        }
        WireName::Gemini => {
            of_model(&body["contents"], "model").iter().flat_map(|content| list(&content["parts"])).collect()
        }
    }
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().unwrap().iter().map(pruned).collect()
}

/// The samples that are not sent back as they were, with the reasons.
const CHANGED: &[(WireName, &str, &str)] = &[
    (WireName::OpenAiResponses, "length_in_reasoning", "reasoning is rejected without the item that it led to"),
    (WireName::OpenAiChat, "empty", "an empty text is no message"),
    (WireName::OpenAiChat, "citations", "messages of requests have no annotations; reported"),
    (WireName::OpenAiChat, "audio", "requests name audio by its id, and its transcript is the text"),
    (WireName::OpenAiChat, "unknown_reasoning", "servers read reasoning back only while its turn lasts"),
    (WireName::OpenAiChat, "unknown_field", "members of the future are no items"),
    (WireName::Anthropic, "white_space", "text at the end of a conversation ends without white space"),
    (WireName::Anthropic, "documents", "citations of requests name no file"),
    (WireName::Anthropic, "pause", "a server call without a result is rejected when the user spoke; reported"),
    (
        WireName::Anthropic,
        "pause_with_calls",
        "a server call without a result is rejected when the user spoke; reported",
    ),
    (WireName::Gemini, "empty", "an empty text is no content"),
];

/// Returns what is the same to Gemini: calls without a signature get one that stands for none, and all have arguments.
fn unsigned(mut part: Value) -> Value {
    if part["thoughtSignature"] == "skip_thought_signature_validator" {
        part.as_object_mut().unwrap().remove("thoughtSignature");
    }
    if let Some(call) = part.get_mut("functionCall") {
        call.as_object_mut().unwrap().entry("args").or_insert_with(|| json!({}));
    }
    part
}

/// Checks the next request: the SDK accepts it, and everything that the model wrote is in it as it was, or reported.
fn check(wire: &JudgedWire, sample: &Sample, ending: Option<&str>) -> Vec<String> {
    let Some(body) = &sample.body else { return Vec::new() };
    let Ok(turn) = wire.wire.response(&body.to_string(), &wire.context()) else { return Vec::new() };
    let history = continued(&turn, ending);
    let mut request = TurnRequest::new(wire.model, Vec::new()).tools(&sample_tools());
    request.history = history;
    let sent = match wire.wire.request(&request, Delivery::Whole) {
        Ok(sent) => sent,
        Err(error) => return vec![format!("no request: {error}")],
    };
    let faults = if sample.name.starts_with("unknown") { Vec::new() } else { wire.faults(&sent) };
    let mut complaints: Vec<_> = faults.iter().map(|fault| format!("{} {}", fault.at, fault.message)).collect();
    let (mut original, mut again) = (written(wire.name, body), echoed(wire.name, &body_of(&sent)));
    if wire.name == WireName::Gemini {
        original.iter_mut().chain(&mut again).for_each(|part| *part = unsigned(part.take()));
    }
    // Other servers fail on arguments that are no JSON object.
    let is_cut = wire.server == JudgedServer::Compatible && sample.name == "length_in_call";
    let is_changed = is_cut || CHANGED.iter().any(|(name, changed, _)| (*name, *changed) == (wire.name, &sample.name));
    if original != again && !is_changed {
        let dropped: Vec<_> = sent.dropped.iter().map(ToString::to_string).collect();
        complaints.push(format!(
            "\n  {}\nis sent back as\n  {}\ndropped: {dropped:?}",
            Value::from(original),
            Value::from(again)
        ));
    }
    complaints
}

fn check_all(wire: &JudgedWire) {
    let name = wire.name;
    let samples = wire.samples();
    let mut complaints = Vec::new();
    // A reason that applies to no sample would hide a later change.
    for (of, changed, reason) in CHANGED {
        let exists = *of != name || samples.iter().any(|sample| sample.name == *changed);
        complaints.extend((!exists).then(|| format!("there is no sample {changed}: {reason}")));
    }
    for sample in &samples {
        for ending in [None, Some("And now?")] {
            let found = check(wire, sample, ending);
            complaints.extend(found.iter().map(|complaint| format!("{}, {ending:?}: {complaint}", sample.name)));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn openai_responses() {
    check_all(&wire(WireName::OpenAiResponses));
}

#[test]
fn openai_chat() {
    check_all(&wire(WireName::OpenAiChat));
}

#[test]
fn compatible_chat() {
    check_all(&compatible());
}

#[test]
fn anthropic() {
    check_all(&wire(WireName::Anthropic));
}

#[test]
fn gemini() {
    check_all(&wire(WireName::Gemini));
}
