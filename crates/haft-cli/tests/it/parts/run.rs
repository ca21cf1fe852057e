//! A response from each provider through `haft run --results`: the provider's SDK has to accept what comes out, after
//! the turn that it answers.

use std::io::Write;
use std::process::{Command, Stdio};

use haft_parts::{Judge, WireName};
use serde_json::{Value, json};

/// The response's calls: a value, invalid arguments, and a tool that does not exist.
const CALLS: [(&str, &str, &str); 3] = [
    ("call_a", "calculate", r#"{"expression":"6 * 7"}"#),
    ("call_b", "calculate", r#"{"expresion":"6 * 7"}"#),
    ("call_c", "calculat", "{}"),
];

fn name(wire: WireName) -> &'static str {
    match wire {
        WireName::OpenAiResponses => "openai",
        WireName::OpenAiChat => "openai-chat",
        WireName::Anthropic => "anthropic",
        WireName::Gemini => "gemini",
    }
}

fn arguments(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Returns a response with the calls, as the provider sends it, and the turn as the next request repeats it.
fn response(wire: WireName) -> (Value, Vec<Value>) {
    match wire {
        WireName::OpenAiResponses => {
            let call = |(id, name, text)| {
                json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
                       "arguments": text, "status": "completed"})
            };
            let output: Vec<Value> = CALLS.map(call).into();
            let body = json!({"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-4.1",
                "status": "completed", "output": output, "parallel_tool_calls": true, "tool_choice": "auto", "tools": []});
            (body, output)
        }
        WireName::OpenAiChat => {
            let call =
                |(id, name, text)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": text}});
            let message = json!({"role": "assistant", "content": null, "tool_calls": CALLS.map(call)});
            let choice = json!({"index": 0, "message": message, "finish_reason": "tool_calls"});
            let body = json!({"id": "c1", "object": "chat.completion", "created": 1, "model": "gpt-4.1",
                "choices": [choice]});
            (body, vec![message])
        }
        WireName::Anthropic => {
            let call = |(id, name, text)| json!({"type": "tool_use", "id": id, "name": name, "input": arguments(text)});
            let content = Value::from(CALLS.map(call).to_vec());
            let body = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
                "content": content, "stop_reason": "tool_use", "stop_sequence": null,
                "usage": {"input_tokens": 5, "output_tokens": 7}});
            (body, vec![json!({"role": "assistant", "content": content})])
        }
        WireName::Gemini => {
            let call = |(id, name, text)| json!({"functionCall": {"id": id, "name": name, "args": arguments(text)}});
            let content = json!({"role": "model", "parts": CALLS.map(call)});
            let body = json!({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
                "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 7, "totalTokenCount": 12},
                "modelVersion": "gemini-2.5-flash"});
            (body, vec![content])
        }
    }
}

/// Returns the next request: a question, the turn, and the results.
fn next_request(wire: WireName, turn: Vec<Value>, results: Vec<Value>) -> Value {
    let question = match wire {
        WireName::Gemini => json!({"role": "user", "parts": [{"text": "What is 6 * 7?"}]}),
        _ => json!({"role": "user", "content": "What is 6 * 7?"}),
    };
    let items: Vec<Value> = [vec![question], turn, results].concat();
    match wire {
        WireName::OpenAiResponses => json!({"model": "gpt-4.1", "input": items}),
        WireName::OpenAiChat => json!({"model": "gpt-4.1", "messages": items}),
        WireName::Anthropic => json!({"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": items}),
        WireName::Gemini => json!({"contents": items}),
    }
}

/// Runs the command with a response on its standard input, and returns what it prints.
fn results(wire: WireName, response: &Value) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    // With a workspace, a call of an unknown tool has a result.
    std::fs::write(folder.path().join("haft.toml"), "").unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_haft"))
        .args(["run", "-", "--results", name(wire)])
        .current_dir(folder.path())
        .env("HAFT_STATE_DIR", folder.path())
        .env_remove("HAFT_WORKSPACE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(response.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{wire:?}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_sdk_of_each_provider_accepts_the_results() {
    for wire in [WireName::OpenAiResponses, WireName::OpenAiChat, WireName::Anthropic, WireName::Gemini] {
        let (response, turn) = response(wire);
        let results = results(wire, &response);
        let text = Value::from(results.clone()).to_string();
        for expected in ["42", "expresion", "calculate"] {
            assert!(text.contains(expected), "{wire:?}: {expected} is missing in {text}");
        }
        Judge::shared().assert_valid(wire, &next_request(wire, turn, results));
    }
}
