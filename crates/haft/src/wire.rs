//! The wires of model providers without I/O: what is sent, what is left out, and what comes back.
//!
//! ```text
//!  TurnRequest ─► Profile ─► RenderedTools ─┐
//!       │         names, dialect, budget    ▼
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

#[doc(inline)]
pub use haft_wire::{
    AnthropicDialect, AnthropicMessages, Budget, CallIdRule, Capabilities, Delivery, Dropped, ErrorCause, ErrorReport,
    ErrorResponse, Finding, FindingKind, ForcedChoice, FunctionTool, GeminiContent, GeminiDialect, ListedTool,
    McpDialect, ModelTable, NameRule, NameStart, OpenAiChat, OpenAiDialect, OpenAiResponses, Profile, ProviderToolJson,
    ReadContext, ReadError, RenderTools, RenderedOutput, RenderedTool, RenderedTools, RequestError, Severity,
    StreamReader, Strictness, Thinking, ToolForm, ToolMode, TurnBuilder, Wire, WireEvent, WireRequest, catalogue,
};
