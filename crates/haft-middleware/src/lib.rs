//! Ready-made middlewares for haft tools: logging, caching, retries, rate limits and timeouts.
//!
//! ```text
//! call -> look up -> permit -> check arguments -> approve -> wait for a slot
//!                                                                  |
//!              +-- Trace: logs the call ---------------------------v-----+
//!              |  +-- Cache: answers as an equal call was answered ----+ |
//!              |  |  +-- Retry: runs a failed call again ------------+ | |
//!              |  |  |  +-- RateLimit: waits for a turn -----------+ | | |
//!              |  |  |  |  +-- Timeout: stops waiting -----------+ | | | |
//!   result <-- |  |  |  |  |               handler              | | | | |
//!              +--+--+--+--+------------------------------------+-+-+-+-+
//! ```
//!
//! A middleware runs after a call's arguments were checked and it was approved. The last one you apply to a tool or a
//! toolkit is the outermost and runs first, so the order above is written from the inside to the outside:
//!
//! ```
//! use std::time::Duration;
//!
//! use haft_executor::{Tool, Toolkit};
//! use haft_core::ToolCall;
//! use haft_middleware::{Cache, RateLimit, Retry, Timeout, Trace};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let kit: Toolkit = Toolkit::new()
//!     .with(Tool::new("greet").handler(|name: String, _cx| async move { format!("Hello, {name}!") })?)?
//!     .wrap(Timeout::new(Duration::from_secs(10)))
//!     .wrap(RateLimit::new(100, Duration::from_secs(60)))
//!     .wrap(Retry::new(3))
//!     .wrap(Cache::new(Duration::from_secs(300)))
//!     .wrap(Trace::new().with_content());
//!
//! let result = kit.run_call(&ToolCall::new("c1", "greet", r#""Ada""#)).await;
//! assert_eq!(result.to_model_text(), "Hello, Ada!");
//! # Ok(())
//! # }
//! ```
//!
//! In this order every call is logged, a cached answer costs nothing else, each attempt takes its own turn, and only
//! the work itself is timed. If the limit rejects a call, you get the rejection: it is not retried. If you swap
//! `RateLimit` and `Retry`, all attempts at a call take one turn, so the tool may run more often than the limit says. A
//! second [`Trace`], inside the [`Retry`], logs every attempt.
//!
//! # Writing your own
//!
//! Everything here uses only `haft-core`'s public API, so you can write any of it yourself. This one runs a call once
//! more if its handler had not begun:
//!
//! ```
//! use haft_executor::{Middleware, Next, Request};
//! use haft_core::Outcome;
//!
//! struct TryTwice;
//!
//! impl Middleware for TryTwice {
//!     type Services = ();
//!
//!     async fn around(&self, request: Request, next: Next) -> Outcome {
//!         let again = request.again();
//!         match next.run(request).await {
//!             // No inner middleware can misreport this: `Next::run` stamps it.
//!             Outcome::Failed(failure) if !failure.started => next.run(again).await,
//!             outcome => outcome,
//!         }
//!     }
//! }
//! # let tool = haft_executor::Tool::new("t").handler(|(), _cx| async {})?.wrap(TryTwice);
//! # Ok::<_, haft_executor::DefinitionError>(())
//! ```
//!
//! - [`Request`](haft_executor::Request) reads and changes the call: its arguments, deadline, extensions, the services that
//!   the handler finds, and the values that it emits.
//! - [`Cx::run_until_cancelled`](haft_executor::Cx::run_until_cancelled) waits without holding up a cancelled call.
//! - [`Ambient`](haft_executor::Ambient) recognises calls that are made from inside a call.
//! - [`isolation`](haft_schema::isolation) guards against panics in further user code.

mod cache;
mod rate_limit;
mod retry;
#[cfg(test)]
mod tests;
mod timeout;
mod trace;

pub use haft_executor::Backoff;

pub use self::cache::Cache;
pub use self::rate_limit::RateLimit;
pub use self::retry::Retry;
pub use self::timeout::Timeout;
pub use self::trace::Trace;
