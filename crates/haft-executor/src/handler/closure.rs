//! Closures as handlers, asynchronous and blocking.
//!
//! A closure is called at the first poll of its call and not before: it may have effects before its first await. An
//! asynchronous closure runs in the task that polls it, a blocking one on a thread of tokio's blocking pool.

use std::any::Any;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use haft_core::{Outcome, ToolFailure};
use haft_schema::isolation::Isolated;
use haft_schema::{DecodeOptions, Decoded, Issues};
use pin_project_lite::pin_project;
use serde::de::DeserializeOwned;
use tokio::runtime::Handle as Runtime;
use tokio::task::JoinHandle;

use crate::ambient::Ambient;
use crate::cancellation::{CancelOnDrop, Cancellation};
use crate::cx::Cx;
use crate::executor::{CallHandle, IsolatedSpan, MissingRuntime, PollRight};
use crate::handler::{
    BoxRunning, Deferred, Handler, HandlerError, OwnedRunning, Prepared, PreparedMeta, RESUMABLE, Returned,
    ReturnedNow, Running, STREAM, StartFlag, TypeInfo, broken, cancelled, encode, encode_success, ended, rejected,
};
use crate::tool::Tool;

/// An asynchronous function whose return value is of kind `KIND`.
pub(crate) struct AsyncFn<F, P, const KIND: u8> {
    run: Isolated<F>,
    params: PhantomData<fn(P)>,
}

/// A blocking function, which runs on tokio's blocking pool.
pub(crate) struct BlockingFn<F, P, const KIND: u8> {
    run: Arc<Isolated<F>>,
    params: PhantomData<fn(P)>,
}

/// A blocking task that is aborted when it is dropped, unless it has started.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<F, P, const KIND: u8> AsyncFn<F, P, KIND> {
    pub(crate) fn new(run: F) -> Self {
        Self { run: Isolated::new(run), params: PhantomData }
    }
}

impl<F, P, const KIND: u8> BlockingFn<F, P, KIND> {
    pub(crate) fn new(run: F) -> Self {
        Self { run: Arc::new(Isolated::new(run)), params: PhantomData }
    }
}

pin_project! {
    /// The execution of an asynchronous function for one call.
    struct AsyncRunning<H, P, Fut> {
        #[pin]
        stage: AsyncStage<P, Fut>,
        handler: PhantomData<fn() -> H>,
    }
}

pin_project! {
    #[project = AsyncStageProjection]
    #[project_replace = AsyncStageReplaced]
    enum AsyncStage<P, Fut> {
        // The function was not called yet.
        Decoded { params: P, cx: Cx },
        Called {
            #[pin]
            work: Fut,
        },
        // Only during the call of the function.
        Calling,
    }
}

impl<F, P, Fut, const KIND: u8> Running for AsyncRunning<AsyncFn<F, P, KIND>, P, Fut>
where
    F: Fn(P, Cx) -> Fut + Send + Sync + 'static,
    P: DeserializeOwned + Send + 'static,
    Fut: Future<Output: Returned<KIND>> + Send + 'static,
{
    fn poll(self: Pin<&mut Self>, tool: &Tool, task: &mut Context<'_>, _: PollRight) -> Poll<Outcome> {
        let mut stage = self.project().stage;
        if let AsyncStageProjection::Decoded { .. } = stage.as_mut().project() {
            let Some(AsyncFn { run, .. }) = of_tool::<AsyncFn<F, P, KIND>>(tool) else {
                return Poll::Ready(wrong_tool());
            };
            if let AsyncStageReplaced::Decoded { params, cx } = stage.as_mut().project_replace(AsyncStage::Calling) {
                stage.set(AsyncStage::Called { work: run(params, cx) });
            }
        }
        let AsyncStageProjection::Called { work } = stage.project() else { return Poll::Pending };
        let returned = ready!(work.poll(task));
        Poll::Ready(match returned.success() {
            Some(value) => encode_success(tool, value),
            None => returned.ready().map_or_else(|_| wrong_tool(), |outcome| encode(tool, outcome)),
        })
    }
}

impl<F, P, Fut, const KIND: u8> AsyncFn<F, P, KIND>
where
    F: Fn(P, Cx) -> Fut + Send + Sync + 'static,
    P: DeserializeOwned + Send + 'static,
    Fut: Future<Output: Returned<KIND>> + Send + 'static,
{
    fn running(params: P, cx: Cx, tool: &Tool) -> BoxRunning {
        // In a constant, so that the code for streams is only compiled for functions that return one.
        if const { KIND == STREAM } {
            Box::pin(OwnedRunning(Box::pin(Self::stream_handler(params, cx, tool.clone()))))
        } else {
            Box::pin(AsyncRunning::<Self, P, Fut> { stage: AsyncStage::Decoded { params, cx }, handler: PhantomData })
        }
    }

    /// Decodes arguments for a call whose context may still change. Checks use this too, so that decoding is not
    /// compiled twice per function.
    fn deferred(tool: &Tool, arguments: &str, options: &DecodeOptions) -> Result<Decoded<Deferred>, Issues> {
        tool.parameters().decode_then(arguments, options, |params: P| -> Deferred {
            let tool = tool.clone();
            Box::new(
                move |cx, start_flag: Arc<StartFlag>| {
                    if start_flag.begin_unless_ended(&cx) { Self::running(params, cx, &tool) } else { ended() }
                },
            )
        })
    }

    /// Runs a function that returns a stream. It needs its context and its tool between polls, for the preliminary
    /// values that it emits.
    async fn stream_handler(params: P, cx: Cx, tool: Tool) -> Outcome {
        let Some(Self { run, .. }) = of_tool(&tool) else { return wrong_tool() };
        let outcome = run(params, cx.clone()).await.resolve(&cx).await;
        encode(&tool, outcome)
    }
}

impl<F, P, Fut, const KIND: u8> Handler for AsyncFn<F, P, KIND>
where
    F: Fn(P, Cx) -> Fut + Send + Sync + 'static,
    P: DeserializeOwned + Send + 'static,
    Fut: Future<Output: Returned<KIND>> + Send + 'static,
{
    fn prepare(&self, tool: &Tool, arguments: &str, cx: Cx) -> Result<Prepared, Box<ToolFailure>> {
        let options = *cx.decode_options();
        let decoded = tool.parameters().decode_then(arguments, &options, |params| Self::running(params, cx, tool));
        let Decoded { value: running, repairs } = decoded.map_err(rejected)?;
        Ok(Prepared { running, meta: PreparedMeta::of_repairs(repairs) })
    }

    fn defer(&self, tool: &Tool, arguments: &str, cx: &Cx) -> Result<Decoded<Deferred>, Box<ToolFailure>> {
        Self::deferred(tool, arguments, cx.decode_options()).map_err(rejected)
    }

    fn check(&self, tool: &Tool, arguments: &str, options: &DecodeOptions) -> Result<(), Issues> {
        Self::deferred(tool, arguments, options).map(|_| ())
    }

    fn returns(&self) -> TypeInfo {
        TypeInfo::of::<<Fut::Output as Returned<KIND>>::Success>()
    }

    /// Only a run lets its calls wait.
    fn needs_run(&self) -> bool {
        KIND == RESUMABLE
    }
}

impl<F, P, R, const KIND: u8> BlockingFn<F, P, KIND>
where
    F: Fn(P, Cx) -> R + Send + Sync + 'static,
    P: DeserializeOwned + Send + 'static,
    R: ReturnedNow<KIND> + 'static,
{
    /// Runs the function on a thread. A thread can't be stopped from outside: when this future is dropped, the
    /// function's context reports that it is cancelled.
    async fn run_on_thread(params: P, cx: Cx, tool: Tool, start_flag: Arc<StartFlag>) -> Outcome {
        let Some(Self { run, .. }) = of_tool(&tool) else { return wrong_tool() };
        let Ok(runtime) = Runtime::try_current() else {
            return encode::<R::Success, R::Failure>(
                &tool,
                Err(HandlerError::opaque(MissingRuntime("blocking handlers"))),
            );
        };
        let cancel_on_drop = CancelOnDrop::new(Cancellation::new());
        let inside = cx.clone().with_further_cancellation(cancel_on_drop.cancellation().clone());
        let (run, ambient) = (Arc::clone(run), Ambient::current());
        let (occupy, span) = (cx.call_handle().map(CallHandle::occupy), IsolatedSpan::current());
        let mut thread = AbortOnDrop(runtime.spawn_blocking(move || {
            let _guard = occupy;
            let _entered = span.enter();
            if inside.is_cancelled() {
                // Cancelled while it waited for a thread: it must not start now.
                return None;
            }
            start_flag.begin();
            // A canceller first cancels and then reads the start flag. If it read that the function has not started,
            // the function must not start, so the cancellation is checked again after the flag was set.
            if inside.is_cancelled() {
                return None;
            }
            inside.report_started();
            Some(ambient.sync_scope(|| run(params, inside).now()))
        }));
        let outcome = match (&mut thread.0).await {
            Ok(Some(outcome)) => outcome,
            Ok(None) => return cancelled().into(),
            // A panic is passed on to the executor, as that of an asynchronous handler is.
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(error) => Err(HandlerError::opaque(error)),
        };
        cancel_on_drop.disarm();
        encode(&tool, outcome)
    }
}

impl<F, P, R, const KIND: u8> Handler for BlockingFn<F, P, KIND>
where
    F: Fn(P, Cx) -> R + Send + Sync + 'static,
    P: DeserializeOwned + Send + 'static,
    R: ReturnedNow<KIND> + 'static,
{
    fn prepare(&self, tool: &Tool, arguments: &str, cx: Cx) -> Result<Prepared, Box<ToolFailure>> {
        let Decoded { value, repairs } =
            tool.parameters().decode::<P>(arguments, cx.decode_options()).map_err(rejected)?;
        let start_flag = Arc::<StartFlag>::default();
        let running =
            Box::pin(OwnedRunning(Box::pin(Self::run_on_thread(value, cx, tool.clone(), Arc::clone(&start_flag)))));
        Ok(Prepared { running, meta: Some(Box::new(PreparedMeta { repairs, start_flag: Some(start_flag) })) })
    }

    fn defer(&self, tool: &Tool, arguments: &str, cx: &Cx) -> Result<Decoded<Deferred>, Box<ToolFailure>> {
        let Decoded { value, repairs } =
            tool.parameters().decode::<P>(arguments, cx.decode_options()).map_err(rejected)?;
        let tool = tool.clone();
        Ok(Decoded {
            value: Box::new(move |cx, start_flag| {
                Box::pin(OwnedRunning(Box::pin(Self::run_on_thread(value, cx, tool, start_flag))))
            }),
            repairs,
        })
    }

    fn check(&self, tool: &Tool, arguments: &str, options: &DecodeOptions) -> Result<(), Issues> {
        tool.parameters().decode_then(arguments, options, |_: P| ()).map(|_| ())
    }

    fn returns(&self) -> TypeInfo {
        TypeInfo::of::<R::Success>()
    }
}

/// Returns the handler of a tool by its concrete type. The executor has the tool of a call and lends it for each poll.
fn of_tool<H: Handler>(tool: &Tool) -> Option<&H> {
    (tool.handler()? as &dyn Any).downcast_ref()
}

/// The call was polled with another tool than it was prepared for.
#[derive(Debug, thiserror::Error)]
#[error("the call was prepared for another tool")]
struct OtherTool;

#[cold]
fn wrong_tool() -> Outcome {
    broken(OtherTool).into()
}
