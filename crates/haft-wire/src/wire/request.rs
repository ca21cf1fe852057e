//! The common parts of requests: what every wire's `request.rs` writes with.

pub(crate) mod answer;
pub(crate) mod body;
pub(crate) mod foreign_data;
pub(crate) mod result_history;
pub(crate) mod warning;
