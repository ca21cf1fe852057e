//! A call's context, which its handler receives.
//!
//! ```text
//!                 ┌─ CxSource::Run    a call of a run: a handle to the run's state
//! Cx ── reads ────┼─ CxSource::Kit    a single call: an index into its toolkit
//! │               └─ CxSource::Owned  a context with its own settings (cx/source.rs)
//! └──── emits ─► CallHandle ─► mailbox ─► events of the run
//!                or an Emitter's queue
//! ```
//!
//! One context belongs to one call. Handlers take it by value, keep it and clone it freely. It can read settings and
//! emit values; it can never change the call, its tool or the services.

mod ask;
pub(crate) mod emit;
mod identity;
pub(crate) mod run_id;
mod source;

use std::fmt;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use haft_core::history::History;
use haft_core::internal::Serial;
use haft_core::{CallId, Caller, Item, Progress, ToolCall};
use haft_schema::DecodeOptions;
use haft_schema::internal::encode_unchecked;
use serde::Serialize;
use tokio::time::Instant;

pub(crate) use self::source::RunCx;
use self::source::{CallOverrides, CxSource, KitCx, OwnedCx, ToolRef};
use crate::approval::{Gate, RejectedVerdict};
use crate::blocking::wait;
use crate::cancellation::Cancellation;
use crate::cx::emit::{EmissionMap, EmitError, Emitted, Emitter};
use crate::executor::{CallHandle, OptionList};
use crate::scope::RunScope;
use crate::service::{MissingService, Services};
use crate::tool::Tool;
use crate::toolkit::ToolSet;

/// One call's context. Cloning is cheap.
///
/// ```
/// use haft_executor::{Cx, Services};
/// use haft_core::ToolCall;
///
/// let call = ToolCall::new("call_1", "greet", "{}");
/// let cx = Cx::for_call(&call).with_services(Services::new().with(String::from("hello")));
/// assert_eq!(cx.call_id(), &"call_1");
/// assert_eq!(cx.tool_name(), "greet");
/// assert_eq!(cx.service::<String>()?, "hello");
/// # Ok::<_, haft_executor::MissingService>(())
/// ```
#[derive(Clone)]
pub struct Cx(CxSource);

impl Cx {
    /// Creates a call's context: first attempt, no deadline, no services, emitted values are dropped.
    #[must_use]
    pub fn for_call(call: &ToolCall) -> Self {
        Self::with_tool(call, ToolRef::Named(call.name.as_str().into()))
    }

    /// Creates the context for a call to a known tool, which saves copying its name.
    #[must_use]
    pub fn for_tool(tool: &Tool, call: &ToolCall) -> Self {
        Self::with_tool(call, ToolRef::Bound(tool.clone()))
    }

    /// Returns the call's id.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        self.0.call_id()
    }

    /// Returns the tool, if the context is bound to one.
    #[must_use]
    pub fn tool(&self) -> Option<&Tool> {
        self.0.tool()
    }

    /// Returns the tool's name.
    #[must_use]
    pub fn tool_name(&self) -> &str {
        self.0.tool_name()
    }

    /// Returns the attempt's number, from one.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.0.attempt()
    }

    /// Returns the call's deadline, if it has one.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let own = self.call_handle().and_then(CallHandle::deadline);
        [self.0.deadline(), own].into_iter().flatten().min()
    }

    /// Reports whether the call was cancelled or, in a run, has timed out or has its result already.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancellations().iter().any(Cancellation::is_cancelled)
            || self.call_handle().is_some_and(CallHandle::is_closed)
    }

    /// Completes when [`is_cancelled`](Cx::is_cancelled) becomes true; never, if the call can't be cancelled.
    pub async fn cancelled(&self) {
        let mut cancelled = pin!(Cancellation::any(self.cancellations()));
        let mut closed = pin!(async {
            match self.call_handle() {
                Some(handle) => handle.closed().await,
                None => pending().await,
            }
        });
        poll_fn(|task| match cancelled.as_mut().poll(task) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => closed.as_mut().poll(task),
        })
        .await;
    }

    /// Runs a future until it is done, or until the call is cancelled, which gives `None`. The future is dropped then.
    ///
    /// ```
    /// use haft_executor::{Cancellation, Cx};
    /// use haft_core::ToolCall;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let cancellation = Cancellation::new();
    /// let cx = Cx::for_call(&ToolCall::new("c1", "wait", "")).with_cancellation(cancellation.clone());
    /// assert_eq!(cx.run_until_cancelled(async { 7 }).await, Some(7));
    ///
    /// cancellation.cancel();
    /// assert_eq!(cx.run_until_cancelled(std::future::pending::<u8>()).await, None);
    /// # }
    /// ```
    pub async fn run_until_cancelled<F: Future>(&self, future: F) -> Option<F::Output> {
        let mut cancelled = pin!(self.cancelled());
        let mut future = pin!(future);
        poll_fn(|task| match cancelled.as_mut().poll(task) {
            Poll::Ready(()) => Poll::Ready(None),
            Poll::Pending => future.as_mut().poll(task).map(Some),
        })
        .await
    }

    /// Emits a progress value to whoever reads the call's events, waiting while the queue is full.
    ///
    /// If the tool declares what it emits ([`ToolBuilder::emits`](crate::ToolBuilder::emits)), any other value is
    /// rejected, even if the emitted values are dropped.
    pub async fn emit(&self, value: impl Serialize + Send) -> Result<(), EmitError> {
        let text = match self.tool().and_then(Tool::emits) {
            Some(declared) => declared.encode(&value).map_err(EmitError::Invalid)?,
            None if !self.0.has_listener() => return Ok(()),
            None => encode_unchecked(&value).map_err(EmitError::Encode)?,
        };
        drop(value);
        self.send(Emitted::Progress(text)).await;
        Ok(())
    }

    /// Emits the call's progress as a [`Progress`], which readers get from
    /// [`ToolEvent::progress`](haft_core::ToolEvent::progress). In JSON it is `{"done": …, "total": …, "message": …}`,
    /// where an unknown total and an empty message are omitted.
    pub async fn progress(
        &self,
        done: f64,
        total: impl Into<Option<f64>> + Send,
        message: impl Into<String> + Send,
    ) -> Result<(), EmitError> {
        self.emit(Progress::new(done).total(total).message(message)).await
    }

    /// Emits a preliminary result, encoded as the result will be.
    ///
    /// A value that violates the tool's success schema is rejected, even if the emitted values are dropped.
    pub async fn preliminary(&self, value: impl Serialize + Send) -> Result<(), EmitError> {
        let encoded = match self.tool() {
            Some(tool) => tool.success().encode(&value).map_err(EmitError::Preliminary)?,
            None => encode_unchecked(&value).map_err(EmitError::Encode)?,
        };
        drop(value);
        self.send(Emitted::Preliminary(encoded)).await;
        Ok(())
    }

    /// Emits a value as [`emit`](Cx::emit) does, from a blocking handler: waits on the thread. In an asynchronous
    /// handler it would block every other call in the task.
    pub fn emit_blocking(&self, value: impl Serialize + Send) -> Result<(), EmitError> {
        wait(self.emit(value))
    }

    /// Emits the call's progress as [`progress`](Cx::progress) does, from a blocking handler.
    pub fn progress_blocking(
        &self,
        done: f64,
        total: impl Into<Option<f64>> + Send,
        message: impl Into<String> + Send,
    ) -> Result<(), EmitError> {
        wait(self.progress(done, total, message))
    }

    /// Emits a preliminary result as [`preliminary`](Cx::preliminary) does, from a blocking handler.
    pub fn preliminary_blocking(&self, value: impl Serialize + Send) -> Result<(), EmitError> {
        wait(self.preliminary(value))
    }

    /// Returns the service of this type.
    pub fn service<T: ?Sized + 'static>(&self) -> Result<&T, MissingService> {
        self.services().get()
    }

    /// Returns all the call's services.
    #[must_use]
    pub fn services(&self) -> &Services {
        self.0.scope().map_or(Services::none(), |scope| &scope.services)
    }

    /// Returns the services that the toolkit alone provides, without the run's and the middlewares'.
    #[must_use]
    pub fn toolkit_services(&self) -> &Services {
        self.0.kit_scope().map_or(Services::none(), |scope| &scope.services)
    }

    /// Returns all the call's extensions, by type.
    #[must_use]
    pub fn extensions(&self) -> &Services {
        self.0.scope().map_or(Services::none(), |scope| &scope.extensions)
    }

    /// Returns the value of this type that a middleware or the application attached to the run.
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.scope()?.extensions.get().ok()
    }

    /// Returns the conversation up to the call; empty if it was not set.
    #[must_use]
    pub fn messages(&self) -> &[Item] {
        self.0.scope().and_then(|scope| scope.messages.as_ref()).map_or(&[], |messages| messages.as_slice())
    }

    /// Returns the caller that the call runs for.
    #[must_use]
    pub fn caller(&self) -> Option<&Caller> {
        self.0.scope()?.caller.as_ref()
    }

    /// Returns the previous verdict on the call, in the context for an approver whose edit or answer was rejected by the
    /// tool's checks. Its [fault](RejectedVerdict::fault) lists the issues, and [`attempt`](Cx::attempt) returns the
    /// number of requests so far.
    #[must_use]
    pub fn rejected_verdict(&self) -> Option<&RejectedVerdict> {
        self.0.rejected()
    }

    /// Returns the options by which argument text is read.
    #[must_use]
    pub fn decode_options(&self) -> &DecodeOptions {
        self.0.decode()
    }
}

/// Setters. Each returns a changed context; clones made before keep their values.
impl Cx {
    /// Sets the services.
    #[must_use]
    pub fn with_services(self, services: Services) -> Self {
        self.scoped(|scope| scope.services = services)
    }

    /// Attaches a value, one per type.
    #[must_use]
    pub fn with_extension<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.scoped(|scope| scope.extensions = std::mem::take(&mut scope.extensions).with(value))
    }

    /// Sets the conversation up to the call.
    #[must_use]
    pub fn with_messages(self, messages: impl Into<History>) -> Self {
        self.scoped(|scope| scope.messages = Some(messages.into()))
    }

    /// Sets the caller.
    #[must_use]
    pub fn with_caller(self, caller: impl Into<Caller>) -> Self {
        self.scoped(|scope| scope.caller = Some(caller.into()))
    }

    /// Sets the options by which argument text is read.
    #[must_use]
    pub fn with_decode_options(self, options: DecodeOptions) -> Self {
        if *self.decode_options() == options {
            return self;
        }
        self.with_overrides(|overrides| overrides.decode = options)
    }

    /// Sends emitted values to a queue. The queue ends when this context and every clone of it are dropped: to read
    /// while the call runs, move the context into the call's future.
    #[must_use]
    pub fn with_emitter(self, emitter: impl Into<Emitter>) -> Self {
        self.changed(|own| own.emitter = Some(emitter.into()))
    }

    /// Sets the call's cancellation, in place of its run's.
    #[must_use]
    pub fn with_cancellation(self, cancellation: Cancellation) -> Self {
        self.with_overrides(|overrides| overrides.cancellations = OptionList::of(cancellation))
    }

    /// Sets the call's deadline, for the handler to read. The context does not enforce it.
    #[must_use]
    pub fn with_deadline(self, deadline: Instant) -> Self {
        self.with_overrides(|overrides| overrides.deadline = Some(deadline))
    }

    /// Sets the attempt's number, from one.
    #[must_use]
    pub fn with_attempt(self, attempt: u32) -> Self {
        self.with_overrides(|overrides| overrides.attempt = attempt)
    }

    /// The same context with a cancellation beside those that it has.
    pub(crate) fn with_further_cancellation(self, cancellation: Cancellation) -> Self {
        self.with_overrides(|overrides| overrides.cancellations.add(cancellation))
    }

    fn cancellations(&self) -> &[Cancellation] {
        self.0.cancellations()
    }

    /// Creates the context for a toolkit's single call.
    pub(crate) fn of_kit(set: &Arc<ToolSet>, tool: usize, call: &ToolCall) -> Self {
        let (set, call_id) = (Arc::clone(set), call.call_id.clone());
        Self(CxSource::Kit(KitCx { set, tool, call_id, serial: Serial::next() }))
    }

    /// Layers a run's scope over the context's.
    pub(crate) fn layered_under(self, run: Option<&Arc<RunScope>>) -> Self {
        if run.is_none() {
            return self;
        }
        self.changed(|own| own.scope = RunScope::layered(run, own.scope.as_ref()))
    }

    /// Creates the context for a run's call.
    pub(crate) fn in_run(handle: CallHandle) -> Self {
        Self(CxSource::Run(handle))
    }

    pub(crate) fn call_handle(&self) -> Option<&CallHandle> {
        self.0.call_handle()
    }

    /// Reports to the run that this attempt reaches its handler now.
    pub(crate) fn report_started(&self) {
        if let Some(handle) = self.call_handle() {
            handle.report_started(self.attempt());
        }
    }

    /// Returns the conversation, shared.
    pub(crate) fn shared_messages(&self) -> History {
        self.0.scope().and_then(|scope| scope.messages.clone()).unwrap_or_default()
    }

    /// Returns the services, extensions, conversation and caller, as they are shared with other calls.
    pub(crate) fn shared_scope(&self) -> Option<&Arc<RunScope>> {
        self.0.scope()
    }

    /// The same context with a service in front of those that it has.
    pub(crate) fn with_service<T: ?Sized + Send + Sync + 'static>(self, service: Arc<T>) -> Self {
        self.scoped(|scope| {
            let behind = std::mem::take(&mut scope.services);
            scope.services = Services::new().with_shared(service).over(behind);
        })
    }

    /// The same context whose emitted values pass a function, before those that they pass already.
    pub(crate) fn map_emissions(self, map: impl Fn(Emitted) -> Option<Emitted> + Send + Sync + 'static) -> Self {
        self.with_overrides(|call| call.emission_map = Some(EmissionMap::new(map, call.emission_map.take())))
    }

    /// Sends a value to the reader, as middlewares let it pass.
    async fn send(&self, emitted: Emitted) {
        let Some(map) = self.0.emission_map() else { return self.0.send(emitted).await };
        match map.apply(emitted).filter(|emitted| self.is_valid(emitted)) {
            Some(emitted) => self.0.send(emitted).await,
            // The call is at work, also where that is not shown.
            None => self.call_handle().into_iter().for_each(CallHandle::touch),
        }
    }

    /// Reports whether a value that a middleware may have replaced is one that the tool could emit.
    fn is_valid(&self, emitted: &Emitted) -> bool {
        match (emitted, self.tool()) {
            (Emitted::Preliminary(value), Some(tool)) => tool.success().check_output(value).is_ok(),
            (Emitted::Progress(value), Some(tool)) => {
                tool.emits().is_none_or(|declared| declared.check_output(value).is_ok())
            }
            (Emitted::Progress(_) | Emitted::Preliminary(_), None) => true,
        }
    }

    fn with_tool(call: &ToolCall, tool: ToolRef) -> Self {
        Self(CxSource::Owned(Arc::new(OwnedCx::new(call, tool))))
    }

    fn changed(self, change: impl FnOnce(&mut OwnedCx)) -> Self {
        Self(self.0.changed(change))
    }

    /// Sets the gate, for an approver's context.
    pub(crate) fn at_gate(self, gate: Option<&Arc<Gate>>) -> Self {
        match gate {
            Some(gate) => self.with_overrides(|overrides| overrides.gate = Some(Arc::clone(gate))),
            None => self,
        }
    }

    /// Sets the attempt and the rejected verdict, for an approver that receives the request again.
    pub(crate) fn asked_again(self, attempt: u32, rejected: RejectedVerdict) -> Self {
        self.with_overrides(|overrides| (overrides.attempt, overrides.rejected) = (attempt, Some(Arc::new(rejected))))
    }

    /// Returns the gate that examines verdicts on the call.
    pub(crate) fn gate(&self) -> Option<&Arc<Gate>> {
        self.0.gate()
    }

    fn with_overrides(self, change: impl FnOnce(&mut CallOverrides)) -> Self {
        self.changed(|own| change(own.overrides.get_or_insert_default()))
    }

    fn scoped(self, change: impl FnOnce(&mut RunScope)) -> Self {
        self.changed(|own| change(Arc::make_mut(own.scope.get_or_insert_default())))
    }
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
    use haft_schema::JsonText;
    use serde_json::json;
    use tokio::sync::mpsc;

    use super::*;

    fn cx() -> Cx {
        Cx::for_call(&ToolCall::new("c1", "t", "{}"))
    }

    #[test]
    fn a_new_context_has_its_call_and_nothing_else() {
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
    fn a_setter_does_not_affect_earlier_clones() {
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
    async fn emitted_values_are_dropped_without_a_reader() {
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
    async fn emitting_a_number_that_is_not_finite_is_an_error() {
        let (queue, mut reader) = mpsc::channel(1);
        let cx = cx().with_emitter(queue);
        assert!(matches!(cx.emit(f64::NAN).await, Err(EmitError::Encode(_))));
        assert!(matches!(cx.progress(1.0, f64::INFINITY, "").await, Err(EmitError::Encode(_))));
        assert!(reader.try_recv().is_err());
    }

    #[tokio::test]
    async fn emitting_a_value_without_a_json_form_is_an_error() {
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
