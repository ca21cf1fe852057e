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
    ApprovalDecision, ApprovalPolicy, ApprovalRequest, ApprovalResponse, CallError, Cancellation, ContentPart, Cx,
    DefinitionError, Destructive, ExecutionLimits, Failure, FailureKind, FailureMode, Handle, HandlerError,
    HandlerOutput, Idempotent, JsonSchema, JsonText, Middleware, Needs, Next, NoFailure, OpenWorld, Outcome, Outputs,
    Permission, Provide, Readonly, Request, Run, RunOptions, Schema, Services, StaticTool, Strict, Title, Tool,
    ToolCall, ToolEvent, ToolFailure, ToolResult, ToolType, Toolkit,
};
#[cfg(feature = "macros")]
pub use crate::{tool, toolkit};
