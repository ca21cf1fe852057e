//! Closures as handlers.

use std::any::Any;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use serde::de::DeserializeOwned;
use tokio::runtime::Handle as Runtime;
use tokio::task::JoinHandle;

use crate::cancellation::{CancelOnDrop, Cancellation};
use crate::cx::Cx;
use crate::executor::{CallHandle, Isolated, IsolatedSpan, PollRight};
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::handler::{
    BoxRunning, Deferred, Handler, HandlerError, Prepared, PreparedMeta, Returned, ReturnedNow, Running, STREAM,
    StartFlag, TypeInfo, Whole, broken, encode, encode_success, refused,
};
use crate::issue::Issues;
use crate::middleware::Nesting;
use crate::result::Outcome;
use crate::schema::{DecodeOptions, Decoded};
use crate::tool::Tool;

/// An asynchronous function whose result is read as kind `KIND`.
pub(crate) struct AsyncFn<F, P, const KIND: u8> {
    run: Isolated<F>,
    params: PhantomData<fn(P)>,
}

/// A blocking function, run on tokio's threads for such.
pub(crate) struct BlockingFn<F, P, const KIND: u8> {
    run: Arc<Isolated<F>>,
    params: PhantomData<fn(P)>,
}

/// A thread's work that is called off, if it has not begun, when nobody waits for it any more.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A blocking handler can't run: there is no tokio runtime.
#[derive(Debug, thiserror::Error)]
#[error("a blocking handler needs a tokio runtime, and the call is polled outside of one")]
struct NoRuntime;

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
    /// An asynchronous function at work on one call.
    struct Answer<H, P, Fut> {
        #[pin]
        stage: Stage<P, Fut>,
        handler: PhantomData<fn() -> H>,
    }
}

pin_project! {
    #[project = StageNow]
    #[project_replace = StageBefore]
    enum Stage<P, Fut> {
        // The function is called at the first poll and not before: it may do things before its first await.
        Given { params: P, cx: Cx },
        Called {
            #[pin]
            work: Fut,
        },
        // Only while the function is called.
        Calling,
    }
}

impl<F, P, Fut, const KIND: u8> Running for Answer<AsyncFn<F, P, KIND>, P, Fut>
where
    F: Fn(P, Cx) -> Fut + Send + Sync + 'static,
    P: DeserializeOwned + Send + 'static,
    Fut: Future<Output: Returned<KIND>> + Send + 'static,
{
    fn poll(self: Pin<&mut Self>, tool: &Tool, task: &mut Context<'_>, _: PollRight) -> Poll<Outcome> {
        let mut stage = self.project().stage;
        if let StageNow::Given { .. } = stage.as_mut().project() {
            let Some(AsyncFn { run, .. }) = of_tool::<AsyncFn<F, P, KIND>>(tool) else { return Poll::Ready(lost()) };
            if let StageBefore::Given { params, cx } = stage.as_mut().project_replace(Stage::Calling) {
                stage.set(Stage::Called { work: run(params, cx) });
            }
        }
        let StageNow::Called { work } = stage.project() else { return Poll::Pending };
        let returned = ready!(work.poll(task));
        Poll::Ready(match returned.success() {
            Some(value) => encode_success(tool, value),
            None => returned.ready().map_or_else(|_| lost(), |outcome| encode(tool, outcome)),
        })
    }
}

impl<F, P, Fut, const KIND: u8> AsyncFn<F, P, KIND>
where
    F: Fn(P, Cx) -> Fut + Send + Sync + 'static,
    P: DeserializeOwned + Send + 'static,
    Fut: Future<Output: Returned<KIND>> + Send + 'static,
{
    fn answer(params: P, cx: Cx, tool: &Tool) -> BoxRunning {
        // In a constant: else every function is compiled as one that streams, too.
        if const { KIND == STREAM } {
            Box::pin(Whole(Box::pin(Self::answer_in_steps(params, cx, tool.clone()))))
        } else {
            Box::pin(Answer::<Self, P, Fut> { stage: Stage::Given { params, cx }, handler: PhantomData })
        }
    }

    /// Reads arguments for a call that waits. Checks go this way too, so that the parameters are not compiled once more.
    fn deferred(tool: &Tool, arguments: &str, options: &DecodeOptions) -> Result<Decoded<Deferred>, Issues> {
        tool.parameters().decode_then(arguments, options, |params: P| -> Deferred {
            let tool = tool.clone();
            Box::new(move |cx, start_flag: Arc<StartFlag>| {
                start_flag.begin();
                Self::answer(params, cx, &tool)
            })
        })
    }

    /// A stream needs its context and its tool between polls, for the early values it shows.
    async fn answer_in_steps(params: P, cx: Cx, tool: Tool) -> Outcome {
        let Some(Self { run, .. }) = of_tool(&tool) else { return lost() };
        let outcome = run(params, cx.clone()).await.settle(&cx).await;
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
        let decoded = tool.parameters().decode_then(arguments, &options, |params| Self::answer(params, cx, tool));
        let Decoded { value: running, repairs } = decoded.map_err(refused)?;
        Ok(Prepared { running, meta: PreparedMeta::of_repairs(repairs) })
    }

    fn defer(&self, tool: &Tool, arguments: &str, cx: &Cx) -> Result<Decoded<Deferred>, Box<ToolFailure>> {
        Self::deferred(tool, arguments, cx.decode_options()).map_err(refused)
    }

    fn check(&self, tool: &Tool, arguments: &str, options: &DecodeOptions) -> Result<(), Issues> {
        Self::deferred(tool, arguments, options).map(|_| ())
    }

    fn returns(&self) -> TypeInfo {
        TypeInfo::of::<<Fut::Output as Returned<KIND>>::Success>()
    }
}

impl<F, P, R, const KIND: u8> BlockingFn<F, P, KIND>
where
    F: Fn(P, Cx) -> R + Send + Sync + 'static,
    P: DeserializeOwned + Send + 'static,
    R: ReturnedNow<KIND> + 'static,
{
    /// A thread can't be stopped from outside: when this is dropped, the function's context says that it is cancelled.
    async fn answer(params: P, cx: Cx, tool: Tool, start_flag: Arc<StartFlag>) -> Outcome {
        let Some(Self { run, .. }) = of_tool(&tool) else { return lost() };
        let Ok(runtime) = Runtime::try_current() else {
            return encode::<R::Success, R::Failure>(&tool, Err(HandlerError::opaque(NoRuntime)));
        };
        let called_off = CancelOnDrop::new(cx.cancellation().map(Cancellation::child).unwrap_or_default());
        let inside = cx.clone().with_cancellation(called_off.cancellation().clone());
        let (run, nesting) = (Arc::clone(run), Nesting::current());
        let (occupy, span) = (cx.call_handle().map(CallHandle::occupy), IsolatedSpan::current());
        let mut thread = AbortOnDrop(runtime.spawn_blocking(move || {
            let _guard = occupy;
            let _entered = span.enter();
            if inside.is_cancelled() {
                // Called off while it waited for a thread: it must not begin now.
                return None;
            }
            start_flag.begin();
            // Whoever calls it off does so first and then asks whether it has begun: told that it has not, it must not.
            if inside.is_cancelled() {
                return None;
            }
            Some(nesting.run(|| run(params, inside).now()))
        }));
        let outcome = match (&mut thread.0).await {
            Ok(Some(outcome)) => outcome,
            Ok(None) => return ToolFailure::new(FailureKind::Cancelled, "").not_started().into(),
            // A panic goes on to whoever runs the call, as that of an asynchronous handler does.
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(error) => Err(HandlerError::opaque(error)),
        };
        called_off.disarm();
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
            tool.parameters().decode::<P>(arguments, cx.decode_options()).map_err(refused)?;
        let start_flag = Arc::<StartFlag>::default();
        let running = Box::pin(Whole(Box::pin(Self::answer(value, cx, tool.clone(), Arc::clone(&start_flag)))));
        Ok(Prepared { running, meta: Some(Box::new(PreparedMeta { repairs, start_flag: Some(start_flag) })) })
    }

    fn defer(&self, tool: &Tool, arguments: &str, cx: &Cx) -> Result<Decoded<Deferred>, Box<ToolFailure>> {
        let Decoded { value, repairs } =
            tool.parameters().decode::<P>(arguments, cx.decode_options()).map_err(refused)?;
        let tool = tool.clone();
        Ok(Decoded {
            value: Box::new(move |cx, start_flag| Box::pin(Whole(Box::pin(Self::answer(value, cx, tool, start_flag))))),
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

/// The handler of a tool, as what it is. Whoever runs a call has its tool at hand and lends it.
fn of_tool<H: Handler>(tool: &Tool) -> Option<&H> {
    (tool.handler()? as &dyn Any).downcast_ref()
}

/// The call was lent another tool than it was prepared for.
#[derive(Debug, thiserror::Error)]
#[error("the call was prepared for another tool")]
struct OtherTool;

#[cold]
fn lost() -> Outcome {
    broken(OtherTool).into()
}
