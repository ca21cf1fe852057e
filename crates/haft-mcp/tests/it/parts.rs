//! Real servers.

use std::path::PathBuf;

use haft_core::FailureKind;
use haft_mcp::{Era, McpClient, McpServer, McpServers};
use serde_json::{Value, json};

use crate::hostile::call;

/// Returns a server from npm.
fn npm(name: &str, arguments: &[&str]) -> McpServer {
    let program = haft_parts::folder("npm").join("node_modules/.bin").join(format!("mcp-server-{name}"));
    McpServer::command(program, arguments).named(name)
}

/// Returns a server written in Python.
fn python(name: &str, arguments: &[&str]) -> McpServer {
    let program = haft_parts::folder("python").join("bin").join(format!("mcp-server-{name}"));
    McpServer::command(program, arguments).named(name)
}

async fn connected(server: McpServer) -> McpClient {
    let client = server.connect().await.unwrap();
    assert!(client.quarantined().is_empty(), "{:?}", client.quarantined());
    client
}

fn text(value: &Value) -> String {
    value.to_string()
}

#[tokio::test]
async fn everything_from_npm() {
    let client = connected(npm("everything", &["stdio"])).await;
    assert_eq!(client.info().unwrap().era, Era::Legacy);
    assert_eq!(call(&client, "echo", json!({"message": "hi"})).await.to_model_text(), "Echo: hi");
    let sum = call(&client, "get-sum", json!({"a": 2, "b": 3})).await.to_model_text();
    assert_eq!(sum, "The sum of 2 and 3 is 5.");
    let failure = call(&client, "get-sum", json!({"a": "two", "b": 3})).await.failure().unwrap().clone();
    assert_eq!((failure.kind, failure.started), (FailureKind::InputValidationError, false));
    let image = call(&client, "get-tiny-image", json!({})).await;
    let kinds: Vec<_> =
        image.outcome.output().unwrap().content().unwrap().iter().map(|part| json!(part)["type"].clone()).collect();
    assert_eq!(kinds, ["text", "image", "text"]);
    let weather = call(&client, "get-structured-content", json!({"location": "New York"})).await;
    assert!(weather.outcome.output().unwrap().value().unwrap().to_value()["temperature"].is_number());
    client.close().await;
}

#[tokio::test]
async fn files_memory_and_thoughts_from_npm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let file = |name: &str| path.join(name).to_str().unwrap().to_owned();
    let files = connected(npm("filesystem", &[path.to_str().unwrap()])).await;
    let written = call(&files, "write_file", json!({"path": file("a.txt"), "content": "hello"})).await;
    assert!(written.failure().is_none(), "{written:?}");
    assert_eq!(std::fs::read_to_string(file("a.txt")).unwrap(), "hello");
    let read = call(&files, "read_text_file", json!({"path": file("a.txt")})).await;
    assert_eq!(read.to_model_text(), r#"{"content":"hello"}"#);
    let outside = call(&files, "read_text_file", json!({"path": "/etc/passwd"})).await.failure().unwrap().clone();
    assert_eq!(outside.kind, FailureKind::ToolFailed);
    assert!(outside.message.contains("outside allowed directories"), "{outside}");

    let memory = npm("memory", &[]).env("MEMORY_FILE_PATH", file("memory.json"));
    let memory = connected(memory).await;
    let entity = json!({"entities": [{"name": "haft", "entityType": "crate", "observations": ["checks"]}]});
    assert!(call(&memory, "create_entities", entity).await.failure().is_none());
    let graph = call(&memory, "read_graph", json!({})).await;
    assert_eq!(graph.outcome.output().unwrap().value().unwrap().to_value()["entities"][0]["name"], "haft");

    let thinking = connected(npm("sequential-thinking", &[])).await;
    let thought = json!({"thought": "x", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1});
    assert!(call(&thinking, "sequentialthinking", thought).await.failure().is_none());
    for client in [files, memory, thinking] {
        client.close().await;
    }
}

#[tokio::test]
async fn git_and_time_from_pypi_as_one_source() {
    let folder = tempfile::tempdir().unwrap();
    let git = |arguments: &[&str]| {
        let status = std::process::Command::new("git").args(arguments).current_dir(folder.path()).status().unwrap();
        assert!(status.success());
    };
    git(&["init", "--quiet"]);
    let tools =
        McpServers::new().with(python("git", &[])).with(python("time", &["--local-timezone", "UTC"])).connect().await;
    assert!(tools.failed().is_empty(), "{:?}", tools.failed());
    let status = call(&tools, "git__git_status", json!({"repo_path": folder.path()})).await;
    assert!(status.to_model_text().contains("No commits yet"), "{status:?}");
    let zone = |zone: &str| json!({"source_timezone": zone, "time": "12:00", "target_timezone": "Asia/Tokyo"});
    let converted = call(&tools, "time__convert_time", zone("Europe/London")).await;
    assert!(text(&json!(converted)).contains("Asia/Tokyo"), "{converted:?}");
    let failed = call(&tools, "time__convert_time", zone("Nowhere")).await.failure().unwrap().clone();
    assert_eq!(failed.kind, FailureKind::ToolFailed);
    tools.close().await;
}

/// A server of the Python SDK, in both eras.
#[tokio::test]
async fn a_server_of_the_python_sdk_in_both_eras() {
    const SERVER: &str = "
from mcp.server import MCPServer
server = MCPServer('sdk')
@server.tool()
def add(a: int, b: int) -> int:
    return a + b
server.run('stdio')
";
    let python: PathBuf = haft_parts::folder("python").join("bin/python");
    for era in [Era::Auto, Era::Legacy] {
        let server = McpServer::command(&python, ["-c", SERVER]).named("sdk").era(era);
        let client = connected(server).await;
        let expected = if era == Era::Auto { Era::Modern } else { Era::Legacy };
        assert_eq!(client.info().unwrap().era, expected);
        let sum = call(&client, "add", json!({"a": 2, "b": 3})).await;
        assert_eq!(sum.outcome.output().unwrap().value().unwrap().to_value()["result"], 5, "{sum:?}");
        client.close().await;
    }
}
