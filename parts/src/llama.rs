//! A small real model behind llama.cpp's own server.

use std::path::Path;
use std::process::Command;

use crate::folder::folder;
use crate::program::Program;

/// A started server on a free port. It is stopped when this is dropped.
///
/// It serves `/v1/chat/completions`, `/v1/responses` and `/v1/messages` for any model name and key. The model is far
/// too small to call tools.
#[derive(Debug)]
pub struct Llama {
    _program: Program,
    url: String,
}

impl Llama {
    /// Starts a server. It has loaded its model when this returns.
    #[must_use]
    pub fn start() -> Self {
        let part = folder("llama");
        let mut command = Command::new(part.join("bin/python"));
        command.args(["-B"]).arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("serve/llama.py"));
        let mut program = Program::start(command);
        let ready = program.receive();
        let url = ready["url"].as_str().unwrap_or_else(|| panic!("llama.cpp did not start: {ready}")).to_owned();
        Self { _program: program, url }
    }

    /// Returns the URL without a path.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}
