//! The wire of the Chat Completions API.

mod error;
mod lenient;
mod quirk;
mod request;
mod response;
mod result;
mod stream;
