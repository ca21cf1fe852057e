//! The server of a row: it runs calls by an executor of its own, and kills itself when it is told to.
//!
//! It notes every call that it receives in a file, before anything else: that is the truth which results are compared
//! with.

use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::abort;
use std::sync::Arc;
use std::thread;

use haft_core::{ApprovalRequest, ToolCall, ToolEvent, ToolResult};
use haft_executor::{Cx, ExecutionLimits, RunOptions, Tool, Toolkit};
use serde_json::{Value, json};
use tokio::runtime::Builder;
use tokio::sync::mpsc::unbounded_channel;

use super::case::{Case, Ran};

/// The variable with the folder of a server, which is set in its process alone.
pub(super) const FOLDER: &str = "HAFT_TEST_FAULTS_FOLDER";
/// The variable with the moment at which the server kills itself.
pub(super) const KILL: &str = "HAFT_TEST_FAULTS_KILL";
/// The variable that is set if the tools are idempotent.
pub(super) const IDEMPOTENT: &str = "HAFT_TEST_FAULTS_IDEMPOTENT";

struct Server {
    tools: Toolkit,
    folder: PathBuf,
    /// The number of the call at which it kills itself, and whether it answers first: `received 3` or `answered 3`.
    kill: Option<String>,
}

/// Returns the folder if this is the process of a server.
pub(super) fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// Returns the calls that servers of this folder have received: their names and arguments.
pub(super) fn received(folder: &Path) -> Vec<(String, Value)> {
    let text = fs::read_to_string(folder.join("received")).unwrap_or_default();
    let line = |line: &str| serde_json::from_str::<(String, Value)>(line).unwrap();
    text.lines().map(line).collect()
}

/// Serves the tools of a row until the input ends.
pub(super) fn serve(folder: PathBuf, row: &impl Fn(&Ran) -> Case) {
    fs::write(folder.join("pid"), std::process::id().to_string()).unwrap();
    let case = row(&Ran::default());
    let tools = case.toolkit();
    // These two are the client's.
    let tools = tools.iter().map(|tool| tool.with_limits(ExecutionLimits::new()).unwrap()).collect();
    // A server that was started again stays.
    let kill = std::env::var(KILL)
        .ok()
        .filter(|_| OpenOptions::new().create_new(true).write(true).open(folder.join("kill")).is_ok());
    let server = Arc::new(Server { tools, folder, kill });
    let (sender, mut messages) = unbounded_channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(serde_json::from_str::<Value>(&line).unwrap()).is_err() {
                return;
            }
        }
    });
    Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
        let mut calls = 0;
        while let Some(message) = messages.recv().await {
            let server = Arc::clone(&server);
            match message["method"].as_str() {
                Some("initialize") => write(&json!({"jsonrpc": "2.0", "id": message["id"], "result": {
                    "protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                    "serverInfo": {"name": "faults", "version": "1"}}})),
                Some("tools/list") => server.list(&message),
                Some("tools/call") => {
                    calls += 1;
                    let is_counted = |moment: &str| server.kill.as_deref() == Some(&format!("{moment} {calls}"));
                    let (killed_first, killed_then) = (is_counted("received"), is_counted("answered"));
                    server.note(&message);
                    if killed_first {
                        abort();
                    }
                    tokio::spawn(async move { server.call(&message, killed_then).await });
                }
                _ => {}
            }
        }
    });
}

impl Server {
    fn list(&self, message: &Value) {
        let is_idempotent = std::env::var_os(IDEMPOTENT).is_some();
        let definition = |tool: &Tool| {
            let schema = tool.parameters().as_json();
            json!({"name": tool.name(), "inputSchema": object(schema),
                "annotations": {"idempotentHint": is_idempotent}})
        };
        let tools: Vec<Value> = self.tools.iter().filter(|tool| tool.is_user_defined()).map(definition).collect();
        write(&json!({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": tools}}));
    }

    fn note(&self, message: &Value) {
        let params = &message["params"];
        let line = format!("{}\n", json!([params["name"], params["arguments"]]));
        let mut file = OpenOptions::new().create(true).append(true).open(self.folder.join("received")).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }

    async fn call(&self, message: &Value, is_killed: bool) {
        let params = &message["params"];
        let call = ToolCall::new("c1", params["name"].as_str().unwrap(), params["arguments"].to_string());
        let options = RunOptions::new().approvals(|request: ApprovalRequest, _: Cx| async move { request.approve() });
        let mut run = self.tools.run_with([call], options);
        let mut shown = 0;
        while let Some(event) = run.next().await {
            if let Some(result) = event.result() {
                write(&json!({"jsonrpc": "2.0", "id": message["id"], "result": written(result)}));
            } else if matches!(event, ToolEvent::Progress { .. } | ToolEvent::Preliminary { .. }) {
                shown += 1;
                let params = json!({"progressToken": params["_meta"]["progressToken"], "progress": shown});
                write(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}));
            }
        }
        if is_killed {
            abort();
        }
    }
}

/// Returns a schema as the protocol wants it.
fn object(schema: &Value) -> Value {
    match schema["type"].as_str() {
        Some("object") => schema.clone(),
        _ => json!({"type": "object"}),
    }
}

fn written(result: &ToolResult) -> Value {
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    match result.failure() {
        None => json!({"content": [], "structuredContent": result.value().unwrap().to_value()}),
        Some(failure) => json!({"content": text(&failure.message), "isError": true}),
    }
}

fn write(message: &Value) {
    let mut output = io::stdout().lock();
    output.write_all(format!("{message}\n").as_bytes()).and_then(|()| output.flush()).ok();
}
