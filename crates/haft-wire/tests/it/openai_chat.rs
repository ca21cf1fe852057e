//! The wire of the Chat Completions API.

mod error;
mod request;
mod response;
mod result;
mod stream;
