//! Closures as handlers.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use tokio::runtime::Handle as Runtime;

use crate::cancellation::{CancelOnDrop, Cancellation};
use crate::cx::Cx;
use crate::executor::Line;
use crate::handler::{
    Aside, Deferred, Handler, HandlerError, Prepared, Returned, ReturnedNow, TypeInfo, encode, encode_value, lost,
};
use crate::issue::Issues;
use crate::result::Outcome;
use crate::schema::Decoded;
use crate::tool::Tool;

/// An asynchronous function whose result is read as kind `KIND`.
pub(crate) struct AsyncFn<F, P, const KIND: u8> {
    run: F,
    params: PhantomData<fn(P)>,
}

/// A blocking function, run on tokio's threads for such.
pub(crate) struct BlockingFn<F, P, const KIND: u8> {
    run: Arc<F>,
    params: PhantomData<fn(P)>,
}

/// A blocking handler can't run: there is no tokio runtime.
#[derive(Debug, thiserror::Error)]
#[error("a blocking handler needs a tokio runtime, and the call is polled outside of one")]
struct NoRuntime;

impl<F, P, const KIND: u8> AsyncFn<F, P, KIND> {
    pub(crate) fn new(run: F) -> Self {
        Self { run, params: PhantomData }
    }
}

impl<F, P, const KIND: u8> BlockingFn<F, P, KIND> {
    pub(crate) fn new(run: F) -> Self {
        Self { run: Arc::new(run), params: PhantomData }
    }
}

impl<F, P, Fut, const KIND: u8> AsyncFn<F, P, KIND>
where
    F: Fn(P, Cx) -> Fut + Send + Sync + 'static,
    P: DeserializeOwned + Send + 'static,
    Fut: Future<Output: Returned<KIND>> + Send + 'static,
{
    /// The function is called when this is polled, not before: it may do things before its first await.
    async fn answer(params: P, cx: Cx) -> Outcome {
        let Some(Self { run, .. }) = of_tool(&cx) else { return lost() };
        let returned = run(params, cx.clone()).await;
        if let Some(value) = returned.success() {
            return encode_value(&cx, value);
        }
        let outcome = returned.settle(&cx).await;
        encode(&cx, outcome)
    }
}

impl<F, P, Fut, const KIND: u8> Handler for AsyncFn<F, P, KIND>
where
    F: Fn(P, Cx) -> Fut + Send + Sync + 'static,
    P: DeserializeOwned + Send + 'static,
    Fut: Future<Output: Returned<KIND>> + Send + 'static,
{
    fn prepare(&self, tool: &Tool, arguments: &str, cx: Cx) -> Result<Prepared, Issues> {
        let Decoded { value, repairs } = tool.parameters().decode::<P>(arguments, cx.decode_options())?;
        Ok(Prepared { future: Box::pin(Self::answer(value, cx)), aside: Aside::of_repairs(repairs) })
    }

    fn defer(&self, tool: &Tool, arguments: &str, cx: &Cx) -> Result<Decoded<Deferred>, Issues> {
        let Decoded { value, repairs } = tool.parameters().decode::<P>(arguments, cx.decode_options())?;
        Ok(Decoded { value: Box::new(move |cx| Box::pin(Self::answer(value, cx))), repairs })
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
    async fn answer(params: P, cx: Cx) -> Outcome {
        let Some(Self { run, .. }) = of_tool(&cx) else { return lost() };
        let Ok(runtime) = Runtime::try_current() else {
            return encode::<R::Success, R::Failure>(&cx, Err(HandlerError::opaque(NoRuntime)));
        };
        let called_off = CancelOnDrop::new(cx.cancellation().map(Cancellation::child).unwrap_or_default());
        let inside = cx.clone().with_cancellation(called_off.cancellation().clone());
        let run = Arc::clone(run);
        let stay = cx.line().map(Line::stay);
        let outcome = match runtime
            .spawn_blocking(move || {
                let _stay = stay;
                run(params, inside).now()
            })
            .await
        {
            Ok(outcome) => outcome,
            // A panic goes on to whoever runs the call, as that of an asynchronous handler does.
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(error) => Err(HandlerError::opaque(error)),
        };
        called_off.disarm();
        encode(&cx, outcome)
    }
}

impl<F, P, R, const KIND: u8> Handler for BlockingFn<F, P, KIND>
where
    F: Fn(P, Cx) -> R + Send + Sync + 'static,
    P: DeserializeOwned + Send + 'static,
    R: ReturnedNow<KIND> + 'static,
{
    fn prepare(&self, tool: &Tool, arguments: &str, cx: Cx) -> Result<Prepared, Issues> {
        let Decoded { value, repairs } = tool.parameters().decode::<P>(arguments, cx.decode_options())?;
        Ok(Prepared { future: Box::pin(Self::answer(value, cx)), aside: Aside::of_repairs(repairs) })
    }

    fn defer(&self, tool: &Tool, arguments: &str, cx: &Cx) -> Result<Decoded<Deferred>, Issues> {
        let Decoded { value, repairs } = tool.parameters().decode::<P>(arguments, cx.decode_options())?;
        Ok(Decoded { value: Box::new(move |cx| Box::pin(Self::answer(value, cx))), repairs })
    }

    fn returns(&self) -> TypeInfo {
        TypeInfo::of::<R::Success>()
    }
}

/// The handler of the context's tool. A future finds it there instead of holding on to it a second time.
fn of_tool<H: Handler>(cx: &Cx) -> Option<&H> {
    (cx.tool()?.handler()? as &dyn Any).downcast_ref()
}
