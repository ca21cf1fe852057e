//! The forms of JSON Schema that model providers accept, each with the conversion of arguments.
//!
//! Providers accept subsets of JSON Schema, and each another one. A [`Dialect`](haft_core::Dialect) renders the schema of
//! a tool for one of them, and returns three things: the schema to send, what it could not express, and the codec that
//! converts arguments between the two shapes. The tool's own schema still checks the arguments, so a rule that a provider
//! does not know is a rule that the model reads in the description, and never one that is dropped.
//!
//! ```
//! use haft_core::{Dialect, Schema};
//! use haft_wire::OpenAiDialect;
//! use serde_json::json;
//!
//! let schema = Schema::json(json!({
//!     "type": "object",
//!     "properties": {
//!         "city": {"type": "string", "minLength": 2},
//!         "tags": {"type": "object", "additionalProperties": {"type": "string"}},
//!     },
//!     "required": ["city"],
//!     "additionalProperties": false,
//! }))?;
//! let rendered = OpenAiDialect::Strict.render(&schema)?;
//! assert_eq!(rendered.json["required"], json!(["city", "tags"]));
//! assert_eq!(rendered.json["properties"]["city"]["description"], "At least 2 characters.");
//! assert_eq!(rendered.losses[0].pointer, "/properties/city/minLength");
//!
//! let sent = r#"{"city":"Oslo","tags":[{"key":"a","value":"b"}]}"#;
//! assert_eq!(rendered.codec.decode(sent)?, r#"{"city":"Oslo","tags":{"a":"b"}}"#);
//! assert_eq!(rendered.codec.encode(r#"{"city":"Oslo"}"#)?, r#"{"city":"Oslo","tags":null}"#);
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! | dialect | shape of values | references |
//! |---|---|---|
//! | [`OpenAiDialect::Strict`] | `null` for absent members, maps as pairs, tuples as objects | kept |
//! | [`AnthropicDialect::Strict`] | maps as pairs, tuples as objects | kept; recursive values as JSON text |
//! | [`GeminiDialect::Parameters`] | maps as pairs, tuples as objects, members renamed | inlined; recursive values as JSON text |
//! | [`GeminiDialect::JsonSchema`] | members renamed | kept; recursive values as JSON text |
//! | [`OpenAiDialect::Plain`], [`AnthropicDialect::Plain`], [`McpDialect`] | unchanged | kept |
//!
//! In all of them a value that is not an object is sent as the member `value` of one.

mod answer;
mod anthropic;
mod anthropic_messages;
mod body;
mod capability;
pub mod catalogue;
mod envelope;
mod error_body;
mod failure_text;
mod finding;
mod foreign_data;
mod form;
mod gemini;
mod gemini_content;
mod group;
mod kept_item;
mod key;
mod keyword;
mod kind;
mod limit;
mod mcp;
mod mcp_tool;
mod metadata_pair;
mod model_profile;
mod openai;
mod openai_chat;
mod openai_responses;
mod pattern;
mod profile;
mod render;
mod rendered_tools;
mod rules;
mod sentence;
mod text;
mod tool_form;
mod tool_name;
mod turn_builder;
mod wire;
mod wire_error;

pub use self::anthropic::AnthropicDialect;
pub use self::anthropic_messages::AnthropicMessages;
pub use self::capability::{Capabilities, ForcedChoice, ModelTable, Thinking};
pub use self::finding::{Finding, FindingKind, Severity};
pub use self::gemini::GeminiDialect;
pub use self::gemini_content::GeminiContent;
pub use self::mcp::McpDialect;
pub use self::openai::OpenAiDialect;
pub use self::openai_chat::{CallIdRule, OpenAiChat};
pub use self::openai_responses::OpenAiResponses;
pub use self::profile::{Budget, Profile, RenderTools, RenderedOutput, Strictness};
pub use self::rendered_tools::{RenderedTool, RenderedTools, ToolMode};
pub use self::tool_form::{FunctionTool, ListedTool, ProviderToolJson, ToolForm};
pub use self::tool_name::{NameRule, NameStart};
pub use self::turn_builder::TurnBuilder;
pub use self::wire::{Delivery, Dropped, ErrorResponse, ReadContext, StreamReader, Wire, WireEvent, WireRequest};
pub use self::wire_error::{ErrorCause, ErrorReport, ReadError, RequestError};
