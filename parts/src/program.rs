//! A started part: a child process that is written to and read from in lines.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

/// A child process. It is killed when this is dropped; if this is never dropped, it ends with its standard input.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    name: String,
}

impl Program {
    /// Starts a command. Its error stream is the test's own.
    pub(crate) fn start(mut command: Command) -> Self {
        let name = Path::new(command.get_program()).display().to_string();
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start {name}: {error}"));
        let input = child.stdin.take().expect("its standard input is piped");
        let output = BufReader::new(child.stdout.take().expect("its standard output is piped"));
        Self { child, input, output, name }
    }

    /// Writes a line.
    pub(crate) fn send(&mut self, line: &Value) {
        writeln!(self.input, "{line}")
            .and_then(|()| self.input.flush())
            .unwrap_or_else(|error| panic!("cannot write to {}: {error}", self.name));
    }

    /// Reads the next line that is a JSON object; servers may print other lines before it.
    pub(crate) fn receive(&mut self) -> Value {
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).unwrap_or_else(|error| panic!("{}: {error}", self.name));
            assert!(read > 0, "{} ended without an answer; see its error stream", self.name);
            if let Ok(value @ Value::Object(_)) = serde_json::from_str(&line) {
                return value;
            }
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Both fail only when it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
