//! The public API of haft-core, one file per subject.

#![allow(clippy::unwrap_used, reason = "what helps a test may stop it")]

mod conversation_values;
mod history;
mod history_property;
#[path = "../../../haft-schema/tests/it/seeded.rs"]
mod seeded;
