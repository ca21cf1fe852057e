use haft_parts::WireName;
use serde_json::{Value, json};

use super::{Cases, list, remove, set};

fn right() -> Value {
    json!({
        "model": "claude-sonnet-4-5",
        "max_tokens": 4096,
        "system": [{ "type": "text", "text": "Be brief.", "cache_control": { "type": "ephemeral" } }],
        "thinking": { "type": "enabled", "budget_tokens": 2048 },
        "messages": [
            { "role": "user", "content": [
                { "type": "text", "text": "Weather?" },
                { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AAAA" } },
            ] },
            { "role": "assistant", "content": [
                { "type": "thinking", "thinking": "hm", "signature": "Eq" },
                { "type": "text", "text": "Let me look." },
                { "type": "tool_use", "id": "t1", "name": "get_weather", "input": { "city": "Paris" } },
                { "type": "tool_use", "id": "t2", "name": "get_weather", "input": {} },
            ] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "t2", "content": "no such city", "is_error": true },
                { "type": "tool_result", "tool_use_id": "t1", "content": [{ "type": "text", "text": "18" }] },
                { "type": "text", "text": "Go on." },
            ] },
        ],
        "tools": [
            { "name": "get_weather", "description": "d", "input_schema":
                { "type": "object", "properties": { "city": { "type": "string" } } } },
            { "type": "web_search_20250305", "name": "web_search", "max_uses": 3 },
        ],
        "tool_choice": { "type": "auto", "disable_parallel_tool_use": true },
    })
}

#[test]
fn shapes() {
    let cases = Cases::of(WireName::Anthropic, right());
    cases.accepts("streamed", |body| body["stream"] = json!(true));
    cases.accepts("a result without content", |body| remove(body, "/messages/2/content/1", "content"));
    cases.rejects("an unknown key", "/max_output_tokens", |body| body["max_output_tokens"] = json!(5));
    cases.rejects("an unknown key of a block", "/messages/1/content/2/arguments", |body| {
        set(body, "/messages/1/content/2", "arguments", json!("{}"));
    });
    cases.rejects("an unknown key deep inside", "/messages/2/content/1/content/0/x", |body| {
        set(body, "/messages/2/content/1/content/0", "x", json!(1));
    });
    cases.rejects("an unknown key of a source", "/messages/0/content/1/source/mime_type", |body| {
        set(body, "/messages/0/content/1/source", "mime_type", json!("image/png"));
    });
    cases.rejects("an unknown key of a tool", "/tools/0/parameters", |body| {
        set(body, "/tools/0", "parameters", json!({}));
    });
    cases.rejects("an argument of another tool", "/tools/1", |body| set(body, "/tools/1", "max_characters", json!(1)));
    cases.rejects("no `max_tokens`", "/max_tokens", |body| remove(body, "", "max_tokens"));
    cases.rejects("no signature", "/messages/1/content/0/signature", |body| {
        remove(body, "/messages/1/content/0", "signature");
    });
    cases.rejects("a wrong role", "/messages/2", |body| set(body, "/messages/2", "role", json!("tool")));
    cases.rejects("input as text", "/messages/1/content/2/input", |body| {
        set(body, "/messages/1/content/2", "input", json!("{}"));
    });
    cases.rejects("`is_error` as text", "/messages/2/content/0/is_error", |body| {
        set(body, "/messages/2/content/0", "is_error", json!("true"));
    });
}

#[test]
fn calls_and_results() {
    let cases = Cases::of(WireName::Anthropic, right());
    cases.rejects("an orphan result", "/messages/2/content/1/tool_use_id", |body| {
        set(body, "/messages/2/content/1", "tool_use_id", json!("t9"));
    });
    cases.rejects("a call without a result", "/messages/1/content/3", |body| {
        list(body, "/messages/2/content").remove(0);
    });
    cases.rejects("a call at the end", "/messages/1/content/2", |body| drop(list(body, "/messages").pop()));
    cases.rejects("text before the results", "/messages/2/content/1", |body| {
        list(body, "/messages/2/content").rotate_right(1);
    });
    cases.rejects("results in two messages", "/messages/1/content/2", |body| {
        let result = list(body, "/messages/2/content").remove(1);
        list(body, "/messages").push(json!({ "role": "user", "content": [result] }));
    });
    cases.rejects("a result in an assistant message", "/messages/2/content/0", |body| {
        set(body, "/messages/2", "role", json!("assistant"));
    });
    cases.rejects("two calls with one id", "/messages/1/content/3/id", |body| {
        set(body, "/messages/1/content/3", "id", json!("t1"));
    });
    cases.rejects("an id with a colon", "/messages/1/content/3/id", |body| {
        set(body, "/messages/1/content/3", "id", json!("a:b"));
        set(body, "/messages/2/content/0", "tool_use_id", json!("a:b"));
    });
    cases.rejects("an assistant message first", "/messages/0/role", |body| drop(list(body, "/messages").remove(0)));
    cases.rejects("an empty text", "/messages/2/content/2/text", |body| {
        set(body, "/messages/2/content/2", "text", json!(""));
    });
    cases.rejects("an image in the result of a failed call", "/messages/2/content/0/content/1/type", |body| {
        let image = body["messages"][0]["content"][1].clone();
        let content = json!([{ "type": "text", "text": "no such city" }, image]);
        set(body, "/messages/2/content/0", "content", content);
    });
    cases.accepts("an image in a result", |body| {
        let image = body["messages"][0]["content"][1].clone();
        set(body, "/messages/2/content/1", "content", json!([image]));
    });
    cases.rejects("a server-run call without its result", "/messages/1/content/4", |body| {
        let call = json!({ "type": "server_tool_use", "id": "s1", "name": "web_search", "input": {} });
        list(body, "/messages/1/content").push(call);
    });
}

#[test]
fn thinking_and_tools() {
    let cases = Cases::of(WireName::Anthropic, right());
    cases.rejects("calls without their thinking", "/messages/1/content/0", |body| {
        list(body, "/messages/1/content").remove(0);
    });
    cases.rejects("a forced choice with thinking", "/tool_choice", |body| {
        body["tool_choice"] = json!({ "type": "any" });
    });
    cases.rejects("a budget beyond the maximum", "/thinking/budget_tokens", |body| body["max_tokens"] = json!(2048));
    cases.rejects("a choice that is not offered", "/tool_choice/name", |body| {
        body["tool_choice"] = json!({ "type": "tool", "name": "other" });
    });
    cases.rejects("a choice without tools", "/tool_choice", |body| remove(body, "", "tools"));
    cases.rejects("a schema without a type", "/tools/0/input_schema/type", |body| {
        remove(body, "/tools/0/input_schema", "type");
    });
    cases.rejects("too many cache marks", "", |body| {
        let mark = json!({ "type": "text", "text": "x", "cache_control": { "type": "ephemeral" } });
        list(body, "/system").extend(vec![mark; 4]);
    });
}

#[test]
fn deferred_tools() {
    let mut body = right();
    remove(&mut body, "", "tool_choice");
    set(&mut body, "/tools/0", "defer_loading", json!(true));
    let found = json!({ "type": "tool_search_tool_result", "tool_use_id": "s1", "content":
        { "type": "tool_search_tool_search_result", "tool_references": [{ "type": "tool_reference", "tool_name": "get_weather" }] } });
    let search = json!({ "type": "server_tool_use", "id": "s1", "name": "tool_search_tool_regex", "input": {} });
    list(&mut body, "/messages/1/content").splice(1..1, [search, found]);
    list(&mut body, "/tools")
        .push(json!({ "type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex" }));
    let cases = Cases { right: body, ..Cases::of(WireName::Anthropic, right()) };
    cases.accepts("as it is", |_| ());
    cases.rejects("no tool that is not deferred", "/tools", |body| drop(list(body, "/tools").drain(1..)));
    let at = "/messages/1/content/2/content/tool_references/0/tool_name";
    cases.rejects("a reference to a tool that is gone", at, |body| set(body, "/tools/0", "name", json!("other")));
    cases.rejects("a reference in a result", "/messages/2/content/1/content/0/tool_name", |body| {
        let reference = json!([{ "type": "tool_reference", "tool_name": "gone" }]);
        set(body, "/messages/2/content/1", "content", reference);
    });
}

#[test]
fn mcp_servers() {
    let mut body = right();
    body["mcp_servers"] =
        json!([{ "type": "url", "name": "docs", "url": "https://a.example", "authorization_token": "t" }]);
    list(&mut body, "/tools").push(json!({ "type": "mcp_toolset", "mcp_server_name": "docs" }));
    let cases = Cases { options: json!({ "beta": true }), right: body, ..Cases::of(WireName::Anthropic, right()) };
    cases.accepts("a server with a toolset", |_| ());
    cases.rejects("a toolset without a server", "/tools/2/mcp_server_name", |body| {
        set(body, "/tools/2", "mcp_server_name", json!("other"));
    });
    cases.rejects("a server without a toolset", "/mcp_servers/0", |body| drop(list(body, "/tools").pop()));
    cases.rejects("two toolsets", "/tools/3/mcp_server_name", |body| {
        let again = body["tools"][2].clone();
        list(body, "/tools").push(again);
    });
    cases.rejects("a token that was not filled in", "/mcp_servers/0/authorization_token", |body| {
        set(body, "/mcp_servers/0", "authorization_token", json!("haft-secret-0000"));
    });
}

#[test]
fn what_some_models_reject() {
    let plain = |model: &'static str| {
        move |body: &mut Value| {
            body["model"] = json!(model);
            remove(body, "", "thinking");
            list(body, "/messages/1/content").remove(0);
        }
    };
    let cases = Cases::of(WireName::Anthropic, right());
    for model in ["claude-opus-4-7", "claude-opus-4-8", "claude-haiku-5-5"] {
        cases.accepts(model, plain(model));
        cases.rejects("sampling", "/top_k", |body| {
            plain(model)(body);
            body["top_k"] = json!(5);
        });
        cases.rejects("a budget of thinking", "/thinking/type", |body| body["model"] = json!(model));
    }
    for model in ["claude-opus-5-5", "claude-sonnet-5-5", "claude-fable-5-1"] {
        for choice in [json!({ "type": "any" }), json!({ "type": "tool", "name": "get_weather" })] {
            cases.rejects("a forced choice", "/tool_choice", |body| {
                plain(model)(body);
                body["tool_choice"] = choice;
            });
        }
    }
    for model in ["claude-sonnet-4-20250514", "claude-opus-4-0", "claude-3-7-sonnet-20250219"] {
        cases.rejects("strict", "/tools/0/strict", |body| {
            plain(model)(body);
            set(body, "/tools/0", "strict", json!(true));
        });
        cases.rejects("a format", "/output_config/format", |body| {
            plain(model)(body);
            body["output_config"] = json!({ "format": { "type": "json_schema", "schema": { "type": "object" } } });
        });
    }
    for model in ["claude-opus-4-1-20250805", "claude-sonnet-4-5", "claude-opus-4-6"] {
        // The SDK has no members for sampling at all, and rejects each by itself.
        let is_together = |settings: &[&str]| {
            let mut body = cases.right.clone();
            plain(model)(&mut body);
            for key in settings {
                body[*key] = json!(0.5);
            }
            let faults = cases.judge.validate_with(cases.wire, &body, cases.options.clone());
            faults.iter().any(|fault| fault.message.contains("together with `temperature`"))
        };
        assert!(is_together(&["temperature", "top_p"]), "{model}");
        assert!(!is_together(&["temperature"]) && !is_together(&["top_p"]), "{model}");
    }
    let ends = |model: &'static str| {
        move |body: &mut Value| {
            plain(model)(body);
            list(body, "/messages").push(json!({ "role": "assistant", "content": [{ "type": "text", "text": "So" }] }));
        }
    };
    cases.accepts("a beginning of the answer", ends("claude-sonnet-4-5"));
    for model in ["claude-sonnet-4-6", "claude-opus-4-8", "claude-haiku-5-5"] {
        cases.rejects("a beginning of the answer", "/messages/3/role", ends(model));
    }
    cases.rejects("a beginning of an answer with thinking", "/messages/3/role", |body| {
        list(body, "/messages").push(json!({ "role": "assistant", "content": "So" }));
    });
    cases.rejects("thinking of another model", "/messages/1/content/0", |body| {
        body["model"] = json!("claude-3-5-haiku-20241022");
    });
}

#[test]
fn thinking_that_belongs_to_a_conversation() {
    let mut body = right();
    body["model"] = json!("claude-opus-5-5");
    let binding = json!({ "prefix_mismatch_behavior": "drop_block" });
    body["thinking"] = json!({ "type": "adaptive", "block_binding": binding });
    let beta = json!({ "beta": true });
    let cases = Cases { options: beta, right: body, ..Cases::of(WireName::Anthropic, right()) };
    cases.accepts("thinking with its binding", |_| ());
    cases.accepts("no thinking", |body| {
        remove(body, "", "thinking");
        list(body, "/messages/1/content").remove(0);
    });
    cases.accepts("another model", |body| {
        body["model"] = json!("claude-opus-5");
        remove(body, "/thinking", "block_binding");
    });
    cases.rejects("no binding", "/thinking", |body| remove(body, "/thinking", "block_binding"));
    cases.rejects("no option", "/thinking", |body| remove(body, "", "thinking"));
    cases.rejects("a binding of another kind", "/thinking", |body| {
        set(body, "/thinking", "type", json!("between_tools"));
    });
    let cases = Cases { options: json!({}), ..cases };
    cases.rejects("no header", "/thinking", |_| ());
}

#[test]
fn tools_that_programs_call() {
    let cases = Cases::of(WireName::Anthropic, right());
    let called = |body: &mut Value| {
        set(body, "/tools/0", "allowed_callers", json!(["direct", "code_execution_20260120"]));
        set(body, "/tools/0", "strict", json!(false));
        remove(body, "", "tool_choice");
    };
    cases.accepts("called by programs", called);
    cases.accepts("called directly alone", |body| set(body, "/tools/0", "allowed_callers", json!(["direct"])));
    cases.rejects("strict", "/tools/0/strict", |body| {
        called(body);
        set(body, "/tools/0", "strict", json!(true));
    });
    cases.rejects("one call at a time", "/tool_choice/disable_parallel_tool_use", |body| {
        called(body);
        body["tool_choice"] = json!({ "type": "auto", "disable_parallel_tool_use": true });
    });
    cases.rejects("deferred and cached", "/tools/0/cache_control", |body| {
        set(body, "/tools/0", "defer_loading", json!(true));
        set(body, "/tools/0", "cache_control", json!({ "type": "ephemeral" }));
    });
}

#[test]
fn strict_schemas() {
    let cases = Cases::of(WireName::Anthropic, right());
    let schema = json!({ "type": "object", "required": ["a"], "additionalProperties": false, "properties": {
        "a": { "type": ["object", "null"], "properties": {}, "required": [], "additionalProperties": false } } });
    let with = |change: fn(&mut Value)| {
        let mut schema = schema.clone();
        change(&mut schema);
        move |body: &mut Value| {
            set(body, "/tools/0", "input_schema", schema);
            set(body, "/tools/0", "strict", json!(true));
        }
    };
    cases.accepts("all keys", with(|_| ()));
    cases.rejects(
        "other keys",
        "/tools/0/input_schema/additionalProperties",
        with(|schema| remove(schema, "", "additionalProperties")),
    );
    cases.rejects(
        "other keys deep inside",
        "/tools/0/input_schema/properties/a/additionalProperties",
        with(|schema| {
            set(schema, "/properties/a", "additionalProperties", json!(true));
        }),
    );
    cases.accepts("an optional key", with(|schema| set(schema, "", "required", json!([]))));
}
