//! Values and traits of haft.
#![allow(missing_docs, reason = "being written")]

// what a value may be, and what is wrong with it
mod issue;
mod json_text;
mod schema;

pub use self::issue::{Issue, Issues, REASON_CAP};
pub use self::json_text::JsonText;
pub use self::schema::{
    Decoded, DecodeOptions, DuplicateKeys, Limits, Repair, RepairKind, Repairs, Schema, SchemaError, Validation, Validator,
};

// the values of a conversation
mod call;
mod citation;
mod content;
mod delta;
mod failure;
mod failure_kind;
mod finish;
mod item;
mod output;
mod reading;
mod result;
mod text_id;
mod timestamp;
mod tool_choice;
mod turn;
mod usage;
mod version;

pub use self::call::{CallId, ToolCall};
pub use self::citation::Citation;
pub use self::content::{
    ContentPart, MediaData, MediaPart, RefusalPart, ResourceContents, ResourceLinkPart, ResourcePart, TextPart,
};
pub use self::delta::{Delta, ReasoningForm};
pub use self::failure::ToolFailure;
pub use self::failure_kind::FailureKind;
pub use self::finish::Finish;
pub use self::item::{
    ApprovalDecision, ApprovalId, ApprovalRequest, ApprovalResponse, CallOutputBody, Item, Message, ProviderCall,
    Reasoning, Role, ToolCallOutput,
};
pub use self::output::ToolOutput;
pub use self::result::{Outcome, ToolResult};
pub use self::timestamp::Timestamp;
pub use self::tool_choice::{ToolChoice, ToolDemand};
pub use self::turn::Turn;
pub use self::usage::Usage;
pub use self::version::FormatVersion;
