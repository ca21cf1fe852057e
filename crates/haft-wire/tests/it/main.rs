//! The public face of haft-wire, one file per subject.

#![allow(clippy::unwrap_used, reason = "what helps a test may stop it")]

mod catalogue;
mod dialect;
mod explanation;
mod parts;
mod profile;
#[path = "../../../haft-schema/tests/it/seeded.rs"]
mod seeded;
mod wire;
