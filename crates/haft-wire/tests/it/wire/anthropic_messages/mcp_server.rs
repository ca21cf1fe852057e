//! The MCP servers of toolsets.

use std::sync::Arc;

use haft_core::{Item, ToolChoice, ToolDescriptor, TurnRequest};
use haft_wire::catalogue::anthropic::{self, AnthropicMcpServer};
use haft_wire::{Delivery, KnownWire};
use serde_json::{Value, json};

use super::{MODEL, body_of, send, weather};

fn toolset(name: &str) -> Arc<ToolDescriptor> {
    let server =
        AnthropicMcpServer::new(format!("https://{name}.example")).authorization_token(format!("token of {name}"));
    anthropic::mcp_toolset(name).name(name).server(server).define().unwrap().descriptor()
}

fn server(name: &str) -> Value {
    json!({"type": "url", "name": name, "url": format!("https://{name}.example"),
        "authorization_token": format!("token of {name}")})
}

fn asking(tools: &[Arc<ToolDescriptor>]) -> TurnRequest {
    TurnRequest::new(MODEL, vec![Item::user("hi")]).tools(tools)
}

#[test]
fn the_servers_of_toolsets_are_members_of_the_request() {
    let sent = send(&asking(&[toolset("docs"), Arc::new(weather()), toolset("crm")])).unwrap();
    let body = body_of(&sent);
    assert_eq!(body["mcp_servers"], json!([server("docs"), server("crm")]));
    assert_eq!(body["tools"][0], json!({"type": "mcp_toolset", "mcp_server_name": "docs"}));
    assert_eq!(sent.headers, [("anthropic-beta", "mcp-client-2025-11-20".to_owned())]);
    assert_eq!(sent.secrets.len(), 2);

    let open = anthropic::mcp_toolset("docs").server("https://docs.example").define().unwrap().descriptor();
    let sent = send(&asking(&[open])).unwrap();
    let plain = json!([{"type": "url", "name": "docs", "url": "https://docs.example"}]);
    assert_eq!((&body_of(&sent)["mcp_servers"], sent.secrets.len()), (&plain, 0));
    assert_eq!(body_of(&send(&asking(&[Arc::new(weather())])).unwrap()).get("mcp_servers"), None);
}

#[test]
fn servers_of_the_options_are_kept_and_win() {
    let own = json!({"type": "url", "name": "docs", "url": "https://mine.example"});
    let other = json!({"type": "url", "name": "other", "url": "https://other.example"});
    let request = asking(&[toolset("docs"), toolset("crm")]);
    let given = request.clone().provider_options("anthropic", json!({"mcp_servers": [own, other]}));
    assert_eq!(body_of(&send(&given).unwrap())["mcp_servers"], json!([own, other, server("crm")]));
    let none = request.clone().provider_options("anthropic", json!({"mcp_servers": null}));
    assert_eq!(body_of(&send(&none).unwrap())["mcp_servers"], json!([server("docs"), server("crm")]));
    let wrong = request.provider_options("anthropic", json!({"mcp_servers": {"docs": {}}}));
    let error = send(&wrong).unwrap_err().to_string();
    assert!(error.contains("mcp_servers") && error.contains("list of servers"), "{error}");
    // Without toolsets that have servers, the options are sent as they are.
    let bare = anthropic::mcp_toolset("docs").define().unwrap().descriptor();
    let request = asking(&[bare]).provider_options("anthropic", json!({"mcp_servers": [own]}));
    assert_eq!(body_of(&send(&request).unwrap())["mcp_servers"], json!([own]));
}

#[test]
fn a_server_is_sent_with_its_toolset_only() {
    let request = asking(&[toolset("docs"), Arc::new(weather()), toolset("crm")]);
    let some = request.clone().tool_choice(ToolChoice::may_call(["docs"]));
    let body = body_of(&send(&some).unwrap());
    assert_eq!((&body["mcp_servers"], body["tools"].as_array().unwrap().len()), (&json!([server("docs")]), 1));
    // A choice that is stated beside the list leaves all of it.
    let none = body_of(&send(&request.tool_choice(ToolChoice::None)).unwrap());
    assert_eq!((none["mcp_servers"].as_array().unwrap().len(), none["tools"].as_array().unwrap().len()), (2, 3));
}

#[test]
fn two_toolsets_of_one_server_are_one() {
    let twice = anthropic::mcp_toolset("docs").name("again").server("https://x.example").define().unwrap().descriptor();
    let sent = send(&asking(&[toolset("docs"), twice])).unwrap();
    assert_eq!(body_of(&sent)["mcp_servers"], json!([server("docs")]));
    assert!(sent.context.tools.findings().iter().any(|finding| finding.tool == "again"), "it is reported");
}

#[test]
fn a_server_that_is_no_server_is_reported() {
    let entry = haft_wire::catalogue::find("anthropic.mcp_toolset").unwrap();
    for server in [json!("https://a.example"), json!({}), json!({"url": 1}), json!({"url": "x", "name": "y"})] {
        let tool = entry.with_args(json!({"mcp_server_name": "docs", "server": server})).unwrap().define();
        assert!(tool.is_err(), "{server}");
    }
    let raw = entry.with_args(json!({"mcp_server_name": "docs", "server": {"url": "https://a.example"}}));
    let request = asking(&[raw.unwrap().define().unwrap().descriptor()]);
    let sent = KnownWire::Anthropic.wire().request(&request, Delivery::Streamed).unwrap();
    assert_eq!(body_of(&sent)["mcp_servers"][0]["url"], "https://a.example");
}
