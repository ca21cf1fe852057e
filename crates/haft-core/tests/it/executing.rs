//! Running calls through a toolkit in a test, and telling in a word what came of them.

use std::pin::pin;

use futures_util::{Stream, StreamExt};
use haft_core::{DefinitionError, Tool, ToolCall, ToolEvent, ToolResult, Toolkit};

/// A toolkit of tools that must be well defined.
pub(crate) fn kit(tools: impl IntoIterator<Item = Result<Tool, DefinitionError>>) -> Toolkit {
    tools.into_iter().map(Result::unwrap).collect()
}

/// The calls `c1`, `c2` and so on, each of a name and arguments.
pub(crate) fn calls<const N: usize>(calls: [(&str, &str); N]) -> Vec<ToolCall> {
    let numbered = calls.into_iter().zip(1..);
    numbered.map(|((name, arguments), n)| ToolCall::new(format!("c{n}"), name, arguments)).collect()
}

/// What came of a call: its value as text, or its kind of failure.
pub(crate) fn came(result: &ToolResult) -> &str {
    match (result.value(), result.failure()) {
        (Some(value), _) => value.as_str(),
        (_, Some(failure)) => failure.kind.as_str(),
        (None, None) => "",
    }
}

/// An event in a word: whose it is, what it is, what it holds.
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

/// Every event of a stream, in a word each.
pub(crate) async fn tell(events: impl Stream<Item = ToolEvent>) -> Vec<String> {
    let mut events = pin!(events);
    let mut all = Vec::new();
    while let Some(event) = events.next().await {
        all.push(told(&event));
    }
    all
}
