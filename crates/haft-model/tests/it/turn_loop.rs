//! The turn loop: its requests, the calls that it runs, its states and its ends.

mod agent_tool;
mod approval;
mod budget;
mod cancellation;
mod checkpoint;
mod conversation;
mod conversation_options;
mod damage;
mod decision;
mod event;
mod failed_call;
mod finish_as;
mod growth;
mod guard;
mod history;
mod identity;
mod interaction;
mod isolation;
mod model_fault;
mod prepare;
mod property;
mod remote_approval;
mod runnable;
mod signal;
mod source;
mod state;
mod sub_agent;
mod surfaced;
mod tool_choice;
mod turn;
mod utterance;
mod verdict;

use haft_core::{Finish, Item, ToolCall, ToolEvent, Turn, TurnRequest};
use haft_executor::{Tool, Toolkit};
use haft_model::{LoopEnd, LoopEvent, LoopOutcome, LoopRun, LoopState, ScriptedModel, TurnLoop};

/// A kit with a tool of each kind: `add` and `double` run, `wait` never ends, `note` is a signal, `ask` an interaction
/// answered by a string.
fn kit() -> Toolkit {
    let tools = [
        Tool::new("add").handler(|(a, b): (i64, i64), _cx| async move { a + b }),
        Tool::new("double").handler(|n: i64, _cx| async move { n * 2 }),
        Tool::new("wait").handler(|(), _cx| std::future::pending::<()>()),
        Tool::signal("note").params::<u8>().define(),
        Tool::interaction("ask").params::<String>().success::<String>().define(),
    ];
    tools.into_iter().map(Result::unwrap).collect()
}

fn request() -> TurnRequest {
    TurnRequest::new("any", vec![Item::user("go")])
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, name, arguments)
}

/// A turn of calls with a finish reason.
fn turn_of(calls: impl IntoIterator<Item = ToolCall>, finish: Finish) -> Turn {
    Turn::new(calls.into_iter().map(Item::from).collect(), finish)
}

fn agent(model: &ScriptedModel) -> TurnLoop {
    TurnLoop::new(model.clone(), kit())
}

async fn finish(agent: &TurnLoop, state: impl Into<LoopState>) -> LoopOutcome {
    agent.start(state).finish().await
}

/// Collects all events.
async fn events(mut run: LoopRun) -> Vec<LoopEvent> {
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(event);
    }
    events
}

/// Describes each item of a history in a few words.
fn told(history: &[Item]) -> Vec<String> {
    let each = history.iter().map(|item| match item {
        Item::Message(message) => format!("{:?}", message.role).to_lowercase(),
        Item::ToolCall(call) => format!("call {}", call.call_id),
        Item::ToolOutput(output) => format!("output {}: {}", output.call_id, kind_or_text(&output.output.to_string())),
        Item::ApprovalRequest(request) => format!("asked {}", request.call_id),
        Item::Verdict(response) => format!("said {}", response.decision.as_str()),
        other => format!("{other:?}"),
    });
    each.collect()
}

/// Returns the kind of a failure, or the output text.
fn kind_or_text(output: &str) -> String {
    let value: Option<serde_json::Value> = serde_json::from_str(output).ok();
    let kind = value.as_ref().and_then(|value| value["error"]["kind"].as_str());
    kind.unwrap_or(output).to_owned()
}

/// Describes each event in a few words.
fn words(events: &[LoopEvent]) -> Vec<String> {
    let each = events.iter().map(|event| match event {
        LoopEvent::ToolLeftOut { tool, .. } => format!("left out {tool}"),
        LoopEvent::TurnStarted { number, .. } => format!("turn {number}"),
        LoopEvent::Delta(haft_core::Delta::TurnComplete(_)) => "complete".to_owned(),
        LoopEvent::Delta(_) => "delta".to_owned(),
        LoopEvent::Retrying { attempts, kind, .. } => format!("retry {attempts} after {kind}"),
        LoopEvent::Tool(ToolEvent::Output { index, result }) => {
            format!("output {index}: {}", kind_or_text(&result.to_model_text()))
        }
        LoopEvent::Tool(ToolEvent::ApprovalRequested { index, .. }) => format!("asked {index}"),
        LoopEvent::Tool(ToolEvent::ApprovalResolved { index, .. }) => format!("resolved {index}"),
        LoopEvent::Tool(ToolEvent::Suspended { index, .. }) => format!("suspended {index}"),
        LoopEvent::Tool(event) => format!("tool {}", event.index()),
        LoopEvent::VerdictRejected { response, .. } => format!("refused {}", response.request_id),
        LoopEvent::CallsResumed { calls } => format!("resumed {}", calls.len()),
        LoopEvent::Signal(signal) => format!("signal {}", signal.call_id()),
        LoopEvent::Repaired { changes } => format!("repaired {}", changes.len()),
        LoopEvent::TurnEnded { number, results, .. } => format!("ended {number} with {}", results.len()),
        LoopEvent::Ended { end, .. } => ended(end),
        other => format!("{other:?}"),
    });
    each.collect()
}

fn ended(end: &LoopEnd) -> String {
    match end {
        LoopEnd::Waiting { interactions, approvals } => {
            format!("waiting for {} and {}", interactions.len(), approvals.len())
        }
        LoopEnd::Failed(error) => format!("failed: {}", error.kind()),
        other => format!("{other:?}").to_lowercase(),
    }
}

/// Writes a state and reads it back, as another process does.
fn stored(state: &LoopState) -> LoopState {
    serde_json::from_str(&serde_json::to_string(state).unwrap()).unwrap()
}
