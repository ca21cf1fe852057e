//! A request's MCP servers: those from its toolsets, and those that the options define.

use haft_core::Secret;
use serde_json::{Map, Value};

use super::super::tool::NAME;
use super::invalid;
use crate::profile::rendered_tools::RenderedTool;
use crate::wire_error::RequestError;

/// The request member that defines the servers.
pub(super) const MEMBER: &str = "mcp_servers";

/// Returns the server list as JSON text, or `None` if no sent toolset has one. A server in the options replaces one
/// with the same name.
pub(super) fn written<'t>(
    options: &Map<String, Value>,
    tools: impl Iterator<Item = &'t RenderedTool>,
) -> Result<Option<String>, RequestError> {
    let own: Vec<&str> = tools.filter_map(|tool| tool.beside.as_ref()).map(Secret::expose).collect();
    if own.is_empty() {
        return Ok(None);
    }
    let given = match options.get(MEMBER) {
        None | Some(Value::Null) => &[][..],
        Some(Value::Array(given)) => given,
        Some(_) => return Err(invalid(MEMBER, "it must be a list of servers")),
    };
    let is_given = |server: &str| {
        let server: Value = serde_json::from_str(server).unwrap_or_default();
        given.iter().any(|given| given.get(NAME) == server.get(NAME))
    };
    let servers = given.iter().map(Value::to_string);
    let servers = servers.chain(own.into_iter().filter(|server| !is_given(server)).map(str::to_owned));
    Ok(Some(format!("[{}]", servers.collect::<Vec<_>>().join(","))))
}
