//! Handlers that forward calls to where their tools are executed: another process, a server, a device.
//!
//! ```text
//! arguments ─► checked by the schema, kept as text
//!           ─► ForwardRunning::poll   the first poll begins an attempt and calls the function
//!           ─► Attempt                in doubt ⇄ nothing sent ─► ended
//!           ─► StartFlag              from which the executor sets `started`
//! ```
//!
//! Reaching the function of another handler means that the call has started. Here it does not: only the function knows
//! whether anything was sent, so the `started` of its own failure is believed. It is believed at one point, where the
//! function returns: the [`Attempt`] records it in the call's [`StartFlag`], and everything outside of this file reads
//! that flag as it does for any other handler. So a middleware can't claim it, and a failure that a middleware, a
//! timeout or a cancellation creates carries what this attempt and earlier ones recorded. Until the function says
//! otherwise, a call that reached it counts as started.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use haft_core::{FailureKind, Outcome, ToolCall, ToolFailure, ToolOutput};
use haft_schema::isolation::Isolated;
use haft_schema::{DecodeOptions, Decoded, Issues};

use super::{
    BoxFuture, BoxRunning, Deferred, Handler, Prepared, PreparedMeta, Running, StartFlag, TypeInfo, cancelled,
    checked_failure, failed_output, output_fault, rejected,
};
use crate::cx::Cx;
use crate::executor::{CallHandle, PollRight};
use crate::tool::Tool;

/// The context of a call that is forwarded: a [`Cx`], through which progress and preliminary results of the other side
/// are emitted, and reports of whether the call was sent. Cloning is cheap.
///
/// A call that is cancelled or times out while its handler runs counts as started, since it may have been sent. A
/// handler that prepares first, for example by connecting, reports when nothing and when something may be sent:
///
/// ```
/// use haft_core::{FailureKind, ToolCall, ToolFailure, ToolOutput};
/// use haft_executor::ForwardCx;
/// use haft_schema::JsonText;
/// # async fn connect() -> Result<Vec<String>, std::io::Error> { Ok(Vec::new()) }
///
/// async fn forward(call: ToolCall, cx: ForwardCx) -> Result<ToolOutput, ToolFailure> {
///     cx.mark_unsent();
///     // A failure before the call was sent: it may be repeated, whatever the tool does.
///     let refused = |error| ToolFailure::new(FailureKind::ExecutionError, "").not_started().retryable().cause(error);
///     let mut connection = connect().await.map_err(refused)?;
///     cx.mark_sending()?;
///     connection.push(call.arguments);
///     // A failure after it: it is unknown whether the call was executed.
///     let reply = connection.pop().ok_or_else(|| ToolFailure::new(FailureKind::OutcomeUnknown, ""))?;
///     JsonText::parse(&reply).map(ToolOutput::new).map_err(|error| ToolFailure::new(FailureKind::OutcomeUnknown, "").cause(error))
/// }
/// ```
#[derive(Clone)]
pub struct ForwardCx {
    cx: Cx,
    attempt: Arc<Attempt>,
}

impl ForwardCx {
    /// Reports that nothing was sent yet: a call that ends here, because it is cancelled or times out, has not started.
    ///
    /// It has no effect after [`mark_sending`](Self::mark_sending): what may have been sent stays in doubt until the
    /// handler returns, or the other side reports that it [waits](Self::mark_waiting).
    pub fn mark_unsent(&self) {
        self.attempt.mark_unsent();
    }

    /// Reports that the other side has received the call and waits, for an approval for example: it will not start
    /// before something else is sent. A call that ends here has not started.
    ///
    /// Call [`mark_sending`](Self::mark_sending) again before anything is sent that lets the call start. This has no
    /// effect before the first one.
    ///
    /// ```
    /// use haft_core::{FailureKind, ToolCall, ToolFailure, ToolOutput};
    /// use haft_executor::ForwardCx;
    /// # async fn send(_: String) -> Reply { Reply::Done }
    /// # async fn ask() -> String { String::new() }
    ///
    /// enum Reply {
    ///     ApprovalRequested,
    ///     Done,
    /// }
    ///
    /// async fn forward(call: ToolCall, cx: ForwardCx) -> Result<ToolOutput, ToolFailure> {
    ///     cx.mark_unsent();
    ///     cx.mark_sending()?;
    ///     let mut reply = send(call.arguments).await;
    ///     while let Reply::ApprovalRequested = reply {
    ///         cx.mark_waiting();
    ///         let verdict = ask().await;
    ///         cx.mark_sending()?;
    ///         reply = send(verdict).await;
    ///     }
    ///     Ok(ToolOutput::from(serde_json::json!("done")))
    /// }
    /// ```
    pub fn mark_waiting(&self) {
        self.attempt.mark_waiting();
    }

    /// Reports that the call is sent next: from here on it counts as started until the handler returns.
    ///
    /// The call may have been cancelled in the meantime, and its result may already say that it has not started. Then
    /// this is an error, and the call must not be sent.
    pub fn mark_sending(&self) -> Result<(), ToolFailure> {
        if self.attempt.mark_sending(&self.cx) { Ok(()) } else { Err(cancelled()) }
    }

    /// Returns the context of the call.
    #[must_use]
    pub fn cx(&self) -> &Cx {
        &self.cx
    }
}

impl Deref for ForwardCx {
    type Target = Cx;

    fn deref(&self) -> &Cx {
        &self.cx
    }
}

impl fmt::Debug for ForwardCx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForwardCx").field("cx", &self.cx).finish_non_exhaustive()
    }
}

/// A function that forwards calls, with its types erased.
pub(crate) type ForwardFn = dyn Fn(Tool, ToolCall, ForwardCx) -> ForwardFuture + Send + Sync;

type ForwardFuture = BoxFuture<Result<ToolOutput, ToolFailure>>;

/// The handler of one forwarding tool.
pub(crate) struct ForwardHandler {
    /// The tool as the function knows it, which may have another name in its toolkit.
    discovered: Tool,
    forward: Arc<ForwardFn>,
}

/// Erases the types of a function that forwards calls.
pub(crate) fn erase<F, Fut>(forward: F) -> Arc<ForwardFn>
where
    F: Fn(Tool, ToolCall, ForwardCx) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<ToolOutput, ToolFailure>> + Send + 'static,
{
    let forward = Isolated::new(forward);
    Arc::new(move |tool, call, cx| Box::pin(forward(tool, call, cx)))
}

impl ForwardHandler {
    pub(crate) fn new(discovered: Tool, forward: Arc<ForwardFn>) -> Self {
        Self { discovered, forward }
    }

    /// Creates the execution of one attempt, with the arguments that were checked.
    fn running(&self, arguments: Cow<'_, str>, cx: Cx, start_flag: Arc<StartFlag>) -> ForwardRunning {
        let (discovered, forward) = (self.discovered.clone(), Arc::clone(&self.forward));
        let checked = CheckedCall { discovered, forward, call: forwarded_call(arguments, &cx), cx };
        let stage = ForwardStage::Checked(Box::new(checked));
        ForwardRunning { stage, attempt: Arc::new(Attempt { start_flag, state: Mutex::new(AttemptState::New) }) }
    }
}

impl Handler for ForwardHandler {
    fn prepare(&self, tool: &Tool, arguments: &str, cx: Cx) -> Result<Prepared, Box<ToolFailure>> {
        let checked = tool.parameters().check_arguments(arguments, cx.decode_options()).map_err(rejected)?;
        let start_flag = Arc::<StartFlag>::default();
        let running = Box::pin(self.running(checked.value, cx, Arc::clone(&start_flag)));
        let meta = PreparedMeta { repairs: checked.repairs, start_flag: Some(start_flag) };
        Ok(Prepared { running, meta: Some(Box::new(meta)) })
    }

    fn defer(&self, tool: &Tool, arguments: &str, cx: &Cx) -> Result<Decoded<Deferred>, Box<ToolFailure>> {
        let checked = tool.parameters().check_arguments(arguments, cx.decode_options()).map_err(rejected)?;
        let (handler, text) =
            (Self::new(self.discovered.clone(), Arc::clone(&self.forward)), checked.value.into_owned());
        let deferred: Deferred =
            Box::new(move |cx, start_flag| -> BoxRunning { Box::pin(handler.running(text.into(), cx, start_flag)) });
        Ok(Decoded { value: deferred, repairs: checked.repairs })
    }

    fn check(&self, tool: &Tool, arguments: &str, options: &DecodeOptions) -> Result<(), Issues> {
        tool.parameters().check_arguments(arguments, options).map(|_| ())
    }

    fn returns(&self) -> TypeInfo {
        TypeInfo::of::<ToolOutput>()
    }

    /// Only a run keeps the metadata of its calls.
    fn needs_run(&self) -> bool {
        true
    }
}

/// Returns the call as it was requested, with the arguments that were checked and approved.
fn forwarded_call(arguments: Cow<'_, str>, cx: &Cx) -> ToolCall {
    match cx.call_handle().map(CallHandle::call) {
        Some(requested) => requested.with_arguments(arguments),
        None => ToolCall::new(cx.call_id().clone(), cx.tool_name(), arguments),
    }
}

/// The execution of one attempt to forward a call.
struct ForwardRunning {
    stage: ForwardStage,
    attempt: Arc<Attempt>,
}

enum ForwardStage {
    /// The function was not called yet.
    Checked(Box<CheckedCall>),
    Called(ForwardFuture),
    /// During the call of the function, and if it was cancelled before.
    Ended,
}

/// A call whose arguments were checked, and the function to call with it.
struct CheckedCall {
    discovered: Tool,
    forward: Arc<ForwardFn>,
    call: ToolCall,
    cx: Cx,
}

impl ForwardRunning {
    /// Calls the function, unless the call was cancelled before this.
    fn call_function(&mut self) -> Result<(), ToolFailure> {
        match std::mem::replace(&mut self.stage, ForwardStage::Ended) {
            ForwardStage::Checked(checked) => {
                let CheckedCall { discovered, forward, call, cx } = *checked;
                if !self.attempt.begin(&cx) {
                    return Err(cancelled());
                }
                cx.report_started();
                let cx = ForwardCx { cx, attempt: Arc::clone(&self.attempt) };
                self.stage = ForwardStage::Called(forward(discovered, call, cx));
            }
            called => self.stage = called,
        }
        Ok(())
    }

    /// Ends the attempt with what the function returned.
    fn end(&self, tool: &Tool, returned: Result<ToolOutput, ToolFailure>) -> Outcome {
        match returned {
            Ok(output) => {
                self.attempt.end(Started::Yes);
                match output_fault(tool, &output) {
                    None => output.into(),
                    Some(issues) => failed_output(issues),
                }
            }
            Err(failure) => {
                // A call that may have been executed has started, by the meaning of the kind.
                let has_started = failure.started || failure.kind == FailureKind::OutcomeUnknown;
                self.attempt.end(if has_started { Started::Yes } else { Started::No });
                checked_failure(failure).into()
            }
        }
    }
}

impl Running for ForwardRunning {
    fn poll(mut self: Pin<&mut Self>, tool: &Tool, task: &mut Context<'_>, _: PollRight) -> Poll<Outcome> {
        let attempt = Arc::clone(&self.attempt);
        let _guard = PanicGuard(&attempt);
        if let Err(failure) = self.call_function() {
            return Poll::Ready(failure.into());
        }
        let ForwardStage::Called(work) = &mut self.stage else { return Poll::Pending };
        let returned = ready!(work.as_mut().poll(task));
        Poll::Ready(self.end(tool, returned))
    }
}

/// An attempt that is dropped before the function has returned keeps what the function reported.
impl Drop for ForwardRunning {
    fn drop(&mut self) {
        self.attempt.abandon();
    }
}

/// Records that the call has started if the function panics.
struct PanicGuard<'a>(&'a Attempt);

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end(Started::Yes);
        }
    }
}

/// One attempt to forward a call, shared with the contexts of its function.
struct Attempt {
    start_flag: Arc<StartFlag>,
    state: Mutex<AttemptState>,
}

/// The state of an attempt. One that is in doubt counts as started.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AttemptState {
    /// The function was not called.
    New,
    /// The function was called and has reported nothing. In doubt.
    Unreported,
    /// The function has reported that nothing was sent, or that the other side waits.
    Unsent,
    /// The function has reported that it sends the call. In doubt.
    Sending,
    /// The start flag has the final state.
    Ended,
}

/// The final state of an attempt.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Started {
    Yes,
    No,
}

impl AttemptState {
    fn is_in_doubt(self) -> bool {
        matches!(self, Self::Unreported | Self::Sending)
    }
}

impl Attempt {
    /// Begins the attempt. Returns false if the call was cancelled before.
    fn begin(&self, cx: &Cx) -> bool {
        let mut state = self.lock();
        self.replace(&mut state, AttemptState::Unreported);
        // The code that ends a call closes it first and then reads the flag. If the flag was not set by then, the
        // function must not run, so the check comes after the change; the same holds for `mark_sending`.
        let may_run = !cx.is_cancelled();
        if !may_run {
            self.replace(&mut state, AttemptState::Ended);
        }
        may_run
    }

    fn mark_unsent(&self) {
        let mut state = self.lock();
        if *state == AttemptState::Unreported {
            self.replace(&mut state, AttemptState::Unsent);
        }
    }

    fn mark_waiting(&self) {
        let mut state = self.lock();
        if *state == AttemptState::Sending {
            self.replace(&mut state, AttemptState::Unsent);
        }
    }

    /// Returns false if the call must not be sent.
    fn mark_sending(&self, cx: &Cx) -> bool {
        // The lock is held to the end: of two clones that report at once, neither may undo what the other has reported.
        let mut state = self.lock();
        let before = *state;
        if matches!(before, AttemptState::New | AttemptState::Ended) {
            return false;
        }
        self.replace(&mut state, AttemptState::Sending);
        let may_send = !cx.is_cancelled();
        if !may_send {
            self.replace(&mut state, before);
        }
        may_send
    }

    /// Ends the attempt, once.
    fn end(&self, started: Started) {
        self.end_as(|_| started);
    }

    /// Ends an attempt whose function will not return: one that is in doubt has started.
    fn abandon(&self) {
        self.end_as(|state| if state.is_in_doubt() { Started::Yes } else { Started::No });
    }

    /// Ends the attempt as its last state determines, in one step: a clone of the context may report at the same time.
    fn end_as(&self, started: impl FnOnce(AttemptState) -> Started) {
        let mut state = self.lock();
        if *state == AttemptState::Ended {
            return;
        }
        if started(*state) == Started::Yes {
            self.start_flag.begin();
        }
        self.replace(&mut state, AttemptState::Ended);
    }

    /// Replaces the state, and counts the attempt in the start flag while it is in doubt.
    fn replace(&self, state: &mut AttemptState, next: AttemptState) {
        let before = std::mem::replace(state, next);
        match (before.is_in_doubt(), next.is_in_doubt()) {
            (false, true) => self.start_flag.enter_doubt(),
            (true, false) => self.start_flag.leave_doubt(),
            (false, false) | (true, true) => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, AttemptState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
