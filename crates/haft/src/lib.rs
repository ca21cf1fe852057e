// Examples of the README have a client and a workspace in them, so its blocks are tests only where there are both.
#![cfg_attr(any(all(feature = "clients", feature = "workspace"), not(doctest)), doc = include_str!("../README.md"))]

//!
//! # Modules
//!
//! | module | what you find there |
//! |---|---|
//! | [`tool`](mod@crate::tool) | definitions, handlers, kinds of tools, a handler's context |
//! | [`toolkit`](mod@crate::toolkit) | sets of tools, live ones too; namespaces, services |
//! | [`run`](mod@crate::run) | running calls, options, events, permits; reading calls and results by type |
//! | [`approval`] | policies, approvers, verdicts, plans, suspended runs |
//! | [`schema`] | schemas, limits, issues, repairs |
//! | [`middleware`] | tracing, retries, timeouts, rate limits, caches, your own |
//! | [`conversation`] | items, turns, histories |
//! | [`model`] | models, the turn loop, stored chats, scripted and recorded models for tests, providers' clients |
//! | `haft::wire` | requests, responses and streams without I/O; checks of tools; provider-defined tools |
//! | `haft::mcp` | tools of MCP servers |
//! | `haft::registry` | tools by name: registries, the executor service, permissions |
//! | `haft::tools` | HTTP, OpenAPI and command tools, the standard toolbox |
//! | `haft::workspace` | workspaces as files: `haft.toml` |
//! | `haft::http` | the HTTP client: keys, timeouts, proxies, the address guard |
//!
//! Examples on single items may import `haft_core`, `haft_middleware` or `haft_model`. Your application finds the same
//! names in the module that shows them.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `macros` | [`#[tool]`](macro@crate::tool), [`#[tools]`](macro@crate::tools), [`toolkit![]`](macro@crate::toolkit), [`compose![]`](macro@crate::compose), [`#[derive(Services)]`](macro@crate::Services), [`#[derive(Failure)]`](macro@crate::Failure), [`#[derive(ToolCalls)]`](macro@crate::ToolCalls) |
//! | `middleware` | ready-made middleware |
//! | `model` | models and the turn loop |
//! | `wire` (not by default) | `haft::wire` |
//! | `clients` (not by default) | clients for model providers, with `wire` and `haft::http` |
//! | `file-store` (not by default) | conversations in files, which needs Rust 1.89 |
//! | `google-adc` (not by default) | Google's application default credentials, for Gemini on Vertex AI, with `clients` |
//! | `mcp` (not by default) | `haft::mcp`: tools of MCP servers, with `haft::http` |
//! | `mcp-oauth` (not by default) | logins at MCP servers by OAuth, with `mcp` |
//! | `mcp-server` (not by default) | `haft::mcp::serve`: your tools for MCP clients, with `mcp` |
//! | `registry` (not by default) | `haft::registry`: registries, the executor service, permissions and approval rules |
//! | `tools` (not by default) | `haft::tools`: HTTP, OpenAPI and command tools and the standard toolbox, with `registry` and `haft::http` |
//! | `workspace` (not by default) | `haft::workspace`: workspaces as files (`haft.toml`), with `tools` |
//!
//! # What you can rely on
//!
//! 1. **You get one result per call, whatever happens.** An unknown name, invalid JSON, a panic, a timeout, a
//!    cancellation, a result that breaks its own schema, two calls with one id: haft answers each call once, with a kind
//!    and a message that the model can act on. Other calls are not affected.
//! 2. **Arguments are checked in full, within a budget.** Every keyword in five JSON Schema drafts counts, for typed tools
//!    and raw schemas alike. A valid call is parsed once, straight into your type, at about 1.25 times what
//!    [`serde_json::from_str`] costs; an invalid one reports every problem. Hostile schemas,
//!    patterns and arguments cost no more than their size allows, and numbers are exact.
//! 3. **An approval covers exactly what was shown.** A request carries a digest over the tool, its definition and the
//!    decoded arguments. A verdict on other arguments, on a changed tool, after expiry or with a forged signature runs
//!    nothing. You can store a stopped run and continue it in another process. A policy that fails requires approval, and
//!    a permit that fails denies.
//! 4. **A failure has two readers.** The model reads its message, issues and declared details. You read the cause, which
//!    never leaves the process. `started` states the facts, so a retry repeats a call that began only if its tool is
//!    idempotent.
//! 5. **Histories stay whole.** Outputs follow the turn that made the calls, in call order. Orphans and duplicates are
//!    repaired into what every provider accepts. A turn loop always ends, and its state serialises.
//! 6. **Models are a trait with two methods.** OpenAI (Responses and Chat Completions), Anthropic and Gemini implement it
//!    with the feature `clients`, and the official SDKs judge their requests and streams in our tests. The guide
//!    `haft::model::adapter` adds a provider in less than 80 lines.

#[cfg(feature = "macros")]
mod macros;

pub mod approval;
pub mod conversation;
#[cfg(any(feature = "clients", feature = "mcp", feature = "tools"))]
pub mod http;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod middleware;
#[cfg(feature = "model")]
pub mod model;
pub mod prelude;
#[cfg(feature = "registry")]
pub mod registry;
pub mod run;
pub mod schema;
pub mod tool;
pub mod toolkit;
#[cfg(feature = "tools")]
pub mod tools;
#[cfg(feature = "wire")]
pub mod wire;
#[cfg(feature = "workspace")]
pub mod workspace;

#[cfg(feature = "macros")]
pub use self::macros::{Failure, Services, ToolCalls, compose, tool, toolkit, tools};

#[doc(hidden)]
pub use haft_executor::macro_support;

// the crates that appear in signatures
pub use schemars::JsonSchema;
pub use {schemars, serde, serde_json};
