//! The AI SDK's UI message stream protocol, version 1, as `useChat` reads and posts it.
//!
//! The stream consists of chunks that build one message in the browser. A chunk about a call that the message does not
//! contain fails the whole stream there, so the writer keeps track of what it has written, and introduces a call first.
//! Posts are input from outside: of the messages in a post only those parts are read that are new to the server.

mod chunk;
mod message;
mod post;
mod writer;

pub use self::message::ai_sdk_messages;
pub use self::post::{ChatPost, PostError, PostTrigger};
pub(super) use self::writer::ChunkWriter;

/// The headers of a response with [`UiStream::ai_sdk`](super::UiStream::ai_sdk).
pub const AI_SDK_HEADERS: [(&str, &str); 4] = [
    ("content-type", "text/event-stream"),
    ("cache-control", "no-cache"),
    ("x-accel-buffering", "no"),
    ("x-vercel-ai-ui-message-stream", "v1"),
];
