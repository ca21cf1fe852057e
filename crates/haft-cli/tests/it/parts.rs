//! The command against programs that others wrote.

mod chat;
mod mcp;
mod run;
mod serve;
