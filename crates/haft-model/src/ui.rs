//! The events of a loop as a stream for a browser.
//!
//! ```text
//! LoopRun ─> LoopEvent ─> View ─> UiEvent ─┬─> UiStream::events: server-sent events of our own
//!                                          └─> UiStream::ai_sdk: the stream that `useChat` reads
//! LoopState ─> history ─> UiEvent ─────────┬─> as they are
//!                                          └─> ai_sdk_messages
//! ```
//!
//! A [`LoopEvent`](crate::LoopEvent) is for the server: it contains the state, whole turns, error messages of providers
//! and the names of approvers. A [`UiEvent`] contains what a user may see, and is all that a stream of this module
//! writes: text, reasoning, calls with their arguments and outputs *as the model reads them*, approval requests, and the
//! end. What is left out can't leak, so a field that is added to an event of the loop must not appear here by itself.
//!
//! Nothing here depends on a web framework. A [`UiStream`] is a stream of text, with a list of headers:
//!
//! ```
//! use haft_core::{Item, TurnRequest};
//! use haft_executor::Toolkit;
//! use haft_model::ui::UiStream;
//! use haft_model::{ScriptedModel, TurnLoop};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let agent = TurnLoop::new(ScriptedModel::new(["Hello!"]), Toolkit::new());
//! let run = agent.start(TurnRequest::new("any", vec![Item::user("Hi.")]));
//! let mut stream = UiStream::events(run);
//! let mut body = String::new();
//! while let Some(text) = stream.next().await {
//!     body.push_str(&text);
//! }
//! assert!(body.starts_with("event: v1.started\ndata: {\"v\":1,\"type\":\"started\"}\n\n"));
//! assert!(body.contains(r#"{"v":1,"type":"ended","end":"stopped"}"#));
//! # }
//! ```

mod ai_sdk;
mod event;
mod history;
mod shown;
mod stream;
mod view;

pub use self::ai_sdk::{AI_SDK_HEADERS, ChatPost, PostError, PostTrigger, ai_sdk_messages};
pub use self::event::{UiEnd, UiEvent, UiFile};
pub use self::history::history;
pub use self::stream::{EVENT_HEADERS, UiStream};
pub(crate) use self::view::View;
