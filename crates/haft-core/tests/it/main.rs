//! The public face of haft-core, one file per subject.

mod conversation_values;
mod dynamic_tools;
mod flexible_parameters;
mod handler_forms;
mod macro_expansion;
mod running;
mod tool_api;
mod tool_combinators;
mod tool_faults;
mod toolkit_values;
