//! Middleware: code around the handlers of tools, for logging, retries, limits, caches and authorisation.
//!
//! ```text
//! call -> look up -> permit -> check arguments -> approve -> wait for a slot
//!                                                                  |
//!   result <- cap output <- outermost [ ... innermost [ handler ] ... ]
//! ```
//!
//! A middleware receives a call after its arguments were checked and it was approved, and hands it on with
//! [`Next::run`], or does not. It may change the arguments, answer in place of the tool, run the call again, or stop
//! waiting for it. It may observe and replace what the handler emits, and provide services to it.
//!
//! No middleware can weaken what holds for a call. Changed arguments are checked again before they reach the handler. A
//! call that is subject to approval keeps the arguments that were approved. [`started`](haft_core::ToolFailure::started) is
//! stamped by [`Next::run`], so no claim of a middleware is believed.
//!
//! The last middleware applied is the outermost and runs first.

mod layer;
mod next;
mod request;

use haft_core::Outcome;

pub(crate) use self::layer::{Layer, Layers};
pub use self::next::Next;
pub use self::request::Request;
use crate::service::{Dependency, ServiceList};

/// Code around the handlers of tools.
///
/// A call is permitted, its arguments are checked and it is approved before a middleware receives it. Calls that fail
/// earlier never get there: to see every result use [`RunOptions::observe`](crate::RunOptions::observe). When a call is
/// cancelled or times out, its future is dropped where it waits, so code after `next.run(request).await` may not run. A
/// panic of the handler is no outcome: it unwinds every middleware, up to the executor.
///
/// A closure `Fn(Request, Next) -> impl Future<Output = Outcome>` is a middleware that needs no services.
///
/// A [`Permit`](crate::Permit) decides who may call a tool at all: it comes before approval and can hide tools. A
/// middleware like the one below is for rules that must hold wherever its toolkit is used.
///
/// ```
/// use haft_core::{FailureKind, Outcome, ToolFailure};
/// use haft_executor::{Middleware, Needs, Next, Provide, Request, Tool, Toolkit};
///
/// struct Admins(Vec<String>);
///
/// /// Rejects calls of anybody but administrators.
/// struct AdminsOnly;
///
/// impl Middleware for AdminsOnly {
///     type Services = (Needs<Admins>,);
///
///     async fn around(&self, request: Request, next: Next) -> Outcome {
///         let caller = request.cx().caller().map_or("", |caller| caller.as_str());
///         match request.cx().service::<Admins>() {
///             Ok(Admins(names)) if names.iter().any(|name| name == caller) => next.run(request).await,
///             _ => ToolFailure::new(FailureKind::PermissionDenied, "only administrators may do this").into(),
///         }
///     }
/// }
///
/// impl Provide<Admins> for Admins {
///     fn provide(&self) -> &Admins {
///         self
///     }
/// }
///
/// // The state must provide what the middleware needs; the logging one, applied last, runs first.
/// let kit: Toolkit<Admins> = Toolkit::new()
///     .with(Tool::new("reboot").handler(|(), _cx| async { "done" })?)?
///     .wrap(AdminsOnly)
///     .wrap(|request: Request, next: Next| async move {
///         println!("{} is called", request.tool().name());
///         next.run(request).await
///     });
/// let kit = kit.provide(Admins(vec!["ana".to_owned()]));
/// kit.ensure_runnable()?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub trait Middleware: Send + Sync + 'static {
    /// The services that the middleware needs. A tool or toolkit that it is wrapped around needs them too.
    type Services: ServiceList;

    /// Handles one call.
    fn around(&self, request: Request, next: Next) -> impl Future<Output = Outcome> + Send;

    /// Returns the services that this middleware provides to everything inside of it, by [`Request::with_service`].
    ///
    /// A tool that needs one of them does not need it from its toolkit once it is wrapped, so
    /// [`Toolkit::ensure_runnable`](crate::Toolkit::ensure_runnable) reports nothing missing. What the middleware declares
    /// it must provide with every call that it hands on, or that call fails before its handler begins.
    ///
    /// This is a method with a default, and no associated type, so that the many middlewares that provide nothing need not
    /// mention it. The price is that the compiler does not see it: a tool that is added to a toolkit
    /// [by its type](crate::Toolkit::tool) still asks the toolkit's state for all of its services. Wrap such a tool by
    /// itself, with [`Tool::wrap`](crate::Tool::wrap), and add it with [`Toolkit::with`](crate::Toolkit::with).
    ///
    /// ```
    /// use haft_executor::{Cx, Dependency, Middleware, Next, Request, Tool, Toolkit};
    /// use haft_core::{Outcome, ToolCall};
    ///
    /// struct Session(String);
    ///
    /// /// Opens a session for each call.
    /// struct Sessions;
    ///
    /// impl Middleware for Sessions {
    ///     type Services = ();
    ///
    ///     async fn around(&self, request: Request, next: Next) -> Outcome {
    ///         let session = Session(format!("session of {}", request.call_id()));
    ///         next.run(request.with_service(session)).await
    ///     }
    ///
    ///     fn provides(&self) -> Vec<Dependency> {
    ///         vec![Dependency::of::<Session>()]
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tool = Tool::new("session").handler(|(), cx: Cx| async move { cx.service::<Session>().unwrap().0.clone() })?;
    /// let tool = tool.add_dependency::<Session>()?.wrap(Sessions);
    /// let kit: Toolkit = Toolkit::new().with(tool)?;
    /// kit.ensure_runnable()?;
    ///
    /// let result = kit.run_call(&ToolCall::new("c1", "session", "")).await;
    /// assert_eq!(result.to_model_text(), "session of c1");
    /// # Ok(())
    /// # }
    /// ```
    fn provides(&self) -> Vec<Dependency> {
        Vec::new()
    }
}

impl<F, Fut> Middleware for F
where
    F: Fn(Request, Next) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Outcome> + Send,
{
    type Services = ();

    fn around(&self, request: Request, next: Next) -> impl Future<Output = Outcome> + Send {
        self(request, next)
    }
}
