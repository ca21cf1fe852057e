//! The input that a server asks for before it answers a call.

use haft_core::{FailureKind, ToolFailure};
use serde_json::{Map, json};

use super::answer::InputRequired;
use crate::server::McpServer;
use crate::session::{Asking, GivenInput};

/// Answers what a server asks.
pub(super) async fn given(
    asking: &Asking,
    server: &McpServer,
    required: InputRequired,
) -> Result<GivenInput, ToolFailure> {
    let mut responses = Map::new();
    for (name, request) in required.requests {
        let method = request["method"].as_str().unwrap_or_default();
        let answer = match method {
            "elicitation/create" => json!({"action": "cancel"}),
            _ => asking.answer(method, &request["params"]).await.map_err(|error| refused(server, &error.message))?,
        };
        responses.insert(name, answer);
    }
    Ok(GivenInput { responses, state: required.state })
}

pub(super) fn too_many_rounds(server: &McpServer, rounds: u32) -> ToolFailure {
    let message = format!("the MCP server `{}` has asked for input {rounds} times and not answered", server.name);
    ToolFailure::new(FailureKind::ExecutionError, message).not_started().not_retryable()
}

fn refused(server: &McpServer, reason: &str) -> ToolFailure {
    let message = format!("the MCP server `{}` asks for input that it does not get: {reason}", server.name);
    ToolFailure::new(FailureKind::ExecutionError, message).not_started().not_retryable()
}
