//! A server that answers by an OpenAPI document, and rejects requests that the document does not allow.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::folder::folder;
use crate::http::get;
use crate::program::Program;

/// A started program that can serve many documents, each on a port of its own. It is stopped when this is dropped.
#[derive(Debug)]
pub struct Prism {
    program: Program,
}

/// An answer that a server has given.
#[derive(Clone, Debug)]
pub struct PrismAnswer {
    /// The method and the path of the request.
    pub request: String,
    /// The status of the answer.
    pub status: u16,
    /// The body of the answer, cut off if it is long.
    pub body: String,
}

impl PrismAnswer {
    /// Reports whether the request is not what the document allows: no such path or method, a missing credential, or an
    /// invalid parameter or body.
    #[must_use]
    pub fn is_rejected(&self) -> bool {
        let codes = ["UNPROCESSABLE_ENTITY", "NO_PATH_MATCHED", "NO_METHOD_MATCHED", "NO_BASE_URL", "UNAUTHORIZED"];
        let codes = codes.iter().chain(&["INVALID_CONTENT_TYPE", "NO_SERVER", "NOT_ACCEPTABLE"]);
        codes.into_iter().any(|code| self.body.contains(&format!("prism/errors#{code}")))
    }
}

impl Prism {
    /// Starts the program.
    #[must_use]
    pub fn start() -> Self {
        let mut command = Command::new("node");
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("serve/prism.mjs")).arg(folder("prism"));
        Self { program: Program::start(command) }
    }

    /// Serves a document, and returns the URL without a path.
    pub fn serve(&mut self, document: &Path) -> String {
        self.start_server(&json!({"document": document}))
    }

    /// Serves a document without its responses, as large ones take too long to read with them. Requests are judged as
    /// before. Returns the URL without a path.
    pub fn serve_requests(&mut self, document: &Path) -> String {
        self.start_server(&json!({"document": document, "requests": true}))
    }

    fn start_server(&mut self, wanted: &Value) -> String {
        self.program.send(wanted);
        let ready = self.program.receive();
        ready["url"].as_str().unwrap_or_else(|| panic!("prism does not serve the document: {ready}")).to_owned()
    }

    /// Returns the answers of the server with this URL, oldest first.
    #[must_use]
    pub fn answers(&self, url: &str) -> Vec<PrismAnswer> {
        let answers = get(url, "/__parts/answers").json();
        let answer = |value: &Value| PrismAnswer {
            request: value["request"].as_str().expect("a request").to_owned(),
            status: value["status"].as_u64().and_then(|status| status.try_into().ok()).expect("a status"),
            body: value["body"].as_str().expect("a body").to_owned(),
        };
        answers.as_array().expect("a list of answers").iter().map(answer).collect()
    }
}
