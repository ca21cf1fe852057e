//! The values of haft, the tool layer for agents: calls and results, items and turns, descriptors and dialects.
//!
//! Most programs use the crate `haft`, which re-exports everything here. This one is for those that keep, send or read these
//! values without running anything: a wire, a store, a client.
//!
//! Nothing here runs a tool, asks a person or reads a clock. Values are data: they can be compared, stored and read by another
//! process, and every stored form is read by later versions.
//!
//! ```
//! use haft_core::{FailureKind, ToolCall, ToolResult};
//!
//! let call = ToolCall::new("call_1", "divide", r#"{"dividend": 84, "divisor": 0}"#);
//! let result = ToolResult::failed(&call, FailureKind::ToolFailed, "division by zero");
//! assert_eq!(result.failure().unwrap().message, "division by zero");
//!
//! let stored = serde_json::to_string(&result)?;
//! assert_eq!(serde_json::from_str::<ToolResult>(&stored)?, result);
//! # Ok::<_, serde_json::Error>(())
//! ```
//!
//! # Where to look
//!
//! - Calls: [`ToolCall`] is what a model sent, [`ToolResult`] its one answer, with an [`Outcome`] or a [`ToolFailure`];
//!   [`ToolEvent`] is what a run emits on the way.
//! - Tools as data: [`ToolDescriptor`], [`Annotations`], [`ProviderOptions`]; [`Dialect`] renders their schemas for a provider.
//! - Conversations: [`Item`], [`Turn`], [`Delta`], [`TurnRequest`], [`ToolChoice`], [`Usage`]; [`history`] keeps them whole.
//! - Asking people: [`ApprovalRequest`] and [`Verdict`] are the question and the verdict.
//! - [`Secret`] is a text that is never shown.

mod base64;
mod call;
mod caller;
mod cause;
mod citation;
mod content;
mod delta;
mod description;
mod descriptor;
mod dialect;
mod digest;
mod event;
mod failure;
mod failure_class;
mod failure_kind;
mod finish;
pub mod history;
#[doc(hidden)]
pub mod internal;
mod item;
mod nearest_tool;
mod output;
mod output_format;
mod progress;
mod random;
mod reading;
mod request;
mod result;
mod run_id;
mod secret;
/// Reading of tagged enums, for the other crates of this workspace. It may change with any release.
#[doc(hidden)]
pub mod tagged;
mod text_id;
mod timestamp;
mod tool_choice;
mod tool_name;
mod turn;
mod usage;
mod version;

pub use self::call::{CallId, ToolCall};
pub use self::caller::Caller;
pub use self::citation::Citation;
pub use self::content::{
    ContentPart, MediaData, MediaPart, RefusalPart, ResourceContents, ResourceLinkPart, ResourcePart, TextPart,
};
pub use self::delta::{Delta, ReasoningForm, UnknownDelta};
pub use self::description::{GivenDescription, IntoDescription, OptionalDescription};
pub use self::descriptor::{
    Annotation, Annotations, CacheControl, DescribedAnnotation, DescriptorKind, Destructive, Hints, Icon, IconTheme,
    Icons, Idempotent, McpMembers, Meta, OpenWorld, ProviderOptions, Readonly, SchemaJson, Strict, Title,
    ToolDescriptor, Version,
};
pub use self::dialect::{Dialect, Loss, LossKind, RenderFault, Rendered};
pub use self::event::{ToolEvent, UnknownEvent};
pub use self::failure::ToolFailure;
pub use self::failure_class::FailureClass;
pub use self::failure_kind::{CustomKind, FailureKind};
pub use self::finish::Finish;
pub use self::history::History;
pub use self::item::{
    ApprovalDecision, ApprovalId, ApprovalRequest, ApprovalRule, ApprovalScope, Author, CallOutputBody, Decider, Item,
    Message, ProviderCall, Question, Reasoning, RequestSignature, Role, ToolCallOutput, Verdict,
};
pub use self::nearest_tool::nearest_tools;
pub use self::output::ToolOutput;
pub use self::output_format::OutputFormat;
pub use self::progress::Progress;
pub use self::request::{Describe, TurnRequest};
pub use self::result::{Outcome, ResultParts, ToolResult};
pub use self::run_id::RunId;
pub use self::secret::{Secret, SecretError};
pub use self::timestamp::Timestamp;
pub use self::tool_choice::{ToolChoice, ToolDemand};
pub use self::tool_name::{NAMESPACE_SEPARATOR, ToolId, ToolName};
pub use self::turn::Turn;
pub use self::usage::Usage;
pub use self::version::FormatVersion;
