//! Tools that are not Rust, and a standard toolbox.
//!
//! | module | tools |
//! |---|---|
//! | [`command`] | start a program |
//! | [`http`] | send an HTTP request |
//! | [`openapi`] | send a request for each operation of an OpenAPI document |
//! | `mcp` | forward calls to an MCP server (feature `mcp`) |
//! | [`standard`] | arithmetic, dates, JSON, text, digests, files under a root, web pages |
//!
//! You describe all but the standard ones as values in Rust, or as entries of a workspace file, which their
//! [kinds](haft_registry::ImplementationKind) read:
//!
//! ```
//! use haft_executor::Tool;
//! use haft_tools::command::CommandTool;
//!
//! let list = CommandTool::new(["ls", "-l", "{folder}"]).folder("/srv");
//! let definition = Tool::dynamic("list").params_json(list.default_parameters());
//! let tool = list.build(definition)?;
//! assert_eq!(tool.name(), "list");
//!
//! assert!(["command", "http", "openapi"].iter().all(|kind| haft_tools::kinds().get(kind).is_some()));
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

pub mod command;
pub mod http;
mod json_path;
mod kinds;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod openapi;
mod redactor;
pub mod standard;

pub use self::kinds::kinds;
