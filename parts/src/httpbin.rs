//! A server that answers with the requests it receives.

use std::path::Path;
use std::process::Command;

use crate::folder::folder;
use crate::program::Program;

/// A started server on a free port. It is stopped when this is dropped.
#[derive(Debug)]
pub struct Httpbin {
    _program: Program,
    url: String,
}

impl Httpbin {
    /// Starts a server. It accepts connections when this returns.
    #[must_use]
    pub fn start() -> Self {
        let mut command = Command::new(folder("httpbin").join("bin/python"));
        command.args(["-B"]).arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("serve/httpbin_server.py"));
        let mut program = Program::start(command);
        let ready = program.receive();
        let url = ready["url"].as_str().unwrap_or_else(|| panic!("httpbin did not start: {ready}")).to_owned();
        Self { _program: program, url }
    }

    /// Returns the URL without a path.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}
