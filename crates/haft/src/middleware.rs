//! Middleware around handlers: tracing, retries, timeouts, rate limits, caches, and your own.
//!
//! ```text
//!  ToolCall ─► look up ─► permit ─► decode ─► approve ─► slot
//!                                                         │
//!              ╔══════════════ outermost ═════════════════▼══════╗
//!              ║   ╔══════════ inner ═══════════════╗            ║
//!  ToolResult ◄╫───╫─ Outcome ◄─ handler ◄─ Request ◄╫── Next::run║
//!              ║   ╚════════════════════════════════╝            ║
//!              ╚═════════════════════════════════════════════════╝
//! ```
//!
//! A closure is a middleware; a type that implements [`Middleware`] can also require services. It gets the call after its
//! arguments were checked and it was approved. It may change the input, which is checked again, answer in place of the
//! tool, run the call again or stop waiting. It can't run a call with arguments that were not approved, and its claim
//! whether the handler started is not believed: the executor knows.
//!
//! A middleware may observe and replace the values that a handler emits ([`Request::map_emissions`]) and provide services to
//! it ([`Request::with_service`], declared by [`Middleware::provides`]). A tool whose service comes from a middleware is
//! wrapped before it is added to its toolkit: `Toolkit::new().with(Whoami::tool()?.wrap(tenant))?`.
//!
//! ```
//! use haft::prelude::*;
//!
//! # let ping = Tool::new("ping").handler(|(), _cx| async { "pong" }).unwrap();
//! let kit: Toolkit = Toolkit::from_iter([ping]).wrap(|request: Request, next: Next| async move {
//!     println!("{} runs", request.tool().name());
//!     next.run(request).await
//! });
//! # let call = ToolCall::new("c1", "ping", "{}");
//! # #[tokio::main(flavor = "current_thread")] async fn main_(kit: Toolkit, call: ToolCall) -> ToolResult { kit.run_call(&call).await }
//! # assert!(main_(kit, call).is_ok());
//! ```

#[doc(inline)]
pub use haft_executor::{Backoff, Middleware, Next, Request};
#[cfg(feature = "middleware")]
#[doc(inline)]
pub use haft_middleware::{Cache, RateLimit, Retry, Timeout, Trace};
// for writing middleware
#[doc(inline)]
pub use haft_executor::{Ambient, AmbientScope, CarriedAmbient, ServicesIdentity, ToolIdentity};

/// Guards against panics of user code that your middleware runs.
pub mod isolation {
    #[doc(inline)]
    pub use haft_executor::IsolatedSpan;
    #[doc(inline)]
    pub use haft_schema::isolation::{Isolated, Panicked, drop_isolated, isolated};
}
