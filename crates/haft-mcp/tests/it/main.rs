//! Tests against servers: a hostile one of ours, and real ones.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "what helps a test may stop it")]

mod discovery;
mod exchange;
mod hostile;
