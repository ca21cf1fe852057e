//! The modules that every wire's `response.rs`, `stream.rs` and `error.rs` share.

pub(crate) mod depth;
pub(crate) mod error_body;
pub(crate) mod recognition;
pub(crate) mod saved_body;
pub(crate) mod stated_wait;
pub(crate) mod text;
pub(crate) mod turn_builder;
