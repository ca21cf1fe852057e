//! The choice of a server's tools, their names and hints, and the rules about their calls.

use haft_core::{ApprovalRequest, FailureKind, ToolCall};
use haft_executor::{Cx, Dispatch, RunOptions};
use haft_registry::CallPreview;
use haft_tools::mcp::McpKind;
use haft_workspace::{LoadOptions, Trust, load};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

use super::{Servers, call, executor, names, tool};

/// Returns servers with one that lists these tools, which were accepted.
fn shop(tools: &[Value], settings: &str, rest: &str) -> Servers {
    let servers = Servers::new();
    servers.set_tools("shop", tools);
    servers.accept(&[("shop", tools)]);
    servers.write(&format!("{rest}{}", servers.entry("shop", settings)));
    servers
}

#[tokio::test]
async fn tools_are_chosen_and_renamed_by_the_servers_names() {
    let tools = ["echo", "pid", "wait", "get.Time"].map(tool);
    let settings = "tools = ['e*', 'p*', 'get*']\nexclude-tools = ['pid']\nrename = { echo = 'say', gone = 'x' }\n\
                    hints = { nothing = { readonly = true } }";
    let servers = shop(&tools, settings, "");
    let loaded = servers.load().await;
    let executor = executor(&loaded);
    assert_eq!(names(&executor), ["shop/say", "shop/get.Time"]);
    assert_eq!(call(&executor, "shop/say", json!({"a": 1})).await.to_model_text(), r#"{"a":1}"#);
    let remarks: Vec<String> = loaded.remarks.iter().map(|remark| remark.message.clone()).collect();
    assert_eq!(remarks, ["no accepted tool is named `gone`", "no accepted tool is named `nothing`"]);
}

#[tokio::test]
async fn two_tools_with_one_name_are_a_fault() {
    let servers = shop(&["echo", "pid"].map(tool), "rename = { echo = 'PID' }", "");
    let loaded = servers.load().await;
    let message = &loaded.set_aside[0].faults[0].message;
    assert_eq!(message, "the tools `echo` and `pid` would both be named `pid`; rename one of them");
}

#[tokio::test]
async fn hints_of_the_file_decide_about_rules_and_about_calls_that_are_sent_again() {
    let mut liar = tool("echo");
    liar["annotations"] = json!({"readOnlyHint": true});
    let once = tool("exit-once");
    let settings = "hints.echo = { readonly = false, destructive = true }\nhints.exit-once = { idempotent = true }";
    let rules = "[permissions]\nallow = ['shop/*']\ndeny = [{ tools = '**', destructive = true, readonly = false, idempotent = false }]\n";
    let servers = shop(&[liar, once], settings, rules);
    let executor = executor(&servers.load().await);
    let failure = call(&executor, "shop/echo", json!({})).await.failure().unwrap().clone();
    assert_eq!(failure.kind, FailureKind::PermissionDenied);
    assert!(servers.received("shop", "initialize").is_empty(), "nothing is started for a call that is not permitted");

    // The server ends during the call. The file says that it may be repeated.
    let mark = servers.server_file("mark").display().to_string();
    assert_eq!(call(&executor, "shop/exit-once", json!({"mark": mark})).await.to_model_text(), "again");
    assert_eq!(servers.received("shop", "initialize").len(), 2);
}

#[tokio::test]
async fn an_approver_is_shown_the_server_the_tool_and_whose_the_hints_are() {
    let whole =
        "hints.pid = { readonly = true, open-world = false }\nsecret-env = { TOKEN = 'token' }\napproval = 'always'";
    let servers = shop(&["echo", "pid"].map(tool), whole, "[secrets]\ntoken = { env = 'PATH' }\n");
    let executor = executor(&servers.load().await);
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = Arc::clone(&seen);
    let approve = move |request: ApprovalRequest, cx: Cx| {
        let preview = cx.tool().unwrap().annotations().get::<CallPreview>().cloned().unwrap();
        let facts = preview.effect(&json!({}).into()).unwrap().facts();
        let facts = facts.iter().map(|fact| format!("{}: {}", fact.label, fact.text));
        kept.lock().unwrap().push(facts.collect::<Vec<_>>().join("\n"));
        async move { request.approve() }
    };
    let calls = ["shop/echo", "shop/pid"].map(|name| ToolCall::new(name, name, "{}").into()).into();
    let options = executor.options().approvals(approve);
    let results = executor.run_calls(calls, options).collect_results().await;
    assert!(results.iter().all(haft_core::ToolResult::is_ok), "{results:?}");
    let mut seen = seen.lock().unwrap().clone();
    seen.sort();
    assert_eq!(seen.len(), 2);
    let echo: Vec<&str> = seen[0].lines().collect();
    assert_eq!(echo[0], "calls: `echo` of the MCP server `shop/server`");
    assert!(echo[1].starts_with("runs: ") && echo[1].contains("workspace_hostile_server"), "{echo:?}");
    assert!(echo[2].starts_with("in: "), "{echo:?}");
    assert_eq!(&echo[3..], ["hints: as the server states them", "secrets: `token`"]);
    assert!(!seen[1].contains("as the server states them"), "{}", seen[1]);
}

#[tokio::test]
async fn resources_of_imported_tools_have_one_spelling_for_rules() {
    let mut read = tool("echo");
    read["inputSchema"]["properties"] =
        json!({"path": {"type": "string"}, "urls": {"type": "array", "items": {"type": "string"}}});
    let rules = "[permissions]\nallow = ['shop/*']\ndeny = [{ tools = '**', when = \"has(args.path) && args.path == 'secret.txt'\" }]\n";
    let servers = shop(&[read, tool("pid")], "resources = { path = 'path', '/urls' = 'url' }", rules);
    std::fs::write(servers.path("secret.txt"), "s").unwrap();
    let executor = executor(&servers.load().await);
    for path in ["secret.txt", "./secret.txt", "x/../secret.txt"] {
        let failure = call(&executor, "shop/echo", json!({"path": path})).await.failure().unwrap().clone();
        assert_eq!(failure.kind, FailureKind::PermissionDenied, "{path}");
    }
    let result = call(&executor, "shop/echo", json!({"path": "./a//b.txt", "urls": ["HTTPS://A.example:443/x"]})).await;
    assert_eq!(result.to_model_text(), r#"{"path":"a/b.txt","urls":["https://a.example/x"]}"#);
    assert!(call(&executor, "shop/pid", json!({})).await.is_ok());

    let mut closed = tool("pid");
    closed["inputSchema"]["additionalProperties"] = false.into();
    let servers = shop(&[closed], "resources = { path = 'path' }", "");
    let loaded = servers.load().await;
    assert_eq!(loaded.set_aside[0].faults[0].message, "no tool has an argument `path`");
}

#[tokio::test]
async fn progress_and_questions_have_no_secret_of_the_server() {
    const PLANTED: &str = "planted-secret-0123456789";
    let servers =
        shop(&["leak", "ask"].map(tool), "secret-env = { TOKEN = 'token' }", "[secrets]\ntoken = { file = 'token' }\n");
    std::fs::write(servers.path("token"), PLANTED).unwrap();
    let kinds = haft_tools::kinds().replace(McpKind::new().state_folder(servers.server_file("state")));
    let options = LoadOptions::new(kinds).unwrap().trust(Trust::Always);
    let executor = executor(&load(servers.path("haft.toml"), &options).await.unwrap());
    let mut run = executor.run_calls(vec![ToolCall::new("c1", "shop/leak", "{}").into()], executor.options());
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(serde_json::to_string(&event).unwrap());
    }
    let events = events.join("\n");
    assert!(events.contains("progress has [removed]") && !events.contains(PLANTED), "{events}");

    // Base64 of the secret, as the caller of this test can't write it otherwise.
    let encoded = "cGxhbnRlZC1zZWNyZXQtMDEyMzQ1Njc4OQ==";
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "description": encoded}}});
    let question = json!({"method": "elicitation/create", "params": {"message": format!("Is it {PLANTED}?"), "requestedSchema": schema}});
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = Arc::clone(&seen);
    let ask = move |request: ApprovalRequest, _cx: Cx| {
        kept.lock().unwrap().push(serde_json::to_string(&request.question).unwrap());
        async move { request.deny("no") }
    };
    let call = ToolCall::new("c1", "shop/ask", question.to_string());
    let results = executor.run_calls(vec![call.into()], RunOptions::new().merge(executor.options().approvals(ask)));
    let results = results.collect_results().await;
    assert!(results[0].to_model_text().contains("decline"), "{results:?}");
    let seen = seen.lock().unwrap().join("\n");
    assert!(seen.contains("Is it [removed]?") && !seen.contains(PLANTED) && !seen.contains("cGxhbnRlZC1"), "{seen}");
}
