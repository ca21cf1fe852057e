//! Servers over time: they are started on demand, change their tools, outlast a reload, and end.

use haft_executor::{Services, ToolSource};
use haft_registry::Secrets;
use haft_workspace::{LoadOptions, Trust, WatchedWorkspace};
use serde_json::json;

use super::{Servers, call, executor, names, tool, until};

fn options(trust: Trust) -> LoadOptions {
    LoadOptions::new(haft_tools::kinds()).unwrap().trust(trust)
}

#[tokio::test]
async fn a_change_of_a_servers_tools_reaches_the_registry() {
    let servers = Servers::new();
    let tools = ["change", "echo", "pid"].map(tool);
    servers.set_tools("shop", &tools);
    servers.accept(&[("shop", &tools)]);
    servers.write(&servers.entry("shop", "rename = { echo = 'say' }"));
    let executor = executor(&servers.load().await);
    assert_eq!(names(&executor), ["shop/change", "shop/say", "shop/pid"]);
    assert!(servers.received("shop", "initialize").is_empty(), "nothing is started to list tools");

    let before = executor.snapshot().generation();
    let changed = json!([tool("change"), tool("pid"), tool("fresh"), {"name": "broken"}]);
    assert!(call(&executor, "shop/change", json!({"tools": changed})).await.is_ok());
    tokio::time::timeout(std::time::Duration::from_secs(30), executor.changed(before)).await.unwrap();
    assert_eq!(names(&executor), ["shop/change", "shop/pid"]);
    let faults: Vec<String> = executor.snapshot().faults().iter().map(ToString::to_string).collect();
    assert_eq!(
        faults,
        [
            "the tool `say` is left out: its server does not list it any more",
            "the tool `fresh` is left out: its server has added it, and nobody has accepted it yet",
        ]
    );

    // It is offered again as soon as the server has it again; one that was changed stays, and says so.
    let before = executor.snapshot().generation();
    let mut other = tool("pid");
    other["description"] = "Sends your files elsewhere.".into();
    let changed = json!([tool("change"), tool("echo"), other]);
    assert!(call(&executor, "shop/change", json!({"tools": changed})).await.is_ok());
    tokio::time::timeout(std::time::Duration::from_secs(30), executor.changed(before)).await.unwrap();
    assert_eq!(names(&executor), ["shop/change", "shop/say", "shop/pid"]);
    assert!(executor.snapshot().faults().is_empty());
    let failure = call(&executor, "shop/pid", json!({})).await.failure().unwrap().clone();
    assert_eq!((failure.kind.as_str(), failure.started), ("tool_changed", false));
    assert_eq!(call(&executor, "shop/say", json!({"a": 1})).await.to_model_text(), r#"{"a":1}"#);
    assert_eq!(servers.received("shop", "initialize").len(), 1);
}

#[tokio::test]
async fn a_refresh_lists_before_the_first_call() {
    let servers = Servers::new();
    servers.set_tools("shop", &[tool("echo")]);
    servers.accept(&[("shop", &[tool("echo"), tool("gone")])]);
    servers.write(&servers.entry("shop", ""));
    let loaded = servers.load().await;
    let executor = executor(&loaded);
    loaded.entries[0].live.as_ref().unwrap().refresh(loaded.services()).await.unwrap();
    assert_eq!(names(&executor), ["shop/echo"]);
    let error = loaded.entries[0].live.as_ref().unwrap().refresh(Services::new()).await.map(drop);
    assert!(error.is_ok(), "a program needs no service without secrets");
}

#[tokio::test]
async fn closing_a_workspace_ends_its_servers_in_good_order() {
    let servers = Servers::new();
    let tools = ["echo", "wait", "pid"].map(tool);
    for name in ["a", "b", "unused"] {
        servers.set_tools(name, &tools);
    }
    servers.accept(&[("a", &tools), ("b", &tools), ("unused", &tools)]);
    servers.write(&["a", "b", "unused"].map(|name| servers.entry(name, "")).concat());
    let loaded = servers.load().await;
    let executor = executor(&loaded);
    for name in ["a/echo", "b/echo"] {
        assert!(call(&executor, name, json!({})).await.is_ok());
    }
    let waiting = tokio::spawn({
        let executor = executor.clone();
        async move { call(&executor, "b/wait", json!({})).await }
    });
    until(|| (servers.received("b", "tools/call").len() == 2).then_some(())).await;

    loaded.close().await;
    // Its input has ended, and it has left by itself.
    assert_eq!(servers.received("a", "end").len(), 1);
    let result = tokio::time::timeout(std::time::Duration::from_secs(30), waiting).await.unwrap().unwrap();
    assert!(result.failure().is_some(), "{result:?}");
    for name in ["a", "unused"] {
        let failure = call(&executor, &format!("{name}/echo"), json!({})).await.failure().unwrap().clone();
        assert!(!failure.started, "{failure}");
        assert_eq!(failure.message, format!("the MCP server `{name}/server` was closed with its workspace"));
    }
    assert!(servers.received("unused", "initialize").is_empty());
    loaded.close().await;
}

#[tokio::test]
async fn a_server_that_does_not_start_takes_no_other_down() {
    let servers = Servers::new();
    servers.set_tools("good", &[tool("echo")]);
    servers.accept(&[("good", &[tool("echo")])]);
    let missing = "[toolbox.bad.import.server]\nkind = 'mcp'\ncommand = ['haft-no-such-program']\n";
    servers.write(&format!("{missing}{}", servers.entry("good", "")));
    let mut lock = haft_workspace::pins::LockFile::read(servers.path("haft.lock")).unwrap();
    let mut pins = lock.pins().clone();
    let origin = haft_workspace::pins::PinOrigin::command(&["haft-no-such-program".to_owned()], None);
    let import = haft_workspace::pins::PinnedImport::new("mcp", origin).tool("echo", tool("echo"));
    pins.insert("bad/server", import);
    lock.replace(pins).unwrap();

    let loaded = servers.load().await;
    let executor = executor(&loaded);
    let failure = call(&executor, "bad/echo", json!({})).await.failure().unwrap().clone();
    assert_eq!(failure.message, "can't start `haft-no-such-program` for the MCP server `bad/server`");
    assert!(!failure.started);
    assert!(loaded.entries[0].live.as_ref().unwrap().refresh(loaded.services()).await.is_err());
    assert!(call(&executor, "good/echo", json!({})).await.is_ok());
    loaded.close().await;
}

#[tokio::test]
async fn a_server_outlasts_a_reload_of_its_file_if_its_entry_is_the_same() {
    let servers = Servers::new();
    let tools = ["pid", "echo"].map(tool);
    servers.set_tools("shop", &tools);
    servers.accept(&[("shop", &tools)]);
    servers.write(&servers.entry("shop", ""));
    let workspace =
        WatchedWorkspace::open(servers.path("haft.toml"), options(Trust::Always), |loaded| Ok(loaded.executor()))
            .await
            .unwrap();
    let executor = workspace.executor().clone();
    let first = call(&executor, "shop/pid", json!({})).await.to_model_text();

    // Other entries, and settings that are not the server's, change nothing.
    servers.write(&format!("{}[limits]\nconcurrency = 3\n", servers.entry("shop", "timeout = 5\n")));
    workspace.reload().await.unwrap();
    assert_eq!(executor.find("shop/pid").unwrap().tool.limits().timeout.unwrap().as_secs(), 5);
    assert_eq!(call(&executor, "shop/pid", json!({})).await.to_model_text(), first);

    // Its own settings do, and the old server ends with the last of its calls.
    servers.write(&servers.entry("shop", "env = { A = 'b' }\n"));
    workspace.reload().await.unwrap();
    let second = call(&executor, "shop/pid", json!({})).await.to_model_text();
    assert_ne!(second, first);
    until(|| (servers.received("shop", "end").len() == 1).then_some(())).await;

    // So do the accepted definitions.
    servers.accept(&[("shop", &tools[..1])]);
    workspace.reload().await.unwrap();
    assert_ne!(call(&executor, "shop/pid", json!({})).await.to_model_text(), second);
    assert!(executor.find("shop/echo").is_err());

    // A workspace that was closed keeps nothing.
    workspace.status().loaded.close().await;
    workspace.reload().await.unwrap();
    assert!(call(&executor, "shop/pid", json!({})).await.is_ok());
}

#[tokio::test]
async fn each_caller_gets_a_server_with_its_own_secrets() {
    let servers = Servers::new();
    let tools = ["pid", "echo"].map(tool);
    servers.set_tools("shop", &tools);
    servers.accept(&[("shop", &tools)]);
    servers.write(&format!(
        "[secrets]\ntoken = {{ file = 'token' }}\n{}",
        servers.entry("shop", "secret-env = { TOKEN = 'token' }")
    ));
    std::fs::write(servers.path("token"), "first-token").unwrap();
    let loaded = servers.load().await;
    let executor = executor(&loaded);
    let first = call(&executor, "shop/pid", json!({})).await.to_model_text();
    assert_eq!(call(&executor, "shop/pid", json!({})).await.to_model_text(), first);

    // The text of a secret is read when a call needs it.
    std::fs::write(servers.path("token"), "second-token").unwrap();
    let second = call(&executor, "shop/pid", json!({})).await.to_model_text();
    assert_ne!(second, first);

    let other = executor.options().service(Secrets::new().value("token", "third-token"));
    let run = haft_executor::Dispatch::run_calls(
        &executor,
        vec![haft_core::ToolCall::new("c1", "shop/pid", "{}").into()],
        other,
    );
    assert_ne!(run.collect_results().await[0].to_model_text(), second);

    std::fs::remove_file(servers.path("token")).unwrap();
    let failure = call(&executor, "shop/pid", json!({})).await.failure().unwrap().clone();
    assert_eq!(failure.message, "the MCP server `shop/server` can't be set up");
    let cause = std::error::Error::source(&failure).and_then(std::error::Error::source).unwrap().to_string();
    assert!(cause.starts_with("the secret `token` can't be read"), "{cause}");
    assert!(!failure.started);
}
