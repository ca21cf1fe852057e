//! A fake provider of all wires.

use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value, json};

use crate::folder::folder;
use crate::http::{get, post};
use crate::program::Program;

/// A started server on a free port. It is stopped when this is dropped.
#[derive(Debug)]
pub struct Aimock {
    _program: Program,
    url: String,
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct SentRequest {
    /// The path and query.
    pub path: String,
    /// The headers, with names in lower case.
    pub headers: Map<String, Value>,
    /// The body.
    pub body: String,
}

impl SentRequest {
    /// Returns the body as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("not JSON: {error}\n{}", self.body))
    }
}

impl Aimock {
    /// Starts a server with these fixtures, the list of a fixture file.
    #[must_use]
    pub fn start(fixtures: &Value) -> Self {
        Self::start_with(fixtures, &json!({}))
    }

    /// Starts a server with options of its constructor, such as `{"chaos": {"dropRate": 1}}` or `{"chunkSize": 5}`.
    #[must_use]
    pub fn start_with(fixtures: &Value, options: &Value) -> Self {
        let mut command = Command::new("node");
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("serve/aimock.mjs")).arg(folder("aimock"));
        let mut program = Program::start(command);
        program.send(&json!({ "fixtures": fixtures, "options": options }));
        let ready = program.receive();
        let url = ready["url"].as_str().unwrap_or_else(|| panic!("aimock did not start: {ready}")).to_owned();
        Self { _program: program, url }
    }

    /// Returns the URL without a path, such as `http://127.0.0.1:40000`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the journal: one entry per request, oldest first, with the fixture that answered it. Its bodies are
    /// converted to the form of Chat Completions; see [`requests`](Self::requests).
    #[must_use]
    pub fn journal(&self) -> Vec<Value> {
        let journal = get(&self.url, "/__aimock/journal").json();
        journal.as_array().unwrap_or_else(|| panic!("not a journal: {journal}")).clone()
    }

    /// Returns all requests as they arrived, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<SentRequest> {
        let requests = get(&self.url, "/__parts/requests").json();
        let request = |value: &Value| SentRequest {
            path: text(&value["path"]),
            headers: value["headers"].as_object().expect("headers").clone(),
            body: text(&value["body"]),
        };
        requests.as_array().expect("a list of requests").iter().map(request).collect()
    }

    /// Replaces the chaos configuration, such as `{"rateLimitRate": 1}`; `{}` ends the chaos.
    pub fn set_chaos(&self, chaos: &Value) {
        let answer = post(&self.url, "/__aimock/chaos", chaos);
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("text").to_owned()
}
