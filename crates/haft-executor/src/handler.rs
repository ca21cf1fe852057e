//! Handlers: the functions behind tools, with their types erased.
//!
//! ```text
//! arguments ─► Handler::prepare   closure.rs: decodes by the parameter schema
//!           ─► Prepared           not polled yet: approval and slot come here
//!           ─► Running::poll      polled by executor/execute.rs: the function runs
//!           ─► return value       returned.rs, outputs.rs (streams), error.rs
//!           ─► Outcome            handler.rs: encodes by the success or failure schema
//! ```
//!
//! A handler works in two steps. First it decodes the argument text by the tool's *current* parameter schema,
//! synchronously and without running the function. It returns a [`Prepared`] call that has not been polled, which runs
//! the function and encodes its outcome by the tool's success or failure schema. So validation precedes approval, and
//! approval precedes the first line of the function; erasing the types costs one allocation. A function never receives
//! arguments that its tool's schema rejects.

mod closure;
mod declared;
mod emits;
mod error;
mod forward;
mod outputs;
mod returned;
mod tool_type;
pub(crate) mod typed;
mod with_state;

use std::any::{Any, TypeId};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use haft_core::internal::OPAQUE_MESSAGE;
use haft_core::{ContentPart, FailureKind, Outcome, ToolFailure, ToolOutput};
use haft_schema::internal::{OUTPUT_DEPTH, nests_within};
use haft_schema::{DecodeOptions, Decoded, Issue, Issues, JsonText, REASON_CAP, Repair};
use serde::Serialize;
use serde_json::{Map, Value};

pub(crate) use self::closure::{AsyncFn, BlockingFn};
pub(crate) use self::declared::failure_schema;
pub use self::declared::{Failure, NoFailure};
pub use self::emits::Emits;
pub(crate) use self::error::opaque_failure;
pub use self::error::{BoxError, HandlerError};
pub use self::forward::ForwardCx;
pub(crate) use self::forward::{ForwardFn, ForwardHandler, erase};
pub use self::outputs::{HandlerOutput, NoFinalOutput, Outputs};
pub(crate) use self::returned::RESUMABLE;
pub use self::returned::{DECLARED, MIXED, OPAQUE, PLAIN, STREAM};
pub use self::returned::{KindProbe, KindProbeDefault, Returned, ReturnedNow, kind};
pub use self::tool_type::{BuilderOf, Handle, IntoTool, StaticTool, ToolType};
pub use self::with_state::with_state;
use crate::cx::Cx;
use crate::executor::{CallHandle, PollRight};
use crate::tool::Tool;

/// A boxed future.
pub(crate) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The execution of a handler for one call. It borrows its tool for every poll, so that it need not hold it.
///
/// Only the executor can poll it: nothing else can create a [`PollRight`], so a second path to a handler does not
/// compile.
pub(crate) trait Running: Send {
    fn poll(self: Pin<&mut Self>, tool: &Tool, task: &mut Context<'_>, right: PollRight) -> Poll<Outcome>;
}

pub(crate) type BoxRunning = Pin<Box<dyn Running>>;

/// The execution of a handler as a future that owns all it needs and borrows no tool.
pub(crate) struct OwnedRunning(pub(crate) BoxFuture<Outcome>);

/// A call whose arguments were read: ready to run, not started.
#[must_use = "a prepared call does nothing unless its future is polled"]
pub(crate) struct Prepared {
    /// Runs the function and encodes its outcome.
    pub(crate) running: BoxRunning,
    /// On the heap, as most calls have none and are moved often.
    pub(crate) meta: Option<Box<PreparedMeta>>,
}

/// Facts about a prepared call.
#[derive(Default)]
pub(crate) struct PreparedMeta {
    /// The repairs of the arguments.
    pub(crate) repairs: Vec<Repair>,
    /// Reports whether the function was reached, if middleware, a thread or a task is in front of it. If unset, the
    /// first poll reaches the function.
    pub(crate) start_flag: Option<Arc<StartFlag>>,
}

/// The progress of one call to its function, shared with the middleware, thread or task in front of it.
#[derive(Default)]
pub(crate) struct StartFlag {
    begun: AtomicBool,
    /// The number of attempts that may have begun elsewhere: their functions have not returned yet, and may report that
    /// nothing was sent.
    in_doubt: AtomicUsize,
    bound: AtomicBool,
}

impl StartFlag {
    /// Records that the function was reached.
    pub(crate) fn begin(&self) {
        self.begun.store(true, Ordering::SeqCst);
    }

    /// Records that the function is reached behind a middleware or in a task, and reports it to the run. Returns false
    /// if the call has ended: the function must not run.
    ///
    /// The code that ends a call closes it first and then reads the flag. If the flag was not set by then, the result
    /// reports that the call has not started, so the check comes after the flag is set.
    fn begin_unless_ended(&self, cx: &Cx) -> bool {
        self.begin();
        let has_ended = cx.call_handle().is_some_and(CallHandle::is_closed);
        if !has_ended {
            cx.report_started();
        }
        !has_ended
    }

    /// Records that an attempt may have begun.
    fn enter_doubt(&self) {
        self.in_doubt.fetch_add(1, Ordering::SeqCst);
    }

    /// Takes back one such record. If the attempt has begun, that is recorded before.
    fn leave_doubt(&self) {
        self.in_doubt.fetch_sub(1, Ordering::SeqCst);
    }

    /// Reports whether the function was reached, or may have been. The doubt is read first: an attempt that leaves it
    /// because it has begun has recorded that before.
    pub(crate) fn has_begun(&self) -> bool {
        self.in_doubt.load(Ordering::SeqCst) > 0 || self.begun.load(Ordering::SeqCst)
    }

    /// Records that a decision was made about these arguments, which must not change any more.
    pub(crate) fn bind(&self) {
        self.bound.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_bound(&self) -> bool {
        self.bound.load(Ordering::Relaxed)
    }
}

/// Returns the execution of a call that has ended before its function was reached.
fn ended() -> BoxRunning {
    Box::pin(OwnedRunning(Box::pin(async { cancelled().into() })))
}

/// Returns the failure of a call that was cancelled before its function was reached.
pub(crate) fn cancelled() -> ToolFailure {
    ToolFailure::new(FailureKind::Cancelled, "").not_started()
}

impl Prepared {
    /// Returns the repairs of the arguments, once.
    #[inline]
    pub(crate) fn take_repairs(&mut self) -> Vec<Repair> {
        self.meta.as_mut().map(|meta| std::mem::take(&mut meta.repairs)).unwrap_or_default()
    }

    /// Binds the call to its arguments, because a policy or an approver decides about them: the call does not run with
    /// others.
    pub(crate) fn bind_arguments(&self) {
        if let Some(start_flag) = self.meta.as_ref().and_then(|meta| meta.start_flag.as_ref()) {
            start_flag.bind();
        }
    }
}

impl PreparedMeta {
    pub(crate) fn of_repairs(repairs: Vec<Repair>) -> Option<Box<Self>> {
        if repairs.is_empty() { None } else { Some(Box::new(Self { repairs, start_flag: None })) }
    }

    /// Reports whether the function was reached, or `None` if nothing is in front of it.
    pub(crate) fn has_begun(this: Option<&Self>) -> Option<bool> {
        this?.start_flag.as_ref().map(|start_flag| start_flag.has_begun())
    }
}

/// Decoded arguments, waiting for the context of their function. The start flag is set when the function is reached: a
/// call that waits for a thread has not started.
pub(crate) type Deferred = Box<dyn FnOnce(Cx, Arc<StartFlag>) -> BoxRunning + Send>;

/// The function behind a tool.
pub(crate) trait Handler: Any + Send + Sync {
    /// Decodes the arguments by the tool's parameter schema. `cx` is bound to `tool`.
    ///
    /// The error is the failure of the call.
    fn prepare(&self, tool: &Tool, arguments: &str, cx: Cx) -> Result<Prepared, Box<ToolFailure>>;

    /// Decodes the arguments of a call whose context may still change. This costs one more allocation.
    fn defer(&self, tool: &Tool, arguments: &str, cx: &Cx) -> Result<Decoded<Deferred>, Box<ToolFailure>>;

    /// Checks arguments without preparing a call.
    fn check(&self, tool: &Tool, arguments: &str, options: &DecodeOptions) -> Result<(), Issues>;

    /// Returns the type of its successful values.
    fn returns(&self) -> TypeInfo;

    /// Reports whether the handler needs what only a run keeps, so that its calls can't take the fast path.
    fn needs_run(&self) -> bool {
        false
    }
}

/// A type known at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeInfo {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
}

impl TypeInfo {
    pub(crate) fn of<T: 'static>() -> Self {
        Self { id: TypeId::of::<T>(), name: std::any::type_name::<T>() }
    }

    /// Reports whether the type is a `Result`, which is serialisable and yet never meant as a value.
    pub(crate) fn is_result(&self) -> bool {
        self.name.starts_with("core::result::Result<")
    }
}

/// Returns the failure of a call whose arguments the tool's schema rejects.
pub(crate) fn invalid_input(issues: Issues) -> ToolFailure {
    ToolFailure::with_issues(FailureKind::InputValidationError, issues.bounded()).not_started()
}

#[cold]
#[allow(clippy::unnecessary_box_returns, reason = "the failure stays in its box up to the executor")]
fn rejected(issues: Issues) -> Box<ToolFailure> {
    Box::new(invalid_input(issues))
}

/// Returns the failure of a call that an error in the application prevents from running. The model can't fix it and
/// does not see the cause.
pub(crate) fn broken(cause: impl std::error::Error + Send + Sync + 'static) -> ToolFailure {
    ToolFailure::new(FailureKind::ExecutionError, OPAQUE_MESSAGE).not_started().cause(cause)
}

/// Returns the failure of a call whose value violates its tool's schema: an error of the tool, not of the model, and
/// the message says so. The issues are those of a result, which quote nothing of it.
pub(crate) fn invalid_output(issues: Issues) -> ToolFailure {
    let issues = issues.bounded();
    let message = format!("the tool returned an invalid result: {}", issues.reason(REASON_CAP));
    ToolFailure::new(FailureKind::OutputValidationError, message).issues(issues)
}

/// Encodes a success by the success schema. A handler that returns a [`ToolOutput`] determines itself what the model
/// reads; its value is checked like any other. The model reads content parts as they are.
#[inline]
pub(crate) fn encode_success<T: Serialize + 'static>(tool: &Tool, value: &T) -> Outcome {
    match (value as &dyn Any).downcast_ref::<ToolOutput>() {
        Some(output) => explicit_output(tool, output),
        // Which types consist of content is known at compile time.
        None => encoded_output(tool, tool.success().encode(value), value, ContentPart::parts_of(value)),
    }
}

fn explicit_output(tool: &Tool, output: &ToolOutput) -> Outcome {
    match output_fault(tool, output) {
        None => Outcome::Ok(output.clone()),
        Some(issues) => failed_output(issues),
    }
}

/// Returns the problems of an output that was not encoded here: its value by the success schema, and its nesting. A
/// tool that declares a success schema must return a value.
fn output_fault(tool: &Tool, output: &ToolOutput) -> Option<Issues> {
    let checked = match output.value() {
        Some(value) => tool.success().check_output(value),
        None if tool.success().allows_no_value() => Ok(()),
        None => Err(missing_value()),
    };
    checked.err().or_else(|| nesting_fault(output.content().unwrap_or_default(), output.metadata()))
}

/// Returns a failure that user code built, unless its content or metadata nests too deep.
pub(crate) fn checked_failure(failure: ToolFailure) -> ToolFailure {
    match nesting_fault(failure.content(), failure.metadata()) {
        None => failure,
        Some(issues) => {
            let mut invalid = invalid_output(issues);
            invalid.started = failure.started;
            invalid.cause(failure.to_string())
        }
    }
}

/// Returns the outcome of an encoded value, with its type erased: this is compiled once instead of once per tool.
fn encoded_output(
    tool: &Tool,
    encoded: Result<JsonText, Issues>,
    value: &dyn Any,
    content: Option<&[ContentPart]>,
) -> Outcome {
    match encoded {
        Ok(encoded) => {
            let content = tool.render_for_model(value).or_else(|| content.map(<[_]>::to_vec));
            if has_deep_parts(content.as_deref()) {
                return failed_output(deep_content());
            }
            Outcome::Ok(ToolOutput::rendered(encoded, content))
        }
        Err(issues) => failed_output(issues),
    }
}

/// Reports whether content for the model nests deeper than a result may.
#[inline]
fn has_deep_parts(parts: Option<&[ContentPart]>) -> bool {
    parts.is_some_and(|parts| !parts.iter().all(|part| part.nests_within(OUTPUT_DEPTH)))
}

fn nesting_fault(parts: &[ContentPart], metadata: Option<&Map<String, Value>>) -> Option<Issues> {
    if has_deep_parts(Some(parts)) {
        return Some(deep_content());
    }
    let is_deep = metadata.is_some_and(|metadata| !metadata.values().all(|value| nests_within(value, OUTPUT_DEPTH)));
    is_deep.then(|| too_deep("its metadata"))
}

#[cold]
fn deep_content() -> Issues {
    too_deep("the content for the model")
}

#[cold]
fn too_deep(what: &str) -> Issues {
    let expected = format!("at most {OUTPUT_DEPTH} levels");
    let message = format!("{what} nests deeper than {OUTPUT_DEPTH} levels");
    Issue::new("", "maxDepth", message).expected(expected).into()
}

/// Returns the issue of content without a value, from a tool that declares the schema of its value.
#[cold]
fn missing_value() -> Issues {
    Issue::new("", "required", "content without a value, and the success schema requires one")
        .expected("a value")
        .into()
}

#[cold]
fn failed_output(issues: Issues) -> Outcome {
    invalid_output(issues).started().into()
}

/// Encodes the outcome of a call by its tool's schemas.
fn encode<T, F>(tool: &Tool, outcome: Result<T, HandlerError<F>>) -> Outcome
where
    T: Serialize + 'static,
    F: Failure,
{
    match outcome {
        Ok(value) => encode_success(tool, &value),
        Err(error) => error.into_failure(tool).started().into(),
    }
}

impl Running for OwnedRunning {
    fn poll(mut self: Pin<&mut Self>, _: &Tool, task: &mut Context<'_>, _: PollRight) -> Poll<Outcome> {
        self.0.as_mut().poll(task)
    }
}
