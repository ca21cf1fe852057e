//! What most programs with tools need, in one import.
//!
//! ```
//! use haft::prelude::*;
//!
//! /// The length of a text.
//! #[tool]
//! fn length(text: String) -> usize { text.len() }
//!
//! let kit: Toolkit = toolkit![Length];
//! assert_eq!(kit.len(), 1);
//! ```

pub use crate::{
    Cx, Failure, Handle, HandlerError, JsonSchema, NoFailure, Outputs, Provide, Services, StaticTool, Tool, ToolCall,
    ToolResult, ToolType, Toolkit,
};
#[cfg(feature = "macros")]
pub use crate::{tool, toolkit};
