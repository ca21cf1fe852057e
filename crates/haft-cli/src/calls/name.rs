//! Names of tools in plain calls: full names, and shorter ones as people write them.

use haft::registry::{Executor, LookupError};
use haft::run::ToolCall;
use haft::toolkit::{ToolSource, Toolkit};

use crate::error::Fault;

/// The prefix of a full name, for tools that others replace.
const EXACTLY: char = '/';

/// Gives the calls the full names of their tools. A name that means no tool, or several, is left as it is: its call is
/// answered with the names of similar tools. A call of a tool that is set aside gets its full name, and fails.
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

/// Returns the tools to run calls with. A tool that another one replaces is among them if a call has its full name.
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
