//! A session with one MCP server over its standard streams: just enough JSON-RPC to list its tools.
//!
//! It is independent of the product's own MCP client on purpose: the data that tests compare that client with must not
//! be produced by it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::{Value, json};

use crate::invocation::Invocation;

const PROTOCOL: &str = "2025-11-25";
/// The timeout of one response.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);
/// The maximum number of pages, for a server that returns cursors for ever.
const MAX_PAGES: usize = 100;

/// A started server. It is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Session {
    server: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    last_id: u64,
}

impl Session {
    /// Starts the server and performs the handshake.
    pub(super) fn open(program: Invocation) -> anyhow::Result<Self> {
        let mut command = program.into_command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().context("cannot start the server")?;
        let (input, output) = (server.stdin.take(), server.stdout.take());
        let (input, output) = input.zip(output).context("its standard streams are not piped")?;
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut session = Self { server, input, lines, last_id: 0 };
        session.handshake()?;
        Ok(session)
    }

    /// Returns all tools, over all pages.
    pub(super) fn tools(&mut self) -> anyhow::Result<Vec<Value>> {
        let mut tools = Vec::new();
        let mut parameters = json!({});
        for _ in 0..MAX_PAGES {
            let mut page = self.request("tools/list", &parameters)?;
            match page["tools"].take() {
                Value::Array(more) => tools.extend(more),
                other => bail!("`tools` is {other} and not an array"),
            }
            match page["nextCursor"].take() {
                Value::Null => return Ok(tools),
                cursor => parameters = json!({ "cursor": cursor }),
            }
        }
        bail!("still more tools after {MAX_PAGES} pages")
    }

    fn handshake(&mut self) -> anyhow::Result<()> {
        // Some servers list tools only for a client with these capabilities.
        let capabilities = json!({ "roots": {}, "sampling": {}, "elicitation": {} });
        let client = json!({ "name": "haft-xtask", "version": env!("CARGO_PKG_VERSION") });
        let parameters = json!({ "protocolVersion": PROTOCOL, "capabilities": capabilities, "clientInfo": client });
        self.request("initialize", &parameters)?;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
    }

    fn request(&mut self, method: &str, parameters: &Value) -> anyhow::Result<Value> {
        self.exchange(method, parameters).with_context(|| format!("no result of {method}"))
    }

    fn exchange(&mut self, method: &str, parameters: &Value) -> anyhow::Result<Value> {
        self.last_id += 1;
        let id = json!(self.last_id);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }))?;
        let deadline = Instant::now() + RESPONSE_TIMEOUT;
        loop {
            let mut message = self.receive(deadline)?;
            if message.get("method").is_some() {
                self.reject(&message)?;
            } else if message["id"] == id {
                match message.get("error") {
                    Some(error) => bail!("the server returned an error: {error}"),
                    None => return Ok(message["result"].take()),
                }
            }
        }
    }

    /// Rejects a request of the server, so that it does not wait for us. Notifications need no response.
    fn reject(&mut self, message: &Value) -> anyhow::Result<()> {
        match message.get("id") {
            None => Ok(()),
            Some(id) => {
                let error = json!({ "code": -32601, "message": "this client only lists tools" });
                self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))
            }
        }
    }

    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        writeln!(self.input, "{message}").and_then(|()| self.input.flush()).context("cannot write to the server")
    }

    fn receive(&self, deadline: Instant) -> anyhow::Result<Value> {
        match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => serde_json::from_str(&line).with_context(|| format!("not JSON: {line}")),
            Err(RecvTimeoutError::Timeout) => bail!("no response within {} s", RESPONSE_TIMEOUT.as_secs()),
            Err(RecvTimeoutError::Disconnected) => bail!("the server ended"),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Both fail only when it has already ended.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::Session;
    use crate::invocation::Invocation;

    /// Creates a server that answers the n-th line it reads with the n-th of these lines (the handshake takes two).
    fn scripted(answers: &[&str]) -> Invocation {
        let lines: Vec<_> = answers.iter().map(|answer| format!("read -r _; printf '%s\\n' '{answer}'")).collect();
        Invocation::new("sh").args(["-c", &lines.join("; ")])
    }

    const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    const CHATTER: &str = r#"{"jsonrpc":"2.0","method":"notifications/message"}"#;

    #[test]
    fn pages_are_followed_to_the_last() {
        let first = r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"}],"nextCursor":"x"}}"#;
        let second = r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"b"}]}}"#;
        let mut session = Session::open(scripted(&[HELLO, CHATTER, first, second])).unwrap();
        let names: Vec<_> = session.tools().unwrap().iter().map(|tool| tool["name"].clone()).collect();
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn an_error_response_and_an_early_end_are_errors() {
        let error = r#"{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"closed today"}}"#;
        let mut session = Session::open(scripted(&[HELLO, CHATTER, error])).unwrap();
        assert!(format!("{:#}", session.tools().unwrap_err()).contains("closed today"));
        assert!(format!("{:#}", Session::open(scripted(&[])).unwrap_err()).contains("initialize"));
    }
}
