//! History items that depend on each other: calls and outputs, and server tool blocks.

use std::collections::{HashMap, HashSet};

use haft_core::{Item, ProviderCall, Role, ToolCallOutput};
use serde_json::Value;

use crate::wire_error::RequestError;

/// History items that depend on each other.
#[derive(Debug, Default)]
pub(super) struct HistoryIndex<'r> {
    /// The outputs not placed yet, by call id.
    pub(super) outputs: HashMap<&'r str, (usize, &'r ToolCallOutput)>,
    /// The ids of calls that the application runs.
    pub(super) local: HashSet<&'r str>,
    /// The ids of calls that a provider runs.
    pub(super) remote: HashSet<&'r str>,
    /// The ids of this provider's server tool calls that have their own blocks.
    pub(super) server_calls: HashSet<&'r str>,
    /// The ids of those that have a result.
    pub(super) server_results: HashSet<&'r str>,
    /// The last user message's position.
    last_user: Option<usize>,
}

impl<'r> HistoryIndex<'r> {
    pub(super) fn of(items: &'r [Item], provider: &str) -> Result<Self, RequestError> {
        let mut index = Self::default();
        for (at, item) in items.iter().enumerate() {
            match item {
                Item::ToolCall(call) if call.provider_executed => {
                    index.remote.insert(call.call_id.as_str());
                }
                Item::ToolCall(call) => {
                    let is_new = index.local.insert(call.call_id.as_str());
                    ensure_one(is_new, at, || format!("another call has the id `{:.80}` too", call.call_id))?;
                }
                Item::ToolOutput(output) => {
                    let earlier = index.outputs.insert(output.call_id.as_str(), (at, output));
                    let reason = || format!("the call `{:.80}` has another output", output.call_id);
                    ensure_one(earlier.is_none(), at, reason)?;
                }
                Item::ProviderCall(call) => {
                    index.remote.extend(call.call_id.as_ref().map(haft_core::CallId::as_str));
                    for block in own_blocks(call, provider) {
                        index.server_calls.extend(server_call(block));
                        index.server_results.extend(server_result(block));
                    }
                }
                Item::Message(message) if message.role == Role::User => index.last_user = Some(at),
                _ => {}
            }
        }
        Ok(index)
    }

    /// Reports whether a user message follows.
    pub(super) fn is_before_user(&self, at: usize) -> bool {
        self.last_user.is_some_and(|last| at < last)
    }
}

/// Returns the blocks that make up this provider's call.
pub(super) fn own_blocks<'r>(call: &'r ProviderCall, provider: &str) -> &'r [Value] {
    match &call.payload {
        _ if call.provider != provider => &[],
        Value::Array(blocks) => blocks,
        block @ Value::Object(_) => std::slice::from_ref(block),
        _ => &[],
    }
}

/// Returns the id if the block is a server tool call.
pub(super) fn server_call(block: &Value) -> Option<&str> {
    let tag = block.get("type")?.as_str()?;
    if tag == "tool_use" || !tag.ends_with("tool_use") { None } else { block.get("id")?.as_str() }
}

/// Returns the call id if the block is a server tool result.
pub(super) fn server_result(block: &Value) -> Option<&str> {
    block.get("type")?.as_str()?.ends_with("_tool_result").then(|| block.get("tool_use_id")?.as_str()).flatten()
}

fn ensure_one(is_one: bool, at: usize, reason: impl FnOnce() -> String) -> Result<(), RequestError> {
    if is_one { Ok(()) } else { Err(unreconciled(at, &reason())) }
}

pub(super) fn unreconciled(at: usize, problem: &str) -> RequestError {
    let message = format!("{problem}; add what is missing, or use `history::repair`");
    RequestError::Invalid { param: format!("history[{at}]"), message }
}
