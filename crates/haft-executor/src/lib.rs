//! Values and traits of haft, the tool layer for agents: tools, their schemas, calls and results.
//!
//! Most programs use the crate `haft`, which re-exports everything here and adds the macros. This one is for those that
//! want few dependencies and plain values.
//!
//! # A tool and a call
//!
//! A [`Tool`] is a name, schemas and a handler. It is made by a builder whose last step reports everything that is
//! wrong with the definition at once. A [`ToolCall`](haft_core::ToolCall) is what a model sent: a name and argument text. Running calls
//! gives one [`ToolResult`](haft_core::ToolResult) each: a value, or a failure that the model can read.
//!
//! ```
//! use haft_executor::{Tool, Toolkit};
//! use haft_core::ToolCall;
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! /// Divides two integers.
//! #[derive(Deserialize, JsonSchema)]
//! struct Division {
//!     dividend: i64,
//!     divisor: i64,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), haft_executor::DefinitionError> {
//! let divide = Tool::new("divide").try_handler(|division: Division, _cx| async move {
//!     division.dividend.checked_div(division.divisor).ok_or("division by zero")
//! })?;
//! assert_eq!(divide.description(), Some("Divides two integers."));
//!
//! let kit: Toolkit = Toolkit::from_iter([divide]);
//! let results = kit.run([ToolCall::new("call_1", "divide", r#"{"dividend": 84, "divisor": 2}"#)]).collect_results().await;
//! assert_eq!(results[0].to_model_text(), "42");
//! # Ok(())
//! # }
//! ```
//!
//! # Where to look
//!
//! - Defining: [`Tool`], [`ToolBuilder`], [`ToolType`] and [`Handle`] for tools as types, [`ProviderTool`] for tools of
//!   providers.
//! - Checking: the crate `haft-schema`, with schemas, limits, repairs and issues.
//! - Handling: [`Cx`] is what a handler knows, [`Services`] what it needs, [`Failure`] and [`HandlerError`] how it fails,
//!   [`Outputs`] how it answers in steps.
//! - Putting together: [`Toolkit`] is an ordered set of tools; [`Middleware`] is code around their handlers. Ready-made
//!   ones (`Trace`, `Retry`, `Timeout`, `RateLimit`, `Cache`) are in the crate `haft-middleware`.
//! - Changing tools: [`ToolSource`] is a live set of tools, [`SharedToolkit`] one that a program changes, [`Snapshot`] its
//!   tools at one moment.
//! - Waiting: a [resumable](ToolBuilder::resumable) handler returns a [`Wait`] and goes on with its [`Resumed`] answers;
//!   [`Cx::ask`] asks while it runs.
//! - Running: [`Toolkit::run`] gives a [`Run`], a stream of [`ToolEvent`](haft_core::ToolEvent)s; [`RunOptions`] say
//!   how; [`Permit`] and [`Approve`] decide; [`Dispatch`] runs calls on any source.
//! - Asking people: [`ApprovalPolicy`] says about which calls, [`ApprovalRequest`](haft_core::ApprovalRequest) and
//!   [`Verdict`](haft_core::Verdict) are the question and the verdict; [`VerdictQueue`], [`Toolkit::plan_from_map`], [`Suspend`] and [`Toolkit::resume`] are ways between them;
//!   [`ApprovalMemory`], [`SigningKeys`] and [`AuditRecord`] what is kept.
//! - Conversations: the items, turns and histories that calls are part of are in the crate `haft-core`.

// tools, what runs them and what they need
mod ambient;
mod approval;
mod backoff;
mod blocking;
mod cancellation;
mod cx;
mod executor;
mod handler;
#[doc(hidden)]
pub mod macro_support;
mod middleware;
mod resumable;
mod scope;
mod seed;
mod service;
mod source;
mod tool;
mod toolkit;

pub use self::ambient::{Ambient, AmbientScope, CarriedAmbient};
pub use self::approval::{
    ApprovalMemory, ApprovalOutcome, AuditRecord, CallPlan, Decision, QueuePlan, Receipt, RejectedVerdict,
    RequestedCall, SigningKeyError, SigningKeys, Suspended, SuspendedError, VerdictFault, VerdictQueue, VerdictSender,
    WaitingCall,
};
pub use self::backoff::Backoff;
pub use self::cancellation::Cancellation;
pub use self::cx::Cx;
pub use self::cx::emit::{EmitError, Emitted, Emitter};
pub use self::executor::{
    ApprovalAnswer, Approve, AskError, CallError, Continuation, Dispatch, FailureOrigin, HandlerResult, HandlerResults,
    IsolatedSpan, Lane, Lanes, Permission, Permit, Permitting, Run, RunCall, RunError, RunOptions, Step, Suspend,
    TryRun,
};
pub use self::handler::typed::{CallDecodeError, CallVariant, ToolCalls, Typed};
pub use self::handler::{
    BoxError, BuilderOf, Emits, Failure, ForwardCx, Handle, HandlerError, HandlerOutput, IntoTool, NoFailure,
    NoFinalOutput, Outputs, StaticTool, ToolType, with_state,
};
pub use self::middleware::{Middleware, Next, Request};
pub use self::resumable::{QuestionAnswer, Resumable, Resumed, Wait};
pub use self::service::{
    Dependency, MissingService, Needs, PerRun, Provide, ProvideAll, Satisfies, ServiceList, ServiceNeed, ServiceSource,
    Services, ServicesIdentity,
};
pub use self::source::{Changed, Mapped, Merged, SharedToolkit, Snapshot, SourceFault, ToolSource};
pub use self::tool::arguments::CallArguments;
pub use self::tool::{
    ApprovalCx, ApprovalNeed, ApprovalPolicy, Concurrency, CountedContent, DefinitionError, DefinitionFault,
    EmitBuffer, EmptyParams, ExecutionLimits, FailureMode, Fixed, Inferred, IntoApprovalNeed, MAX_NAME_LEN,
    MissingHandler, NameFault, OnOverflow, Open, OutputCap, ProviderDefinition, ProviderTool, RefineError, SchemaPart,
    Slot, Tool, ToolBuilder, ToolIdentity, ToolKind,
};
pub use self::toolkit::{
    AmbiguousTool, ComposeError, DuplicateToolName, DynamicTools, KitType, MissingToolService, NamespaceError,
    NamespaceFault, NotRunnable, ReplaceError, ServedLater, Serves, Shadowed, StaticKit, Toolkit, ToolkitError,
    ToolkitFault, Tools,
};
