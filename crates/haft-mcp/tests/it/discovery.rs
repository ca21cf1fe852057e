//! Discovery: eras, pages, malformed tools, and what is kept of a definition.

use std::time::Duration;

use haft_executor::ToolSource;
use haft_mcp::{Era, McpClient, McpError, McpLimits, McpServer, QuarantineReason};
use serde_json::json;

use crate::hostile::{Hostile, call, program, until};

fn names(client: &McpClient) -> Vec<String> {
    client.snapshot().toolkit().names().map(str::to_owned).collect()
}

#[tokio::test]
async fn both_eras_are_found_and_can_be_set() {
    for (speaks, set, found, protocol) in [
        ("legacy", Era::Auto, Era::Legacy, "2025-11-25"),
        ("legacy", Era::Legacy, Era::Legacy, "2025-11-25"),
        ("modern", Era::Auto, Era::Modern, "2026-07-28"),
        ("modern", Era::Modern, Era::Modern, "2026-07-28"),
    ] {
        let hostile = Hostile::new().argument("--era").argument(speaks);
        let client = hostile.server().era(set).connect().await.unwrap();
        let info = client.info().unwrap();
        assert_eq!((info.era, &*info.protocol), (found, protocol), "{speaks} {set:?}");
        assert_eq!((info.name.as_deref(), info.version.as_deref()), (Some("hostile"), Some("1.2.3")));
        assert_eq!(call(&client, "echo", json!({"a": 1})).await.to_model_text(), r#"{"a":1}"#, "{speaks} {set:?}");
        assert_eq!(hostile.received("server/discover").len(), usize::from(set != Era::Legacy));
    }
}

#[tokio::test]
async fn a_server_of_the_other_era_is_a_clear_error() {
    let hostile = Hostile::new().argument("--era").argument("legacy");
    let error = hostile.server().era(Era::Modern).connect().await.unwrap_err();
    assert!(matches!(error, McpError::Handshake { .. }), "{error:?}");
}

#[tokio::test]
async fn pages_are_read_to_the_end_and_a_repeated_cursor_ends_them() {
    let tools: Vec<_> = (0..25).map(|n| json!({"name": format!("t{n}"), "inputSchema": {"type": "object"}})).collect();
    let tools = json!(tools);
    for (pages, requests) in [("10", 3), ("25", 1), ("0", 2)] {
        let hostile = Hostile::new().tools(&tools).argument("--pages").argument(pages);
        let client = hostile.connect().await;
        assert_eq!(names(&client).len(), 25);
        assert_eq!(hostile.received("tools/list").len(), requests, "{pages}");
    }
}

#[tokio::test]
async fn a_malformed_tool_is_quarantined_and_its_neighbours_live() {
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let mut odd_hint = tool("hint");
    odd_hint["annotations"] = json!({"readOnlyHint": "yes"});
    let mut explosive = tool("explosive");
    explosive["inputSchema"] = json!({"type": "object", "properties": {"a": {"$ref": "https://evil.example/schema"}}});
    let hostile = Hostile::new().tools(&json!([
        tool("echo"),
        {"name": "no-schema"},
        odd_hint,
        explosive,
        tool("echo"),
        tool("ec\u{200b}ho"),
        17,
        {"name": "boolean-output", "inputSchema": {"type": "object"}, "outputSchema": 3},
        tool("fail"),
    ]));
    let client = hostile.connect().await;
    assert_eq!(names(&client), ["echo", "fail"]);
    let quarantined: Vec<_> = client.quarantined().iter().map(ToString::to_string).collect();
    assert_eq!(quarantined.len(), 7, "{quarantined:#?}");
    assert!(quarantined[0].contains("`no-schema` is quarantined") && quarantined[0].contains("inputSchema"));
    assert!(quarantined[1].contains("/annotations/readOnlyHint: must be true or false"), "{}", quarantined[1]);
    assert!(matches!(client.quarantined()[3].reason, QuarantineReason::Duplicate));
    assert!(matches!(client.quarantined()[4].reason, QuarantineReason::UnsafeName('\u{200b}')));
    assert_eq!(call(&client, "echo", json!({})).await.to_model_text(), "{}");
}

/// Each is checked within a budget, so it costs its own calls at most.
#[tokio::test]
async fn schemas_that_explode_harm_nobody_else() {
    let doubling: serde_json::Map<_, _> = (0..64)
        .map(|n| {
            let next = json!({"$ref": format!("#/$defs/a{}", n + 1)});
            (format!("a{n}"), json!({"allOf": [next, next], "anyOf": [next, next]}))
        })
        .chain([("a64".to_owned(), json!({"type": "object"}))])
        .collect();
    let nested = format!("{}{{}}{}", r#"{"not":"#.repeat(100_000), "}".repeat(100_000));
    let words: Vec<String> = (0..50_000).map(|n| format!("word {n}")).collect();
    let named = |name: &str, schema: &str| format!(r#"{{"name":"{name}","inputSchema":{schema}}}"#);
    let tools = [
        named("doubling", &json!({"type": "object", "$ref": "#/$defs/a0", "$defs": doubling}).to_string()),
        named("endless", &json!({"type": "object", "allOf": [{"$ref": "#"}]}).to_string()),
        named("nested", &format!(r#"{{"type":"object","properties":{{"a":{nested}}}}}"#)),
        named("pattern", &json!({"type": "object", "propertyNames": {"pattern": "(a{1000}){1000}"}}).to_string()),
        named("wide", &json!({"type": "object", "properties": {"a": {"enum": words}}}).to_string()),
        named("echo", r#"{"type":"object"}"#),
    ];
    let hostile = Hostile::new().tools(&json!([]));
    std::fs::write(hostile.path("tools.json"), format!("[{}]", tools.join(","))).unwrap();
    let client = hostile.connect().await;
    let quarantined: Vec<_> = client.quarantined().iter().map(ToString::to_string).collect();
    assert!(
        quarantined.iter().any(|tool| tool.contains("`nested` is quarantined: the definition is nested too deeply"))
    );
    for tool in names(&client).iter().filter(|name| *name != "echo") {
        let failure = call(&client, tool, json!({"a": "b"})).await.failure().unwrap().clone();
        assert!(!failure.started || failure.message.contains("Unknown tool"), "{tool}: {failure}");
    }
    assert_eq!(call(&client, "echo", json!({})).await.to_model_text(), "{}");
}

#[tokio::test]
async fn everything_in_a_definition_is_kept() {
    let definition = json!({
        "name": "echo", "title": "Echo", "description": "Says it again.",
        "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}},
        "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": true, "vendorHint": 3},
        "icons": [{"src": "https://a.example/i.png", "mimeType": "image/png", "sizes": ["48x48"]}],
        "_meta": {"vendor/key": [1, 2]}, "execution": {"taskSupport": "optional"},
    });
    let hostile = Hostile::new().tools(&json!([definition]));
    let client = hostile.connect().await;
    let snapshot = client.snapshot();
    let tool = snapshot.toolkit().get("echo").unwrap();
    assert_eq!((tool.title(), tool.description()), (Some("Echo"), Some("Says it again.")));
    assert!(tool.annotations().readonly());
    assert_eq!(tool.annotations().icons()[0].sizes, ["48x48"]);
    assert_eq!(tool.annotations().meta().unwrap()["vendor/key"], json!([1, 2]));
    assert_eq!(tool.success().as_json(), &json!({"type": "object"}));
    assert_eq!(*client.offered().tools[0].definition, definition);
}

#[tokio::test]
async fn tools_for_apps_are_not_offered_to_models() {
    let tool = |name: &str, visibility: &[&str]| {
        let meta = json!({"ui": {"visibility": visibility, "resourceUri": "ui://x"}});
        json!({"name": name, "inputSchema": {"type": "object"}, "_meta": meta})
    };
    let hostile = Hostile::new().tools(&json!([tool("echo", &["model", "app"]), tool("raw", &["app"])]));
    let client = hostile.connect().await;
    assert_eq!(names(&client), ["echo"]);
    let app = client.app_tools();
    assert_eq!(app.names().collect::<Vec<_>>(), ["raw"]);
    let result = call(&app, "raw", json!({"result": r#"{"content":[{"type":"text","text":"hi"}]}"#})).await;
    assert_eq!(result.to_model_text(), "hi");
}

#[tokio::test]
async fn a_change_of_the_tools_arrives_in_both_eras() {
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    for era in ["legacy", "modern"] {
        let hostile = Hostile::new().tools(&json!([tool("change"), tool("echo")])).argument("--era").argument(era);
        let client = hostile.server().era(Era::Auto).connect().await.unwrap();
        let before = client.snapshot().generation();
        let changed = json!([tool("change"), tool("fail"), {"name": "broken"}]);
        assert_eq!(call(&client, "change", json!({"tools": changed})).await.to_model_text(), "changed");
        tokio::time::timeout(Duration::from_secs(30), client.changed(before)).await.unwrap();
        assert_eq!(names(&client), ["change", "fail"], "{era}");
        until(|| (client.quarantined().len() == 1).then_some(())).await;
        // A list without a difference is no change.
        let generation = client.snapshot().generation();
        client.refresh().await.unwrap();
        assert_eq!(client.snapshot().generation(), generation);
    }
}

#[tokio::test]
async fn a_server_that_does_not_start_is_an_error_that_says_why() {
    let missing = McpServer::command("haft-no-such-program", ["x"; 0]).connect().await.unwrap_err();
    assert!(matches!(missing, McpError::Start { .. }), "{missing:?}");
    let text = missing.to_string();
    assert_eq!(text, "can't start `haft-no-such-program` for the MCP server `haft-no-such-program`");

    let exits = Hostile::new().argument("--exit-at-start");
    let secret = haft_core::Secret::new("sk-planted-secret");
    let error = exits.server().secret_env("TOKEN", secret).connect().await.unwrap_err();
    assert_eq!(error.to_string(), "the MCP server `hostile` has exited (exit status: 3)");
    let lines = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(lines, "no disk left, token is [redacted]");

    let silent = McpServer::command(program(), ["--era", "silent"]).named("silent").era(Era::Modern);
    let limits = McpLimits::default().start_timeout(Duration::from_millis(200));
    let error = silent.limits(limits).connect().await.unwrap_err();
    assert_eq!(error.to_string(), "the MCP server `silent` was not ready within 200ms");
}

#[tokio::test]
async fn the_number_of_tools_is_limited() {
    let tools: Vec<_> = (0..11).map(|n| json!({"name": format!("t{n}"), "inputSchema": {"type": "object"}})).collect();
    let hostile = Hostile::new().tools(&json!(tools));
    let error = hostile.server().limits(McpLimits::default().tools(10)).connect().await.unwrap_err();
    assert_eq!(error.to_string(), "the tools of the MCP server `hostile` can't be listed: it has more than 10 tools");
}
