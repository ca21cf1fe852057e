//! The public face of haft-workspace, one file per subject.

#![allow(clippy::unwrap_used, reason = "what helps a test may stop it")]

mod file;
mod mcp;
mod pins;
#[path = "../../../haft-registry/tests/it/recorder.rs"]
mod recorder;
#[cfg(unix)]
mod secret_scan;
#[path = "../../../haft-schema/tests/it/seeded.rs"]
mod seeded;
