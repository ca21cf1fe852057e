//! A server of OAuth 2 tokens.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::folder::folder;
use crate::program::Program;

/// A started server on a free port. It is stopped when this is dropped. It accepts every client.
#[derive(Debug)]
pub struct OAuth2Server {
    program: Program,
    url: String,
}

impl OAuth2Server {
    /// Starts a server. It accepts connections when this returns.
    #[must_use]
    pub fn start() -> Self {
        let mut command = Command::new("node");
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("serve/oauth2.mjs")).arg(folder("oauth2"));
        let mut program = Program::start(command);
        let ready = program.receive();
        let url =
            ready["url"].as_str().unwrap_or_else(|| panic!("the OAuth 2 server did not start: {ready}")).to_owned();
        Self { program, url }
    }

    /// Returns the URL of the token endpoint.
    #[must_use]
    pub fn token_url(&self) -> String {
        format!("{}/token", self.url)
    }

    /// Returns the token requests since the last time, oldest first: the header `authorization`, the parameters of the
    /// body, and the token that answered them.
    pub fn requests(&mut self) -> Vec<Value> {
        self.program.send(&Value::from("requests"));
        let answer = self.program.receive();
        answer["requests"].as_array().unwrap_or_else(|| panic!("not a list: {answer}")).clone()
    }
}
