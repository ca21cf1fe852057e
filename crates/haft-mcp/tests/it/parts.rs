//! Real servers.

use std::ffi::OsString;
use std::path::PathBuf;

use haft_core::{FailureKind, ToolCall, ToolResult};
use haft_executor::{Cancellation, Dispatch, Run, RunOptions};
use haft_mcp::{Era, McpClient, McpServer, McpServers};
use serde_json::{Value, json};

use crate::hostile::{call, until};
use crate::process::kill;

/// A real server, behind a shell that notes its process.
struct Real {
    folder: tempfile::TempDir,
    server: McpServer,
}

impl Real {
    fn new(name: &str, program: PathBuf, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = r#"echo $$ > "$PID"; exec "$0" "$@""#;
        let arguments = arguments.iter().map(OsString::from);
        let arguments = ["-c".into(), script.into(), program.into_os_string()].into_iter().chain(arguments);
        let server = McpServer::command("sh", arguments).named(name).env("PID", folder.path().join("pid"));
        Self { folder, server }
    }

    /// Returns a server from npm.
    fn npm(name: &str, arguments: &[&str]) -> Self {
        let program = haft_parts::folder("npm").join("node_modules/.bin").join(format!("mcp-server-{name}"));
        Self::new(name, program, arguments)
    }

    /// Returns a server written in Python.
    fn python(name: &str, arguments: &[&str]) -> Self {
        let program = haft_parts::folder("python").join("bin").join(format!("mcp-server-{name}"));
        Self::new(name, program, arguments)
    }

    /// Returns a Python program as a server, with the packages of a part.
    fn program(part: &str, text: &str, arguments: &[&str]) -> Self {
        let arguments: Vec<&str> = ["-c", text].into_iter().chain(arguments.iter().copied()).collect();
        Self::new(part, haft_parts::folder(part).join("bin/python"), &arguments)
    }

    async fn connect(&self) -> McpClient {
        connected(self.server.clone()).await
    }

    async fn kill(&self) {
        kill(&std::fs::read_to_string(self.folder.path().join("pid")).unwrap()).await;
    }

    /// Checks that invalid arguments are rejected, that a call starts a killed server again, and that one of a pinned tool
    /// starts it at all; then ends it.
    async fn check(&self, client: McpClient, tool: &str, valid: Value, invalid: Value) {
        let failure = call(&client, tool, invalid).await.failure().unwrap().clone();
        assert_eq!((failure.kind, failure.started), (FailureKind::InputValidationError, false), "{tool}");
        assert!(call(&client, tool, valid.clone()).await.failure().is_none(), "{tool}");
        self.kill().await;
        let again = call(&client, tool, valid.clone()).await;
        assert!(again.failure().is_none(), "{tool} of a server that was started again: {again:?}");
        let listing = client.offered();
        client.close().await;
        let pinned = self.server.clone().pinned(listing.tools.iter().map(|tool| Value::clone(&tool.definition)));
        assert!(pinned.info().is_none(), "nothing is started");
        let result = call(&pinned, tool, valid).await;
        assert!(result.failure().is_none(), "{tool} of a pinned server: {result:?}");
        pinned.close().await;
    }

    /// Checks that a call under way ends at once when it is cancelled.
    async fn check_cancelled(&self, client: &McpClient, tool: &str, arguments: Value) {
        let cancellation = Cancellation::new();
        let run = under_way(client, tool, arguments, RunOptions::new().cancellation(cancellation.clone())).await;
        cancellation.cancel();
        let failure = run.collect_results().await.remove(0).failure().unwrap().clone();
        assert_eq!((failure.kind, failure.started), (FailureKind::Cancelled, true), "{tool}");
    }

    /// Returns the result of a call whose server is killed while it is under way.
    async fn killed(&self, client: &McpClient, tool: &str, arguments: Value) -> ToolResult {
        let run = under_way(client, tool, arguments, RunOptions::new()).await;
        self.kill().await;
        run.collect_results().await.remove(0)
    }
}

/// Returns a run of one call whose progress says that it is under way.
async fn under_way(client: &McpClient, tool: &str, arguments: Value, options: RunOptions) -> Run {
    let mut run = client.run_calls(vec![ToolCall::new("c1", tool, arguments.to_string()).into()], options);
    let progress = run.next().await.unwrap();
    assert!(progress.progress().is_some(), "{progress:?}");
    run
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
    let real = Real::npm("everything", &["stdio"]);
    let client = real.connect().await;
    assert_eq!(client.info().unwrap().era, Era::Legacy);
    assert_eq!(call(&client, "echo", json!({"message": "hi"})).await.to_model_text(), "Echo: hi");
    let sum = call(&client, "get-sum", json!({"a": 2, "b": 3})).await.to_model_text();
    assert_eq!(sum, "The sum of 2 and 3 is 5.");
    let image = call(&client, "get-tiny-image", json!({})).await;
    let kinds: Vec<_> =
        image.outcome.output().unwrap().content().unwrap().iter().map(|part| json!(part)["type"].clone()).collect();
    assert_eq!(kinds, ["text", "image", "text"]);
    let weather = call(&client, "get-structured-content", json!({"location": "New York"})).await;
    assert!(weather.outcome.output().unwrap().value().unwrap().to_value()["temperature"].is_number());
    let long = "trigger-long-running-operation";
    real.check_cancelled(&client, long, json!({"duration": 600, "steps": 6000})).await;
    // It has no effect, so it is sent again.
    let again = real.killed(&client, long, json!({"duration": 1, "steps": 10})).await;
    assert!(again.to_model_text().contains("completed"), "{again:?}");
    real.check(client, "echo", json!({"message": "hi"}), json!({})).await;
}

#[tokio::test]
async fn files_memory_and_thoughts_from_npm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let file = |name: &str| path.join(name).to_str().unwrap().to_owned();
    let filesystem = Real::npm("filesystem", &[path.to_str().unwrap()]);
    let files = filesystem.connect().await;
    let written = call(&files, "write_file", json!({"path": file("a.txt"), "content": "hello"})).await;
    assert!(written.failure().is_none(), "{written:?}");
    assert_eq!(std::fs::read_to_string(file("a.txt")).unwrap(), "hello");
    let read = call(&files, "read_text_file", json!({"path": file("a.txt")})).await;
    assert_eq!(read.to_model_text(), r#"{"content":"hello"}"#);
    let outside = call(&files, "read_text_file", json!({"path": "/etc/passwd"})).await.failure().unwrap().clone();
    assert_eq!(outside.kind, FailureKind::ToolFailed);
    assert!(outside.message.contains("outside allowed directories"), "{outside}");

    let mut remembering = Real::npm("memory", &[]);
    remembering.server = remembering.server.env("MEMORY_FILE_PATH", file("memory.json"));
    let memory = remembering.connect().await;
    let entity = json!({"entities": [{"name": "haft", "entityType": "crate", "observations": ["checks"]}]});
    assert!(call(&memory, "create_entities", entity).await.failure().is_none());
    let graph = call(&memory, "read_graph", json!({})).await;
    assert_eq!(graph.outcome.output().unwrap().value().unwrap().to_value()["entities"][0]["name"], "haft");

    let thinker = Real::npm("sequential-thinking", &[]);
    let thinking = thinker.connect().await;
    let thought = json!({"thought": "x", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1});
    assert!(call(&thinking, "sequentialthinking", thought.clone()).await.failure().is_none());
    filesystem.check(files, "read_text_file", json!({"path": file("a.txt")}), json!({"path": 7})).await;
    remembering.check(memory, "read_graph", json!({}), json!([])).await;
    thinker.check(thinking, "sequentialthinking", thought, json!({"thought": "x"})).await;
}

#[tokio::test]
async fn git_and_time_from_pypi_as_one_source() {
    let folder = tempfile::tempdir().unwrap();
    let git = |arguments: &[&str]| {
        let status = std::process::Command::new("git").args(arguments).current_dir(folder.path()).status().unwrap();
        assert!(status.success());
    };
    git(&["init", "--quiet"]);
    let (git, time) = (Real::python("git", &[]), Real::python("time", &["--local-timezone", "UTC"]));
    let tools = McpServers::new().with(git.server.clone()).with(time.server.clone()).connect().await;
    assert!(tools.failed().is_empty(), "{:?}", tools.failed());
    let status = call(&tools, "git__git_status", json!({"repo_path": folder.path()})).await;
    assert!(status.to_model_text().contains("No commits yet"), "{status:?}");
    let zone = |zone: &str| json!({"source_timezone": zone, "time": "12:00", "target_timezone": "Asia/Tokyo"});
    let converted = call(&tools, "time__convert_time", zone("Europe/London")).await;
    assert!(text(&json!(converted)).contains("Asia/Tokyo"), "{converted:?}");
    let failed = call(&tools, "time__convert_time", zone("Nowhere")).await.failure().unwrap().clone();
    assert_eq!(failed.kind, FailureKind::ToolFailed);
    let clone = |name: &str| tools.get(name).unwrap().clone();
    git.check(clone("git"), "git_status", json!({"repo_path": folder.path()}), json!({})).await;
    time.check(clone("time"), "convert_time", zone("Europe/London"), json!({})).await;
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
    for era in [Era::Auto, Era::Legacy] {
        let client = connected(Real::program("python", SERVER, &[]).server.era(era)).await;
        let expected = if era == Era::Auto { Era::Modern } else { Era::Legacy };
        assert_eq!(client.info().unwrap().era, expected);
        let sum = call(&client, "add", json!({"a": 2, "b": 3})).await;
        assert_eq!(sum.outcome.output().unwrap().value().unwrap().to_value()["result"], 5, "{sum:?}");
        client.close().await;
    }
}

/// A server of `FastMCP`, in both eras.
#[tokio::test]
async fn a_server_of_fastmcp_in_both_eras() {
    const SERVER: &str = "
import asyncio, sys
from fastmcp import Context, FastMCP
server = FastMCP('fast')
def note(text):
    with open(sys.argv[1], 'a') as file:
        file.write(text + '\\n')
@server.tool
def add(a: int, b: int) -> int:
    note(f'add {a} {b}')
    return a + b
@server.tool
def names(count: int) -> list[str]:
    return [str(number) for number in range(count)]
@server.tool
def fail(reason: str) -> str:
    raise ValueError(reason)
@server.tool
async def wait(context: Context) -> str:
    await context.report_progress(1, 2)
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        note('cancelled')
        raise
server.run(show_banner=False)
";
    for era in [Era::Auto, Era::Legacy] {
        let notes = tempfile::NamedTempFile::new().unwrap();
        let mut real = Real::program("fastmcp", SERVER, &[notes.path().to_str().unwrap()]);
        real.server = real.server.era(era);
        let client = real.connect().await;
        let expected = if era == Era::Auto { Era::Modern } else { Era::Legacy };
        assert_eq!(client.info().unwrap().era, expected);
        let value = async |tool: &str, arguments: Value| {
            let result = call(&client, tool, arguments).await;
            result.outcome.output().unwrap().value().unwrap().to_value()["result"].clone()
        };
        assert_eq!(value("add", json!({"a": 2, "b": 3})).await, 5);
        assert_eq!(value("names", json!({"count": 2})).await, json!(["0", "1"]));
        let failed = call(&client, "fail", json!({"reason": "no disk"})).await.failure().unwrap().clone();
        assert_eq!(failed.kind, FailureKind::ToolFailed);
        assert!(failed.message.contains("no disk"), "{failed}");
        if era == Era::Legacy {
            // Its programs take seconds to start, so the rest is checked in one era.
            client.close().await;
            continue;
        }
        real.check_cancelled(&client, "wait", json!({})).await;
        let noted = || std::fs::read_to_string(notes.path()).unwrap();
        until(|| noted().contains("cancelled").then_some(())).await;
        let failure = real.killed(&client, "wait", json!({})).await.failure().unwrap().clone();
        assert_eq!((failure.kind, failure.started), (FailureKind::OutcomeUnknown, true));
        real.check(client, "add", json!({"a": 1, "b": 1}), json!({"a": "one", "b": 1})).await;
        assert!(!noted().contains("one"), "the rejected arguments were sent: {}", noted());
    }
}

#[tokio::test]
async fn a_database_from_pypi() {
    const SERVER: &str = "from mcp_server_sqlite import main; main()";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.db");
    let real = Real::program("mcp-sqlite", SERVER, &["--db-path", file.to_str().unwrap()]);
    let client = real.connect().await;
    assert_eq!(client.info().unwrap().era, Era::Legacy);
    let text = async |tool: &str, query: &str| call(&client, tool, json!({"query": query})).await.to_model_text();
    assert!(text("create_table", "CREATE TABLE t (n INTEGER)").await.contains("created"));
    text("write_query", "INSERT INTO t VALUES (7)").await;
    assert!(text("read_query", "SELECT n FROM t").await.contains('7'));
    let tables = call(&client, "list_tables", json!({})).await.to_model_text();
    assert!(tables.contains('t'), "{tables}");
    // It knows no failures: it answers with a text.
    assert!(text("read_query", "DROP TABLE t").await.contains("Only SELECT"));
    let read = |query: Value| json!({"query": query});
    real.check(client, "read_query", read("SELECT n FROM t".into()), read(7.into())).await;
}
