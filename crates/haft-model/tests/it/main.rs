//! The model trait, scripted and recorded models, clients, and the turn loop, through the public API.

#![allow(clippy::unwrap_used, reason = "what helps a test may stop it")]

mod cassette;
mod chat;
#[cfg(feature = "clients")]
mod client;
mod fallback;
mod model_info;
mod model_seam;
mod object;
#[cfg(feature = "clients")]
mod parts;
#[allow(dead_code, reason = "shared with the tests of the core")]
#[path = "../../../haft-executor/tests/it/run_spans/recorder.rs"]
mod recorder;
mod scripted;
#[path = "../../../haft-schema/tests/it/seeded.rs"]
mod seeded;
mod spawned_stream;
#[cfg(feature = "file-store")]
mod store;
mod stored_form;
mod trace;
mod turn_loop;
mod ui;
