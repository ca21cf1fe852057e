//! What stands around every run of a tool: logging, retries, limits, caches, authorisation.
//!
//! A middleware is given the call after its arguments were checked and it was approved, and hands it on with
//! [`Next::run`], or doesn't. It may change the input, answer in the tool's place, run the call again, or give up
//! waiting. Whatever it changes is checked again: no middleware can bring arguments to a handler that the tool's schema
//! refuses. It belongs to the tools it was wrapped around and sees nothing of calls that never reach them: unknown
//! names, bad arguments, denials.
//!
//! The last one applied is the outermost and runs first.

mod cache;
mod rate_limit;
mod retry;
#[cfg(test)]
mod tests;
mod timeout;
mod trace;
mod wait;

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::Instant;

pub use self::cache::Cache;
pub(crate) use self::cache::Nesting;
pub use self::rate_limit::RateLimit;
pub use self::retry::{Backoff, Retry};
pub use self::timeout::Timeout;
pub use self::trace::Trace;
use crate::arguments::Arguments;
use crate::call::CallId;
use crate::canonical::canonical_text;
use crate::cx::Cx;
use crate::executor::{Isolated, run_to_end};
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::handler::{
    BoxFuture, Deferred, OwnedRunning, Prepared, PreparedMeta, StartFlag, broken, encode_success, invalid_input,
};
use crate::json_text::JsonText;
use crate::result::Outcome;
use crate::schema::Decoded;
use crate::service::ServiceList;
use crate::tool::{MissingHandler, Tool};

/// What the model is told when a middleware changed what was approved.
const CHANGED: &str = "the arguments were changed after the call was approved";

/// Something around the runs of tools.
///
/// A call is permitted, its arguments are read and it is approved before a middleware sees it, so what fails before that
/// passes it by: to see every result use [`RunOptions::observe`](crate::RunOptions::observe). When a call is called off or
/// takes too long its future is dropped where it waits: what comes after `next.run(request).await` may not happen. A panic
/// of the handler is no outcome either: it goes past every middleware, unwinding them, to whoever runs the call.
///
/// A closure `Fn(Request, Next) -> impl Future<Output = Outcome>` is one that needs no services.
///
/// Middlewares stand around the handler, so people are asked for approval before any of them runs. Who may call a tool at
/// all is better said by a [`Permit`](crate::Permit), which comes first and can hide tools; a middleware like the one below
/// is for what must hold wherever its toolkit is used.
///
/// ```
/// use haft_core::{FailureKind, Middleware, Needs, Next, Outcome, Provide, Request, Tool, ToolFailure, Toolkit};
///
/// struct Admins(Vec<String>);
///
/// /// Lets only administrators through.
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
///     .with(Tool::new("reboot").run(|(), _cx| async { "done" })?)?
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
    /// The services it asks for. A toolkit that it is wrapped around needs them too.
    type Services: ServiceList;

    /// Handles one call.
    fn around(&self, request: Request, next: Next) -> impl Future<Output = Outcome> + Send;
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

/// One call on its way to the handler.
pub struct Request {
    cx: Cx,
    tool: Tool,
    arguments: Arc<str>,
    /// The arguments as a tree, once somebody asked; or why there is none.
    tree: OnceLock<Result<Value, Box<ToolFailure>>>,
    /// The arguments as the handler's type, until they are used or changed. Locked by nobody: the lock only lets a
    /// middleware keep a reference to the request while it waits.
    deferred: Mutex<Option<Isolated<Deferred>>>,
    /// The arguments as they were permitted and approved, once they were changed.
    original: Option<Arc<str>>,
    start_flag: Arc<StartFlag>,
}

/// The rest of the way: the inner middlewares and the handler. It can be run again, for another attempt.
#[derive(Clone)]
pub struct Next {
    layers: Layers,
    left: usize,
}

/// The middlewares around one tool, the outermost last. Shared by clones.
#[derive(Clone, Default)]
pub(crate) struct Layers(Option<Arc<[Arc<dyn Layer>]>>);

/// A middleware with its type erased.
trait Layer: Send + Sync {
    fn run(self: Arc<Self>, request: Request, next: Next) -> BoxFuture<Outcome>;
}

impl<M: Middleware> Layer for Isolated<M> {
    fn run(self: Arc<Self>, request: Request, next: Next) -> BoxFuture<Outcome> {
        Box::pin(async move { self.around(request, next).await })
    }
}

impl Request {
    /// What is known about the call.
    #[must_use]
    pub fn cx(&self) -> &Cx {
        &self.cx
    }

    /// The id of the call.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        self.cx.call_id()
    }

    /// The tool.
    #[must_use]
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Which attempt this is, counted from one.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.cx.attempt()
    }

    /// When the call must be done, if there is such a time.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.cx.deadline()
    }

    /// The arguments as the model wrote them, or as a middleware changed them.
    #[must_use]
    pub fn raw_arguments(&self) -> &str {
        &self.arguments
    }

    /// Returns the arguments as a tree. They are read from the text when first asked for.
    ///
    /// They are exactly what the handler would be given. Where there is no such tree, as a tree holds no integers beyond
    /// 64 bits or a middleware put in arguments that the tool rejects, this is an error, and the call does not reach its
    /// handler: whoever asked has not seen what it would run with. [`decode_arguments`](Self::decode_arguments) reads such
    /// integers, and [`raw_arguments`](Self::raw_arguments) is always there.
    ///
    /// ```
    /// use haft_core::{FailureKind, Next, Request, ToolFailure};
    ///
    /// let outside_only = |request: Request, next: Next| async move {
    ///     match request.arguments() {
    ///         Ok(arguments) if arguments["path"].as_str().is_some_and(|path| path.starts_with("/etc")) => {
    ///             ToolFailure::new(FailureKind::PermissionDenied, "not in there").into()
    ///         }
    ///         Ok(_) => next.run(request).await,
    ///         Err(failure) => failure.into(),
    ///     }
    /// };
    /// # let tool = haft_core::Tool::new("t").run(|(), _cx| async {})?.wrap(outside_only);
    /// # Ok::<_, haft_core::DefinitionError>(())
    /// ```
    pub fn arguments(&self) -> Result<&Value, ToolFailure> {
        let tree = self.tree.get_or_init(|| self.read_tree());
        tree.as_ref().map_err(|failure| ToolFailure::clone(failure))
    }

    /// Reads the arguments into a type, exactly: an integer beyond 64 bits must be read as one of 128, or ignored.
    pub fn decode_arguments<P: DeserializeOwned>(&self) -> Result<P, ToolFailure> {
        let decoded = self.tool.parameters().decode_exactly(&self.arguments, self.cx.decode_options());
        decoded.map(|decoded| decoded.value).map_err(invalid_input)
    }

    /// The arguments as a tree, for those who let the call go on without.
    fn tree_if_exact(&self) -> Option<&Value> {
        if self.tree.get().is_none() {
            // That there is none is kept only for those who may not go on without.
            let tree = self.read_tree().ok()?;
            return self.tree.get_or_init(|| Ok(tree)).as_ref().ok();
        }
        self.tree.get()?.as_ref().ok()
    }

    fn read_tree(&self) -> Result<Value, Box<ToolFailure>> {
        let read = Arguments::tree(&self.tool, &self.arguments, self.cx.decode_options());
        read.map_err(|issues| Box::new(invalid_input(issues)))
    }

    /// The same call with other arguments. They are checked like any others before the handler sees them. A call that is
    /// subject to approval keeps its arguments: with others it is denied, as nobody agreed to those.
    #[must_use]
    pub fn with_arguments(mut self, arguments: &Value) -> Self {
        let before = std::mem::replace(&mut self.arguments, JsonText::from(arguments).as_str().into());
        self.original.get_or_insert(before);
        self.tree = OnceLock::new();
        self.deferred = Mutex::default();
        self
    }

    /// The same call with a value attached for whoever comes later: inner middlewares and the handler.
    #[must_use]
    pub fn with_extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.cx = self.cx.with_extension(value);
        self
    }

    /// The same call with a time by which it must be done; it only ever becomes earlier. It is told to the handler, and
    /// whoever sets it enforces it.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Instant) -> Self {
        let earlier = self.deadline().map_or(deadline, |known| known.min(deadline));
        self.cx = self.cx.with_deadline(earlier);
        self
    }

    /// The next attempt at the same call: to be made before this one is handed on. Its arguments are read anew.
    #[must_use]
    pub fn again(&self) -> Self {
        Self {
            cx: self.cx.clone().with_attempt(self.attempt().saturating_add(1)),
            tool: self.tool.clone(),
            arguments: Arc::clone(&self.arguments),
            tree: self.tree.clone(),
            deferred: Mutex::default(),
            original: self.original.clone(),
            start_flag: Arc::clone(&self.start_flag),
        }
    }

    /// Whether somebody decided about this call by arguments that are no longer the same.
    fn is_unapproved(&self) -> bool {
        let Some(original) = self.original.as_ref().filter(|_| self.start_flag.is_bound()) else { return false };
        let canonical = |arguments: &str| {
            let read = Arguments::tree(&self.tool, arguments, self.cx.decode_options());
            read.ok().map(|tree| canonical_text(&tree))
        };
        match (canonical(original), canonical(&self.arguments)) {
            (Some(before), Some(now)) => before != now,
            // What has no tree is the same only if it is written the same.
            (None, _) | (_, None) => *original != self.arguments,
        }
    }

    /// An answer in the tool's place, encoded by its success schema and checked against it.
    #[must_use]
    pub fn answer<T: Serialize + 'static>(&self, value: &T) -> Outcome {
        encode_success(&self.tool, value)
    }
}

impl Next {
    /// Hands the call on and gives what became of it. Nothing happens until the future is polled.
    pub fn run(&self, request: Request) -> impl Future<Output = Outcome> + Send + 'static + use<> {
        // The future of whoever hands the call on is another's: both may panic when they are dropped together.
        Isolated::new(self.boxed(request))
    }

    fn boxed(&self, request: Request) -> BoxFuture<Outcome> {
        let inner = self.left.checked_sub(1).and_then(|left| Some((left, self.layers.0.as_ref()?.get(left)?)));
        match inner {
            Some((left, layer)) => Arc::clone(layer).run(request, Self { layers: self.layers.clone(), left }),
            None => Box::pin(reach_handler(request)),
        }
    }
}

impl Layers {
    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The same layers inside of one more.
    pub(crate) fn around<M: Middleware>(&self, middleware: Arc<Isolated<M>>) -> Self {
        let outermost = middleware as Arc<dyn Layer>;
        Self(Some(self.0.iter().flat_map(|layers| layers.iter().cloned()).chain([outermost]).collect()))
    }

    /// The way through all layers to the handler, for arguments that were read.
    pub(crate) fn prepare(&self, tool: &Tool, arguments: &str, cx: Cx, read: Decoded<Deferred>) -> Prepared {
        let start_flag = Arc::<StartFlag>::default();
        let request = Request {
            cx,
            tool: tool.clone(),
            arguments: arguments.into(),
            tree: OnceLock::new(),
            deferred: Mutex::new(Some(Isolated::new(read.value))),
            original: None,
            start_flag: Arc::clone(&start_flag),
        };
        let all = Next { layers: self.clone(), left: self.0.as_ref().map_or(0, |layers| layers.len()) };
        let meta = PreparedMeta { repairs: read.repairs, start_flag: Some(start_flag) };
        Prepared { running: Box::pin(OwnedRunning(all.boxed(request))), meta: Some(Box::new(meta)) }
    }
}

/// The innermost step: the handler itself.
async fn reach_handler(request: Request) -> Outcome {
    if request.is_unapproved() {
        return ToolFailure::new(FailureKind::Denied, CHANGED).into();
    }
    let Request { cx, tool, arguments, tree, deferred, start_flag, .. } = request;
    if let Some(Err(unseen)) = tree.into_inner() {
        return Outcome::Failed(unseen);
    }
    let deferred = match deferred.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(deferred) => deferred.into_inner(),
        None => {
            let Some(handler) = tool.handler() else {
                return broken(MissingHandler { tool: tool.name().to_owned() }).into();
            };
            match handler.defer(&tool, &arguments, &cx) {
                Ok(read) => read.value,
                Err(failure) => return Outcome::Failed(failure),
            }
        }
    };
    let running = deferred(cx, start_flag);
    run_to_end(running, tool).await
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("tool", &self.tool.name())
            .field("call_id", self.call_id())
            .field("attempt", &self.attempt())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("middlewares_left", &self.left).finish_non_exhaustive()
    }
}
