//! The wires of model providers without I/O: what is sent, what is left out, and what comes back.
//!
//! ```text
//!  TurnRequest ─► Profile ─► RenderedTools ─┐
//!       │         names, dialect, limits    ▼
//!       └─────────────► Wire::request ─► WireRequest ─► the provider
//!                                                        │
//!  Turn, Delta ◄─ TurnBuilder ◄─ Wire::response, stream ◄┤
//!  ErrorReport ◄──────────────────────── Wire::error ◄───┘
//! ```
//!
//! Four wires are known: [`OpenAiResponses`], [`OpenAiChat`] (also for the servers that speak it), [`AnthropicMessages`]
//! and [`GeminiContent`]. The clients of [`haft::model`](crate::model) send what they return; this module is for
//! programs that have a transport of their own, for checks of tools, and for
//! adapters of other providers.
//!
//! A [`Profile`] is what one wire demands of tools. Rendering with it reports everything that the provider can't express,
//! and the tool's own schema still checks the arguments:
//!
//! ```
//! use haft::prelude::*;
//! use haft::wire::{Profile, RenderTools};
//!
//! /// Finds products by a part of their name.
//! #[derive(serde::Deserialize, JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! struct Find {
//!     /// A part of the name.
//!     #[schemars(length(min = 3))]
//!     name: String,
//! }
//!
//! let tool = Tool::new("shop/find").describe("Finds products.").handler(|find: Find, _cx| async { find.name })?;
//! let request = TurnRequest::new("gpt-5", vec![Item::user("Is there any tea?")]).tools(&[tool.descriptor()]);
//! let tools = request.render_tools(&Profile::openai());
//! assert_eq!(tools.wire_name("shop/find"), "shop--find");
//! assert!(tools.list().contains(r#""description":"A part of the name. At least 3 characters.""#));
//! assert_eq!(tools.findings()[0].pointer, "/properties/name/minLength");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Finding`]s are faults (the tool is left out), losses and warnings, each with a pointer and advice; [`Dropped`] is a
//!   part of the history or a setting that a provider can't receive, such as the reasoning of another one.
//! - [`Capabilities`] are what a model can do, by name, in a [`ModelTable`] that can be extended. A request that the model
//!   can't serve is a [`RequestError`] that says what to change, before anything is sent.
//! - [`catalogue`] has the tools that Anthropic, OpenAI and Google define.
//!
//! # Responses of other programs
//!
//! A program that keeps the conversation itself, such as a script around `curl`, needs two steps only: the turn of a
//! response, and the results of its calls as the provider takes them back. [`KnownWire::recognise`] finds the wire of a
//! saved response, [`read_body`] reads it whole or streamed, and [`Wire::results`] writes the results. Server-sent events
//! are decoded by the HTTP client's decoder:
//!
//! ```
//! # #[cfg(feature = "clients")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use haft::http::SseDecoder;
//! use haft::prelude::*;
//! use haft::wire::{KnownWire, ReadContext, RenderTools, TurnReader, WireEvent, read_body};
//!
//! fn decode(text: &str, reader: &mut TurnReader) -> Result<(), Box<dyn std::error::Error>> {
//!     let (mut decoder, mut input) = (SseDecoder::new(), text.as_bytes());
//!     while let Some(event) = decoder.next(&mut input)? {
//!         reader.event(WireEvent::new(Some(&event.name), &event.data))?;
//!     }
//!     // The last event of a file may have no empty line after it.
//!     if let Some(event) = decoder.unfinished() {
//!         reader.unfinished(WireEvent::new(Some(&event.name), &event.data))?;
//!     }
//!     Ok(())
//! }
//!
//! let saved = r#"data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"now","args":{}}}]},"finishReason":"STOP"}]}"#;
//! let wire = KnownWire::recognise(saved).ok_or("no response of a provider")?.wire();
//! let context = ReadContext::new(TurnRequest::new("", vec![]).render_tools(wire.profile()));
//! let turn = read_body(&*wire, saved, &context, decode)?;
//!
//! let results: Vec<_> = turn.tool_calls().iter().map(|call| ToolResult::ok(call, serde_json::json!("12:00"))).collect();
//! let written = wire.results(&turn, &results, &context)?;
//! assert_eq!(written.member, "contents");
//! let content = r#"{"role":"user","parts":[{"functionResponse":{"name":"now","response":{"output":"12:00"}}}]}"#;
//! assert_eq!(written.json, format!("[{content}]"));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "clients"))]
//! # fn main() {}
//! ```

#[doc(inline)]
pub use haft_wire::{
    AcceptedSettings, AnthropicDialect, AnthropicMessages, BodyForm, CallIdRule, Capabilities, ChatQuirks, ChoiceForms,
    Delivery, Dropped, EncryptedReasoning, ErrorCause, ErrorReport, ErrorResponse, Finding, FindingKind, ForcedChoice,
    FormatForms, FunctionTool, GeminiContent, GeminiDialect, KnownWire, ListedTool, McpDialect, MetadataRule,
    ModelTable, NameRule, NameStart, OpenAiChat, OpenAiDialect, OpenAiResponses, Profile, ProviderToolJson,
    ReadContext, ReadError, RenderTools, RenderedOutput, RenderedTool, RenderedTools, RequestError, RequestWarning,
    Severity, StreamReader, Strictness, Thinking, TokenLimit, ToolForm, ToolLimits, ToolMode, ToolNamespace,
    TurnBuilder, TurnReader, UnknownWire, Wire, WireEvent, WireRequest, WireResults, catalogue, read_body,
};
