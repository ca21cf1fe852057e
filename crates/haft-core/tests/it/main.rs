//! The public face of haft-core, one file per subject.

mod conversation_values;
#[cfg(feature = "validate")]
mod dynamic_tools;
mod flexible_parameters;
#[cfg(feature = "validate")]
mod handler_forms;
mod macro_expansion;
mod running;
#[cfg(feature = "validate")]
mod tool_api;
#[cfg(feature = "validate")]
mod tool_combinators;
#[cfg(feature = "validate")]
mod tool_faults;
#[cfg(feature = "validate")]
mod tool_service;
mod toolkit_values;
#[cfg(feature = "validate")]
mod tools_and_toolkits;
