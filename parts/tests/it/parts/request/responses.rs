use haft_parts::WireName;
use serde_json::{Value, json};

use super::{Cases, list, remove, set};

fn right() -> Value {
    json!({
        "model": "gpt-5",
        "store": false,
        "instructions": "Be brief.",
        "include": ["reasoning.encrypted_content"],
        "input": [
            { "type": "message", "role": "user", "content": [
                { "type": "input_text", "text": "Weather?" },
                { "type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto" },
            ] },
            { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA" },
            { "type": "function_call", "id": "fc_1", "call_id": "c1", "name": "get_weather", "arguments": "{}" },
            { "type": "function_call", "id": "fc_2", "call_id": "c2", "name": "get_weather", "arguments": "{}" },
            { "type": "function_call_output", "call_id": "c1", "output": "18" },
            { "type": "function_call_output", "call_id": "c2", "output": [{ "type": "input_text", "text": "19" }] },
            { "type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [
                { "type": "output_text", "text": "Warm.", "annotations": [] },
            ] },
            { "role": "user", "content": "Thanks" },
        ],
        "tools": [
            { "type": "function", "name": "get_weather", "description": "d", "strict": true, "parameters":
                { "type": "object", "properties": {}, "required": [], "additionalProperties": false } },
            { "type": "web_search" },
        ],
        "tool_choice": { "type": "function", "name": "get_weather" },
        "parallel_tool_calls": true,
        "text": { "format": { "type": "json_schema", "name": "answer", "schema": { "type": "object", "additionalProperties": false }, "strict": true } },
        "reasoning": { "effort": "low", "summary": "auto" },
    })
}

#[test]
fn shapes() {
    let cases = Cases::of(WireName::OpenAiResponses, right());
    cases.accepts("streamed", |body| body["stream"] = json!(true));
    cases.accepts("a plain text", |body| {
        body["input"] = json!("Weather?");
    });
    cases.rejects("an unknown key", "/max_tokens", |body| body["max_tokens"] = json!(5));
    cases.rejects("an unknown key of an item", "/input/2/extra", |body| set(body, "/input/2", "extra", json!(1)));
    cases.rejects("an unknown key deep inside", "/input/0/content/1/url", |body| {
        set(body, "/input/0/content/1", "url", json!("x"));
    });
    cases.rejects("an unknown key of a tool", "/tools/0/input_schema", |body| {
        set(body, "/tools/0", "input_schema", json!({}));
    });
    cases.rejects("an unknown key of the format", "/text/format/x", |body| set(body, "/text/format", "x", json!(1)));
    cases.rejects("no name", "/input/2/name", |body| remove(body, "/input/2", "name"));
    cases.rejects("no `strict`", "/tools/0/strict", |body| remove(body, "/tools/0", "strict"));
    cases.rejects("no model", "/model", |body| remove(body, "", "model"));
    cases.rejects("a wrong role", "/input/7", |body| set(body, "/input/7", "role", json!("tool")));
    cases.rejects("a wrong type", "/input/7", |body| set(body, "/input/7", "type", json!("telepathy")));
    cases.rejects("a number as text", "/input/4/output", |body| set(body, "/input/4", "output", json!(18)));
    cases.rejects("text as a number", "/temperature", |body| body["temperature"] = json!("0.5"));
}

#[test]
fn limits_of_the_answer() {
    let cases = Cases::of(WireName::OpenAiResponses, right());
    cases.accepts("the least", |body| body["max_output_tokens"] = json!(16));
    cases.rejects("less", "/max_output_tokens", |body| body["max_output_tokens"] = json!(15));
}

#[test]
fn calls_and_outputs() {
    let cases = Cases::of(WireName::OpenAiResponses, right());
    cases.rejects("an orphan output", "/input/8/call_id", |body| {
        list(body, "/input").push(json!({ "type": "function_call_output", "call_id": "c9", "output": "" }));
    });
    cases.rejects("a call without an output", "/input/2/call_id", |body| drop(list(body, "/input").remove(4)));
    cases.rejects("an output before its call", "/input/0/call_id", |body| {
        let output = list(body, "/input").remove(4);
        list(body, "/input").insert(0, output);
    });
    cases.rejects("two outputs", "/input/5/call_id", |body| {
        let output = list(body, "/input")[4].clone();
        list(body, "/input").insert(5, output);
    });
    cases.rejects("an output of another kind", "/input/4/type", |body| {
        set(body, "/input/4", "type", json!("custom_tool_call_output"));
    });
    cases.rejects("two calls with one id", "/input/3/call_id", |body| {
        set(body, "/input/3", "call_id", json!("c1"));
    });
    cases.rejects("a long id", "/input/2/call_id", |body| {
        set(body, "/input/2", "call_id", json!("c".repeat(65)));
        set(body, "/input/4", "call_id", json!("c".repeat(65)));
    });
    cases.rejects("the id of another provider", "/input/2/id", |body| set(body, "/input/2", "id", json!("toolu_1")));
    cases.accepts("an output of a stored call", |body| {
        body["previous_response_id"] = json!("resp_1");
        body["input"] = json!([{ "type": "function_call_output", "call_id": "c1", "output": "18" }]);
    });
}

#[test]
fn reasoning_and_tools() {
    let cases = Cases::of(WireName::OpenAiResponses, right());
    cases.rejects("reasoning without its item", "/input/1", |body| {
        list(body, "/input").drain(2..6);
        list(body, "/input").swap_remove(2);
    });
    cases.rejects("reasoning at the end", "/input/8", |body| {
        let mut reasoning = body["input"][1].clone();
        reasoning["id"] = json!("rs_2");
        list(body, "/input").push(reasoning);
    });
    cases.rejects("reasoning that nobody kept", "/input/1", |body| remove(body, "/input/1", "encrypted_content"));
    cases.rejects("a name with a dot", "/tools/0/name", |body| set(body, "/tools/0", "name", json!("a.b")));
    cases.rejects("two tools of one name", "/tools/2/name", |body| {
        let tool = body["tools"][0].clone();
        list(body, "/tools").push(tool);
    });
    cases.rejects("a choice that is not offered", "/tool_choice", |body| {
        set(body, "/tool_choice", "name", json!("other"));
    });
    cases.rejects("a union as the root", "/tools/0/parameters/anyOf", |body| {
        set(body, "/tools/0/parameters", "anyOf", json!([]));
    });
}

#[test]
fn models_that_do_not_reason() {
    let cases = Cases::of(WireName::OpenAiResponses, right());
    for model in ["gpt-4o", "chatgpt-4o-latest", "ft:gpt-4.1-mini:acme::7p4l", "gpt-5.2-chat-latest"] {
        let plain = |body: &mut Value| {
            body["model"] = json!(model);
            remove(body, "", "reasoning");
            remove(body, "", "include");
            list(body, "/input").remove(1);
        };
        cases.accepts(model, plain);
        cases.rejects("its reasoning is requested", "/include", |body| {
            plain(body);
            body["include"] = json!(["reasoning.encrypted_content"]);
        });
        cases.rejects("reasoning of another model", "/input/1", |body| body["model"] = json!(model));
    }
    cases.accepts("a deployment", |body| body["model"] = json!("prod-assistant"));
    cases.rejects("a temperature", "/temperature", |body| body["temperature"] = json!(0.5));
    cases.accepts("a temperature without reasoning", |body| {
        body["temperature"] = json!(0.5);
        body["reasoning"] = json!({ "effort": "none" });
    });
}

#[test]
fn namespaces_and_programs() {
    let cases = Cases::of(WireName::OpenAiResponses, right());
    let function = || {
        json!({ "type": "function", "name": "list_orders", "description": "d", "strict": false, "defer_loading": true,
            "allowed_callers": ["direct", "programmatic"], "parameters": { "type": "object", "properties": {} } })
    };
    let with = move |body: &mut Value| {
        let namespace = json!({ "type": "namespace", "name": "crm", "description": "Orders.", "tools": [function()] });
        list(body, "/tools").extend([namespace, json!({ "type": "tool_search" })]);
    };
    cases.accepts("a namespace", with);
    cases.rejects("no functions", "/tools/2/tools", |body| {
        with(body);
        set(body, "/tools/2", "tools", json!([]));
    });
    cases.rejects("no description", "/tools/2/description", |body| {
        with(body);
        set(body, "/tools/2", "description", json!(" "));
    });
    cases.rejects("two functions of one name", "/tools/2/tools/1/name", |body| {
        with(body);
        list(body, "/tools/2/tools").push(function());
    });
    cases.rejects("two namespaces of one name", "/tools/4/name", |body| {
        with(body);
        let namespace = body["tools"][2].clone();
        list(body, "/tools").push(namespace);
    });
    cases.rejects("strict, and called by programs", "/tools/2/tools/0/strict", |body| {
        with(body);
        set(body, "/tools/2/tools/0", "strict", json!(true));
    });
    cases.rejects("deferred without a search", "/tools/2/tools/0/defer_loading", |body| {
        with(body);
        list(body, "/tools").pop();
    });
    cases.rejects("a choice inside", "/tool_choice", |body| {
        with(body);
        set(body, "/tool_choice", "name", json!("list_orders"));
    });
    cases.rejects("an unknown key of a namespace", "/tools/2/defer_loading", |body| {
        with(body);
        set(body, "/tools/2", "defer_loading", json!(true));
    });
}

#[test]
fn strict_schemas() {
    let cases = Cases::of(WireName::OpenAiResponses, right());
    let schema = json!({ "type": "object", "required": ["a"], "additionalProperties": false, "properties": {
        "a": { "type": ["object", "null"], "properties": {}, "required": [], "additionalProperties": false } } });
    let with = |change: fn(&mut Value)| {
        let mut schema = schema.clone();
        change(&mut schema);
        move |body: &mut Value| set(body, "/tools/0", "parameters", schema)
    };
    cases.accepts("all keys", with(|_| ()));
    cases.rejects(
        "other keys",
        "/tools/0/parameters/additionalProperties",
        with(|schema| remove(schema, "", "additionalProperties")),
    );
    cases.rejects(
        "other keys deep inside",
        "/tools/0/parameters/properties/a/additionalProperties",
        with(|schema| {
            set(schema, "/properties/a", "additionalProperties", json!(true));
        }),
    );
    cases.rejects(
        "an optional key",
        "/tools/0/parameters/required",
        with(|schema| set(schema, "", "required", json!([]))),
    );
}
