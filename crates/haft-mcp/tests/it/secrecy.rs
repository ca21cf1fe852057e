//! Nothing of a call is logged, by haft or by the SDK, whatever the level.

use std::io;
use std::sync::{Arc, Mutex};

use haft_core::{ApprovalRequest, Secret, ToolCall};
use haft_executor::{Cx, Dispatch, RunOptions};
use haft_mcp::{Era, McpClient};
use serde_json::{Value, json};

use crate::hostile::Hostile;
use crate::web::Web;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

async fn run(client: &McpClient, tool: &str, arguments: Value) {
    let person = |request: ApprovalRequest, _: Cx| async move { request.answer(json!({"n": "sk-planted-answer"})) };
    let call = ToolCall::new("c1", tool, arguments.to_string());
    let options = RunOptions::new().approvals(person);
    client.run_calls(vec![call.into()], options).collect_results().await;
}

/// The runtime has one thread, so the subscriber sees the tasks of the SDK as well.
#[tokio::test]
async fn no_argument_result_answer_or_token_is_in_any_event() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone());
    let _logging = tracing::subscriber::set_default(subscriber.finish());

    let hostile = Hostile::new();
    let secret = Secret::new("sk-planted-token");
    let client = hostile.server().secret_env("TOKEN", secret.clone()).connect().await.unwrap();
    run(&client, "echo", json!({"a": "sk-planted-argument"})).await;
    run(&client, "raw", json!({"result": r#"{"content":[{"type":"text","text":"sk-planted-result"}]}"#})).await;
    run(&client, "fail", json!({"code": -32000})).await;
    let schema = json!({"type": "object", "properties": {"n": {"type": "string"}}});
    let params = json!({"message": "Which?", "requestedSchema": schema});
    run(&client, "ask", json!({"method": "elicitation/create", "params": params})).await;
    client.close().await;

    let tools = json!([{"name": "echo", "inputSchema": {"type": "object"}}]);
    for era in [Era::Modern, Era::Legacy] {
        let web = Web::start(tools.clone(), Some("Bearer sk-planted-token")).await;
        let client = web.server(era).bearer(secret.clone()).connect().await.unwrap();
        run(&client, "echo", json!({"a": "sk-planted-argument"})).await;
        client.close().await;
    }

    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("rmcp::service"), "the events of the SDK are seen");
    for line in log.lines().filter(|line| line.contains("sk-planted")) {
        // The hostile server's own error message, which rmcp forwards at `trace`.
        assert!(line.contains("sk-planted-secret") && line.contains("rmcp::service"), "{line}");
    }
}
