//! Real MCP servers: added, listed from the lock, called and compared.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use haft_parts::{Aimock, Judge, WireName};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A workspace with a state of its own.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(folder.0.path().join("docs")).unwrap();
        std::fs::write(folder.0.path().join("docs/note.txt"), "Rain in Oslo.").unwrap();
        std::fs::write(folder.0.path().join("haft.toml"), "[workspace]\nstandard = false\n").unwrap();
        folder.run(&["trust", "--yes"]);
        folder
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_haft"));
        command.args(arguments).current_dir(self.0.path()).env("NO_COLOR", "1");
        command
            .env("NO_PROXY", "127.0.0.1")
            .env("ANTHROPIC_API_KEY", "key-for-tests")
            .env("OPENAI_API_KEY", "key-for-tests");
        command.env("HAFT_STATE_DIR", self.0.path().join("state")).output().unwrap()
    }

    /// Runs a command that must succeed, and returns what it prints.
    fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn names(&self, pattern: &str) -> Vec<String> {
        let tools: Value = serde_json::from_str(&self.done(&["tools", pattern, "--json"])).unwrap();
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

fn parts() -> PathBuf {
    match std::env::var_os("HAFT_PARTS") {
        Some(parts) => parts.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/parts"),
    }
}

fn npm(server: &str) -> String {
    let path = parts().join("npm/node_modules/@modelcontextprotocol").join(server).join("dist/index.js");
    assert!(path.exists(), "run `cargo xtask setup`: {}", path.display());
    path.display().to_string()
}

#[test]
fn real_servers_are_added_called_and_compared() {
    let folder = Folder::new();
    let time = parts().join("python/bin/mcp-server-time").display().to_string();
    for (name, argv) in [
        ("all", vec!["node".to_owned(), npm("server-everything")]),
        ("files", vec!["node".to_owned(), npm("server-filesystem"), "docs".to_owned()]),
        ("memory", vec!["node".to_owned(), npm("server-memory")]),
        ("think", vec!["node".to_owned(), npm("server-sequential-thinking")]),
        ("time", vec![time]),
    ] {
        let mut arguments = vec!["add", "mcp", name, "--"];
        arguments.extend(argv.iter().map(String::as_str));
        folder.done(&arguments);
    }
    assert!(folder.names("all/*").contains(&"all/echo".to_owned()));
    assert!(folder.names("files/*").len() > 10);

    assert!(folder.done(&["call", "all/echo", r#"{"message": "hello"}"#]).contains("hello"));
    let path = folder.0.path().canonicalize().unwrap().join("docs/note.txt");
    let arguments = json!({"path": path}).to_string();
    assert!(folder.done(&["call", "files/read_text_file", &arguments]).contains("Rain in Oslo."));
    assert!(folder.done(&["call", "time/get_current_time", r#"{"timezone": "UTC"}"#]).contains("UTC"));

    // The server never sees what its schema rejects.
    let rejected = folder.run(&["call", "time/get_current_time", r#"{"zone": "UTC"}"#]);
    assert_eq!(rejected.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&rejected.stderr).contains("timezone"));

    // The servers are as the lock says.
    folder.done(&["check", "--locked", "--offline"]);
}

#[test]
fn a_model_calls_tools_of_two_servers_in_one_turn() {
    let folder = Folder::new();
    folder.done(&["add", "mcp", "all", "--", "node", &npm("server-everything")]);
    folder.done(&["add", "mcp", "files", "--", "node", &npm("server-filesystem"), "docs"]);
    let path = folder.0.path().canonicalize().unwrap().join("docs/note.txt");
    let call =
        |id: &str, name: &str, arguments: Value| json!({"id": id, "name": name, "arguments": arguments.to_string()});
    let calls = [
        call("call_1", "all--echo", json!({"message": "hello"})),
        call("call_2", "files--read_text_file", json!({"path": path})),
        call("call_3", "all--get-sum", json!({"a": 1, "b": "two"})),
    ];
    let fixtures = json!([
        {"match": {"userMessage": "read the note", "hasToolResult": false}, "response": {"toolCalls": calls}},
        {"match": {"userMessage": "read the note", "hasToolResult": true}, "response": {"content": "It rains in Oslo."}},
    ]);
    let mock = Aimock::start_with(&fixtures, &json!({}));
    for (wire, model, url) in [
        (WireName::Anthropic, "anthropic:claude-sonnet-4-5", mock.url().to_owned()),
        (WireName::OpenAiResponses, "openai:gpt-4.1", format!("{}/v1", mock.url())),
    ] {
        let before = mock.requests().len();
        let chat = ["chat", "--model", model, "--base-url", &url, "--approve", "all", "-p", "read the note"];
        assert_eq!(folder.done(&chat), "It rains in Oslo.\n");
        let requests = mock.requests().split_off(before);
        assert_eq!(requests.len(), 2);
        for sent in &requests {
            Judge::shared().assert_valid(wire, &sent.json());
        }
        // Each call has its result, and the one that does not fit is rejected before the server sees it.
        for read in ["Echo: hello", "Rain in Oslo.", "must be a number"] {
            assert!(requests[1].body.contains(read), "{read}: {}", requests[1].body);
        }
    }
}
