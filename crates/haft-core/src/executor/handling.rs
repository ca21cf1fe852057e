//! One call, as its tool's failure mode says.
//!
//! A run absorbs every failure into its results. Code that calls one tool may want failures as errors: the tool decides
//! by its [`FailureMode`]. In mode `error` a failed call is an `Err`; in mode `return` it is a value like any other. A
//! call of a tool that does not exist has no mode and is an `Err`.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use super::option::RunOptions;
use super::run::Run;
use crate::call::ToolCall;
use crate::event::ToolEvent;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::json_text::JsonText;
use crate::result::{Outcome, ToolResult};
use crate::tool::FailureMode;
use crate::toolkit::Toolkit;

/// What a call gave, early or final.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HandlerResult {
    /// The result; of an early one, the value so far.
    pub result: ToolResult,
    /// The value as it was encoded, or the failure: what it declares, else what the model reads of it. What the model reads
    /// of a value may be something else, see [`ToolResult::to_model_text`].
    pub encoded: JsonText,
    /// Whether the call failed.
    pub is_failure: bool,
    /// Where it failed, if it did.
    pub failure_origin: Option<FailureOrigin>,
    /// Whether this is an early form of the result, with more to come.
    pub preliminary: bool,
}

/// Where a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureOrigin {
    /// The arguments don't fit.
    Parameters,
    /// The handler failed, with a failure it declares or any other way.
    Handler,
    /// The handler's value is not what the tool promises.
    Result,
    /// Something around the handler: a permit, an approval, a limit, a cancel, a middleware that did not let the call
    /// through, or something that the toolkit lacks.
    Executor,
}

/// One call as a stream: early results, then the final one. See [`Toolkit::handle_stream`].
#[must_use = "a call does nothing unless it is polled"]
pub struct HandleStream {
    run: Run,
    mode: FailureMode,
}

impl Toolkit {
    /// Runs one call and gives its result as the tool's failure mode says. What it shows on the way is dropped.
    ///
    /// ```
    /// use haft_core::{FailureMode, FailureOrigin, Tool, ToolCall, Toolkit};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let root = Tool::new("root").try_run(|n: f64, _cx| async move {
    ///     if n < 0.0 { Err("no real root") } else { Ok(n.sqrt()) }
    /// })?;
    /// let strict: Toolkit = Toolkit::new().with(root.clone())?;
    /// let mild: Toolkit = Toolkit::new().with(root.set_failure_mode(FailureMode::Return)?)?;
    ///
    /// let call = ToolCall::new("c1", "root", "-4");
    /// assert_eq!(strict.handle(&call).await.unwrap_err().message, "no real root");
    /// assert_eq!(mild.handle(&call).await?.failure_origin, Some(FailureOrigin::Handler));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn handle(&self, call: &ToolCall) -> Result<HandlerResult, ToolFailure> {
        HandlerResult::of(self.run_call(call).await, self.mode_of(call))
    }

    /// Runs one call with options and gives its result as the tool's failure mode says. What it shows on the way goes
    /// to the options' [sink](RunOptions::sink), or is dropped.
    pub async fn handle_with(&self, call: &ToolCall, options: &RunOptions) -> Result<HandlerResult, ToolFailure> {
        HandlerResult::of(self.run_call_with(call, options).await, self.mode_of(call))
    }

    /// Runs one call and gives its early results as they come, then the final one as the tool's failure mode says.
    /// Progress is dropped.
    pub fn handle_stream(&self, call: impl Into<ToolCall>) -> HandleStream {
        let call = call.into();
        let mode = self.mode_of(&call);
        HandleStream { run: self.run([call]).single(), mode }
    }

    fn mode_of(&self, call: &ToolCall) -> FailureMode {
        self.get(&call.name).map_or(FailureMode::Error, crate::tool::Tool::failure_mode)
    }
}

impl HandleStream {
    /// The next early result, and at the end the final one.
    pub async fn next(&mut self) -> Option<Result<HandlerResult, ToolFailure>> {
        poll_fn(|task| Pin::new(&mut *self).poll_next(task)).await
    }

    /// The same call with options. A [sink](RunOptions::sink) among them is not used: early results come by this stream, and
    /// progress is dropped. Who wants both runs the call by [`Toolkit::run`].
    pub fn with(mut self, options: RunOptions) -> Self {
        self.run = self.run.with(options);
        self
    }
}

impl HandlerResult {
    fn of(result: ToolResult, mode: FailureMode) -> Result<Self, ToolFailure> {
        let (encoded, failure_origin) = match &result.outcome {
            Outcome::Ok(output) => (output.value.clone(), None),
            // Without such a tool there is no mode, and a permit that hides one must not show it by its mode.
            Outcome::Failed(failure) if mode == FailureMode::Error || is_unknown(failure) => {
                return Err(result.into_failure());
            }
            Outcome::Failed(failure) => (encoded(failure), Some(FailureOrigin::of(failure))),
        };
        let is_failure = failure_origin.is_some();
        Ok(Self { result, encoded, is_failure, failure_origin, preliminary: false })
    }

    fn preliminary(call: &ToolCall, value: JsonText) -> Self {
        let result = ToolResult::ok(call, value.clone());
        Self { result, encoded: value, is_failure: false, failure_origin: None, preliminary: true }
    }
}

/// Whether there is no such tool. A handler that hands such a failure on has begun.
fn is_unknown(failure: &ToolFailure) -> bool {
    failure.kind == FailureKind::UnknownTool && !failure.started
}

/// The declared failure, or what the model reads of any other.
fn encoded(failure: &ToolFailure) -> JsonText {
    match failure.details.as_deref() {
        Some(details) => details.clone(),
        None => JsonText::parse(&failure.to_model_text()).unwrap_or_else(|_| JsonText::null()),
    }
}

impl FailureOrigin {
    /// A handler may hand on a failure of any kind. What the executor refuses has not begun; of what has, only time,
    /// cancels and the check of the result are its own.
    fn of(failure: &ToolFailure) -> Self {
        match (&failure.kind, failure.started) {
            (FailureKind::OutputValidationError | FailureKind::OutputTooLarge, _) => Self::Result,
            (FailureKind::TimedOut | FailureKind::Cancelled | FailureKind::Interrupted, _) => Self::Executor,
            (FailureKind::InputValidationError, false) => Self::Parameters,
            (_, true) => Self::Handler,
            (_, false) => Self::Executor,
        }
    }
}

impl Stream for HandleStream {
    type Item = Result<HandlerResult, ToolFailure>;

    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            match ready!(Pin::new(&mut this.run).poll_next(task)) {
                Some(ToolEvent::Preliminary { index, value, .. }) => {
                    let call = &this.run.calls()[index];
                    return Poll::Ready(Some(Ok(HandlerResult::preliminary(call, value))));
                }
                Some(ToolEvent::Output { result, .. }) => {
                    return Poll::Ready(Some(HandlerResult::of(result, this.mode)));
                }
                Some(_) => {}
                None => return Poll::Ready(None),
            }
        }
    }
}

impl fmt::Debug for HandleStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandleStream").field("run", &self.run).field("mode", &self.mode).finish()
    }
}
