//! Tests of the built command.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what helps a test may stop it")]

#[cfg(unix)]
mod chat;
mod cmd;
mod guide;
#[cfg(unix)]
mod parts;
#[cfg(unix)]
mod pty;
mod run;
#[cfg(unix)]
mod terminal;
mod workspace;
