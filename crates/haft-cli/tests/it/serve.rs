//! `haft serve`, driven by our own MCP client: over standard input and output, and over HTTP.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, ExitStatus, Output, Stdio};

use haft::http::{AddressGuard, HttpClient, Secret};
use haft::mcp::{Era, McpClient, McpError, McpServer};
use haft::run::{Dispatch, RunOptions, ToolCall, ToolResult};
use haft::serde_json::{self, Value, json};
use haft::toolkit::ToolSource;
use tempfile::TempDir;

const FILE: &str = r#"
[workspace]
standard = { only = ["calculate", "hash", "text_count"] }

[permissions]
allow = ["*"]
sets.support = { allow = ["calculate", "hash"] }
sets.public = { allow = ["calculate"] }

[callers.ana]
token = "ana-token"
permissions = "support"
groups = ["staff"]

[callers.root]
token = "root-token"
per-minute = 2

[callers.anonymous]
permissions = "public"

[secrets]
ana-token.env = "ANA_TOKEN"
root-token.env = "ROOT_TOKEN"
"#;

struct Folder(TempDir);

impl Folder {
    fn with(file: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::write(folder.path().join("haft.toml"), file).unwrap();
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_haft"));
        command.args(arguments).current_dir(self.path()).env("HAFT_STATE_DIR", self.path().join(".state"));
        command.env("ANA_TOKEN", "t-ana").env("ROOT_TOKEN", "t-root").env("NO_COLOR", "1").env("USER", "kim");
        command.env_remove("HAFT_WORKSPACE").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn trust(&self) {
        assert!(self.run(&["trust", "--yes"]).status.success());
    }

    /// Runs a server that must not start, and returns its message.
    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.run(&[&["serve"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        stderr(&output)
    }

    /// Connects a client that starts the server itself.
    async fn stdio(&self, arguments: &[&str], era: Era) -> McpClient {
        let server = McpServer::command(env!("CARGO_BIN_EXE_haft"), [&["serve"], arguments].concat());
        let server =
            server.folder(self.path()).env("HAFT_STATE_DIR", self.path().join(".state")).named("haft").era(era);
        server.connect().await.unwrap()
    }

    /// Starts a server over HTTP.
    fn http(&self) -> HttpServer {
        let mut child = self.command(&["serve", "--http", "0"]).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("http://") {
            line.clear();
            assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "the server ended");
        }
        let url = line.split_whitespace().find(|word| word.starts_with("http://")).unwrap();
        HttpServer { child, stderr, url: url.trim_end_matches(',').to_owned() }
    }
}

/// A server over HTTP, which ends with this.
struct HttpServer {
    child: Child,
    stderr: BufReader<ChildStderr>,
    url: String,
}

impl HttpServer {
    async fn connect(&self, token: Option<&str>) -> Result<McpClient, McpError> {
        let host = self.url.trim_start_matches("http://").trim_end_matches("/mcp");
        let guard = AddressGuard::new().allow_host(host).unwrap();
        let client = HttpClient::builder().no_proxy().guarded(guard).unwrap();
        let server = McpServer::http(self.url.as_str()).named("haft").http_client(client);
        let server = token.into_iter().fold(server, |server, token| server.bearer(Secret::new(token)));
        server.connect().await
    }

    /// Waits for a line that contains this.
    fn wait_for(&mut self, part: &str) {
        let mut line = String::new();
        while !line.contains(part) {
            line.clear();
            assert_ne!(self.stderr.read_line(&mut line).unwrap(), 0, "the server ended");
        }
    }

    /// Ends the server, and returns its status and what it has written since.
    fn end(mut self) -> (ExitStatus, String) {
        let kill = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.stderr, &mut rest).unwrap();
        (self.child.wait().unwrap(), rest)
    }
}

/// A test that fails leaves no server behind.
impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn names(client: &McpClient) -> Vec<String> {
    client.snapshot().toolkit().names().map(str::to_owned).collect()
}

async fn call(client: &McpClient, tool: &str, arguments: Value) -> ToolResult {
    let call = ToolCall::new("c1", tool, arguments.to_string());
    client.run_calls(vec![call.into()], RunOptions::new()).collect_results().await.remove(0)
}

#[tokio::test]
async fn a_client_lists_and_calls_over_standard_streams() {
    let folder = Folder::with("[workspace]\nstandard = { only = ['calculate', 'hash'] }\n");
    for era in [Era::Legacy, Era::Modern] {
        let client = folder.stdio(&[], era).await;
        assert_eq!(names(&client), ["calculate", "hash"], "{era:?}");
        let sum = call(&client, "calculate", json!({"expression": "6*7"})).await;
        assert!(sum.to_model_text().contains("42"), "{sum:?}");
        let wrong = call(&client, "calculate", json!({"expression": 7})).await;
        assert!(!wrong.is_ok(), "{wrong:?}");
        client.close().await;
    }
}

#[tokio::test]
async fn a_client_on_standard_streams_is_the_chosen_caller_or_anonymous() {
    let folder = Folder::with(FILE);
    for (arguments, expected) in [
        (&["--caller", "ana"][..], &["calculate", "hash"][..]),
        (&["--caller", "root"], &["calculate", "text_count", "hash"]),
        (&[], &["calculate"]),
    ] {
        let client = folder.stdio(arguments, Era::Auto).await;
        assert_eq!(names(&client), expected, "{arguments:?}");
        client.close().await;
    }
    assert!(folder.refused(&["--caller", "an"]).contains("there is no caller `an`; did you mean `ana`?"));
}

#[tokio::test]
async fn changed_files_count_without_a_restart() {
    let folder = Folder::with("[workspace]\nstandard = { only = ['calculate', 'hash'] }\n");
    let client = folder.stdio(&[], Era::Legacy).await;
    let mut listings = client.listings();
    fs::write(folder.path().join("haft.toml"), "[workspace]\nstandard = { only = ['hash'] }\n").unwrap();
    let listed = |count: usize| {
        move |listing: &Option<std::sync::Arc<haft::mcp::Listing>>| {
            listing.as_ref().is_some_and(|listing| listing.tools.len() == count)
        }
    };
    listings.wait_for(listed(1)).await.unwrap();
    assert!(!call(&client, "calculate", json!({"expression": "1"})).await.is_ok());
    // A broken file changes nothing.
    fs::write(folder.path().join("haft.toml"), "[workspce]\n").unwrap();
    assert!(call(&client, "hash", json!({"text": "a"})).await.is_ok());
    client.close().await;
}

#[tokio::test]
async fn over_http_each_token_has_its_own_tools() {
    let folder = Folder::with(FILE);
    folder.trust();
    let server = folder.http();
    let ana = server.connect(Some("t-ana")).await.unwrap();
    let root = server.connect(Some("t-root")).await.unwrap();
    let anonymous = server.connect(None).await.unwrap();
    assert_eq!(names(&ana), ["calculate", "hash"]);
    assert_eq!(names(&root), ["calculate", "text_count", "hash"]);
    assert_eq!(names(&anonymous), ["calculate"]);
    assert!(server.connect(Some("t-anna")).await.is_err());
    assert!(call(&ana, "hash", json!({"text": "secret-argument"})).await.is_ok());
    // Two calls per minute.
    for expected in [true, true, false] {
        assert_eq!(call(&root, "text_count", json!({"text": "a"})).await.is_ok(), expected);
    }
    for client in [ana, root, anonymous] {
        client.close().await;
    }
    let (status, written) = server.end();
    assert_eq!(status.code(), Some(0), "{written}");
    let line = written.lines().find(|line| line.contains("\"hash\"")).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!((&line["caller"], &line["tool"], &line["outcome"]), (&json!("ana"), &json!("hash"), &json!("ok")));
    assert!(line["duration_ms"].is_u64() && line["at_ms"].is_u64());
    for secret in ["t-ana", "t-root", "secret-argument"] {
        assert!(!written.contains(secret), "{written}");
    }
}

#[tokio::test]
async fn callers_follow_the_files_once_they_are_trusted_again() {
    let folder = Folder::with(FILE);
    folder.trust();
    let mut server = folder.http();
    fs::write(folder.path().join("haft.toml"), FILE.replace("[callers.ana]", "[callers.kim]")).unwrap();
    server.wait_for("the callers and their tokens stay as they were");
    // Without the trust, the tokens are withheld.
    server.wait_for("loaded again");
    folder.trust();
    server.wait_for("loaded again");
    let kim = server.connect(Some("t-ana")).await.unwrap();
    assert!(call(&kim, "hash", json!({"text": "a"})).await.is_ok());
    kim.close().await;
    let (_, written) = server.end();
    assert!(written.contains("\"caller\":\"kim\""), "{written}");
}

#[tokio::test]
async fn calls_that_others_approve_wait_for_haft_pending() {
    let folder = Folder::with(&format!("{FILE}\n[[approval]]\nask = 'calculate'\nname = 'sums'\n"));
    folder.trust();
    let server = folder.http();
    let ana = server.connect(Some("t-ana")).await.unwrap();
    let sum = || call(&ana, "calculate", json!({"expression": "1+1"}));
    let first = sum().await;
    assert!(first.to_model_text().contains("approv"), "{first:?}");
    assert!(!sum().await.is_ok(), "it still waits");
    let listed = folder.run(&["pending"]);
    let listed: Vec<Value> = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed.len(), 1, "the same call waits once");
    assert_eq!((&listed[0]["tool"], &listed[0]["caller"]), (&json!("calculate"), &json!("ana")));
    let id = listed[0]["request_id"].as_str().unwrap();
    let edited = folder.run(&["pending", "edit", id, r#"{"expression": "2+3"}"#]);
    assert!(edited.status.success(), "{}", stderr(&edited));
    assert!(stderr(&edited).contains("it counts when the client makes the call again"));
    let result = sum().await;
    assert!(result.to_model_text().contains('5'), "{result:?}");
    assert_eq!(folder.run(&["pending"]).stdout, b"[]\n");
    // The verdict was for that call alone.
    assert!(!sum().await.is_ok());
    ana.close().await;
    assert_eq!(server.end().0.code(), Some(0));
}

#[test]
fn a_server_that_nobody_or_anybody_could_use_does_not_start() {
    let nobody = "nobody may call over HTTP: the workspace defines no caller with a token";
    let folder = Folder::with("");
    assert!(folder.refused(&["--http", "0"]).contains(nobody));
    let open = Folder::with("[callers.anonymous]\n");
    let refused = open.refused(&["--http", "0.0.0.0:0", "--host", "a.example"]);
    assert!(refused.contains("can be reached from other machines, and no caller has a token"), "{refused}");
    let callers = Folder::with(FILE);
    assert!(callers.refused(&["--http", "0"]).contains("is not trusted; review the file, and trust it"));
    callers.trust();
    assert!(callers.refused(&["--http", "0.0.0.0:0"]).contains("is every address of this machine"));
    assert!(callers.refused(&["--http", "nowhere"]).contains("write an address and a port"));
    assert!(callers.refused(&["--http", "0", "--caller", "ana"]).contains("cannot be used with"));
}
