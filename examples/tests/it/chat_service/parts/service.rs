//! The program, its model and its database.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use haft_parts::{Aimock, Answer};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::deployments::Deployments;

/// The surroundings of the program, which outlive it.
pub(super) struct World {
    pub(super) mock: Aimock,
    pub(super) deployments: Deployments,
    pub(super) folder: TempDir,
}

/// The running program. It is killed when this is dropped, by a signal that it can't catch.
pub(super) struct Service {
    child: Child,
    pub(super) url: String,
}

/// A model that asks for what the person wants, and says something about the result.
fn fixtures() -> Value {
    let ask = |words: &str, id: &str, tool: &str, arguments: &Value| {
        let call = json!({"id": id, "name": tool, "arguments": arguments.to_string()});
        json!({"match": {"userMessage": words, "hasToolResult": false}, "response": {"toolCalls": [call]}})
    };
    let answer = |words: &str, has_result: bool, text: &str| json!({"match": {"userMessage": words, "hasToolResult": has_result}, "response": {"content": text}});
    json!([
        ask("What is deployed?", "call_1", "deployed", &json!({})),
        answer("What is deployed?", true, "You run web 1.3."),
        ask("Deploy web 1.4.", "call_2", "deploy", &json!({"service": "web", "version": "1.4"})),
        answer("Deploy web 1.4.", true, "That is settled."),
        answer("What happened?", false, "Nobody knows whether web 1.4 was deployed."),
    ])
}

impl World {
    pub(super) fn new() -> Self {
        let mock = Aimock::start_with(&fixtures(), &json!({ "chunkSize": 4 }));
        Self { mock, deployments: Deployments::start(), folder: tempfile::tempdir().unwrap() }
    }

    /// Starts the program, or starts it again.
    pub(super) fn start(&self) -> Service {
        // Cargo builds the examples of a package with its tests, in the folder beside theirs.
        let test = std::env::current_exe().unwrap();
        let program = test.parent().and_then(|deps| deps.parent()).unwrap().join("examples/chat_service");
        let mut command = Command::new(program);
        command.env("OPENAI_API_KEY", "sk-of-the-example").env("OPENAI_BASE_URL", format!("{}/v1", self.mock.url()));
        command.env("DATABASE", self.folder.path().join("desk.db")).env("DEPLOYMENTS_URL", &self.deployments.url);
        command.env("PORT", "0").env("NO_PROXY", "127.0.0.1").stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_owned();
        Service { child, url }
    }

    /// Returns the bodies of the requests to the model.
    pub(super) fn asked(&self) -> Vec<Value> {
        self.mock.requests().iter().map(haft_parts::SentRequest::json).collect()
    }
}

impl Service {
    /// Sends a request of a person.
    pub(super) fn send(&self, who: &str, method: &str, path: &str, body: &Value) -> Answer {
        let token = format!("Bearer {who}-secret");
        haft_parts::request(&self.url, method, path, &[("authorization", &token)], &body.to_string())
    }

    /// Returns the messages that a page is loaded with.
    pub(super) fn messages(&self, who: &str) -> Value {
        self.send(who, "GET", "/api/chat/desk", &Value::Null).json()
    }

    /// Opens the chat in a page with `useChat`, with the messages so far.
    pub(super) fn show(&self, who: &str, page: &mut haft_parts::UseChat) -> haft_parts::ChatView {
        let headers = json!({"authorization": format!("Bearer {who}-secret")});
        page.open(&format!("{}/api/chat", self.url), "desk", &stored(self.messages(who)), &headers)
    }

    /// Kills the program at once, as `kill -9` does.
    pub(super) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // Both fail only when it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn stored(messages: Value) -> Value {
    if messages.is_null() { json!([]) } else { messages }
}
