//! What a handler knows about the call it answers.
//!
//! One context belongs to one call. Handlers take it by value, keep it and clone it freely. It can look things up and
//! emit; it can never change the call, its tool or the services.

mod source;

use std::fmt;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use serde::Serialize;
use tokio::time::Instant;

pub(crate) use self::source::RunCx;
use self::source::{KitCx, Own, Source, Special, Subject};
use crate::approval::{Gate, RefusedVerdict};
use crate::blocking::wait;
use crate::call::{CallId, ToolCall};
use crate::cancellation::Cancellation;
use crate::emit::{EmitError, Emitted, Emitter};
use crate::executor::CallHandle;
use crate::history::History;
use crate::item::Item;
use crate::schema::{DecodeOptions, encode_freely};
use crate::scope::RunScope;
use crate::service::{MissingService, Services};
use crate::text_id::text_id;
use crate::tool::Tool;
use crate::toolkit::ToolSet;

text_id! {
    /// Who asked for a call: a user, a tenant, a session. Its meaning is the application's.
    Caller
}

/// The context of one call. Cloning is cheap.
///
/// ```
/// use haft_core::{Cx, Services, ToolCall};
///
/// let call = ToolCall::new("call_1", "greet", "{}");
/// let cx = Cx::for_call(&call).with_services(Services::new().with(String::from("hello")));
/// assert_eq!(cx.call_id(), &"call_1");
/// assert_eq!(cx.tool_name(), "greet");
/// assert_eq!(cx.service::<String>()?, "hello");
/// # Ok::<_, haft_core::MissingService>(())
/// ```
#[derive(Clone)]
pub struct Cx(Source);

impl Cx {
    /// The context of a call: first attempt, no deadline, no services, nobody listening.
    #[must_use]
    pub fn for_call(call: &ToolCall) -> Self {
        Self::with_subject(call, Subject::Named(call.name.as_str().into()))
    }

    /// The context of a call of a known tool, which saves a copy of its name.
    #[must_use]
    pub fn for_tool(tool: &Tool, call: &ToolCall) -> Self {
        Self::with_subject(call, Subject::Bound(tool.clone()))
    }

    /// The id of the call.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        self.0.call_id()
    }

    /// The tool, once the call was given to it.
    #[must_use]
    pub fn tool(&self) -> Option<&Tool> {
        self.0.tool()
    }

    /// The name of the tool.
    #[must_use]
    pub fn tool_name(&self) -> &str {
        self.0.tool_name()
    }

    /// Which attempt this is, counted from one.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.0.attempt()
    }

    /// When the call must be done, if there is such a time.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let own = self.call_handle().and_then(CallHandle::deadline);
        [self.0.deadline(), own].into_iter().flatten().min()
    }

    /// Whether the call is no longer wanted: it was cancelled, or, in a run, it took too long or has its result already.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancellation().is_some_and(Cancellation::is_cancelled)
            || self.call_handle().is_some_and(CallHandle::is_over)
    }

    /// Ends when the call is no longer wanted; never, if it can't be cancelled.
    pub async fn cancelled(&self) {
        let mut cancelled = pin!(async {
            match self.cancellation() {
                Some(cancellation) => cancellation.cancelled().await,
                None => pending().await,
            }
        });
        let mut over = pin!(async {
            match self.call_handle() {
                Some(handle) => handle.over().await,
                None => pending().await,
            }
        });
        poll_fn(|task| match cancelled.as_mut().poll(task) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => over.as_mut().poll(task),
        })
        .await;
    }

    /// Shows a value to whoever watches the call, waiting while the queue is full.
    pub async fn emit(&self, value: impl Serialize + Send) -> Result<(), EmitError> {
        if !self.0.is_heard() {
            return Ok(());
        }
        let text = encode_freely(&value).map_err(EmitError::Encode)?;
        drop(value);
        self.0.send(Emitted::Progress(text)).await;
        Ok(())
    }

    /// Shows how far the call is: `{"done": …, "total": …, "message": …}`, where an unknown total and an empty
    /// message are left out.
    pub async fn progress(
        &self,
        done: f64,
        total: impl Into<Option<f64>> + Send,
        message: impl Into<String> + Send,
    ) -> Result<(), EmitError> {
        let progress = Progress { done, total: total.into(), message: message.into() };
        self.emit(progress).await
    }

    /// Shows an early form of the result, encoded as the result will be.
    ///
    /// A value that doesn't fit the tool's success schema is refused, whether somebody listens or not.
    pub async fn preliminary(&self, value: impl Serialize + Send) -> Result<(), EmitError> {
        let encoded = match self.tool() {
            Some(tool) => tool.success().encode(&value).map_err(EmitError::Preliminary)?,
            None => encode_freely(&value).map_err(EmitError::Encode)?,
        };
        drop(value);
        self.0.send(Emitted::Preliminary(encoded)).await;
        Ok(())
    }

    /// [`emit`](Cx::emit) for blocking handlers: waits on the thread. In an asynchronous one it would block every other.
    pub fn emit_blocking(&self, value: impl Serialize + Send) -> Result<(), EmitError> {
        wait(self.emit(value))
    }

    /// [`progress`](Cx::progress) for blocking handlers.
    pub fn progress_blocking(
        &self,
        done: f64,
        total: impl Into<Option<f64>> + Send,
        message: impl Into<String> + Send,
    ) -> Result<(), EmitError> {
        wait(self.progress(done, total, message))
    }

    /// [`preliminary`](Cx::preliminary) for blocking handlers.
    pub fn preliminary_blocking(&self, value: impl Serialize + Send) -> Result<(), EmitError> {
        wait(self.preliminary(value))
    }

    /// The service of this type.
    pub fn service<T: ?Sized + 'static>(&self) -> Result<&T, MissingService> {
        self.services().get()
    }

    /// All services of the call.
    #[must_use]
    pub fn services(&self) -> &Services {
        self.0.scope().map_or(Services::none(), |scope| &scope.services)
    }

    /// The services that the call has of its toolkit, whatever its run has in front of them.
    pub(crate) fn kit_services(&self) -> &Services {
        self.0.kit_scope().map_or(Services::none(), |scope| &scope.services)
    }

    /// All extensions of the call.
    pub(crate) fn extensions(&self) -> &Services {
        self.0.scope().map_or(Services::none(), |scope| &scope.extensions)
    }

    /// A value that somebody attached to the run: middleware, or whoever started it.
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.scope()?.extensions.get().ok()
    }

    /// The conversation up to the call, as far as it was given.
    #[must_use]
    pub fn messages(&self) -> &[Item] {
        self.0.scope().and_then(|scope| scope.messages.as_ref()).map_or(&[], |messages| messages.as_slice())
    }

    /// Who asked for the call.
    #[must_use]
    pub fn caller(&self) -> Option<&Caller> {
        self.0.scope()?.caller.as_ref()
    }

    /// Returns the verdict that was rejected before, in the context of an approver that is asked about the call again: an
    /// edit or an answer that did not pass the tool's checks. Its [fault](RefusedVerdict::fault) lists the issues, and
    /// [`attempt`](Cx::attempt) counts how often the approver was asked.
    #[must_use]
    pub fn rejected_verdict(&self) -> Option<&RefusedVerdict> {
        self.0.rejected()
    }

    /// How argument text is read.
    #[must_use]
    pub fn decode_options(&self) -> &DecodeOptions {
        self.0.decode()
    }
}

/// Setters. Each gives a changed context; clones made before keep what they had.
impl Cx {
    /// The same context with these services.
    #[must_use]
    pub fn with_services(self, services: Services) -> Self {
        self.scoped(|scope| scope.services = services)
    }

    /// The same context with a value attached, one per type.
    #[must_use]
    pub fn with_extension<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.scoped(|scope| scope.extensions = std::mem::take(&mut scope.extensions).with(value))
    }

    /// The same context with the conversation up to the call.
    #[must_use]
    pub fn with_messages(self, messages: impl Into<History>) -> Self {
        self.scoped(|scope| scope.messages = Some(messages.into()))
    }

    /// The same context with who asked.
    #[must_use]
    pub fn with_caller(self, caller: impl Into<Caller>) -> Self {
        self.scoped(|scope| scope.caller = Some(caller.into()))
    }

    /// The same context with other rules for reading argument text.
    #[must_use]
    pub fn with_decode_options(self, options: DecodeOptions) -> Self {
        if *self.decode_options() == options {
            return self;
        }
        self.specially(|special| special.decode = options)
    }

    /// The same context whose emitted values go to a queue. The queue ends when this context and every clone of it are
    /// gone: who reads while the call runs moves the context into the future of the call.
    #[must_use]
    pub fn with_emitter(self, emitter: impl Into<Emitter>) -> Self {
        self.own(|own| own.emitter = Some(emitter.into()))
    }

    /// The same context, cancelled by this flag.
    #[must_use]
    pub fn with_cancellation(self, cancellation: Cancellation) -> Self {
        self.specially(|special| special.cancellation = Some(cancellation))
    }

    /// The same context with a time by which the call must be done. It is told to the handler; whoever runs the call
    /// enforces it, and [`Tool::run_call`] does not.
    #[must_use]
    pub fn with_deadline(self, deadline: Instant) -> Self {
        self.specially(|special| special.deadline = Some(deadline))
    }

    /// The same context of another attempt, counted from one.
    #[must_use]
    pub fn with_attempt(self, attempt: u32) -> Self {
        self.specially(|special| special.attempt = attempt)
    }

    /// The flag that cancels the call, if there is one.
    pub(crate) fn cancellation(&self) -> Option<&Cancellation> {
        self.0.cancellation()
    }

    /// The context of a call that a toolkit runs by itself.
    pub(crate) fn of_kit(set: &Arc<ToolSet>, tool: usize, call: &ToolCall) -> Self {
        Self(Source::Kit(KitCx { set: Arc::clone(set), tool, call_id: call.call_id.clone() }))
    }

    /// The same context with what a run provides in front of what it has.
    pub(crate) fn in_front(self, run: Option<&Arc<RunScope>>) -> Self {
        if run.is_none() {
            return self;
        }
        self.own(|own| own.scope = RunScope::layered(run, own.scope.as_ref()))
    }

    /// The context of a call of a run.
    pub(crate) fn in_run(handle: CallHandle) -> Self {
        Self(Source::Run(handle))
    }

    pub(crate) fn call_handle(&self) -> Option<&CallHandle> {
        self.0.call_handle()
    }

    /// The conversation, shared.
    pub(crate) fn shared_messages(&self) -> History {
        self.0.scope().and_then(|scope| scope.messages.clone()).unwrap_or_default()
    }

    fn with_subject(call: &ToolCall, subject: Subject) -> Self {
        Self(Source::Own(Arc::new(Own::new(call, subject))))
    }

    fn own(self, change: impl FnOnce(&mut Own)) -> Self {
        Self(self.0.changed(change))
    }

    /// The context of somebody who is asked about the call.
    pub(crate) fn at_gate(self, gate: Option<&Arc<Gate>>) -> Self {
        match gate {
            Some(gate) => self.specially(|special| special.gate = Some(Arc::clone(gate))),
            None => self,
        }
    }

    /// The same context of somebody who is asked about the call again, as what they said before was rejected.
    pub(crate) fn asked_again(self, attempt: u32, rejected: RefusedVerdict) -> Self {
        self.specially(|special| (special.attempt, special.rejected) = (attempt, Some(Arc::new(rejected))))
    }

    /// What verdicts on the call are examined by.
    #[cfg(feature = "approval")]
    pub(crate) fn gate(&self) -> Option<&Arc<Gate>> {
        self.0.gate()
    }

    fn specially(self, change: impl FnOnce(&mut Special)) -> Self {
        self.own(|own| change(own.special.get_or_insert_default()))
    }

    fn scoped(self, change: impl FnOnce(&mut RunScope)) -> Self {
        self.own(|own| change(Arc::make_mut(own.scope.get_or_insert_default())))
    }
}

/// How far a call is.
#[derive(Serialize)]
struct Progress {
    done: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<f64>,
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
}

impl fmt::Debug for Cx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cx")
            .field("call_id", self.call_id())
            .field("tool", &self.tool_name())
            .field("attempt", &self.attempt())
            .field("caller", &self.caller())
            .field("services", self.services())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::sync::mpsc;

    use super::*;
    use crate::json_text::JsonText;

    fn cx() -> Cx {
        Cx::for_call(&ToolCall::new("c1", "t", "{}"))
    }

    #[test]
    fn a_fresh_context_knows_its_call_and_nothing_else() {
        let cx = cx();
        assert_eq!(cx.call_id().as_str(), "c1");
        assert_eq!(cx.tool_name(), "t");
        assert_eq!(cx.attempt(), 1);
        assert_eq!(cx.deadline(), None);
        assert!(!cx.is_cancelled());
        assert!(cx.messages().is_empty());
        assert_eq!(cx.caller(), None);
        assert_eq!(cx.extension::<u8>(), None);
        assert_eq!(cx.service::<u8>().unwrap_err().service, "u8");
    }

    #[test]
    fn a_setter_leaves_earlier_clones_alone() {
        let before = cx();
        let after = before
            .clone()
            .with_attempt(2)
            .with_caller("ana")
            .with_extension(7_u8)
            .with_services(Services::new().with('x'));
        assert_eq!(after.attempt(), 2);
        assert_eq!(after.caller().unwrap(), &"ana");
        assert_eq!(after.extension::<u8>(), Some(&7));
        assert_eq!(after.service::<char>().unwrap(), &'x');
        assert_eq!(before.attempt(), 1);
        assert_eq!(before.caller(), None);
        assert!(before.services().is_empty());
    }

    #[tokio::test]
    async fn emits_are_dropped_when_nobody_listens() {
        let cx = cx();
        cx.emit("a").await.unwrap();
        cx.progress(1.0, 2.0, "half").await.unwrap();
        cx.preliminary("b").await.unwrap();
        let (queue, reader) = mpsc::channel(1);
        drop(reader);
        let cx = cx.with_emitter(queue);
        cx.emit("a").await.unwrap();
        cx.emit("b").await.unwrap();
    }

    #[tokio::test]
    async fn emitted_values_arrive_in_order() {
        let (queue, mut reader) = mpsc::unbounded_channel();
        let cx = cx().with_emitter(queue);
        cx.emit(json!({"step": 1})).await.unwrap();
        cx.progress(1.0, None, "").await.unwrap();
        cx.progress(1.0, 4.0, "quarter").await.unwrap();
        cx.preliminary([1, 2]).await.unwrap();
        drop(cx);
        let mut got = Vec::new();
        while let Some(emitted) = reader.recv().await {
            got.push(emitted);
        }
        let progress = |value| Emitted::Progress(JsonText::from(value));
        assert_eq!(
            got,
            [
                progress(json!({"step": 1})),
                progress(json!({"done": 1.0})),
                progress(json!({"done": 1.0, "total": 4.0, "message": "quarter"})),
                Emitted::Preliminary(JsonText::from(json!([1, 2]))),
            ]
        );
    }

    #[tokio::test]
    async fn a_full_queue_makes_the_handler_wait() {
        let (queue, mut reader) = mpsc::channel(1);
        let cx = cx().with_emitter(queue);
        cx.emit(1).await.unwrap();
        let second = tokio::spawn(async move { cx.emit(2).await });
        tokio::task::yield_now().await;
        assert!(!second.is_finished());
        assert_eq!(reader.recv().await, Some(Emitted::Progress(JsonText::from(json!(1)))));
        second.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_number_that_is_not_finite_is_an_error_and_no_null() {
        let (queue, mut reader) = mpsc::channel(1);
        let cx = cx().with_emitter(queue);
        assert!(matches!(cx.emit(f64::NAN).await, Err(EmitError::Encode(_))));
        assert!(matches!(cx.progress(1.0, f64::INFINITY, "").await, Err(EmitError::Encode(_))));
        assert!(reader.try_recv().is_err());
    }

    #[tokio::test]
    async fn a_value_without_a_json_form_is_an_error() {
        let (queue, _reader) = mpsc::channel(1);
        let bad = std::collections::HashMap::from([((1, 2), 3)]);
        assert!(matches!(cx().with_emitter(queue).emit(&bad).await, Err(EmitError::Encode(_))));
    }

    #[tokio::test]
    async fn cancellation_reaches_the_handler() {
        let flag = Cancellation::new();
        let cx = cx().with_cancellation(flag.clone());
        assert!(!cx.is_cancelled());
        flag.cancel();
        cx.cancelled().await;
        assert!(cx.is_cancelled());
    }
}
