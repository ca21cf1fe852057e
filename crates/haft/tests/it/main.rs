//! The macros and the public names, as a dependent crate uses them.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails should stop")]

#[cfg(feature = "clients")]
mod adapter;
mod facade;
mod failure_derive;
mod kinds;
mod messages;
mod methods;
#[cfg(feature = "clients")]
mod mistake;
mod peer_catalogue;
mod protection;
mod readme;
#[cfg(all(feature = "model", feature = "registry"))]
mod registry_loop;
mod remote_toolkit;
mod running;
mod service_rejection;
mod services_derive;
mod source;
mod source_000;
mod source_001;
#[cfg(feature = "wire")]
mod source_002;
mod source_003;
mod source_004;
mod tool_calls_derive;
mod tool_macro;
mod tool_options;
mod tool_steps;
mod toolkit_macro;
mod typed_calls;
mod typed_edges;
#[cfg(feature = "wire")]
mod wires;
