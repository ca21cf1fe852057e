//! Tests of the built command.

mod cmd;
#[cfg(unix)]
mod pty;
