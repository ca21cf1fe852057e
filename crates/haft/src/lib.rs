// Examples of the README have a client and a workspace in them, so its blocks are tests only where there are both.
#![cfg_attr(any(all(feature = "clients", feature = "workspace"), not(doctest)), doc = include_str!("../README.md"))]

#[cfg(feature = "macros")]
mod macros;

pub mod approval;
pub mod conversation;
#[cfg(any(feature = "clients", feature = "tools"))]
pub mod http;
pub mod middleware;
#[cfg(feature = "model")]
pub mod model;
pub mod prelude;
#[cfg(feature = "registry")]
pub mod registry;
pub mod run;
pub mod schema;
pub mod tool;
pub mod toolkit;
#[cfg(feature = "tools")]
pub mod tools;
#[cfg(feature = "wire")]
pub mod wire;
#[cfg(feature = "workspace")]
pub mod workspace;

#[cfg(feature = "macros")]
pub use self::macros::{Failure, Services, ToolCalls, compose, tool, toolkit, tools};

#[doc(hidden)]
pub use haft_core::macro_support;

// the crates that appear in signatures
pub use schemars::JsonSchema;
pub use {schemars, serde, serde_json};
