//! Tools that are not Rust, and the standard toolbox.
//!
//! You describe an [HTTP request](http), the operations of an [OpenAPI document](openapi) or a [command] as a value, and
//! get ordinary tools. [`kinds`] lets the entries of a [workspace file](mod@crate::registry) describe them instead. The
//! [standard toolbox](standard) has tools that nearly every agent needs.
//!
//! ```
//! use haft::prelude::*;
//! use haft::tools::command::CommandTool;
//!
//! let list = CommandTool::new(["ls", "-l", "{folder}"]).folder("/srv");
//! let definition = Tool::dynamic("list").params_json(list.default_parameters());
//! let tool = list.build(definition)?;
//! assert_eq!(tool.name(), "list");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "mcp")]
#[doc(inline)]
pub use haft_tools::mcp;
#[doc(inline)]
pub use haft_tools::{command, http, kinds, openapi, standard};
