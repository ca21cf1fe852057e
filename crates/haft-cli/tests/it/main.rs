//! Tests of the built command.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what helps a test may stop it")]

#[cfg(unix)]
mod chat;
mod cmd;
#[cfg(unix)]
mod completion;
#[cfg(unix)]
mod crash;
mod guide;
#[cfg(unix)]
mod install;
#[cfg(unix)]
mod mcp;
mod media;
#[cfg(all(unix, feature = "parts"))]
mod parts;
mod path_rule;
mod pending;
mod pins;
#[cfg(unix)]
mod pty;
mod run;
mod schema;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod signal;
#[cfg(unix)]
mod terminal;
mod untrusted;
mod workspace;
