//! Every kind of tool: all function shapes, and those that are built into a provider.

use haft_core::{Item, ProviderOptions, ToolCall, ToolCallOutput, ToolChoice, ToolDescriptor, TurnRequest};
use haft_schema::Schema;
use haft_wire::catalogue::{self, anthropic, openai};
use serde_json::{Value, json};

use super::super::tool;
use super::case::RequestCase;
use crate::catalogue::least;

fn offering(tools: &[ToolDescriptor]) -> TurnRequest {
    TurnRequest::new("", vec![Item::user("hi")]).tools(tools)
}

pub(super) fn cases() -> Vec<RequestCase> {
    let mut cases = Vec::new();
    for (name, schema) in schemas() {
        for strict in [None, Some(true), Some(false)] {
            let mut tool = tool("t", "the described tool", schema.clone());
            tool.strict = strict;
            let case = RequestCase::new(format!("{name}, strict {strict:?}"), offering(&[tool]));
            cases.push(case.contains("the described tool"));
        }
    }
    let named = |name: &str| tool(name, "the described tool", json!({"type": "object", "properties": {}}));
    for name in ["acme/weather.get", "wetter für oslo", "1st", "_x", "x--y__z", "-", &"n".repeat(200)] {
        let request = offering(&[named(name)]);
        cases.push(RequestCase::new(format!("the name {name:.12?}"), request).contains("the described tool"));
    }
    let alike = [named("a/b"), named("a--b"), named("a.b"), named("a b")];
    cases.push(RequestCase::new("names that are alike", offering(&alike)));
    cases.push(RequestCase::new("a name twice", offering(&[named("a"), named("a")])));
    let bare = ToolDescriptor::new("bare", Schema::empty());
    cases.push(RequestCase::new("without a description", offering(&[bare])).contains("bare"));
    let many: Vec<_> = (0..130).map(|at| named(&format!("tool_{at}"))).collect();
    cases.push(RequestCase::new("a hundred and thirty", offering(&many)).contains("tool_0").contains("tool_129"));
    cases.extend(deferred_cases());
    cases.push(RequestCase::new("a call of a tool with an encoded name", called(named("acme/weather.get"), "{}")));
    let map = json!({"type": "object", "properties": {"labels": {"type": "object", "additionalProperties": {"type": "string"}}}});
    let call = called(tool("t", "the described tool", map), "{\"labels\":{\"a\":\"b\"}}");
    cases.push(RequestCase::new("a call with arguments of another shape", call));
    cases
}

/// Tools whose definitions are deferred, and tools that search for them.
fn deferred_cases() -> Vec<RequestCase> {
    let deferred = |name: &str| {
        let mut tool = tool(name, "the described tool", json!({"type": "object", "properties": {}}));
        tool.provider_options = ProviderOptions::new().deferred();
        tool
    };
    let searches = [anthropic::tool_search_regex().define(), openai::tool_search().define()];
    let searches = searches.map(|tool| tool.unwrap().descriptor().as_ref().clone());
    let with = |tools: Vec<ToolDescriptor>| offering(&tools);
    let all = || vec![deferred("a"), deferred("shop/b")];
    let [one, two] = searches.each_ref().map(|search| [all(), vec![search.clone()]].concat());
    let both = [all(), searches.to_vec()].concat();
    let named = |name: &str, request: TurnRequest| RequestCase::new(name, request).contains("the described tool");
    vec![
        named("deferred tools", with(all())),
        named(
            "deferred tools and one that is not",
            with([all(), vec![tool("t", "d", json!({"type": "object"}))]].concat()),
        ),
        named("deferred tools and Anthropic's search", with(one)),
        named("deferred tools and OpenAI's search", with(two)),
        named("deferred tools and both searches", with(both.clone())),
        named("a choice of one deferred tool", with(both.clone()).tool_choice(ToolChoice::tool("a"))),
        named("a choice of deferred tools", with(both).tool_choice(ToolChoice::may_call(["a"]))),
    ]
}

/// A request after a call of its tool.
fn called(tool: ToolDescriptor, arguments: &str) -> TurnRequest {
    let call = ToolCall::new("c1", &tool.name, arguments);
    let output = ToolCallOutput::new("c1", "done").tool(&tool.name);
    TurnRequest::new("", vec![Item::user("hi"), call.into(), output.into()]).tools(&[tool])
}

fn schemas() -> Vec<(&'static str, Value)> {
    let text = json!({"type": "string"});
    vec![
        ("no parameters", json!({"type": "object"})),
        (
            "a parameter",
            json!({"type": "object", "properties": {"a": text}, "required": ["a"], "additionalProperties": false}),
        ),
        (
            "optional parameters",
            json!({"type": "object", "properties": {"a": text, "b": {"type": "integer", "default": 3}}}),
        ),
        ("a map", json!({"type": "object", "additionalProperties": {"type": "number"}})),
        ("a list", json!({"type": "array", "items": text})),
        ("a union", json!({"anyOf": [text, {"type": "object", "properties": {"a": text}, "required": ["a"]}]})),
        ("anything", json!({})),
        (
            "references",
            json!({
                "type": "object", "properties": {"root": {"$ref": "#/$defs/node"}}, "required": ["root"],
                "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "$ref": text}}},
            }),
        ),
        (
            "keywords",
            json!({
                "type": "object", "title": "T", "description": "D", "$comment": "c",
                "properties": {
                    "a": {"type": "string", "pattern": "^x", "minLength": 1, "format": "date-time", "examples": ["x"]},
                    "b": {"type": "number", "minimum": 0, "exclusiveMaximum": 9, "multipleOf": 0.5},
                    "c": {"type": "array", "items": text, "minItems": 1, "maxItems": 3, "uniqueItems": true},
                    "d": {"const": "fixed"}, "e": {"enum": ["a", 1, null]}, "f": {"not": {"type": "string"}},
                    "g": {"allOf": [{"type": "object", "properties": {"x": text}}, {"required": ["x"]}]},
                    "h": {"oneOf": [{"type": "integer"}, {"type": "string"}]}, "i": {"type": ["string", "null"]},
                },
            }),
        ),
    ]
}

/// Tools with secrets in their settings, which are sent.
fn secret_cases() -> [RequestCase; 2] {
    let server = anthropic::AnthropicMcpServer::new("https://mcp.example").authorization_token("hunter2");
    let toolset = anthropic::mcp_toolset("docs").server(server).define().unwrap();
    let mcp = openai::mcp("docs").server_url("https://mcp.example").authorization("hunter2").define().unwrap();
    [("a toolset with its server", toolset), ("an MCP server with a token", mcp)].map(|(name, tool)| {
        let request = offering(&[tool.descriptor().as_ref().clone(), self::tool("t", "d", json!({"type": "object"}))]);
        RequestCase::new(name, request).contains("hunter2")
    })
}

/// Every catalogue tool: alone, beside a function, and after a call that the application executed.
pub(super) fn catalogue_cases() -> Vec<RequestCase> {
    let mut cases = Vec::new();
    let function = || tool("t", "the described tool", json!({"type": "object", "properties": {}}));
    for entry in catalogue::entries() {
        let args = least(entry);
        let descriptor = (*entry.with_args(args.clone()).unwrap().define().unwrap().descriptor()).clone();
        let mut request = offering(&[descriptor.clone(), function()]);
        let mut call = called(descriptor.clone(), "{}");
        if entry.wire_type == "mcp_toolset" {
            let servers = json!({"mcp_servers": [{"type": "url", "name": "docs", "url": "https://mcp.example"}]});
            request = request.provider_options("anthropic", servers.clone());
            call = call.provider_options("anthropic", servers);
        }
        cases.push(RequestCase::new(format!("{} beside a function", entry.id), request).contains(entry.wire_type));
        if entry.requires_handler(&args) {
            cases.push(RequestCase::new(format!("{} after a call", entry.id), call).contains(entry.wire_type));
        }
    }
    cases.extend(secret_cases());
    cases
}
