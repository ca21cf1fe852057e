//! The model trait, scripted and recorded models, and the turn loop, through the public API.

#![allow(clippy::unwrap_used, reason = "what helps a test may stop it")]

mod cassette;
mod model_info;
mod model_seam;
mod object;
mod scripted;
#[path = "../../../haft-core/tests/it/seeded.rs"]
mod seeded;
mod spawned_stream;
mod stored_form;
mod trace;
mod turn_loop;
