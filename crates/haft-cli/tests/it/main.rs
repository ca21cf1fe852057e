//! Tests of the built command.

mod cmd;
mod guide;
#[cfg(unix)]
mod pty;
