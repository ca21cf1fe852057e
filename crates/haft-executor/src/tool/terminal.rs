//! The last step of building a tool: attaching its handler.
//!
//! One method per form of handler. They differ in the return type of the function and in the thread it runs on, and in
//! nothing else: arguments are always checked before it runs and results after it.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cx::Cx;
use crate::handler::{
    AsyncFn, BlockingFn, BoxError, DECLARED, Failure, Handler, HandlerError, MIXED, OPAQUE, Outputs, PLAIN, STREAM,
    failure_schema,
};
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
