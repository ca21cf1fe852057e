//! The last step of building a tool: attaching its handler.
//!
//! One method per form of handler. They differ in the return type of the function and in the thread it runs on, and in
//! nothing else: arguments are always checked before it runs and results after it.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cx::Cx;
use crate::handler::{
    AsyncFn, BlockingFn, BoxError, DECLARED, Failure, Handler, HandlerError, MIXED, OPAQUE, Outputs, PLAIN, RESUMABLE,
    STREAM, failure_schema,
};
use crate::resumable::{Resumable, Resumed};
use crate::tool::{DefinitionError, SchemaPart, Slot, Tool, ToolBuilder};

impl<P, R> ToolBuilder<P, R> {
    /// Attaches a handler that always succeeds.
    ///
    /// ```
    /// use haft_executor::Tool;
    ///
    /// let now = Tool::new("add").handler(|(a, b): (i32, i32), _cx| async move { a + b })?;
    /// # Ok::<_, haft_executor::DefinitionError>(())
    /// ```
    pub fn handler<A, T, F, Fut>(self, handler: F) -> Result<Tool, DefinitionError>
    where
        P: Slot<A>,
        R: Slot<T>,
        A: DeserializeOwned + Send + 'static,
        T: Serialize + Send + 'static,
        F: Fn(A, Cx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = T> + Send + 'static,
    {
        self.infer::<A, T>().attach(AsyncFn::<_, A, PLAIN>::new(handler))
    }

    /// Attaches a handler that succeeds, or fails with a declared failure, which the model reads.
    ///
    /// ```
    /// use haft_executor::Tool;
    ///
    /// let divide = Tool::new("divide").try_handler(|(a, b): (i32, i32), _cx| async move {
    ///     a.checked_div(b).ok_or("division by zero")
    /// })?;
    /// # Ok::<_, haft_executor::DefinitionError>(())
    /// ```
    pub fn try_handler<A, T, E, F, Fut>(self, handler: F) -> Result<Tool, DefinitionError>
    where
        P: Slot<A>,
        R: Slot<T>,
        A: DeserializeOwned + Send + 'static,
        T: Serialize + Send + 'static,
        E: Failure,
        F: Fn(A, Cx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
    {
        self.infer::<A, T>().declare::<E>().attach(AsyncFn::<_, A, DECLARED>::new(handler))
    }

    /// Attaches a handler that succeeds, or fails with an error that the model does not see.
    pub fn try_handler_opaque<A, T, E, F, Fut>(self, handler: F) -> Result<Tool, DefinitionError>
    where
        P: Slot<A>,
        R: Slot<T>,
        A: DeserializeOwned + Send + 'static,
        T: Serialize + Send + 'static,
        E: Into<BoxError> + Send + 'static,
        F: Fn(A, Cx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
    {
        self.infer::<A, T>().attach(AsyncFn::<_, A, OPAQUE>::new(handler))
    }

    /// Attaches a handler that can fail both ways: with declared failures for the model and with errors for the
    /// operator.
    pub fn try_handler_mixed<A, T, E, F, Fut>(self, handler: F) -> Result<Tool, DefinitionError>
    where
        P: Slot<A>,
        R: Slot<T>,
        A: DeserializeOwned + Send + 'static,
        T: Serialize + Send + 'static,
        E: Failure,
        F: Fn(A, Cx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError<E>>> + Send + 'static,
    {
        self.infer::<A, T>().declare::<E>().attach(AsyncFn::<_, A, MIXED>::new(handler))
    }

    /// Attaches a handler that returns a stream of outputs.
    pub fn stream_handler<A, T, E, F>(self, handler: F) -> Result<Tool, DefinitionError>
    where
        P: Slot<A>,
        R: Slot<T>,
        A: DeserializeOwned + Send + 'static,
        T: Serialize + Send + 'static,
        E: Failure,
        F: Fn(A, Cx) -> Outputs<T, E> + Send + Sync + 'static,
    {
        let handler = Arc::new(handler);
        let start = move |params: A, cx: Cx| {
            let handler = Arc::clone(&handler);
            async move { handler(params, cx) }
        };
        self.infer::<A, T>().declare::<E>().attach(AsyncFn::<_, A, STREAM>::new(start))
    }

    /// Attaches a handler that may wait for answers: to a long job, to a person, to another agent. It returns
    /// [`Done`](Resumable::Done) with its value, or [`Wait`] with questions and a state. A call that waits holds neither a
    /// slot nor a lane. When its questions are answered, the handler is called again with the state and the answers, with
    /// the same arguments and the same [idempotency key](Cx::idempotency_key), and its timeouts start anew.
    ///
    /// The questions are [approval requests](haft_core::ApprovalRequest::question) to the approver of the run. If that
    /// decides [later](crate::ApprovalAnswer::Later), the run is [suspended](crate::Suspended) with the state, and goes on
    /// with it in another process. Without an approver the call fails with `input_required`. A handler may wait again, at
    /// most 100 times in a call.
    ///
    /// ```
    /// use haft_core::{Question, ToolCall};
    /// use haft_executor::{Resumable, RunOptions, Suspend, Suspended, Tool, Toolkit};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let book = Tool::new("book").resumable(|(to,): (String,), resumed, _cx| async move {
    ///     let Some(resumed) = resumed else {
    ///         return Resumable::wait([Question::input::<u8>("How many passengers?")], ("held seats", 7));
    ///     };
    ///     let (what, flight): (String, u32) = resumed.state().unwrap_or_default();
    ///     let count = resumed.answers()[0].decode::<u8>().ok().flatten();
    ///     Resumable::Done(count.map(|count| format!("{what}: {count} to {to} on {flight}")))
    /// })?;
    /// let kit: Toolkit = Toolkit::from_iter([book]);
    ///
    /// let run = kit.run_with([ToolCall::new("c1", "book", r#"["Rome"]"#)], RunOptions::new().approvals(Suspend));
    /// let stored = serde_json::to_string(&run.collect_or_suspend().await.unwrap_err())?;
    ///
    /// // Later, elsewhere:
    /// let suspended: Suspended = serde_json::from_str(&stored)?;
    /// let answer = suspended.pending().next().ok_or("no question")?.answer(json!(2));
    /// let results = kit.resume(suspended, [answer]).collect_results().await;
    /// assert_eq!(results[0].to_model_text(), "held seats: 2 to Rome on 7");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`Wait`]: crate::Wait
    pub fn resumable<A, T, F, Fut>(self, handler: F) -> Result<Tool, DefinitionError>
    where
        P: Slot<A>,
        R: Slot<T>,
        A: DeserializeOwned + Send + 'static,
        T: Serialize + Send + 'static,
        F: Fn(A, Option<Resumed>, Cx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Resumable<T>> + Send + 'static,
    {
        let handler = move |params: A, cx: Cx| {
            let returned = handler(params, cx.resumed().cloned(), cx);
            async move { Ok::<_, HandlerError>(returned.await) }
        };
        self.infer::<A, T>().attach(AsyncFn::<_, A, RESUMABLE>::new(handler))
    }

    /// Attaches a handler that may wait for answers, as [`resumable`](Self::resumable) does, and can fail both ways: with
    /// declared failures for the model and with errors for the operator.
    pub fn try_resumable<A, T, E, F, Fut>(self, handler: F) -> Result<Tool, DefinitionError>
    where
        P: Slot<A>,
        R: Slot<T>,
        A: DeserializeOwned + Send + 'static,
        T: Serialize + Send + 'static,
        E: Failure,
        F: Fn(A, Option<Resumed>, Cx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Resumable<T>, HandlerError<E>>> + Send + 'static,
    {
        let handler = move |params: A, cx: Cx| handler(params, cx.resumed().cloned(), cx);
        self.infer::<A, T>().declare::<E>().attach(AsyncFn::<_, A, RESUMABLE>::new(handler))
    }

    /// Attaches a handler that blocks its thread and always succeeds. It runs on tokio's blocking pool, and runs to its
    /// end even if the call is dropped: a long-running one should check [`Cx::is_cancelled`].
    pub fn blocking_handler<A, T, F>(self, handler: F) -> Result<Tool, DefinitionError>
    where
        P: Slot<A>,
        R: Slot<T>,
        A: DeserializeOwned + Send + 'static,
        T: Serialize + Send + 'static,
        F: Fn(A, Cx) -> T + Send + Sync + 'static,
    {
        self.infer::<A, T>().attach(BlockingFn::<_, A, PLAIN>::new(handler))
    }

    /// Attaches a handler that blocks its thread and succeeds, or fails with a declared failure, which the model reads.
    pub fn try_blocking_handler<A, T, E, F>(self, handler: F) -> Result<Tool, DefinitionError>
    where
        P: Slot<A>,
        R: Slot<T>,
        A: DeserializeOwned + Send + 'static,
        T: Serialize + Send + 'static,
        E: Failure,
        F: Fn(A, Cx) -> Result<T, E> + Send + Sync + 'static,
    {
        self.infer::<A, T>().declare::<E>().attach(BlockingFn::<_, A, DECLARED>::new(handler))
    }

    /// Attaches a handler that blocks its thread and can fail both ways: with declared failures for the model and with
    /// errors for the operator.
    pub fn try_blocking_handler_mixed<A, T, E, F>(self, handler: F) -> Result<Tool, DefinitionError>
    where
        P: Slot<A>,
        R: Slot<T>,
        A: DeserializeOwned + Send + 'static,
        T: Serialize + Send + 'static,
        E: Failure,
        F: Fn(A, Cx) -> Result<T, HandlerError<E>> + Send + Sync + 'static,
    {
        self.infer::<A, T>().declare::<E>().attach(BlockingFn::<_, A, MIXED>::new(handler))
    }

    /// Sets the schemas that are inferred from the handler's types.
    fn infer<A, T>(mut self) -> Self
    where
        P: Slot<A>,
        R: Slot<T>,
    {
        if let Some(schema) = P::params() {
            self.draft.set_schema(SchemaPart::Parameters, schema);
        }
        if let Some(schema) = R::output() {
            self.draft.set_schema(SchemaPart::Success, schema);
        }
        self
    }

    /// Sets the failure schema from the failure's type, unless one was set.
    fn declare<E: Failure>(mut self) -> Self {
        if self.draft.failure.is_none() {
            self.draft.set_schema(SchemaPart::Failure, failure_schema::<E>());
        }
        self
    }

    fn attach(self, handler: impl Handler + 'static) -> Result<Tool, DefinitionError> {
        self.draft.finish(Some(Arc::new(handler)))
    }
}
