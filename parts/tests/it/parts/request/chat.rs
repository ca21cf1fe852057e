use haft_parts::WireName;
use serde_json::{Value, json};

use super::{Cases, list, remove, set};

fn right() -> Value {
    json!({
        "model": "gpt-5-mini",
        "messages": [
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": [
                { "type": "text", "text": "Weather?" },
                { "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } },
            ] },
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "c1", "type": "function", "function": { "name": "get_weather", "arguments": "{}" } },
                { "id": "c2", "type": "function", "function": { "name": "get_weather", "arguments": "{}" } },
            ] },
            { "role": "tool", "tool_call_id": "c2", "content": "19" },
            { "role": "tool", "tool_call_id": "c1", "content": [{ "type": "text", "text": "18" }] },
            { "role": "assistant", "content": "Warm." },
            { "role": "user", "content": "Thanks" },
        ],
        "tools": [{ "type": "function", "function": { "name": "get_weather", "description": "d", "strict": true,
            "parameters": { "type": "object", "properties": {}, "required": [], "additionalProperties": false } } }],
        "tool_choice": { "type": "function", "function": { "name": "get_weather" } },
        "parallel_tool_calls": false,
        "max_completion_tokens": 100,
        "response_format": { "type": "json_schema", "json_schema":
            { "name": "answer", "schema": { "type": "object", "additionalProperties": false }, "strict": true } },
    })
}

#[test]
fn shapes() {
    let cases = Cases::of(WireName::OpenAiChat, right());
    cases.accepts("streamed", |body| {
        body["stream"] = json!(true);
        body["stream_options"] = json!({ "include_usage": true });
    });
    cases.rejects("stream options without a stream", "/stream_options", |body| {
        body["stream_options"] = json!({ "include_usage": true });
    });
    cases.rejects("an unknown key", "/top_k", |body| body["top_k"] = json!(5));
    cases.rejects("an unknown key of a message", "/messages/3/name", |body| {
        set(body, "/messages/3", "name", json!("x"));
    });
    cases.rejects("an unknown key deep inside", "/messages/2/tool_calls/0/function/id", |body| {
        set(body, "/messages/2/tool_calls/0/function", "id", json!("x"));
    });
    cases.rejects("an unknown key of a part", "/messages/1/content/1/image_url/mime", |body| {
        set(body, "/messages/1/content/1/image_url", "mime", json!("image/png"));
    });
    cases.rejects("an unknown key of a tool", "/tools/0/name", |body| set(body, "/tools/0", "name", json!("x")));
    cases.rejects("no arguments", "/messages/2/tool_calls/0/function/arguments", |body| {
        remove(body, "/messages/2/tool_calls/0/function", "arguments");
    });
    cases.rejects("no messages", "/messages", |body| remove(body, "", "messages"));
    cases.rejects("no id of the call", "/messages/3/tool_call_id", |body| remove(body, "/messages/3", "tool_call_id"));
    cases.rejects("a wrong role", "/messages/6", |body| set(body, "/messages/6", "role", json!("model")));
    cases.rejects("an image as a result", "/messages/4/content", |body| {
        set(body, "/messages/4", "content", json!([{ "type": "image_url", "image_url": { "url": "x" } }]));
    });
    cases.rejects("arguments as an object", "/messages/2/tool_calls/0/function/arguments", |body| {
        set(body, "/messages/2/tool_calls/0/function", "arguments", json!({}));
    });
}

#[test]
fn calls_and_results() {
    let cases = Cases::of(WireName::OpenAiChat, right());
    cases.rejects("an orphan result", "/messages/7/tool_call_id", |body| {
        list(body, "/messages").push(json!({ "role": "tool", "tool_call_id": "c9", "content": "" }));
    });
    cases
        .rejects("a call without a result", "/messages/2/tool_calls/1", |body| drop(list(body, "/messages").remove(3)));
    cases.rejects("a result after another message", "/messages/2/tool_calls/0", |body| {
        list(body, "/messages").swap(4, 5);
    });
    cases.rejects("two results", "/messages/5/tool_call_id", |body| {
        let result = body["messages"][4].clone();
        list(body, "/messages").insert(5, result);
    });
    cases.rejects("two calls with one id", "/messages/2/tool_calls/1/id", |body| {
        set(body, "/messages/2/tool_calls/1", "id", json!("c1"));
    });
    cases.rejects("a long id", "/messages/2/tool_calls/0/id", |body| {
        set(body, "/messages/2/tool_calls/0", "id", json!("c".repeat(41)));
        set(body, "/messages/4", "tool_call_id", json!("c".repeat(41)));
    });
    cases.rejects("an empty assistant message", "/messages/5", |body| set(body, "/messages/5", "content", json!(null)));
    cases.rejects("no calls in the list", "/messages/5/tool_calls", |body| {
        set(body, "/messages/5", "tool_calls", json!([]));
    });
    cases.rejects("a choice without tools", "/tool_choice", |body| remove(body, "", "tools"));
    cases.rejects("a choice that is not offered", "/tool_choice", |body| {
        set(body, "/tool_choice/function", "name", json!("other"));
    });
    cases.rejects("a list as parameters", "/tools/0/function/parameters/type", |body| {
        set(body, "/tools/0/function/parameters", "type", json!("array"));
    });
}

#[test]
fn arguments_on_other_servers() {
    let mut cases = Cases::of(WireName::OpenAiChat, right());
    let half = |body: &mut Value| set(body, "/messages/2/tool_calls/0/function", "arguments", json!("{\"a\":"));
    cases.accepts("half of the arguments", half);
    cases.options = json!({ "compatible": true });
    cases.rejects("half of the arguments", "/messages/2/tool_calls/0/function/arguments", half);
    cases.rejects("a list as arguments", "/messages/2/tool_calls/1/function/arguments", |body| {
        set(body, "/messages/2/tool_calls/1/function", "arguments", json!("[]"));
    });
}

/// The request as a server takes it, and the option that names the server.
fn at(server: &str, change: impl FnOnce(&mut Value)) -> Cases {
    let mut body = right();
    change(&mut body);
    let mut cases = Cases::of(WireName::OpenAiChat, body);
    cases.options = json!({ "compatible": server });
    cases
}

#[test]
fn mistral() {
    let cases = at("mistral", |body| {
        remove(body, "", "max_completion_tokens");
        for (index, id) in [("/messages/2/tool_calls/0", "aaaaaaaa1"), ("/messages/2/tool_calls/1", "aaaaaaaa2")] {
            set(body, index, "id", json!(id));
        }
        set(body, "/messages/3", "tool_call_id", json!("aaaaaaaa2"));
        set(body, "/messages/4", "tool_call_id", json!("aaaaaaaa1"));
    });
    cases.accepts("as it is", |_| ());
    cases.rejects("options of the stream", "/stream_options", |body| {
        body["stream"] = json!(true);
        body["stream_options"] = json!({ "include_usage": true });
    });
    cases.rejects("the other limit", "/max_completion_tokens", |body| body["max_completion_tokens"] = json!(9));
    cases.rejects("reasoning", "/messages/5/reasoning_content", |body| {
        set(body, "/messages/5", "reasoning_content", json!("hm"));
    });
    cases.rejects("a refusal", "/messages/5/refusal", |body| set(body, "/messages/5", "refusal", json!("no")));
    cases.rejects("a long id", "/messages/2/tool_calls/0/id", |body| {
        set(body, "/messages/2/tool_calls/0", "id", json!("call_1234567"));
        set(body, "/messages/4", "tool_call_id", json!("call_1234567"));
    });
    cases.rejects("a message of the model at the end", "/messages/5/role", |body| drop(list(body, "/messages").pop()));
    cases.rejects("a user after a tool", "/messages/5/role", |body| drop(list(body, "/messages").remove(5)));
}

#[test]
fn openrouter() {
    let detail = |index: u64| json!({ "type": "reasoning.text", "text": "a", "index": index });
    let cases = at("openrouter", |_| ());
    cases.accepts("whole details", |body| {
        set(body, "/messages/2", "reasoning_details", json!([detail(0), detail(1)]));
    });
    cases.rejects("fragments", "/messages/2/reasoning_details/1", |body| {
        set(body, "/messages/2", "reasoning_details", json!([detail(0), detail(0)]));
    });
    cases.rejects("reasoning of another server", "/messages/2/reasoning_content", |body| {
        set(body, "/messages/2", "reasoning_content", json!("hm"));
    });
}

#[test]
fn other_servers() {
    at("groq", |_| ()).rejects("metadata", "/metadata", |body| body["metadata"] = json!({ "a": "b" }));
    at("xai", |_| ()).rejects("metadata", "/metadata", |body| body["metadata"] = json!({ "a": "b" }));
    let without_choice = |body: &mut Value| {
        remove(body, "", "tool_choice");
        remove(body, "", "parallel_tool_calls");
    };
    at("ollama", without_choice).rejects("a choice", "/tool_choice", |body| body["tool_choice"] = json!("required"));
    at("llama.cpp", without_choice).rejects("a named tool", "/tool_choice", |body| {
        body["tool_choice"] = right()["tool_choice"].clone();
    });
}

#[test]
fn deepseek() {
    let mut cases = at("deepseek", |body| {
        body["response_format"] = json!({ "type": "json_object" });
        set(body, "/messages/0", "content", json!("Answer in JSON."));
    });
    set(&mut cases.right, "/messages/2", "reasoning_content", json!("hm"));
    cases.accepts("as it is", |_| ());
    cases.rejects("a schema", "/response_format/type", |body| {
        body["response_format"] = right()["response_format"].clone();
    });
    cases.rejects("JSON without a word about it", "/response_format/type", |body| {
        set(body, "/messages/0", "content", json!("Be brief."));
    });
    let without_reasoning = |body: &mut Value| remove(body, "/messages/2", "reasoning_content");
    cases.rejects("calls without their reasoning", "/messages/2/reasoning_content", without_reasoning);
    cases.accepts("calls without reasoning outside of the thinking mode", |body| {
        without_reasoning(body);
        body["thinking"] = json!({ "type": "disabled" });
    });
}

#[test]
fn sealed_secrets() {
    let cases = Cases::of(WireName::OpenAiChat, right());
    cases.rejects("a secret that was not filled in", "/user", |body| {
        body["user"] = json!("haft-secret-00000000000000000000000000000000");
    });
}

#[test]
fn models_that_reason_have_no_sampling() {
    let cases = Cases::of(WireName::OpenAiChat, right());
    for model in ["gpt-5-mini", "o3", "ft:o4-mini-2025-04-16:acme::7p4l"] {
        cases.rejects(model, "/temperature", |body| {
            body["model"] = json!(model);
            body["temperature"] = json!(0.5);
        });
    }
    cases.rejects("nucleus sampling", "/top_p", |body| body["top_p"] = json!(0.5));
    cases.accepts("no reasoning", |body| {
        body["temperature"] = json!(0.5);
        body["reasoning_effort"] = json!("none");
    });
    cases.accepts("a model that does not reason", |body| {
        body["model"] = json!("gpt-4.1");
        body["temperature"] = json!(0.5);
    });
}

#[test]
fn settings_that_some_models_reject() {
    let cases = Cases::of(WireName::OpenAiChat, right());
    for model in ["o3", "o4-mini-2025-04-16"] {
        cases.accepts(model, |body| {
            body["model"] = json!(model);
            remove(body, "", "parallel_tool_calls");
        });
        cases.rejects("one call at a time", "/parallel_tool_calls", |body| body["model"] = json!(model));
    }
    for model in ["gpt-3.5-turbo", "gpt-4", "gpt-4-0613", "gpt-4-turbo-2024-04-09"] {
        cases.accepts(model, |body| {
            body["model"] = json!(model);
            remove(body, "", "response_format");
        });
        cases.rejects("a format", "", |body| body["model"] = json!(model));
    }
    for model in ["o3", "o4-mini", "gpt-5-mini", "gpt-5.4"] {
        cases.rejects("sequences that end the answer", "/stop", |body| {
            body["model"] = json!(model);
            body["stop"] = json!(["END"]);
        });
    }
    cases.accepts("sequences of a model that does not reason", |body| {
        body["model"] = json!("gpt-4.1");
        body["stop"] = json!(["END"]);
    });
    cases.accepts("gpt-4.1", |body| body["model"] = json!("gpt-4.1"));
    cases.accepts("gpt-4o", |body| body["model"] = json!("gpt-4o"));
}

#[test]
fn strict_schemas() {
    let cases = Cases::of(WireName::OpenAiChat, right());
    let schema = json!({ "type": "object", "required": ["a"], "additionalProperties": false, "properties": {
        "a": { "type": ["object", "null"], "properties": {}, "required": [], "additionalProperties": false } } });
    let with = |change: fn(&mut Value)| {
        let mut schema = schema.clone();
        change(&mut schema);
        move |body: &mut Value| set(body, "/tools/0/function", "parameters", schema)
    };
    cases.accepts("all keys", with(|_| ()));
    cases.rejects(
        "other keys",
        "/tools/0/function/parameters/additionalProperties",
        with(|schema| remove(schema, "", "additionalProperties")),
    );
    cases.rejects(
        "other keys deep inside",
        "/tools/0/function/parameters/properties/a/additionalProperties",
        with(|schema| {
            set(schema, "/properties/a", "additionalProperties", json!(true));
        }),
    );
    cases.rejects(
        "an optional key",
        "/tools/0/function/parameters/required",
        with(|schema| set(schema, "", "required", json!([]))),
    );
}
