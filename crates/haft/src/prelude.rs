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
    ApprovalPolicy, CallError, ContentPart, Cx, DefinitionError, Destructive, ExecutionLimits, Failure, FailureKind,
    Handle, HandlerError, HandlerOutput, Idempotent, JsonSchema, JsonText, NoFailure, OpenWorld, Outputs, Provide,
    Readonly, Run, RunOptions, Schema, Services, StaticTool, Strict, Title, Tool, ToolCall, ToolEvent, ToolFailure,
    ToolResult, ToolType, Toolkit,
};
#[cfg(feature = "macros")]
pub use crate::{tool, toolkit};
