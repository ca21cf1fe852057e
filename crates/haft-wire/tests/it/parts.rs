//! Tests that need parts of `cargo xtask setup`.

mod bfcl;
mod grammar;
mod guide;
mod mcp_tools;
mod survey;
mod validity;
mod wire;
