//! Single calls by their tool's failure mode.
//!
//! A run reports every failure as a result. Code that calls one tool may want failures as errors: the tool's
//! [`FailureMode`] decides. In mode `error` a failed call is an `Err`; in mode `return` it is a value like any other. A
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

/// A preliminary or final result of a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HandlerResult {
    /// The result; in a preliminary one, the value so far.
    pub result: ToolResult,
    /// The encoded value, or the failure: its declared value, or else the text for the model. The model may read
    /// another form of a value, see [`ToolResult::to_model_text`].
    pub encoded: JsonText,
    /// Set if the call failed.
    pub is_failure: bool,
    /// The origin of the failure, if the call failed.
    pub failure_origin: Option<FailureOrigin>,
    /// Set if this is a preliminary result, with more to follow.
    pub preliminary: bool,
}

/// The origin of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureOrigin {
    /// The arguments are invalid.
    Parameters,
    /// The handler failed, with a declared failure or any other.
    Handler,
    /// The handler's value violates the success schema or the output cap.
    Result,
    /// The executor: a permit, an approval, a timeout, a cancellation, a middleware that did not let the call through,
    /// or a service or handler that the toolkit lacks.
    Executor,
}

/// One call as a stream: preliminary results, then the final one. See [`Toolkit::handle_stream`].
#[must_use = "a call does nothing unless it is polled"]
pub struct HandleStream {
    run: Run,
    mode: FailureMode,
}

impl Toolkit {
    /// Runs one call and returns its result according to the tool's failure mode. Values that it emits are dropped.
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

    /// Runs one call with options and returns its result according to the tool's failure mode. Values that it emits go
    /// to the options' [sink](RunOptions::sink), or are dropped.
    pub async fn handle_with(&self, call: &ToolCall, options: &RunOptions) -> Result<HandlerResult, ToolFailure> {
        HandlerResult::of(self.run_call_with(call, options).await, self.mode_of(call))
    }

    /// Runs one call and returns its preliminary results as they come, then the final one according to the tool's
    /// failure mode. Progress events are dropped.
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
    /// Returns the next preliminary result, and at the end the final one.
    pub async fn next(&mut self) -> Option<Result<HandlerResult, ToolFailure>> {
        poll_fn(|task| Pin::new(&mut *self).poll_next(task)).await
    }

    /// Replaces all options. A [sink](RunOptions::sink) among them is not used: preliminary results come from this
    /// stream, and progress events are dropped. To receive both, run the call with [`Toolkit::run`].
    pub fn with(mut self, options: RunOptions) -> Self {
        self.run = self.run.with(options);
        self
    }
}

impl HandlerResult {
    fn of(result: ToolResult, mode: FailureMode) -> Result<Self, ToolFailure> {
        let (encoded, failure_origin) = match &result.outcome {
            Outcome::Ok(output) => (output.value.clone(), None),
            // An unknown tool has no mode, and a permit that hides a tool must not reveal it by its mode.
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

/// Reports whether the tool does not exist. A failure of that kind that a handler forwards has started.
fn is_unknown(failure: &ToolFailure) -> bool {
    failure.kind == FailureKind::UnknownTool && !failure.started
}

/// Returns the declared failure, or the text for the model of any other.
fn encoded(failure: &ToolFailure) -> JsonText {
    match failure.details.as_deref() {
        Some(details) => details.clone(),
        None => JsonText::parse(&failure.to_model_text()).unwrap_or_else(|_| JsonText::null()),
    }
}

impl FailureOrigin {
    /// Returns the origin of a failure. A handler may forward a failure of any kind. A call that the executor rejects
    /// has not started; of a call that has, only timeouts, cancellation and the check of the result come from the
    /// executor.
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
