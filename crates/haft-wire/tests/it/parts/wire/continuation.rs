//! A history that was recorded on one provider continues on each other one.

use haft_core::{ContentPart, History, Item, MediaData, Message, Role, ToolCallOutput, TurnRequest};
use haft_parts::{Judge, WireName};
use haft_wire::Delivery;
use serde_json::{Value, json};

use super::{JudgedServer, JudgedWire, SERVERS, body_of, compatible, limited, sample_tools, server, wires};

/// Marks all data that only one provider may see: item ids, signatures, its own tools' payloads.
const PRIVATE: &str = "zz9zz9zz9zz9";
const PIXEL: &str = "iVBORw0KGgo=";

/// The texts that every provider must receive.
const PUBLIC: [&str; 7] = [
    "What is the weather?",
    "Let me look.",
    "Sunny",
    "the station does not answer",
    "celsius",
    "It is warm.",
    "Look at this.",
];

/// Returns two responses of a provider: one with all kinds of items, and one that answers.
fn responses(name: WireName) -> [Value; 2] {
    match name {
        WireName::OpenAiResponses => [openai(rich_openai()), openai(answer_openai())],
        WireName::OpenAiChat => [chat(rich_chat(), "tool_calls"), chat(answer_chat(), "stop")],
        WireName::Anthropic => [anthropic(rich_anthropic(), "tool_use"), anthropic(answer_anthropic(), "end_turn")],
        WireName::Gemini => [gemini(rich_gemini()), gemini(answer_gemini())],
    }
}

#[allow(clippy::needless_pass_by_value, reason = "the values are literals")]
fn openai(output: Value) -> Value {
    json!({
        "id": format!("resp_{PRIVATE}"), "object": "response", "created_at": 1_790_000_000.0, "status": "completed",
        "model": "gpt-5", "output": output, "parallel_tool_calls": true, "tool_choice": "auto", "tools": [],
        "error": null, "incomplete_details": null, "instructions": null, "metadata": {}, "temperature": 1.0, "top_p": 1.0,
    })
}

fn rich_openai() -> Value {
    let id = |prefix: &str| format!("{prefix}_{PRIVATE}");
    let summary = json!([{"type": "summary_text", "text": "Look it up."}]);
    let search = json!({"type": "search", "query": PRIVATE, "queries": [PRIVATE]});
    let shell = json!({"commands": ["ls"], "timeout_ms": 1000, "max_output_length": 100});
    json!([
        {"id": id("rs"), "type": "reasoning", "summary": summary, "encrypted_content": PRIVATE},
        {"id": id("ws"), "type": "web_search_call", "status": "completed", "action": search},
        {"id": id("ig"), "type": "image_generation_call", "status": "completed", "result": PRIVATE},
        {
            "id": id("msg"), "type": "message", "role": "assistant", "status": "completed", "phase": "commentary",
            "content": [{"type": "output_text", "text": "Let me look.", "annotations": [], "logprobs": []}],
        },
        {
            "id": id("fc"), "type": "function_call", "status": "completed", "call_id": "call_1", "name": "get_weather",
            "arguments": "{\"city\":\"Oslo\"}",
        },
        {
            "id": id("fc_2"), "type": "function_call", "status": "completed", "call_id": "call_2", "name": "add",
            "arguments": "{\"a\":1,\"b\":2}",
        },
        {"id": id("ctc"), "type": "custom_tool_call", "call_id": "call_3", "name": "run", "input": "a = 1\n"},
        {
            "id": id("sh"), "type": "shell_call", "call_id": "call_4", "status": "completed", "action": shell,
            "environment": {"type": "local"},
        },
    ])
}

fn answer_openai() -> Value {
    let cited = json!({
        "type": "url_citation", "start_index": 0, "end_index": 2, "url": format!("https://{PRIVATE}.example"), "title": "A",
    });
    let part = json!({"type": "output_text", "text": "It is warm.", "annotations": [cited], "logprobs": []});
    json!([{
        "id": format!("msg_2_{PRIVATE}"), "type": "message", "role": "assistant", "status": "completed", "content": [part],
    }])
}

#[allow(clippy::needless_pass_by_value, reason = "the values are literals")]
fn chat(message: Value, finish: &str) -> Value {
    let choice = json!({"index": 0, "message": message, "finish_reason": finish, "logprobs": null});
    let id = format!("chatcmpl-{PRIVATE}");
    json!({"id": id, "object": "chat.completion", "created": 1_790_000_000, "model": "gpt-5-mini", "choices": [choice]})
}

fn rich_chat() -> Value {
    let function = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    json!({
        "role": "assistant", "content": "Let me look.", "refusal": null,
        "audio": {"id": format!("audio_{PRIVATE}"), "data": PRIVATE, "transcript": "", "expires_at": 1_790_000_000},
        "tool_calls": [
            function("call_1", "get_weather", "{\"city\":\"Oslo\"}"),
            function("call_2", "add", "{\"a\":1,\"b\":2}"),
            {"id": "call_3", "type": "custom", "custom": {"name": "run", "input": "a = 1\n"}},
        ],
    })
}

fn answer_chat() -> Value {
    let url = format!("https://{PRIVATE}.example");
    let cited = json!({
        "type": "url_citation", "url_citation": {"start_index": 0, "end_index": 2, "url": url, "title": "A"},
    });
    json!({"role": "assistant", "content": "It is warm.", "refusal": null, "annotations": [cited]})
}

#[allow(clippy::needless_pass_by_value, reason = "the values are literals")]
fn anthropic(content: Value, stop_reason: &str) -> Value {
    json!({
        "id": format!("msg_{PRIVATE}"), "type": "message", "role": "assistant", "model": "claude-sonnet-5-5",
        "content": content, "stop_reason": stop_reason, "stop_sequence": null,
        "usage": {"input_tokens": 5, "output_tokens": 4},
    })
}

fn rich_anthropic() -> Value {
    let found = json!({
        "type": "web_search_result", "url": "https://example.com", "title": PRIVATE, "encrypted_content": PRIVATE,
        "page_age": null,
    });
    let search = format!("srvtoolu_{PRIVATE}");
    json!([
        {"type": "thinking", "thinking": "Look it up.", "signature": PRIVATE},
        {"type": "redacted_thinking", "data": PRIVATE},
        {"type": "text", "text": "Let me look.", "citations": null},
        {"type": "server_tool_use", "id": search, "name": "web_search", "input": {"query": PRIVATE}},
        {"type": "web_search_tool_result", "tool_use_id": search, "content": [found]},
        {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Oslo"}},
        {"type": "tool_use", "id": "toolu_2", "name": "add", "input": {"a": 1, "b": 2}},
        {"type": "tool_use", "id": "toolu_3", "name": "memory", "input": {"command": "view", "path": "/memories"}},
    ])
}

fn answer_anthropic() -> Value {
    let cited = json!({
        "type": "web_search_result_location", "url": "https://example.com", "title": "A", "encrypted_index": PRIVATE,
        "cited_text": "warm",
    });
    json!([{"type": "text", "text": "It is warm.", "citations": [cited]}])
}

#[allow(clippy::needless_pass_by_value, reason = "the values are literals")]
fn gemini(parts: Value) -> Value {
    let candidate = json!({"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0});
    json!({"candidates": [candidate], "modelVersion": "gemini-3-pro", "responseId": PRIVATE})
}

fn rich_gemini() -> Value {
    json!([
        {"text": "Look it up.", "thought": true},
        {"executableCode": {"language": "PYTHON", "code": PRIVATE}, "thoughtSignature": PRIVATE},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": PRIVATE}},
        {"text": "Let me look.", "thoughtSignature": PRIVATE},
        {"functionCall": {"name": "get_weather", "args": {"city": "Oslo"}}, "thoughtSignature": PRIVATE},
        {"functionCall": {"name": "add", "args": {"a": 1, "b": 2}}},
    ])
}

fn answer_gemini() -> Value {
    json!([{"text": "It is warm."}, {"text": "", "thoughtSignature": PRIVATE}])
}

/// The point from which a conversation is continued.
#[derive(Clone, Copy, Debug)]
enum Ending {
    /// Right after call results: the first provider's turn goes on.
    Results,
    /// After another turn and a message of the user.
    User,
}

/// Records a conversation on a wire.
fn record(wire: &JudgedWire, ending: Ending) -> History {
    let [first, second] = responses(wire.name).map(|body| {
        let parsed = Judge::shared().parse(wire.name, &body).unwrap();
        assert!(parsed.faults.is_empty(), "{}: {:#?}", wire.name.as_str(), parsed.faults);
        wire.read(&body)
    });
    let image = || ContentPart::image("image/png", MediaData::Base64(PIXEL.to_owned()));
    let seen = Message::new(Role::User, vec![ContentPart::text("Look at this."), image()]);
    let mut history = History::from(vec![Item::user("What is the weather?"), seen.into()]);
    let calls = first.tool_calls();
    first.items.into_iter().for_each(|item| history.push(item));
    for (at, call) in calls.iter().enumerate() {
        let output = match at {
            0 => ToolCallOutput::new(&call.call_id, vec![ContentPart::text("Sunny {\"celsius\":21}"), image()]),
            1 => ToolCallOutput::new(&call.call_id, "the station does not answer").error(),
            _ => ToolCallOutput::new(&call.call_id, shell_output(&call.name).to_string()),
        };
        history.push(output.tool(&call.name).into());
    }
    if let Ending::User = ending {
        second.items.into_iter().for_each(|item| history.push(item));
        history.push(Item::user("And now?"));
    }
    history
}

fn shell_output(name: &str) -> Value {
    let output = json!([{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]);
    if name == "shell" { json!({"output": output}) } else { json!("done") }
}

/// Continues a history on a wire, and returns what it reports.
fn resume(history: &History, from: WireName, to: &JudgedWire, ending: Ending, complaints: &mut Vec<String>) -> Value {
    let mut request = TurnRequest::new(to.model, Vec::new()).tools(&sample_tools());
    request.history = history.clone();
    let sent = to.wire.request(&request, Delivery::Streamed).unwrap();
    let mut complain = |what: String| {
        complaints.push(format!("{} to {} ({}), {ending:?}: {what}", from.as_str(), to.label(), to.model));
    };
    for fault in to.faults(&sent) {
        complain(format!("{} {}\n{:#}", fault.at, fault.message, body_of(&sent)));
    }
    let body = sent.body.replace("\\\"", "\"");
    let is_own = from == to.name && to.server == JudgedServer::Own;
    if body.contains(PRIVATE) && !is_own {
        complain(format!("private data in {:#}", body_of(&sent)));
    }
    let is_answer = |text: &str| text == "It is warm.";
    for text in PUBLIC.iter().filter(|text| matches!(ending, Ending::User) || !is_answer(text)) {
        if !body.contains(text) {
            complain(format!("{text:?} is missing in {:#}", body_of(&sent)));
        }
    }
    if body.matches(PIXEL).count() != 2 {
        complain(format!("an image is missing in {:#}", body_of(&sent)));
    }
    sent.dropped.iter().map(ToString::to_string).collect()
}

#[test]
fn every_history_continues_on_other_servers_and_on_models_that_accept_less() {
    let mut complaints = Vec::new();
    let targets: Vec<_> = SERVERS.into_iter().map(server).chain(limited()).collect();
    for from in &wires() {
        for ending in [Ending::Results, Ending::User] {
            let history = record(from, ending);
            for to in &targets {
                resume(&history, from.name, to, ending, &mut complaints);
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn every_history_continues_on_every_wire() {
    let wires = wires();
    let mut complaints = Vec::new();
    let mut reports = serde_json::Map::new();
    for from in &wires {
        for ending in [Ending::Results, Ending::User] {
            let history = record(from, ending);
            for to in wires.iter().chain(&[compatible()]) {
                let pair = format!("{} to {}, {ending:?}", from.label(), to.label());
                reports.insert(pair, resume(&history, from.name, to, ending, &mut complaints));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    insta::assert_snapshot!("losses", serde_json::to_string_pretty(&reports).unwrap());
}
