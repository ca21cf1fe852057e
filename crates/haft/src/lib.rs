#![doc = include_str!("../README.md")]

#[cfg(feature = "macros")]
mod macros;
pub mod prelude;

#[cfg(feature = "macros")]
pub use self::macros::{Failure, Services, tool, toolkit};

// tools: what they are, and how they are described
#[doc(inline)]
pub use haft_core::{
    Annotation, Annotations, Concurrency, DefinitionError, DefinitionFault, DescriptorKind, Destructive, EmitBuffer,
    EmptyParams, ExecutionLimits, FailureMode, Hints, Idempotent, MAX_NAME_LEN, Meta, MissingHandler, NameFault,
    OnOverflow, OpenWorld, OutputCap, Readonly, SchemaJson, SchemaPart, Strict, Title, Tool, ToolBuilder,
    ToolDescriptor, ToolId, ToolKind,
};
// how the builder knows a tool's types
#[doc(inline)]
pub use haft_core::{BuilderOf, Inferred, Open, Slot, Typed};

// what runs them
#[doc(inline)]
pub use haft_core::{
    BoxError, Caller, Cancellation, Cx, EmitError, Emitted, Emitter, Failure, Handle, HandlerError, HandlerOutput,
    NoFailure, NoFinalOutput, Outputs, StaticTool, ToolType,
};

// running calls
#[doc(inline)]
pub use haft_core::{
    ApprovalAnswer, Approve, CallError, Continuation, Dispatch, EventStream, FailureClass, FailureOrigin, HandleStream,
    HandlerResult, IntoApprovalAnswer, Permission, Permit, Permitting, Run, RunCall, RunError, RunOptions, Step,
    ToolEvent, TryRun, UnknownEvent,
};
// what stands around them
#[doc(inline)]
pub use haft_core::{Backoff, Cache, Middleware, Next, RateLimit, Request, Retry, Timeout, Trace};

// what they need
#[doc(inline)]
pub use haft_core::{Dependency, MissingService, Needs, Provide, ProvideAll, ServiceList, Services};

// sets of tools
#[doc(inline)]
pub use haft_core::{
    ComposeError, Describe, DuplicateToolName, DynamicTools, MissingToolService, NAMESPACE_SEPARATOR, NamespaceError,
    NamespaceFault, NotRunnable, ReplaceError, Serves, Shadowed, ToolName, Toolkit, ToolkitError, ToolkitFault,
};

// tools that a provider defines
#[doc(inline)]
pub use haft_core::{NameClash, NameMapError, NameMapper, ProviderDefinition, ProviderTool};

// who has to agree before a call runs
#[doc(inline)]
pub use haft_core::{
    ApprovalCx, ApprovalDecision, ApprovalId, ApprovalNeed, ApprovalOutcome, ApprovalPolicy, ApprovalRecord,
    ApprovalRequest, ApprovalResponse, ApprovalRule, ApprovalScope, ApprovedCall, PolicyError, RefusedVerdict,
    RequestSignature, RequestedCall, Suspended, SuspendedError, VerdictFault,
};
// approvals that leave the run
#[cfg(feature = "approval")]
#[doc(inline)]
pub use haft_core::{
    ApprovalMemory, CallPlan, Decision, Decisions, Delivery, QueuePlan, SignatureError, SigningKeyError, SigningKeys,
    Suspend, VerdictQueue, VerdictSender,
};

// schemas, and what is wrong with a value
#[doc(inline)]
pub use haft_core::{
    AppliesTo, DecodeOptions, Decoded, Dialect, DuplicateKeys, ISSUES_CAP, Issue, Issues, JsonText, Limits, Loss,
    REASON_CAP, Rendered, Repair, RepairKind, Repairs, Schema, SchemaError, Subschema, Subschemas, Validation,
    Validator, secure_json,
};

// calls and their results
#[doc(inline)]
pub use haft_core::{CallId, CustomKind, FailureKind, Outcome, ToolCall, ToolFailure, ToolOutput, ToolResult};

// conversations
#[doc(inline)]
pub use haft_core::history;
#[doc(inline)]
pub use haft_core::{
    Author, CallOutputBody, Citation, ContentPart, Delta, Finish, FormatVersion, History, Item, MediaData, MediaPart,
    Message, OutputFormat, ProviderCall, Reasoning, ReasoningForm, RefusalPart, ResourceContents, ResourceLinkPart,
    ResourcePart, Role, TextPart, Timestamp, ToolCallOutput, ToolChoice, ToolDemand, Turn, TurnRequest, Usage,
};

// models: what answers, for real or by a script
#[cfg(feature = "model")]
#[doc(inline)]
pub use haft_model::{
    Cassette, CassetteError, CassetteFault, ExchangeFault, Expect, LanguageModel, ModelError, ScriptError, ScriptFault,
    ScriptedModel, ScriptedTurn, TurnFault, TurnStream,
};
// the loop that asks them again and again
#[cfg(feature = "model")]
#[doc(inline)]
pub use haft_model::{
    AfterTurn, Budget, Flow, Interaction, LoopEnd, LoopError, LoopEvent, LoopOutcome, LoopRun, LoopState, Signal,
    Spent, StateError, TurnLoop,
};

#[doc(hidden)]
pub use haft_core::macro_support;

// the crates that appear in signatures
pub use schemars::JsonSchema;
pub use {schemars, serde, serde_json};
