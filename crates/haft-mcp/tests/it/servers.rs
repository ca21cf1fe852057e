//! Several servers at once.

use haft_executor::ToolSource;
use haft_mcp::{McpServer, McpServers};
use serde_json::json;

use crate::hostile::{Hostile, call};

#[tokio::test]
async fn a_server_that_can_not_start_takes_no_other_down() {
    let (one, two) = (Hostile::new(), Hostile::new());
    let tools = McpServers::new()
        .with(one.server().named("one"))
        .with(McpServer::command("haft-no-such-program", ["x"; 0]).named("missing"))
        .with(two.server().named("two"))
        .with(two.server().named("one"))
        .with(two.server().named("bad\nname"))
        .connect()
        .await;
    let failed: Vec<_> = tools.failed().iter().map(ToString::to_string).collect();
    assert_eq!(failed[0], "can't start `haft-no-such-program` for the MCP server `missing`");
    assert_eq!(failed[1], "the MCP server `one` needs another name: an earlier server has the same name");
    assert!(failed.len() == 3 && failed[2].contains("needs another name"), "{failed:?}");
    let snapshot = tools.snapshot();
    assert_eq!(snapshot.faults().len(), 3);
    assert_eq!(call(&tools, "one__echo", json!({"a": 1})).await.to_model_text(), r#"{"a":1}"#);
    assert_eq!(call(&tools, "two__echo", json!({"a": 2})).await.to_model_text(), r#"{"a":2}"#);
    assert!(tools.get("missing").unwrap().info().is_none());
    tools.close().await;
}
