//! The serialized form of one value of each kind. A change here is a change of the format.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::time::Duration;

use haft_core::{
    ApprovalDecision, ApprovalRequest, Citation, ContentPart, FailureKind, Finish, Item, MediaData, MediaPart, Message,
    OutputFormat, ProviderCall, Reasoning, ResourceContents, ResourceLinkPart, ResourcePart, Role, TextPart, Timestamp,
    ToolCall, ToolCallOutput, ToolChoice, ToolDescriptor, ToolFailure, ToolOutput, ToolResult, Turn, TurnRequest,
    Usage, Verdict,
};
use haft_schema::{Issue, Issues, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Asserts that a value is written exactly so, key order included, and read back as the same value.
#[track_caller]
fn pin<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T, written: &Value) {
    assert_eq!(serde_json::to_string(value).unwrap(), written.to_string());
    assert_eq!(&serde_json::from_value::<T>(written.clone()).unwrap(), value);
}

#[test]
fn calls() {
    pin(
        &ToolCall::new("c1", "add", "{\"a\": 1}"),
        &json!({"v": 1, "call_id": "c1", "name": "add", "arguments": "{\"a\": 1}"}),
    );
    pin(
        &ToolCall::new("c1", "web_search", "{}")
            .executed_by_provider()
            .metadata("trace", "t1")
            .provider_data("gemini", json!({"thought_signature": "c2ln"})),
        &json!({
            "v": 1, "call_id": "c1", "name": "web_search", "arguments": "{}", "provider_executed": true,
            "metadata": {"trace": "t1"}, "provider_data": {"gemini": {"thought_signature": "c2ln"}},
        }),
    );
}

#[test]
fn results() {
    let call = ToolCall::new("c1", "add", "{}");
    pin(
        &ToolResult::ok(&call, json!({"sum": 3})),
        &json!({"v": 1, "call_id": "c1", "tool": "add", "outcome": {"status": "ok", "value": {"sum": 3}}}),
    );
    pin(
        &ToolResult::ok(&call, ToolOutput::from(json!(null)).for_model(vec!["done".into()])),
        &json!({"v": 1, "call_id": "c1", "tool": "add", "outcome": {
            "status": "ok", "value": null, "model": [{"type": "text", "text": "done"}],
        }}),
    );
    let issues = Issues::from(Issue::new("/a", "type", "must be a number").expected("number").found("\"x\""));
    let failure = ToolFailure::new(FailureKind::ToolFailed, "no")
        .issues(issues)
        .retry_after(Duration::from_millis(2_500))
        .details(json!({"code": 7}));
    let mut written = json!({"v": 1, "call_id": "c1", "tool": "add", "outcome": {
        "status": "failed", "kind": "tool_failed", "message": "no",
        "issues": [{
            "pointer": "/a", "keyword": "type", "expected": "number", "found": "\"x\"", "message": "must be a number",
        }],
        "retryable": true, "retry_after_seconds": 2.5, "started": true, "details": {"code": 7},
    }});
    pin(&ToolResult::from_failure(&call, failure.clone()), &written);

    written["repairs"] = json!([{"pointer": "/a", "kind": "quoted_scalar"}]);
    let repairs = serde_json::from_value(written["repairs"].clone()).unwrap();
    pin(&ToolResult::from_failure(&call, failure).repairs(repairs), &written);
}

#[test]
fn content() {
    pin(&ContentPart::text("hi"), &json!({"type": "text", "text": "hi"}));
    let mut citation = Citation::url("https://a.example/").title("A");
    (citation.quote, citation.start, citation.end) = (Some("q".to_owned()), Some(0), Some(2));
    pin(
        &ContentPart::Text(TextPart::new("hi").cite(citation).cite(Citation::file("f1"))),
        &json!({"type": "text", "text": "hi", "citations": [
            {"url": "https://a.example/", "title": "A", "quote": "q", "start": 0, "end": 2},
            {"file_id": "f1"},
        ]}),
    );
    pin(&ContentPart::refusal("no"), &json!({"type": "refusal", "text": "no"}));
    pin(
        &ContentPart::image("image/png", MediaData::Base64("aQ==".to_owned())),
        &json!({"type": "image", "media_type": "image/png", "data": {"base64": "aQ=="}}),
    );
    pin(
        &ContentPart::audio("audio/wav", MediaData::Url("https://a.example/a.wav".to_owned())),
        &json!({"type": "audio", "media_type": "audio/wav", "data": {"url": "https://a.example/a.wav"}}),
    );
    pin(
        &ContentPart::File(MediaPart::new(MediaData::FileId("f1".to_owned())).name("a.pdf")),
        &json!({"type": "file", "data": {"file_id": "f1"}, "name": "a.pdf"}),
    );
    let text = ResourceContents::Text("# A".to_owned());
    pin(
        &ContentPart::Resource(ResourcePart::new("file:///a.md", text).media_type("text/markdown")),
        &json!({"type": "resource", "uri": "file:///a.md", "media_type": "text/markdown", "contents": {"text": "# A"}}),
    );
    pin(
        &ContentPart::resource("file:///a", ResourceContents::Blob("aQ==".to_owned())),
        &json!({"type": "resource", "uri": "file:///a", "contents": {"blob": "aQ=="}}),
    );
    let mut link = ResourceLinkPart::new("file:///a", "a");
    (link.title, link.description) = (Some("A".to_owned()), Some("the first".to_owned()));
    (link.media_type, link.size) = (Some("text/plain".to_owned()), Some(12));
    pin(
        &ContentPart::ResourceLink(link),
        &json!({
            "type": "resource_link", "uri": "file:///a", "name": "a", "title": "A", "description": "the first",
            "media_type": "text/plain", "size": 12,
        }),
    );
}

#[test]
fn messages_and_reasoning() {
    for (role, name) in
        [(Role::User, "user"), (Role::Assistant, "assistant"), (Role::System, "system"), (Role::Developer, "developer")]
    {
        pin(
            &Item::from(Message::text(role, "hi").provider_data("openai", json!({"id": "msg_1"}))),
            &json!({
                "type": "message", "role": name, "content": [{"type": "text", "text": "hi"}],
                "provider_data": {"openai": {"id": "msg_1"}},
            }),
        );
    }
    pin(
        &Item::from(Reasoning::text("hm").signed("anthropic", "sig")),
        &json!({"type": "reasoning", "provider": "anthropic", "text": "hm", "signature": "sig"}),
    );
    pin(
        &Item::from(
            Reasoning::encrypted("openai", "gAAA")
                .id("rs_1")
                .summary("Thinking")
                .provider_data("openai", json!({"n": 1})),
        ),
        &json!({
            "type": "reasoning", "id": "rs_1", "provider": "openai", "summary": ["Thinking"], "encrypted": "gAAA",
            "provider_data": {"openai": {"n": 1}},
        }),
    );
}

#[test]
fn calls_and_answers_as_items() {
    let call = ToolCall::new("c1", "add", "{}");
    pin(
        &Item::from(call.clone()),
        &json!({"type": "tool_call", "v": 1, "call_id": "c1", "name": "add", "arguments": "{}"}),
    );
    pin(
        &Item::from(&ToolResult::ok(&call, json!(3))),
        &json!({"type": "tool_output", "call_id": "c1", "tool": "add", "output": "3"}),
    );
    pin(
        &Item::from(&ToolResult::denied(&call, "no")),
        &json!({
            "type": "tool_output", "call_id": "c1", "tool": "add",
            "output": "{\"error\":{\"kind\":\"denied\",\"message\":\"no\"}}", "is_error": true,
        }),
    );
    pin(
        &Item::from(ToolCallOutput::new("c1", vec!["a".into()]).provider_data("mcp", json!({"_meta": {}}))),
        &json!({
            "type": "tool_output", "call_id": "c1", "output": [{"type": "text", "text": "a"}],
            "provider_data": {"mcp": {"_meta": {}}},
        }),
    );
    pin(
        &Item::from(
            ProviderCall::new("anthropic", "web_search", json!([{"type": "server_tool_use"}])).call_id("s1").error(),
        ),
        &json!({
            "type": "provider_call", "provider": "anthropic", "name": "web_search", "call_id": "s1", "is_error": true,
            "payload": [{"type": "server_tool_use"}],
        }),
    );
}

#[test]
fn approvals() {
    let call = ToolCall::new("c1", "pay", "{\"amount\":3}");
    let moment = Timestamp::from_unix_millis(1_700_000_000_000);
    pin(
        &Item::from(ApprovalRequest::new("r1", &call).digest("sha256:00").expires_at(moment)),
        &json!({
            "type": "approval_request", "v": 1, "request_id": "r1", "call_id": "c1", "tool": "pay",
            "arguments": "{\"amount\":3}", "digest": "sha256:00", "expires_at": 1_700_000_000_000_u64,
        }),
    );
    pin(
        &Item::from(
            Verdict::new("r1", ApprovalDecision::Denied).digest("sha256:00").reason("too much").decided("ada", moment),
        ),
        &json!({
            "type": "approval_response", "v": 1, "request_id": "r1", "decision": "denied", "digest": "sha256:00",
            "reason": "too much", "who": "ada", "at": 1_700_000_000_000_u64,
        }),
    );
}

#[test]
fn turns() {
    let usage = Usage::new(10, 5).total(16).cache_read(4).cache_write(3).reasoning(2);
    pin(
        &Turn::new(vec![Item::assistant("hi")], Finish::Stop).usage(usage).response_id("resp_1").model("m-1"),
        &json!({
            "v": 1, "items": [{"type": "message", "role": "assistant", "content": [{"type": "text", "text": "hi"}]}],
            "usage": {
                "input_tokens": 10, "output_tokens": 5, "total_tokens": 16, "cache_read_tokens": 4,
                "cache_write_tokens": 3, "reasoning_tokens": 2,
            },
            "finish": "stop", "response_id": "resp_1", "model": "m-1",
        }),
    );
}

#[test]
fn requests() {
    pin(&TurnRequest::new("m", Vec::new()), &json!({"v": 1, "model": "m", "history": [], "tool_choice": "auto"}));
    let tool = ToolDescriptor::new("add", Schema::empty());
    let request = TurnRequest::new("m", vec![Item::user("hi")])
        .instructions("be brief")
        .tools(std::slice::from_ref(&tool))
        .tool_choice(ToolChoice::tool("add"))
        .forbid_parallel_calls()
        .temperature(0.5)
        .top_p(0.25)
        .max_output_tokens(100)
        .stop("END")
        .output_format(OutputFormat::new("sum", json!({"type": "object"})).describe("a sum").not_strict())
        .metadata("user", "u1")
        .provider_options("openai", json!({"store": false}));
    pin(
        &request,
        &json!({
            "v": 1, "model": "m", "instructions": "be brief",
            "history": [{"type": "message", "role": "user", "content": [{"type": "text", "text": "hi"}]}],
            "tools": [serde_json::to_value(&tool).unwrap()],
            "tool_choice": {"tool": "add"}, "parallel_tool_calls": false, "temperature": 0.5, "top_p": 0.25,
            "max_output_tokens": 100, "stop": ["END"],
            "output_format": {"name": "sum", "description": "a sum", "schema": {"type": "object"}, "strict": false},
            "metadata": {"user": "u1"}, "provider_options": {"openai": {"store": false}},
        }),
    );
}
