//! The list of tools.

use haft_core::{Caller, ToolCall};
use haft_executor::{Cx, Permission, Permit, Permitting, RunOptions, SharedToolkit, Tool, Toolkit};
use haft_mcp::serve::{CallerAccess, serve};
use serde_json::{Value, json};

use super::line_client::{LineClient, NEW, OLD};

fn tool(name: &str) -> Tool {
    Tool::new(name).describe("A tool.").handler(|(), _cx| async { "done" }).unwrap()
}

fn kit(names: &[&str]) -> Toolkit {
    names.iter().map(|name| tool(name)).collect()
}

/// Hides tools whose names begin with `secret`, from everybody but the chief.
struct Hides;

impl Permit for Hides {
    fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
        Permission::Allowed.into()
    }

    fn sees(&self, tool: &Tool, caller: Option<&Caller>) -> bool {
        !tool.name().starts_with("secret") || caller.is_some_and(|caller| *caller == "chief")
    }
}

fn names(listed: &Value) -> Vec<&str> {
    let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn tools_are_listed_in_their_order_in_both_eras() {
    for era in [OLD, NEW] {
        let mut client = LineClient::connect(serve(kit(&["b", "acme/mail/send", "a"])), era).await;
        let listed = client.request("tools/list", json!({})).await;
        assert_eq!(names(&listed), ["b", "acme--mail--send", "a"]);
        let result = &listed["result"];
        assert_eq!(result["tools"][0]["inputSchema"]["type"], "object");
        assert_eq!(result["tools"][0]["description"], "A tool.");
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(30_000), &json!("public")), "{result}");
        assert_eq!(result.get("resultType").is_some(), era == NEW);
        let called = client.call("acme--mail--send", json!({})).await;
        assert_eq!(called["content"][0]["text"], "done");
        client.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_list_has_pages_and_a_cursor_is_checked() {
    let mut client = LineClient::connect(serve(kit(&["a", "b", "c", "d", "e"])).page_size(2), NEW).await;
    let (mut all, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        let listed = client.request("tools/list", params).await;
        all.extend(names(&listed).into_iter().map(str::to_owned));
        cursor = listed["result"]["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(all, ["a", "b", "c", "d", "e"]);
    for wrong in ["", "zzz", "%%%", "c2VjcmV0"] {
        let answer = client.request("tools/list", json!({"cursor": wrong})).await;
        assert_eq!(answer["error"]["code"], -32602, "{wrong}: {answer}");
    }
}

#[tokio::test]
async fn a_hidden_tool_is_like_one_that_does_not_exist() {
    let kit = kit(&["open", "secret-plan"]);
    let server = |caller: &str| serve(kit.clone()).options(RunOptions::new().permit(Hides)).caller(caller);
    let mut chief = LineClient::connect(server("chief"), NEW).await;
    assert_eq!(names(&chief.request("tools/list", json!({})).await), ["open", "secret-plan"]);
    assert_eq!(chief.call("secret-plan", json!({})).await["content"][0]["text"], "done");

    let mut clerk = LineClient::connect(server("clerk"), NEW).await;
    let listed = clerk.request("tools/list", json!({})).await;
    assert_eq!((names(&listed), &listed["result"]["cacheScope"]), (vec!["open"], &json!("private")));
    let hidden = clerk.call("secret-plan", json!({})).await;
    let missing = clerk.call("secret-plot", json!({})).await;
    assert_eq!(hidden["error"]["code"], -32602);
    assert_eq!(hidden["error"]["message"], "unknown tool: secret-plan");
    assert_eq!(missing["error"]["message"], "unknown tool: secret-plot");
    // Nor is it behind a cursor.
    let cursor = "c2VjcmV0LXBsYW4";
    assert_eq!(clerk.request("tools/list", json!({"cursor": cursor})).await["error"]["code"], -32602);
    assert!(clerk.call("secret-plan", json!({"wrong": 1})).await["error"]["message"] == "unknown tool: secret-plan");
}

#[tokio::test]
async fn a_client_hears_of_changes() {
    let tools = SharedToolkit::default();
    tools.add(tool("first")).unwrap();
    let mut old = LineClient::connect(serve(tools.clone()), OLD).await;
    let mut new = LineClient::connect(serve(tools.clone()), NEW).await;
    let listening = new.begin("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}})).await;
    let acknowledged = new.next().await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged", "{acknowledged}");
    assert_eq!(acknowledged["params"]["notifications"]["toolsListChanged"], true);
    assert_eq!(names(&old.request("tools/list", json!({})).await), ["first"]);

    tools.add(tool("second")).unwrap();
    assert_eq!(old.next().await["method"], "notifications/tools/list_changed");
    let changed = new.next().await;
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    assert_eq!(changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], listening);
    assert_eq!(names(&old.request("tools/list", json!({})).await), ["first", "second"]);
    assert_eq!(names(&new.request("tools/list", json!({})).await), ["first", "second"]);
}

#[tokio::test]
async fn tools_that_no_handler_runs_are_not_listed() {
    let signal = Tool::signal("stop").define().unwrap();
    let kit: Toolkit = Toolkit::from_iter([tool("a"), signal]);
    let mut client = LineClient::connect(serve(kit).caller(CallerAccess::everyone()), NEW).await;
    assert_eq!(names(&client.request("tools/list", json!({})).await), ["a"]);
    assert_eq!(client.call("stop", json!({})).await["error"]["message"], "unknown tool: stop");
}
