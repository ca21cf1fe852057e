#![doc = include_str!("../README.md")]

#[cfg(feature = "macros")]
mod macros;

pub mod approval;
pub mod conversation;
pub mod middleware;
#[cfg(feature = "model")]
pub mod model;
pub mod prelude;
pub mod run;
pub mod schema;
pub mod tool;
pub mod toolkit;

#[cfg(feature = "macros")]
pub use self::macros::{Failure, Services, ToolCalls, compose, tool, toolkit, tools};

#[doc(hidden)]
pub use haft_core::macro_support;

// the crates that appear in signatures
pub use schemars::JsonSchema;
pub use {schemars, serde, serde_json};
