//! Tool names in plain calls: full names, and shorter ones as people write them.

use haft::registry::{Executor, LookupError};
use haft::run::ToolCall;
use haft::toolkit::{ToolSource, Toolkit};

use crate::error::Fault;

/// A full name's prefix, for tools that others replace.
const EXACTLY: char = '/';

/// Gives the calls their tools' full names. A name that means no tool, or several, stays: its call is answered with
/// similar tools' names. If a tool is set aside, its call gets the full name, and fails.
pub(crate) fn resolve(calls: &mut [ToolCall], executor: &Executor) {
    for call in calls {
        match executor.find(&call.name) {
            Ok(found) => found.tool.name().clone_into(&mut call.name),
            // Its own name keeps the call from a tool that it would replace.
            Err(LookupError::SetAside { name, .. }) => call.name = name,
            Err(_) => {}
        }
    }
}

/// Returns the tools to run calls with. A replaced tool is included if a call has its full name.
pub(crate) fn tools_for(calls: &[ToolCall], executor: &Executor) -> Result<Toolkit, Fault> {
    let mut tools = executor.snapshot().toolkit().clone();
    for call in calls {
        if tools.get(&call.name).is_some() {
            continue;
        }
        if let Ok(found) = executor.find(&format!("{EXACTLY}{}", call.name))
            && found.is_replaced()
        {
            let added = tools.with(found.tool.clone());
            tools = added.map_err(|error| Fault::new("the tools can't be used together").cause(&error))?;
        }
    }
    Ok(tools)
}
