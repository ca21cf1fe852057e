//! Guide: writing an adapter for a provider that haft does not know. This module has no items.
//!
//! An adapter translates, and nothing else. It writes a [`TurnRequest`] as the provider expects it, and reads what comes
//! back as [`Delta`]s and one [`Turn`]. It must not run tools, retry, repair histories or log: the
//! [`TurnLoop`](super::TurnLoop) does.
//!
//! # A provider with an HTTP API
//!
//! A [`Wire`] is the translation without I/O, and an [`HttpModel`] sends what it returns: connections, timeouts, size
//! limits, events, keys, cancellation and errors are there already. This is the whole adapter for Acme, a provider that
//! answers `POST /turns` with the events `text`, `thought`, `call`, `input`, `usage`, `done` and `error`:
//!
//! ```
#![doc = include_str!("adapter/acme.rs")]
//!
//! // It is a model like any other.
//! use haft::http::Secret;
//! use haft::model::{HttpModel, LanguageModel};
//!
//! let model = HttpModel::new(Acme::new(), "https://api.acme.example/v1").bearer(Secret::new("key")).model("acme-1");
//! assert_eq!(model.info().to_string(), "acme/acme-1");
//! ```
//!
//! The parts, in the order in which they are written:
//!
//! 1. **The [`Profile`]** is what the provider demands of tools: its name, its form of JSON Schema (a
//!    [`Dialect`](crate::schema::Dialect); [`McpDialect`] is plain JSON Schema), the JSON of one tool (a [`ToolForm`], for which
//!    a closure will do), and if needed its [`names`](crate::wire::Profile::names), its [`limits`](crate::wire::Profile::limits) and its
//!    [strict mode](crate::wire::Profile::strict_dialect).
//! 2. **The request.** [`render_tools`](crate::wire::RenderTools::render_tools) renders the tools once per profile and set of tools.
//!    [`wire_name`](crate::wire::RenderedTools::wire_name) and [`encode`](crate::wire::RenderedTools::encode) translate the calls of the history, also
//!    those of tools that are no longer offered. What the provider has no form for is reported ([`Dropped`]), and what can't be
//!    left out without changing the meaning, such as a choice of one tool, is a [`RequestError`] that says what to change. For brevity Acme leaves out the sampling
//!    settings and the requested format; a real adapter sends them, or reports each with [`Dropped::setting`]. A
//!    history is whole when it comes from a loop: each call has one output, right after its turn.
//! 3. **The stream.** [`TurnBuilder`] makes the turn: each method adds a piece to it and returns the delta that displays the
//!    piece, so that the two can't differ. It translates names and arguments back. Pieces that arrive interleaved have keys
//!    ([`text_at`](crate::wire::TurnBuilder::text_at)). Unknown events are no errors: providers add some.
//! 4. **The end.** Only a turn that the provider has completed is a turn. A stream that ends before is
//!    [`ReadError::Incomplete`], which is retryable, and the reason why it ended is a [`Finish`]: a reason that haft does not
//!    know counts as cut off, and no call of a turn that is cut off runs.
//! 5. **Errors.** [`ErrorReport::of_status`] knows what a status stands for. [`Wire::error`] is overridden where the body
//!    says more.
//!
//! [`Wire::response`] is implemented for a provider that also answers with one body, and
//! [`Profile::render_output`] is the schema of a requested format ([`object`](super::LanguageModelExt::object)).
//!
//! # A model without HTTP
//!
//! A model in the same process, or behind a library with a client of its own, implements [`LanguageModel`] itself. The
//! answer is written by an async block ([`TurnStream::spawn`]), with the same builder:
//!
//! ```
//! use haft::conversation::{Finish, Item, TurnRequest};
//! use haft::model::{LanguageModel, ModelError, ModelInfo, TurnStream};
//! use haft::serde_json::json;
//! use haft::wire::{FunctionTool, McpDialect, Profile, ReadContext, RenderTools, TurnBuilder};
//!
//! /// Spells the names of its tools.
//! struct Local {
//!     profile: Profile,
//! }
//!
//! impl LanguageModel for Local {
//!     fn info(&self) -> ModelInfo {
//!         ModelInfo::new("local")
//!     }
//!
//!     fn stream_turn(&self, request: &TurnRequest) -> TurnStream {
//!         let tools = request.render_tools(&self.profile);
//!         TurnStream::spawn(|out| async move {
//!             let mut turn = TurnBuilder::new(&ReadContext::new(tools.clone()));
//!             for tool in tools.iter() {
//!                 tokio::task::yield_now().await; // where a model takes its time
//!                 out.send(turn.text(format!("{} ", tool.wire_name))).await?;
//!             }
//!             Ok::<_, ModelError>(turn.finish(Finish::Stop))
//!         })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let form = |tool: &FunctionTool<'_>| json!({"name": tool.name});
//! let model = Local { profile: Profile::new("local", McpDialect, form) };
//! let ping = haft::tool::Tool::new("net/ping").handler(|(), _cx| async { "pong" })?;
//! let request = TurnRequest::new("any", vec![Item::user("Which?")]).tools(&[ping.descriptor()]);
//! assert_eq!(model.stream_turn(&request).into_turn().await?.text(), "net--ping ");
//! # Ok(())
//! # }
//! ```
//!
//! # Testing it
//!
//! A test needs no network: a [`Wire`] is a function from values to values, and a listener on a free port plays the
//! provider for the rest. A turn with parallel calls, an error status, an error in the stream, a stream that is cut
//! within a call, and a history of another provider are the cases that adapters get wrong.
//!
//! [`TurnRequest`]: crate::conversation::TurnRequest
//! [`Delta`]: crate::conversation::Delta
//! [`Turn`]: crate::conversation::Turn
//! [`Finish`]: crate::conversation::Finish
//! [`HttpModel`]: super::HttpModel
//! [`LanguageModel`]: super::LanguageModel
//! [`TurnStream::spawn`]: super::TurnStream::spawn
//! [`Wire`]: crate::wire::Wire
//! [`Wire::error`]: crate::wire::Wire::error
//! [`Wire::response`]: crate::wire::Wire::response
//! [`Profile`]: crate::wire::Profile
//! [`Profile::render_output`]: crate::wire::Profile::render_output
//! [`McpDialect`]: crate::wire::McpDialect
//! [`ToolForm`]: crate::wire::ToolForm
//! [`Dropped`]: crate::wire::Dropped
//! [`Dropped::setting`]: crate::wire::Dropped::setting
//! [`RequestError`]: crate::wire::RequestError
//! [`ReadError::Incomplete`]: crate::wire::ReadError::Incomplete
//! [`TurnBuilder`]: crate::wire::TurnBuilder
//! [`ErrorReport::of_status`]: crate::wire::ErrorReport::of_status
