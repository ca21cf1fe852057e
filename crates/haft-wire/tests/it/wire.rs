//! The wires: a folder each, and what holds on all of them.

mod anthropic_messages;
mod gemini_content;
mod mistake;
mod mutation;
mod openai_chat;
mod openai_responses;
mod recognition;
pub(crate) mod result;
mod saved_body;
