//! The modules that every wire's `request.rs` shares.

pub(crate) mod answer;
pub(crate) mod body;
pub(crate) mod foreign_data;
pub(crate) mod format_instruction;
pub(crate) mod result_history;
pub(crate) mod warning;
