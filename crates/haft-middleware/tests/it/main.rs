//! The public face of haft-middleware, one file per subject.

#![allow(clippy::unwrap_used, reason = "what helps a test may stop it")]

mod cache;
mod own;
mod subscriber;
mod trace;
