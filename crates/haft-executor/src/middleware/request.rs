//! One call on its path to the handler.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use haft_core::{CallId, FailureKind, Outcome, ToolCall, ToolFailure};
use haft_schema::isolation::Isolated;
use haft_schema::{JsonText, canonical_text};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::Instant;

use crate::cx::Cx;
use crate::cx::emit::Emitted;
use crate::executor::CallHandle;
use crate::handler::{BoxRunning, Deferred, StartFlag, broken, encode_success, invalid_input};
use crate::tool::arguments::Arguments;
use crate::tool::{MissingHandler, Tool};

/// The message of a call whose arguments a middleware changed after they were approved.
const CHANGED: &str = "the arguments were changed after the call was approved or permitted";

/// One call on its path to the handler.
pub struct Request {
    pub(super) cx: Cx,
    pub(super) tool: Tool,
    pub(super) arguments: Arc<str>,
    /// The arguments as a tree, or why there is none; empty until a middleware reads it.
    pub(super) tree: OnceLock<Result<Value, Box<ToolFailure>>>,
    /// The arguments as the handler's type, until they are used or changed. The mutex is never locked: it only makes
    /// the request `Sync`, so that a middleware may hold a reference to it across an await.
    pub(super) deferred: Mutex<Option<Isolated<Deferred>>>,
    /// The arguments that were permitted and approved, once they were changed.
    pub(super) original: Option<Arc<str>>,
    pub(super) start_flag: Arc<StartFlag>,
}

/// Reading a request.
impl Request {
    /// Returns the context of the call.
    #[must_use]
    pub fn cx(&self) -> &Cx {
        &self.cx
    }

    /// Returns the id of the call.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        self.cx.call_id()
    }

    /// Returns the tool.
    #[must_use]
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Returns the call as it was requested, if its handler [forwards](Tool::with_forward) it and so sees all of it:
    /// its metadata and the data of its provider. The handlers of other tools see neither. The arguments that are
    /// forwarded are those of this request.
    #[must_use]
    pub fn forwarded_call(&self) -> Option<&ToolCall> {
        self.tool.handler().filter(|handler| handler.needs_run())?;
        self.cx.call_handle().map(CallHandle::call)
    }

    /// Returns the number of this attempt, counted from one.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.cx.attempt()
    }

    /// Returns the time by which the call must be done, if there is one.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.cx.deadline()
    }

    /// Returns the argument text, as the model or a person wrote it, as the tool [refined](crate::ToolBuilder::refine)
    /// it, or as a middleware changed it, with the [canonical spelling](Tool::canonical_argument) of what it names.
    #[must_use]
    pub fn raw_arguments(&self) -> &str {
        &self.arguments
    }

    /// Returns the arguments as a tree, for a middleware that decides about the call by them. They are parsed when this
    /// is first called.
    ///
    /// They are exactly what the handler would receive. There may be no such tree: a tree holds no integers beyond 64
    /// bits, and a middleware may have put in arguments that the tool rejects. That is an error, and from then on the
    /// call cannot reach its handler, as it would run with arguments other than those that were examined.
    /// [`peek_arguments`](Self::peek_arguments) lets it go on, [`decode_arguments`](Self::decode_arguments) reads
    /// integers of 128 bits, and [`raw_arguments`](Self::raw_arguments) is always there.
    ///
    /// ```
    /// use haft_core::{FailureKind, ToolFailure};
    /// use haft_executor::{Next, Request};
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
    /// # let tool = haft_executor::Tool::new("t").handler(|(), _cx| async {})?.wrap(outside_only);
    /// # Ok::<_, haft_executor::DefinitionError>(())
    /// ```
    pub fn arguments(&self) -> Result<&Value, ToolFailure> {
        let tree = self.tree.get_or_init(|| self.read_tree());
        tree.as_ref().map_err(|failure| ToolFailure::clone(failure))
    }

    /// Returns the arguments as a tree, for a middleware that only looks at them; `None` where no tree holds exactly
    /// what the handler would receive. Unlike [`arguments`](Self::arguments) it never stops the call.
    ///
    /// Use it to log, to count or to compare. A middleware that rejects calls by their arguments must use `arguments`,
    /// or treat `None` as a reason to reject.
    #[must_use]
    pub fn peek_arguments(&self) -> Option<&Value> {
        if self.tree.get().is_none() {
            // An error is not kept, as keeping it would stop the call.
            let tree = self.read_tree().ok()?;
            return self.tree.get_or_init(|| Ok(tree)).as_ref().ok();
        }
        self.tree.get()?.as_ref().ok()
    }

    /// Returns one text for all arguments that are equal by value: the order of keys, white space and `1.0` for `1`
    /// make no difference. `None` where [`peek_arguments`](Self::peek_arguments) is: such arguments are equal to no
    /// others.
    #[must_use]
    pub fn canonical_arguments(&self) -> Option<String> {
        self.peek_arguments().map(canonical_text)
    }

    /// Reads the arguments into a type, exactly: an integer beyond 64 bits must be read as one of 128, or ignored.
    pub fn decode_arguments<P: DeserializeOwned>(&self) -> Result<P, ToolFailure> {
        let decoded = self.tool.parameters().decode_exactly(&self.arguments, self.cx.decode_options());
        decoded.map(|decoded| decoded.value).map_err(invalid_input)
    }

    /// Encodes an answer in place of the tool, by its success schema. A value that the schema rejects is a failure.
    #[must_use]
    pub fn answer<T: Serialize + 'static>(&self, value: &T) -> Outcome {
        encode_success(&self.tool, value)
    }

    fn read_tree(&self) -> Result<Value, Box<ToolFailure>> {
        let read = Arguments::tree(&self.tool, &self.arguments, self.cx.decode_options());
        read.map_err(|issues| Box::new(invalid_input(issues)))
    }

    /// Returns the handler, prepared with the arguments of this request. Arguments that are no longer those that were
    /// approved, or that a middleware failed to read, do not reach it.
    pub(crate) fn into_handler(self) -> Result<(BoxRunning, Tool), Outcome> {
        if self.is_unapproved() {
            return Err(ToolFailure::new(FailureKind::Denied, CHANGED).into());
        }
        let Self { cx, tool, arguments, tree, deferred, start_flag, .. } = self;
        if let Some(Err(unseen)) = tree.into_inner() {
            return Err(Outcome::Failed(unseen));
        }
        let deferred = match deferred.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(deferred) => deferred.into_inner(),
            None => {
                let handler = tool.handler();
                let handler = handler.ok_or_else(|| broken(MissingHandler { tool: tool.name().to_owned() }))?;
                handler.defer(&tool, &arguments, &cx).map_err(Outcome::Failed)?.value
            }
        };
        Ok((deferred(cx, start_flag), tool))
    }

    /// Reports whether the call was permitted or approved by arguments that are no longer the same.
    fn is_unapproved(&self) -> bool {
        let Some(original) = self.original.as_ref().filter(|_| self.start_flag.is_bound()) else { return false };
        let canonical = |arguments: &str| {
            let read = Arguments::tree(&self.tool, arguments, self.cx.decode_options());
            read.ok().map(|tree| canonical_text(&tree))
        };
        match (canonical(original), canonical(&self.arguments)) {
            (Some(before), Some(now)) => before != now,
            // Arguments without a tree are the same only if they are written the same.
            (None, _) | (_, None) => *original != self.arguments,
        }
    }
}

/// Changing a request, for everything inside of the middleware.
impl Request {
    /// Replaces the arguments. They are checked like any others before they reach the handler, and what they name has
    /// its [canonical spelling](Tool::canonical_argument) from here on. A call that is subject to approval, or whose
    /// arguments a permit has checked, keeps its arguments: with others it is denied.
    #[must_use]
    pub fn with_arguments(mut self, arguments: &Value) -> Self {
        let written = JsonText::from(arguments);
        let (text, tree) = match self.tool.canonical_arguments(written.as_str(), self.cx.decode_options()) {
            Ok(Some(canonical)) => (canonical.text, OnceLock::new()),
            Ok(None) => (written, OnceLock::new()),
            // Arguments without a tree do not reach the handler.
            Err(issues) => (written, OnceLock::from(Err(Box::new(invalid_input(issues))))),
        };
        let before = std::mem::replace(&mut self.arguments, text.as_str().into());
        self.original.get_or_insert(before);
        self.tree = tree;
        self.deferred = Mutex::default();
        self
    }

    /// Attaches a value for inner middlewares and the handler, one per type. They find it with [`Cx::extension`].
    #[must_use]
    pub fn with_extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.cx = self.cx.with_extension(value);
        self
    }

    /// Provides a service to inner middlewares and the handler, in front of those of the run and the toolkit. They find
    /// it with [`Cx::service`].
    ///
    /// A tool that declares that it needs the service runs only if its toolkit provides it, too, or if this middleware
    /// [declares](crate::Middleware::provides) that it does.
    #[must_use]
    pub fn with_service<T: Send + Sync + 'static>(self, service: T) -> Self {
        self.with_shared_service(Arc::new(service))
    }

    /// Provides a shared service, which may be a trait object. See [`with_service`](Self::with_service).
    #[must_use]
    pub fn with_shared_service<T: ?Sized + Send + Sync + 'static>(mut self, service: Arc<T>) -> Self {
        self.cx = self.cx.with_service(service);
        self
    }

    /// Passes every value that the handler emits, progress and preliminary results, through a function, which may
    /// observe it, replace it, or drop it by returning `None`.
    ///
    /// Functions of several middlewares are applied one after the other, the innermost first. They are called whether
    /// or not the emitted values have a reader. A preliminary result that the tool's success schema rejects is dropped,
    /// and so is a value over which a function panics; neither harms the call. A function runs where the handler emits,
    /// so it must not block.
    ///
    /// ```
    /// use haft_executor::{Cx, Emitted, Next, Request, Tool, Toolkit};
    /// use haft_core::{ToolCall, ToolEvent};
    /// use haft_schema::JsonText;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let copy = Tool::new("copy").handler(|(), cx: Cx| async move {
    ///     cx.emit("copied /home/ana/a.txt").await.ok();
    ///     cx.preliminary(1).await.ok();
    ///     2
    /// })?;
    /// let quiet = |request: Request, next: Next| {
    ///     next.run(request.map_emissions(|emitted| match emitted {
    ///         Emitted::Progress(_) => Some(Emitted::Progress(JsonText::null())),
    ///         _ => None,
    ///     }))
    /// };
    /// let kit: Toolkit = Toolkit::new().with(copy.wrap(quiet))?;
    /// let mut run = kit.run([ToolCall::new("c1", "copy", "")]);
    /// assert!(matches!(run.next().await, Some(ToolEvent::Progress { data, .. }) if data.is_null()));
    /// assert!(matches!(run.next().await, Some(ToolEvent::Output { .. })));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn map_emissions(mut self, map: impl Fn(Emitted) -> Option<Emitted> + Send + Sync + 'static) -> Self {
        self.cx = self.cx.map_emissions(map);
        self
    }

    /// Sets a time by which the call must be done; a time later than the current one changes nothing. The handler finds
    /// it with [`Cx::deadline`]. The middleware that sets it has to enforce it.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Instant) -> Self {
        let earlier = self.deadline().map_or(deadline, |known| known.min(deadline));
        self.cx = self.cx.with_deadline(earlier);
        self
    }

    /// Creates the next attempt at the same call. To be called before this one is handed on. Its arguments are parsed
    /// again.
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
