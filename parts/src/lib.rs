//! Programs and data from package registries that tests judge wires and requests with.
//!
//! - [`Judge`]: the official SDKs of the providers, in one Python process. Their types decide about our requests, and
//!   their parsers and stream accumulators read the same responses as ours.
//! - [`Aimock`]: a fake provider of all wires that answers from fixtures and keeps the requests. It validates little,
//!   so the judge reads them.
//! - [`Llama`]: a small real model behind llama.cpp's own server, which speaks three of the wires.
//! - [`Httpbin`]: a server that answers with the requests it receives.
//! - [`OAuth2Server`]: a server of OAuth 2 tokens.
//! - [`Prism`]: a server that rejects requests that an OpenAPI document does not allow.
//! - [`UseChat`]: the chat of the AI SDK, which reads a stream as a page with `useChat` does.
//! - [`Browser`]: Chromium without a window.
//! - [`corpus`]: real tools, and calls of them; real OpenAPI documents.
//!
//! `cargo xtask setup` installs all of them under `target/parts`; a test that needs one is in a module named `parts`
//! and fails with that advice if the part is missing. Each program ends with the value that started it, and with the
//! test's process however that ends, because it reads standard input and stops at its end.
//!
//! None of this depends on a crate of ours: what judges the product must not be part of it.

// Everything here runs in tests, where a broken part is a failed test.
#![allow(clippy::missing_panics_doc, clippy::unwrap_used, clippy::expect_used, reason = "only tests use this package")]

mod aimock;
mod browser;
pub mod corpus;
mod folder;
mod http;
mod httpbin;
mod judge;
mod llama;
mod oauth2;
mod prism;
mod program;
mod use_chat;

pub use self::aimock::{Aimock, SentRequest};
pub use self::browser::Browser;
pub use self::folder::folder;
pub use self::http::{Answer, Exchange, begin, get, post, request};
pub use self::httpbin::Httpbin;
pub use self::judge::{Judge, Parsed, RequestFault, Sample, WireName};
pub use self::llama::Llama;
pub use self::oauth2::OAuth2Server;
pub use self::prism::{Prism, PrismAnswer};
pub use self::use_chat::{ChatView, UseChat};
