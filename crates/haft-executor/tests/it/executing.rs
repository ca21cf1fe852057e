//! Helpers that run calls through a toolkit in a test, and describe the outcome in a word.

use std::pin::pin;

use futures_util::{Stream, StreamExt};
use haft_core::{ToolCall, ToolEvent, ToolResult};
use haft_executor::{DefinitionError, Tool, Toolkit};

/// Creates a toolkit of tools that must be well defined.
pub(crate) fn kit(tools: impl IntoIterator<Item = Result<Tool, DefinitionError>>) -> Toolkit {
    tools.into_iter().map(Result::unwrap).collect()
}

/// Creates the calls `c1`, `c2` and so on, each of a name and arguments.
pub(crate) fn calls<const N: usize>(calls: [(&str, &str); N]) -> Vec<ToolCall> {
    let numbered = calls.into_iter().zip(1..);
    numbered.map(|((name, arguments), n)| ToolCall::new(format!("c{n}"), name, arguments)).collect()
}

/// Returns the outcome of a call: its value as text, or its kind of failure.
pub(crate) fn came(result: &ToolResult) -> &str {
    match (result.value(), result.failure()) {
        (Some(value), _) => value.as_str(),
        (_, Some(failure)) => failure.kind.as_str(),
        (None, None) => "",
    }
}

/// Describes an event in a word: its call, its kind and its content.
pub(crate) fn told(event: &ToolEvent) -> String {
    let call = event.call_id();
    match event {
        ToolEvent::Progress { data, .. } => format!("{call} progress {data}"),
        ToolEvent::Preliminary { value, .. } => format!("{call} preliminary {value}"),
        ToolEvent::ApprovalRequested { .. } => format!("{call} asked"),
        ToolEvent::ApprovalResolved { response, .. } => format!("{call} {}", response.decision.as_str()),
        ToolEvent::Output { result, .. } => format!("{call} output {}", came(result)),
        _ => format!("{call} other"),
    }
}

/// Describes every event of a stream, in a word each.
pub(crate) async fn tell(events: impl Stream<Item = ToolEvent>) -> Vec<String> {
    let mut events = pin!(events);
    let mut all = Vec::new();
    while let Some(event) = events.next().await {
        all.push(told(&event));
    }
    all
}
