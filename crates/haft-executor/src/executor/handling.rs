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
use haft_core::{FailureKind, Outcome, ToolCall, ToolEvent, ToolFailure, ToolOutput, ToolResult};
use haft_schema::JsonText;
use serde::de::DeserializeOwned;

use super::call_error::CallError;
use super::option::RunOptions;
use super::run::Run;
use super::single::run_single;
use crate::handler::ToolType;
use crate::tool::FailureMode;
use crate::toolkit::Toolkit;

/// A preliminary or final result of a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HandlerResult {
    /// The result; in a preliminary one, the value so far.
    pub result: ToolResult,
    /// The encoded value, or the failure: its declared value, or else the text for the model. An output without a value
    /// is the list of its content parts. The model may read another form of a value, see [`ToolResult::to_model_text`].
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
    /// a service or handler that the toolkit lacks, or a call that could not be forwarded.
    Executor,
}

/// One call as a stream: preliminary results, then the final one. See [`Toolkit::try_run_call`].
#[must_use = "a call does nothing unless it is polled"]
pub struct HandlerResults {
    run: Run,
    mode: FailureMode,
}

impl Toolkit {
    /// Runs one call and returns its result by the failure mode of its tool: in mode `error` a failed call is an `Err`,
    /// in mode `return` it is a value like any other.
    ///
    /// Await it for the final result; emitted values go to the [sink](RunOptions::sink) of the options, or are dropped.
    /// Or read it as a stream of early results that ends with the final one; then progress is dropped, and to receive
    /// both use [`run_with`](Toolkit::run_with).
    ///
    /// ```
    /// use haft_executor::{FailureMode, FailureOrigin, RunOptions, Tool, Toolkit};
    /// use haft_core::ToolCall;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let root = Tool::new("root").try_handler(|n: f64, _cx| async move {
    ///     if n < 0.0 { Err("no real root") } else { Ok(n.sqrt()) }
    /// })?;
    /// let strict: Toolkit = Toolkit::new().with(root.clone())?;
    /// let mild: Toolkit = Toolkit::new().with(root.set_failure_mode(FailureMode::Return)?)?;
    ///
    /// let call = ToolCall::new("c1", "root", "-4");
    /// let failure = strict.try_run_call(&call, RunOptions::new()).await.unwrap_err();
    /// assert_eq!(failure.message, "no real root");
    /// let result = mild.try_run_call(&call, RunOptions::new()).await?;
    /// assert_eq!(result.failure_origin, Some(FailureOrigin::Handler));
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_run_call(&self, call: impl Into<ToolCall>, options: impl Into<RunOptions>) -> HandlerResults {
        let call = call.into();
        let mode = self.mode_of(&call);
        HandlerResults { run: self.run_with([call], options).single(), mode }
    }

    fn mode_of(&self, call: &ToolCall) -> FailureMode {
        self.get(&call.name).map_or(FailureMode::Error, crate::tool::Tool::failure_mode)
    }
}

impl HandlerResults {
    /// Returns the next preliminary result, and at the end the final one.
    pub async fn next(&mut self) -> Option<Result<HandlerResult, ToolFailure>> {
        poll_fn(|task| Pin::new(&mut *self).poll_next(task)).await
    }
}

impl HandlerResult {
    fn of(result: ToolResult, mode: FailureMode) -> Result<Self, ToolFailure> {
        let (encoded, failure_origin) = match &result.outcome {
            Outcome::Ok(output) => (encoded_output(output), None),
            // An unknown tool has no mode, and a permit that hides a tool must not reveal it by its mode.
            Outcome::Failed(failure) if mode == FailureMode::Error || is_unknown(failure) => {
                return Err(result.into_failure());
            }
            Outcome::Failed(failure) => (encoded(failure), Some(FailureOrigin::of(failure))),
        };
        let is_failure = failure_origin.is_some();
        Ok(Self { result, encoded, is_failure, failure_origin, preliminary: false })
    }

    /// Reads the result, preliminary or final, as the types of its tool `T`: the value or failure beside its
    /// [encoded](HandlerResult::encoded) form. It is decoded when it is asked for.
    ///
    /// ```
    /// use haft_executor::{Cx, Handle, HandlerError, RunOptions, Tool, ToolType, Toolkit};
    /// use haft_core::ToolCall;
    ///
    /// struct Root;
    ///
    /// impl ToolType for Root {
    ///     const NAME: &'static str = "root";
    ///     type Params = f64;
    ///     type Success = f64;
    ///     type Failure = String;
    ///     type Services = ();
    /// }
    /// # impl Handle for Root {
    /// #     async fn handle(&self, n: f64, _cx: &Cx) -> Result<f64, HandlerError<String>> { Ok(n.sqrt()) }
    /// # }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let kit: Toolkit = Toolkit::new().with(Tool::from_handler(Root)?)?;
    /// let handled = kit.try_run_call(ToolCall::new("c1", "root", "4"), RunOptions::new()).await?;
    /// assert_eq!(handled.encoded.as_str(), "2.0");
    /// assert_eq!(handled.typed::<Root>()?, 2.0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn typed<T>(&self) -> Result<T::Success, CallError<T::Failure>>
    where
        T: ToolType<Success: DeserializeOwned, Failure: DeserializeOwned>,
    {
        T::read(&self.result)
    }

    fn preliminary(call: &ToolCall, value: JsonText) -> Self {
        let result = ToolResult::ok(call, value.clone());
        Self { result, encoded: value, is_failure: false, failure_origin: None, preliminary: true }
    }
}

/// Reports whether the tool does not exist. A failure of that kind that an ordinary handler returns has started; one of
/// a forwarding handler means that the tool does not exist elsewhere.
fn is_unknown(failure: &ToolFailure) -> bool {
    failure.kind == FailureKind::UnknownTool && !failure.started
}

/// Returns the value, or the content of an output without one. Encoding content can't fail, so the `null` is never
/// used.
fn encoded_output(output: &ToolOutput) -> JsonText {
    match output.value() {
        Some(value) => value.clone(),
        None => JsonText::encode(output.content().unwrap_or_default()).unwrap_or_else(|_| JsonText::null()),
    }
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
    /// has not started, and neither has one that could not be forwarded; of a call that has, only timeouts,
    /// cancellation and the check of the result come from the executor.
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

/// Waits for the final result.
impl IntoFuture for HandlerResults {
    type Output = Result<HandlerResult, ToolFailure>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { HandlerResult::of(run_single(self.run).await, self.mode) })
    }
}

impl Stream for HandlerResults {
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

impl fmt::Debug for HandlerResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlerResults").field("run", &self.run).field("mode", &self.mode).finish()
    }
}
