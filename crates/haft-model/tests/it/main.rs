//! The model seam, its stand-ins and the turn loop, seen from outside.

#![allow(clippy::unwrap_used, reason = "what helps a test may stop it")]

mod cassette;
mod model_seam;
mod scripted;
#[path = "../../../haft-core/tests/it/seeded.rs"]
mod seeded;
mod turn_loop;
