//! The wires for model providers, without I/O: tools, requests, responses, streams and errors.
//!
//! ```text
//! TurnRequest ──> Profile: names, dialect, limits ──> RenderedTools, findings
//!      │                                                 │
//!      └──────────────> Wire::request <──────────────────┘
//!                           │
//!                           v
//!             WireRequest { path, headers, body, context, dropped } ──> the provider
//!                                                  │                       │
//!                                                  v                       │
//! Turn, Delta <── TurnBuilder <── Wire::response, Wire::stream <───────────┤
//! ErrorReport <── Wire::error <────────────────────────────────────────────┘
//! ```
//!
//! A [`Wire`] is one provider's API: [`OpenAiResponses`], [`OpenAiChat`], [`AnthropicMessages`], [`GeminiContent`], or
//! one that you write. It opens no connection, keeps no state and knows no key. You send what it returns, and hand it
//! what comes back:
//!
//! ```
//! use haft_core::{Delta, Item, TurnRequest};
//! use haft_executor::Tool;
//! use haft_wire::{AnthropicMessages, Delivery, Wire, WireEvent};
//!
//! let find = Tool::new("shop/find").describe("Finds products.").handler(|name: String, _cx| async { name })?;
//! let request = TurnRequest::new("claude-sonnet-4-5", vec![Item::user("Any tea?")]).tools(&[find.descriptor()]);
//!
//! let wire = AnthropicMessages::new();
//! let sent = wire.request(&request, Delivery::Streamed)?;
//! assert_eq!(sent.path, "/v1/messages");
//! assert!(sent.body.contains(r#""name":"shop--find""#));
//! assert!(sent.dropped.is_empty());
//!
//! let mut reader = wire.stream(&sent.context);
//! let mut deltas = Vec::new();
//! for data in [
//!     r#"{"type":"message_start","message":{"id":"m1","model":"claude","usage":{"input_tokens":9,"output_tokens":1}}}"#,
//!     r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c1","name":"shop--find","input":{}}}"#,
//!     r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"value\":\"tea\"}"}}"#,
//!     r#"{"type":"content_block_stop","index":0}"#,
//!     r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":12}}"#,
//!     r#"{"type":"message_stop"}"#,
//! ] {
//!     reader.event(WireEvent::new(None, data), &mut deltas)?;
//! }
//! let Some(Delta::TurnComplete(turn)) = deltas.pop() else { panic!("the turn is incomplete") };
//! let calls = turn.tool_calls();
//! assert_eq!((calls[0].name.as_str(), calls[0].arguments.as_str()), ("shop/find", r#""tea""#));
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! - A [`Profile`] is what a wire demands from tools: accepted names ([`NameRule`]), dialects, [`ToolLimits`] and each
//!   tool's JSON ([`ToolForm`]). [`RenderTools::render_tools`] renders a request's tools, once per profile and tool
//!   set.
//! - Rendering never fails as a whole. [`Finding`]s report tools that were left out, losses and missing descriptions,
//!   each with a pointer and advice. [`Dropped`] reports the history parts and settings that a provider can't receive.
//! - [`ModelTable`] has model [`Capabilities`] by name. If you ask for something a model can't do, you get a
//!   [`RequestError`] before sending if the provider documents it as an error. Otherwise it is left off, or sent with a
//!   warning.
//! - [`TurnBuilder`] builds a turn from its pieces, and the deltas that display it. It alone translates names and
//!   arguments back.
//! - [`Wire::results`] writes only the results of a turn's calls, for a program that keeps the conversation itself.
//!   [`KnownWire::recognise`] finds a saved response's wire, and [`read_body`] reads one, whole or streamed.
//! - [`catalogue`] has the tools that providers define.
//!
//! # Dialects
//!
//! Each provider accepts its own JSON Schema subset. A [`Dialect`](haft_core::Dialect) renders a tool's schema for one
//! provider and returns three things: the schema to send, what it could not express, and the codec that converts
//! arguments between the two shapes. Your tool's own schema still checks the arguments. A rule that a provider does not
//! know is never dropped: the model reads it in the description.
//!
//! ```
//! use haft_core::Dialect;
//! use haft_schema::Schema;
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
//! All of them send a value that is not an object as the member `value` of one.
//!
//! A rendered schema may accept values that your tool's schema rejects. Each such rule is reported as a loss with a
//! pointer to it.

mod capability;
pub mod catalogue;
mod dialect;
mod profile;
mod seal;
mod wire;
mod wire_error;

pub use self::capability::{AcceptedSettings, Capabilities, EncryptedReasoning, ForcedChoice, ModelTable, Thinking};
pub use self::dialect::{AnthropicDialect, GeminiDialect, McpDialect, OpenAiDialect};
pub use self::profile::finding::{Finding, FindingKind, Severity};
pub use self::profile::rendered_tools::{RenderedTool, RenderedTools, ToolMode, ToolNamespace};
pub use self::profile::tool_form::{FunctionTool, ListedTool, ProviderToolJson, ToolForm};
pub use self::profile::tool_name::{NameRule, NameStart};
pub use self::profile::{Profile, RenderTools, RenderedOutput, Strictness, ToolLimits};
pub use self::wire::anthropic_messages::AnthropicMessages;
pub use self::wire::gemini_content::GeminiContent;
pub use self::wire::known_wire::{KnownWire, UnknownWire};
pub use self::wire::openai_chat::{
    CallIdRule, ChatQuirks, ChoiceForms, FormatForms, MetadataRule, OpenAiChat, TokenLimit,
};
pub use self::wire::openai_responses::OpenAiResponses;
pub use self::wire::request::warning::RequestWarning;
pub use self::wire::response::saved_body::{BodyForm, TurnReader, read_body};
pub use self::wire::response::turn_builder::TurnBuilder;
pub use self::wire::{
    Delivery, Dropped, ErrorResponse, ReadContext, StreamReader, Wire, WireEvent, WireRequest, WireResults,
};
pub use self::wire_error::{ErrorCause, ErrorReport, ReadError, RequestError};
