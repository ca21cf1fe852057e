//! A client that writes and reads lines, so that each message can be stated and asserted.

use haft_mcp::serve::{Serve, ServeError};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

/// The revisions of the two eras.
pub(crate) const OLD: &str = "2025-11-25";
pub(crate) const NEW: &str = "2026-07-28";

/// A client of one era.
pub(crate) struct LineClient {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    pub(crate) served: JoinHandle<Result<(), ServeError>>,
    /// Added to requests of the new era.
    meta: Option<Value>,
    next_id: u64,
    /// The notifications that were read while waiting for an answer.
    pub(crate) notices: Vec<Value>,
}

impl LineClient {
    /// Connects a client that has forms.
    pub(crate) async fn connect(server: Serve, revision: &str) -> Self {
        Self::connect_with(server, revision, json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}})).await
    }

    pub(crate) async fn connect_with(server: Serve, revision: &str, capabilities: Value) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(theirs);
        let served = tokio::spawn(server.over(reader, writer));
        let (reader, writer) = tokio::io::split(ours);
        let lines = BufReader::new(reader).lines();
        let meta = (revision == NEW).then(|| {
            json!({
                "io.modelcontextprotocol/protocolVersion": NEW,
                "io.modelcontextprotocol/clientInfo": {"name": "line", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": capabilities,
            })
        });
        let mut client = Self { lines, writer, served, meta, next_id: 0, notices: Vec::new() };
        if client.meta.is_none() {
            let info = json!({"name": "line", "version": "1"});
            let params = json!({"protocolVersion": revision, "capabilities": capabilities, "clientInfo": info});
            let answer = client.request("initialize", params).await;
            assert_eq!(answer["result"]["protocolVersion"], revision, "{answer}");
            client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        }
        client
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// Returns the next message.
    pub(crate) async fn next(&mut self) -> Value {
        serde_json::from_str(&self.lines.next_line().await.unwrap().expect("the server has closed")).unwrap()
    }

    /// Sends a request and returns its id.
    pub(crate) async fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        self.next_id += 1;
        if let Some(Value::Object(meta)) = &self.meta {
            for (key, value) in meta {
                params["_meta"][key] = value.clone();
            }
        }
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    /// Returns the answer to a request. Notifications are kept; a request of the server fails.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next().await;
            if message["id"] == id && message["method"].is_null() {
                return message;
            }
            assert!(message["id"].is_null(), "unexpected: {message}");
            self.notices.push(message);
        }
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer(id).await
    }

    /// Calls a tool and returns the result, or the error of the protocol.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.call_with(json!({"name": tool, "arguments": arguments})).await
    }

    pub(crate) async fn call_with(&mut self, params: Value) -> Value {
        let mut answer = self.request("tools/call", params).await;
        if answer["error"].is_null() { answer["result"].take() } else { answer }
    }

    /// Goes on with a call that needs input, with answers by their order.
    pub(crate) async fn go_on(&mut self, tool: &str, arguments: Value, required: &Value, answers: &[Value]) -> Value {
        assert_eq!(required["resultType"], "input_required", "{required}");
        let keys = required["inputRequests"].as_object().unwrap().keys().cloned();
        let answers: serde_json::Map<String, Value> = keys.zip(answers.iter().cloned()).collect();
        let state = &required["requestState"];
        let params = json!({"name": tool, "arguments": arguments, "inputResponses": answers, "requestState": state});
        self.call_with(params).await
    }

    /// Closes the connection and returns how the server ended.
    pub(crate) async fn close(self) -> Result<(), ServeError> {
        drop((self.lines, self.writer));
        self.served.await.unwrap()
    }
}
