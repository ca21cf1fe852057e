//! Tools: definitions, handlers and the context that a handler gets.
//!
//! ```text
//!   name, description, schemas ──► descriptor ──► the model reads it
//!  ╔══════╗
//!  ║ Tool ║    ToolCall ─► look up ─► permit ─► decode ─► approve ─► slot
//!  ╚══════╝                                                           │
//!      ToolResult ◄─ encode ◄─ ╔═══════════════╗ ◄─ middleware ◄──────┘
//!                              ║ handler(a, cx)║
//!                              ╚═══════════════╝
//! ```
//!
//! The shortest way is the attribute [`#[tool]`](macro@crate::tool) on a function. Without the macro, a builder takes
//! the same from a closure:
//!
//! ```
//! use haft::prelude::*;
//! use haft::tool::DefinitionError;
//!
//! let divide = Tool::new("divide")
//!     .describe("Divides two integers.")
//!     .annotate(Readonly(true))
//!     .try_handler(|(a, b): (i64, i64), _cx| async move { a.checked_div(b).ok_or("division by zero") })?;
//! assert!(divide.is_user_defined());
//! # Ok::<_, DefinitionError>(())
//! ```
//!
//! A raw JSON Schema, as an MCP server sends it, is enforced like one that was made from a type:
//!
//! ```
//! use haft::prelude::*;
//! use haft::serde_json::{Value, json};
//!
//! let search = Tool::dynamic("search")
//!     .params_json(json!({
//!         "type": "object",
//!         "properties": { "query": { "type": "string", "minLength": 1 } },
//!         "required": ["query"]
//!     }))
//!     .handler(|arguments: Value, _cx| async move { json!({ "hits": [arguments["query"]] }) })?;
//! let kit: Toolkit = Toolkit::from_iter([search]);
//! assert_eq!(kit.names().collect::<Vec<_>>(), ["search"]);
//! # Ok::<_, haft::tool::DefinitionError>(())
//! ```
//!
//! [`Tool::from_mcp`] makes a tool from the whole MCP form, with its annotations and icons.
//!
//! A handler takes a service by its type from the context; what belongs to one tool alone it captures by
//! [`with_state`]. It declares the service with
//! [`depends_on`](ToolBuilder::depends_on), so that a toolkit that lacks it is found before anything runs:
//!
//! ```
//! use haft::prelude::*;
//!
//! struct ApiKey(String);
//!
//! let whoami = Tool::new("whoami").depends_on::<ApiKey>().try_handler_mixed(|(), cx: Cx| async move {
//!     let ApiKey(key) = cx.service::<ApiKey>()?;
//!     Ok::<_, HandlerError>(key.clone())
//! })?;
//! let kit: Toolkit = Toolkit::from_iter([whoami]).with_services(Services::new().with(ApiKey("k".into())));
//! kit.ensure_runnable()?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! # Kinds
//!
//! | kind | executed by | created by |
//! |---|---|---|
//! | local | its handler | `#[tool]`, `#[tools] impl`, [`Tool::new`], a type that implements [`Handle`] |
//! | dynamic | its handler; the schema is known at run time only | [`Tool::dynamic`] |
//! | provider-defined | the provider, or a handler | `#[tool(provider = "vendor.tool")]`, [`Tool::provider`] |
//! | signal | the application's loop, which [decodes](ToolType::decode) it | `#[tool(signal)]`, [`Tool::signal`] |
//! | interaction | a person or system outside, later | `#[tool(interaction)]`, [`Tool::interaction`] |
//!
//! A tool without a handler is a struct. The fields of a signal or an interaction are its parameters; those of a tool
//! that its provider runs are its settings. Like the parameters of a function, they are closed. In a toolkit all kinds
//! stand side by side, and their names are compared at compile time:
//!
//! ```
//! use haft::prelude::*;
//!
//! /// Hand over to a person.
//! #[tool(signal)]
//! struct Escalate {
//!     reason: String,
//! }
//!
//! /// Searches the web.
//! #[tool(provider = "anthropic.web_search_20250305", provider_name = "web_search", success = Vec<String>)]
//! struct WebSearch {
//!     max_uses: Option<u32>,
//! }
//!
//! let kit: Toolkit = toolkit![Escalate, WebSearch { max_uses: Some(3) }];
//! assert_eq!(kit.names().collect::<Vec<_>>(), ["escalate", "web_search"]);
//! ```
//!
//! The results of calls that a provider executed are in the conversation. [`Toolkit::provider_results`] checks them by
//! the schemas of their tools, so that they are read like any others; one that violates its schema is an
//! `output_validation_error` for the application, and changes nothing else.
//!
//! [`Toolkit::provider_results`]: crate::toolkit::Toolkit::provider_results
//!
//! Settings that a kind cannot honour are faults of the definition: limits, dependencies, a failure mode,
//! `to_model_output`, `refine` or `emits` on a tool without a handler, and an approval policy on a tool that its
//! provider executes.
//!
//! # Handlers
//!
//! | builder method | the handler returns |
//! |---|---|
//! | [`handler`](ToolBuilder::handler) | a value |
//! | [`try_handler`](ToolBuilder::try_handler) | `Result<T, E>` where `E: Failure`, which the model reads |
//! | [`try_handler_opaque`](ToolBuilder::try_handler_opaque) | `Result<T, E>` with an error that only the operator sees |
//! | [`try_handler_mixed`](ToolBuilder::try_handler_mixed) | `Result<T, HandlerError<E>>`: either of the two |
//! | [`stream_handler`](ToolBuilder::stream_handler) | [`Outputs`]: preliminary values, then the final one |
//! | [`blocking_handler`](ToolBuilder::blocking_handler) and its `try_` forms | as above, on a thread for blocking work |
//!
//! # Results
//!
//! The model reads a success value as JSON, and a string as its text. For anything else:
//!
//! | the model reads | use |
//! |---|---|
//! | an image, audio, a file or a resource | return a [`ContentPart`](crate::conversation::ContentPart) or a list of them |
//! | content made from the value | `#[tool(to_model = …)]`, [`to_model_output`](ToolBuilder::to_model_output) |
//! | content of this one result | return a [`ToolOutput`](crate::run::ToolOutput) |
//!
//! It reads at most 256 KiB of text, see [`OutputCap`].
//!
//! # Refining
//!
//! A schema can't ask a database whether a customer exists. `#[tool(refine = …)]` and [`refine`](ToolBuilder::refine)
//! set a function that can, before anybody decides about a call: it rejects or transforms the valid arguments, and
//! permits, policies, people and the handler see what it returns.
//!
//! ```
//! use haft::prelude::*;
//! use haft::schema::Issue;
//!
//! async fn known_city(weather: GetWeather, _cx: Cx) -> Result<GetWeather, Issue> {
//!     match weather.city.to_lowercase().as_str() {
//!         "muc" | "munich" => Ok(GetWeather { city: "Munich".to_owned() }),
//!         _ => Err(Issue::new("/city", "refine", "there is no such city")),
//!     }
//! }
//!
//! /// Returns the weather.
//! #[tool(readonly, refine = known_city)]
//! fn get_weather(city: String) -> String {
//!     format!("sunny in {city}")
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let kit = toolkit![GetWeather];
//! let result = kit.run_call(&ToolCall::new("c1", "get_weather", r#"{"city": "MUC"}"#)).await;
//! assert_eq!(result.to_model_text(), "sunny in Munich");
//! # }
//! ```
//!
//! # Emitted values
//!
//! A handler reports what it does while it runs: [`Cx::emit`] and [`Cx::progress`] send values to the reader of the
//! run's events, [`Cx::preliminary`] an early form of the result. A tool may declare the type of what it emits. Then
//! the type is part of its descriptor, a value of another type is an error to the handler and does not reach the
//! reader, and the reader gets Rust values from [`Emits::read_event`]:
//!
//! ```
//! use haft::prelude::*;
//! use haft::tool::Emits;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
//! struct Copied { file: String }
//!
//! /// Copies all files.
//! #[tool(emits = Copied)]
//! async fn copy_all(cx: &Cx) -> Result<u32, HandlerError> {
//!     cx.emit(Copied { file: "a.txt".to_owned() }).await?;
//!     Ok(1)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut run = toolkit![CopyAll].run([ToolCall::new("c1", "copy_all", "")]);
//! while let Some(event) = run.next().await {
//!     if let Some(copied) = CopyAll::read_event(&event) {
//!         assert_eq!(copied?, Copied { file: "a.txt".to_owned() });
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Forwarded calls
//!
//! A tool that is executed elsewhere, by another process or a server, is a definition and a function that forwards its
//! calls: [`Tool::with_forward`], or [`forward`](crate::toolkit::DynamicTools::forward) for a whole set. The function
//! gets the call with the text of its arguments, and returns a [`ToolOutput`](crate::run::ToolOutput) or a
//! [`ToolFailure`](crate::run::ToolFailure) that reports truthfully whether the call was sent:
//!
//! ```
//! use haft::prelude::*;
//! use haft::tool::ForwardCx;
//!
//! let read = Tool::dynamic("read").define()?.with_forward(|_tool: Tool, _call: ToolCall, cx: ForwardCx| async move {
//!     cx.mark_unsent();
//!     // … connect; a refused connection has not started, so it may be repeated …
//!     cx.mark_sending()?;
//!     // … send and wait; without a reply it is unknown whether the call was executed …
//!     Err(ToolFailure::new(FailureKind::OutcomeUnknown, ""))
//! })?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! The example `remote_toolkit` forwards calls to another process, with progress, approvals and cancellation.
//!
//! # Descriptors
//!
//! A [`ToolDescriptor`] is what the rest of the world knows of a tool: id, name, version, description, schemas, hints,
//! icons, options for providers, annotations. It is plain data, so that a registry can store it, and another process
//! can rebuild the tool from it, with schemas that are enforced as before:
//!
//! ```
//! use haft::prelude::*;
//! use haft::serde_json::{self, Value};
//! use haft::tool::{CacheControl, ProviderOptions};
//!
//! let search = Tool::new("search")
//!     .version("2.1")
//!     .provider_options(ProviderOptions::new().cache_control(CacheControl::new()).deferred())
//!     .handler(|query: String, _cx| async move { query })?;
//! let stored = serde_json::to_string(&*search.descriptor())?;
//!
//! // Elsewhere, later:
//! let rebuilt = Tool::from_descriptor(&serde_json::from_str(&stored)?)?;
//! let kit: Toolkit = Toolkit::dynamic([rebuilt]).handler(|_tool, arguments: Value, _cx| async { arguments })?;
//! assert_eq!(kit.get("search").unwrap().definition_digest(), search.definition_digest());
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! - The [id](Tool::id) is the name at creation. Renaming keeps it, and a namespace prefixes it.
//! - The [digest](ToolDescriptor::digest) covers what the model reads, what people decide by and how values are checked:
//!   name, title, description, kind, schemas, hints and examples. Approvals are bound to it. Everything else may change
//!   without another review: version, icons, options for providers, annotations of the application, metadata.
//! - An annotation that implements [`DescribedAnnotation`] is part of the descriptor.
//! - The schemas of a descriptor that was read from outside are compiled on request ([`SchemaJson::schema`]), so that a
//!   long list costs little and one invalid tool does not affect the others.
//!
//! # Details
//!
//! - The parameters in a `#[tool]` signature and the fields of a `#[tool]` struct are closed: an unknown key is rejected.
//!   Any other struct follows its serde attributes; `#[serde(deny_unknown_fields)]` closes it.
//! - `format` is an annotation, as in JSON Schema, except that the width of Rust's number types is enforced. Values that
//!   the schema allows and the type rejects are input errors too, and never reach the handler.
//! - Integers may be written as floats (`3.0`, `1e3`). Numbers in free-form values are 64-bit.
//! - A blocking handler runs on one of tokio's threads. When its call is cancelled its context reports that, and the
//!   thread runs to its end; dropping the runtime waits for it.
//! - Small mistakes of a model (`"3"` for `3`, a single value for a list, JSON in a string) can be repaired on request,
//!   see [`Repairs`](crate::schema::Repairs). Repairs are recorded on the result.

// definitions
#[doc(inline)]
pub use haft_core::{
    Annotation, Annotations, CacheControl, DescribedAnnotation, DescriptorKind, Destructive, GivenDescription, Hints,
    Icon, IconTheme, Icons, Idempotent, IntoDescription, McpMembers, Meta, OpenWorld, OptionalDescription,
    ProviderOptions, Readonly, SchemaJson, Strict, Title, ToolDescriptor, ToolId, ToolName, Version,
};
#[doc(inline)]
pub use haft_executor::{
    Concurrency, CountedContent, DefinitionError, DefinitionFault, EmitBuffer, EmptyParams, ExecutionLimits,
    FailureMode, MAX_NAME_LEN, MissingHandler, NameFault, OnOverflow, OutputCap, RefineError, SchemaPart, Tool,
    ToolBuilder, ToolKind,
};
// the types of a builder
#[doc(inline)]
pub use haft_executor::{BuilderOf, Fixed, Inferred, Open, Slot};
// handlers and their context
#[doc(inline)]
pub use haft_core::{Caller, Progress};
#[doc(inline)]
pub use haft_executor::{
    BoxError, Cancellation, Cx, EmitError, Emits, Emitted, Emitter, Failure, ForwardCx, Handle, HandlerError,
    HandlerOutput, IntoTool, NoFailure, NoFinalOutput, Outputs, Resumable, Resumed, StaticTool, ToolType, Wait,
    with_state,
};
// questions of handlers
#[doc(inline)]
pub use haft_core::Question;
#[doc(inline)]
pub use haft_executor::{AskError, QuestionAnswer};
// tools that a provider defines
#[doc(inline)]
pub use haft_executor::{ProviderDefinition, ProviderTool};

#[cfg(feature = "macros")]
#[doc(inline)]
pub use haft_macros::Failure;
