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

#[cfg(feature = "model")]
pub use crate::{
    AfterTurn, Flow, LanguageModel, LoopEnd, LoopEvent, LoopState, ScriptedModel, ScriptedTurn, TurnLoop, TurnStream,
};
pub use crate::{
    ApprovalDecision, ApprovalPolicy, ApprovalRequest, ApprovalResponse, Cache, CallError, Caller, Cancellation,
    ContentPart, Cx, DefinitionError, Delta, Destructive, Dispatch, ExecutionLimits, Failure, FailureKind, FailureMode,
    Handle, HandlerError, HandlerOutput, Idempotent, Item, JsonSchema, JsonText, Middleware, Needs, Next, NoFailure,
    OpenWorld, Outcome, Outputs, Permission, Permit, Permitting, Provide, RateLimit, Readonly, Request, Retry, Run,
    RunOptions, Schema, Services, StaticTool, Strict, Timeout, Title, Tool, ToolCall, ToolEvent, ToolFailure,
    ToolResult, ToolType, Toolkit, Trace, Turn, TurnRequest,
};
#[cfg(feature = "approval")]
pub use crate::{Suspend, VerdictQueue};
#[cfg(feature = "macros")]
pub use crate::{tool, toolkit};
