//! The input that a server asks for before it answers a call.
//!
//! Roots and a model's answers are given at once. Questions for a person end this execution of the call: its run asks
//! them, at once or after it was suspended, and executes the call again with the answers. So nothing is kept here
//! meanwhile, as the server keeps nothing either.

use haft_core::{FailureKind, Question, ToolFailure};
use haft_executor::{Cx, Wait};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::answer::InputRequired;
use crate::convert::elicitation;
use crate::server::McpServer;
use crate::session::{Asking, GivenInput};

/// The state of a call that waits for a person.
#[derive(Serialize, Deserialize)]
struct WaitingInput {
    /// The questions, each with its name and its parameters, in the order in which they are asked.
    asked: Vec<(String, Value)>,
    /// The other answers.
    given: Map<String, Value>,
    /// The server's own state.
    state: Option<String>,
}

/// Answers what a server asks. The error is a [`Wait`] if a person must be asked.
pub(super) async fn given(
    asking: &Asking,
    server: &McpServer,
    required: InputRequired,
) -> Result<GivenInput, ToolFailure> {
    let (mut asked, mut questions, mut given) = (Vec::new(), Vec::new(), Map::new());
    for (name, mut request) in required.requests {
        let params = request.get_mut("params").map(Value::take).unwrap_or_default();
        let method = request["method"].as_str().unwrap_or_default();
        if method == "elicitation/create" {
            questions.push(
                asking.question(&params).ok_or_else(|| refused(server, "its question is neither a form nor a page"))?,
            );
            asked.push((name, params));
        } else {
            let answer = asking.answer(method, &params).await.map_err(|error| refused(server, &error.message))?;
            given.insert(name, answer);
        }
    }
    if questions.is_empty() {
        return Ok(GivenInput { responses: given, state: required.state });
    }
    Err(waiting(questions, WaitingInput { asked, given, state: required.state }))
}

fn waiting(questions: Vec<Question>, state: WaitingInput) -> ToolFailure {
    // The server has not begun.
    ToolFailure::from(Wait::new(questions, state)).not_started()
}

/// Returns the answers with which a call is executed again, if it has waited for a person.
pub(super) fn resumed(cx: &Cx, server: &McpServer) -> Result<GivenInput, ToolFailure> {
    let Some(resumed) = cx.resumed() else { return Ok(GivenInput::default()) };
    let stored = resumed.state::<WaitingInput>();
    let WaitingInput { asked, given, state } =
        stored.map_err(|_| refused(server, "the state of the call is not one that haft has stored"))?;
    let mut responses = given;
    for ((name, params), answer) in asked.into_iter().zip(resumed.answers()) {
        responses.insert(name, elicitation::write(&params, answer));
    }
    Ok(GivenInput { responses, state })
}

pub(super) fn too_many_rounds(server: &McpServer, rounds: u32) -> ToolFailure {
    let message = format!("the MCP server `{}` has asked for input {rounds} times and not answered", server.name);
    ToolFailure::new(FailureKind::ExecutionError, message).not_started().not_retryable()
}

fn refused(server: &McpServer, reason: &str) -> ToolFailure {
    let message = format!("the MCP server `{}` asks for input that it does not get: {reason}", server.name);
    ToolFailure::new(FailureKind::ExecutionError, message).not_started().not_retryable()
}
