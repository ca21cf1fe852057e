//! Chromium without a window, as a person's browser.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::folder::folder;
use crate::program::Program;
use crate::use_chat::node;

/// A browser with one page. It ends when this is dropped.
#[derive(Debug)]
pub struct Browser {
    program: Program,
}

impl Browser {
    /// Starts Chromium, which is a system package, with a folder for its files.
    #[must_use]
    pub fn start(files: &Path) -> Self {
        let mut command = Command::new(node(&folder("use-chat")));
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("serve/browser.mjs")).arg(files);
        Self { program: Program::start(command) }
    }

    /// Opens a page and waits until it is loaded.
    pub fn open(&mut self, url: &str) {
        self.command(&json!({ "open": url }));
    }

    /// Waits until an expression of JavaScript holds in the page, and returns its value. It is evaluated again whenever
    /// the page changes.
    pub fn until(&mut self, expression: &str) -> Value {
        self.command(&json!({ "until": expression }))
    }

    /// Returns the value of an expression.
    pub fn run(&mut self, expression: &str) -> Value {
        self.command(&json!({ "run": expression }))
    }

    /// Ends Chromium, so that its files can be removed.
    pub fn close(mut self) {
        self.command(&json!({ "close": true }));
    }

    fn command(&mut self, command: &Value) -> Value {
        self.program.send(command);
        let mut answer = self.program.receive();
        assert!(answer.get("thrown").is_none(), "{command}: {}", answer["thrown"]);
        answer["value"].take()
    }
}
