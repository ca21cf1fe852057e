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
mod error;
mod outputs;
mod returned;
mod tool_type;

use std::any::{Any, TypeId};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use serde::Serialize;

pub(crate) use self::closure::{AsyncFn, BlockingFn};
pub(crate) use self::declared::failure_schema;
pub use self::declared::{Failure, NoFailure};
pub use self::error::{BoxError, HandlerError};
pub(crate) use self::error::{OPAQUE_MESSAGE, opaque_failure};
pub use self::outputs::{HandlerOutput, NoFinalOutput, Outputs};
pub use self::returned::{DECLARED, MIXED, OPAQUE, PLAIN, STREAM};
pub use self::returned::{KindProbe, KindProbeDefault, Returned, ReturnedNow, kind};
pub use self::tool_type::{BuilderOf, Handle, StaticTool, ToolType};
use crate::content::ContentPart;
use crate::cx::Cx;
use crate::executor::PollRight;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::issue::{Issue, Issues, REASON_CAP};
use crate::json_text::JsonText;
use crate::output::ToolOutput;
use crate::result::Outcome;
use crate::schema::{DecodeOptions, Decoded, OUTPUT_DEPTH, Repair};
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
    bound: AtomicBool,
}

impl StartFlag {
    /// Records that the function was reached.
    pub(crate) fn begin(&self) {
        self.begun.store(true, Ordering::SeqCst);
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.begun.load(Ordering::SeqCst)
    }

    /// Records that a decision was made about these arguments, which must not change any more.
    pub(crate) fn bind(&self) {
        self.bound.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_bound(&self) -> bool {
        self.bound.load(Ordering::Relaxed)
    }
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
    match tool.success().check_output(&output.value) {
        Ok(()) if has_deep_parts(output.model.as_deref()) => deep_parts(),
        Ok(()) => Outcome::Ok(output.clone()),
        Err(issues) => failed_output(issues),
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
            let model = tool.render_for_model(value).or_else(|| content.map(<[_]>::to_vec));
            if has_deep_parts(model.as_deref()) {
                return deep_parts();
            }
            Outcome::Ok(ToolOutput { value: encoded, model })
        }
        Err(issues) => failed_output(issues),
    }
}

/// Reports whether content for the model nests deeper than a result may.
#[inline]
fn has_deep_parts(parts: Option<&[ContentPart]>) -> bool {
    parts.is_some_and(|parts| !parts.iter().all(|part| part.nests_within(OUTPUT_DEPTH)))
}

#[cold]
fn deep_parts() -> Outcome {
    let expected = format!("at most {OUTPUT_DEPTH} levels");
    let message = format!("the content for the model nests deeper than {OUTPUT_DEPTH} levels");
    failed_output(Issue::new("", "maxDepth", message).expected(expected).into())
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
