//! The public face of haft-wire, one file per subject.

#![allow(clippy::unwrap_used, reason = "what helps a test may stop it")]

mod anthropic_messages;
mod catalogue;
mod checker;
mod edge;
mod explanation;
mod gemini_content;
mod generated;
mod grammar;
mod instance;
mod lint;
mod loss;
mod mistake;
mod mutation;
mod openai_chat;
mod openai_responses;
mod parts;
mod profile;
mod recognition;
mod result;
mod round_trip;
mod rule;
mod saved_body;
#[path = "../../../haft-core/tests/it/seeded.rs"]
mod seeded;
mod typical;
