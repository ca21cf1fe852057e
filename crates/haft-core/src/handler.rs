//! The function behind a tool, with its types erased.
//!
//! A handler does two things in two steps. First it reads the argument text through the tool's *current* parameter
//! schema, at once and without running anything. Then it hands back work that was not polled yet, which runs the
//! function and encodes its outcome by the tool's success or failure schema. So validation comes before approval,
//! approval before the first line of the function, and erasing the types costs one allocation. A handler never sees
//! arguments that its tool's schema refuses.

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
pub(crate) use self::error::OPAQUE_MESSAGE;
pub use self::error::{BoxError, HandlerError};
pub use self::outputs::{HandlerOutput, NoFinalOutput, Outputs};
pub use self::returned::{DECLARED, MIXED, OPAQUE, PLAIN, STREAM};
pub use self::returned::{Probe, ProbeDefault, Returned, ReturnedNow, kind};
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

/// A future on the heap.
pub(crate) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A handler at work on one call. It borrows its tool for every poll, so that it need not hold on to it.
///
/// Only the executor can poll one: nothing else has a [`PollRight`], so a second path to a handler does not compile.
pub(crate) trait Running: Send {
    fn poll(self: Pin<&mut Self>, tool: &Tool, task: &mut Context<'_>, right: PollRight) -> Poll<Outcome>;
}

pub(crate) type BoxRunning = Pin<Box<dyn Running>>;

/// A call that needs no tool lent: everything it needs is in the future.
pub(crate) struct Whole(pub(crate) BoxFuture<Outcome>);

/// A call whose arguments were read: ready to run, not started.
#[must_use = "a prepared call does nothing unless its future is polled"]
pub(crate) struct Prepared {
    /// Runs the function and encodes its outcome.
    pub(crate) running: BoxRunning,
    /// On the heap, as most calls have nothing to note and are handed from hand to hand.
    pub(crate) meta: Option<Box<PreparedMeta>>,
}

/// What is to be noted about a prepared call.
#[derive(Default)]
pub(crate) struct PreparedMeta {
    /// What was mended in the arguments.
    pub(crate) repairs: Vec<Repair>,
    /// What the way to the function knows, where something stands in front of it; without, the first poll reaches it.
    pub(crate) start_flag: Option<Arc<StartFlag>>,
}

/// What is known about the way of one call to its function.
#[derive(Default)]
pub(crate) struct StartFlag {
    begun: AtomicBool,
    bound: AtomicBool,
}

impl StartFlag {
    /// The function was reached.
    pub(crate) fn begin(&self) {
        self.begun.store(true, Ordering::SeqCst);
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.begun.load(Ordering::SeqCst)
    }

    /// Somebody decided about the call by its arguments: they must stay as they are.
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

    /// Binds the call to its arguments, as something decides about it by them: with others it does not run.
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

    /// Whether the function was reached, if something stands in front of it.
    pub(crate) fn has_begun(this: Option<&Self>) -> Option<bool> {
        this?.start_flag.as_ref().map(|start_flag| start_flag.has_begun())
    }
}

/// Arguments that were read, waiting for the context their function is to get. The start flag is set when the function is
/// reached, by whoever knows: one that waits for a thread has not begun.
pub(crate) type Deferred = Box<dyn FnOnce(Cx, Arc<StartFlag>) -> BoxRunning + Send>;

/// A function behind a tool.
pub(crate) trait Handler: Any + Send + Sync {
    /// Reads the arguments through the tool's parameter schema. `cx` is bound to `tool`.
    ///
    /// The error is what the call is answered with, so that nobody has to take the whole apart to turn one into the other.
    fn prepare(&self, tool: &Tool, arguments: &str, cx: Cx) -> Result<Prepared, Box<ToolFailure>>;

    /// The same for a call whose context may still change: it costs one allocation more.
    fn defer(&self, tool: &Tool, arguments: &str, cx: &Cx) -> Result<Decoded<Deferred>, Box<ToolFailure>>;

    /// Checks arguments as it would read them.
    fn check(&self, tool: &Tool, arguments: &str, options: &DecodeOptions) -> Result<(), Issues>;

    /// The type of its successful values.
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

    /// Whether the type is a `Result`, which is serialisable and yet never meant as a value.
    pub(crate) fn is_result(&self) -> bool {
        self.name.starts_with("core::result::Result<")
    }
}

/// Arguments that the tool's schema rejects.
pub(crate) fn invalid_input(issues: Issues) -> ToolFailure {
    ToolFailure::with_issues(FailureKind::InputValidationError, issues.bounded()).not_started()
}

#[cold]
#[allow(clippy::unnecessary_box_returns, reason = "the failure is handed on in its box, from hand to hand")]
fn refused(issues: Issues) -> Box<ToolFailure> {
    Box::new(invalid_input(issues))
}

/// A mistake of the application's, found before anything ran: the model can't mend it and isn't told.
pub(crate) fn broken(cause: impl std::error::Error + Send + Sync + 'static) -> ToolFailure {
    ToolFailure::new(FailureKind::ExecutionError, OPAQUE_MESSAGE).not_started().cause(cause)
}

/// A value that breaks its tool's own schema: no mistake of the model's, and it is told so. The issues are those of a
/// result, which quote nothing of it.
pub(crate) fn invalid_output(issues: Issues) -> ToolFailure {
    let issues = issues.bounded();
    let message = format!("the tool gave a result that it should not have: {}", issues.reason(REASON_CAP));
    ToolFailure::new(FailureKind::OutputValidationError, message).issues(issues)
}

/// The outcome of a success, encoded by the success schema. A handler that gives a [`ToolOutput`] has said itself what
/// the model sees; its value is checked like any other.
#[inline]
pub(crate) fn encode_success<T: Serialize + 'static>(tool: &Tool, value: &T) -> Outcome {
    match (value as &dyn Any).downcast_ref::<ToolOutput>() {
        Some(output) => given_output(tool, output),
        None => encoded_output(tool, tool.success().encode(value), value),
    }
}

fn given_output(tool: &Tool, output: &ToolOutput) -> Outcome {
    match tool.success().check_output(&output.value) {
        Ok(()) if has_deep_parts(output.model.as_deref()) => deep_parts(),
        Ok(()) => Outcome::Ok(output.clone()),
        Err(issues) => unpromised(issues),
    }
}

/// The outcome of a value that was encoded, with its type erased: it is compiled once and not for every tool.
fn encoded_output(tool: &Tool, encoded: Result<JsonText, Issues>, value: &dyn Any) -> Outcome {
    match encoded {
        Ok(encoded) => {
            let model = tool.render_for_model(value);
            if has_deep_parts(model.as_deref()) {
                return deep_parts();
            }
            Outcome::Ok(ToolOutput { value: encoded, model })
        }
        Err(issues) => unpromised(issues),
    }
}

/// Reports whether something that the model is shown nests deeper than a result may.
#[inline]
fn has_deep_parts(parts: Option<&[ContentPart]>) -> bool {
    parts.is_some_and(|parts| !parts.iter().all(|part| part.nests_within(OUTPUT_DEPTH)))
}

#[cold]
fn deep_parts() -> Outcome {
    let expected = format!("at most {OUTPUT_DEPTH} levels");
    let message = format!("what is shown of it nests deeper than {OUTPUT_DEPTH} levels");
    unpromised(Issue::new("", "maxDepth", message).expected(expected).into())
}

#[cold]
fn unpromised(issues: Issues) -> Outcome {
    invalid_output(issues).started().into()
}

/// The outcome of a call, encoded by its tool's schemas.
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

impl Running for Whole {
    fn poll(mut self: Pin<&mut Self>, _: &Tool, task: &mut Context<'_>, _: PollRight) -> Poll<Outcome> {
        self.0.as_mut().poll(task)
    }
}
