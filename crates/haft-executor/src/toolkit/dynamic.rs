//! One handler for many tools that were discovered at run time.
//!
//! A server, a specification or a configuration lists the tools, and one handler can execute each of them. The handler
//! gets the called tool as it was discovered: the name in the toolkit may differ, for example because of a namespace
//! that the other side does not know.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use haft_core::{ToolCall, ToolFailure, ToolOutput};
use haft_schema::isolation::Isolated;
use serde::Serialize;
use serde_json::Value;

use crate::cx::Cx;
use crate::handler::{AsyncFn, Failure, ForwardCx, HandlerError, MIXED, erase};
use crate::tool::{DefinitionError, Tool};
use crate::toolkit::{ToolSet, Toolkit, ToolkitError, ToolkitFault};

/// Discovered tools that still need their common handler. See [`Toolkit::dynamic`].
#[must_use = "discovered tools need a handler to become a toolkit"]
pub struct DynamicTools<S = ()> {
    definitions: Vec<Tool>,
    kit: PhantomData<fn() -> Toolkit<S>>,
}

impl<S> Toolkit<S> {
    /// Starts a toolkit of tools that were discovered at run time and share one handler, which is added next. The
    /// handler gets the called tool as it was discovered, the arguments, which were checked against its schema, and the
    /// context; [`Cx::tool_name`] is the current name of the tool.
    ///
    /// Approval policies, limits, annotations, schemas and all other settings of a definition are kept; an existing
    /// handler is replaced. Names that occur twice and tools that are not executed here are errors, which are reported
    /// together.
    ///
    /// ```
    /// use haft_executor::{Tool, Toolkit};
    /// use haft_core::ToolCall;
    /// use serde_json::{Value, json};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let discovered = ["list", "read"].map(|name| Tool::dynamic(name).define());
    /// let kit: Toolkit = Toolkit::dynamic(discovered.into_iter().collect::<Result<Vec<_>, _>>()?)
    ///     .handler(|tool: Tool, arguments: Value, _cx| async move { json!({"sent": tool.name(), "with": arguments}) })?
    ///     .namespace("files")?;
    ///
    /// let call = ToolCall::new("c1", "files__read", r#"{"path": "a.txt"}"#);
    /// let result = kit.run_call(&call).await;
    /// assert_eq!(result.value().unwrap().as_str(), r#"{"sent":"read","with":{"path":"a.txt"}}"#);
    /// # Ok(())
    /// # }
    /// ```
    pub fn dynamic(definitions: impl IntoIterator<Item = Tool>) -> DynamicTools<S> {
        DynamicTools { definitions: definitions.into_iter().collect(), kit: PhantomData }
    }
}

impl<S> DynamicTools<S> {
    /// Attaches a handler that always succeeds.
    ///
    /// ```
    /// use haft_executor::{Tool, Toolkit};
    ///
    /// let kit: Toolkit = Toolkit::dynamic([Tool::dynamic("echo").define()?]).handler(|_, arguments, _cx| async { arguments })?;
    /// kit.ensure_runnable()?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn handler<T, F, Fut>(self, handler: F) -> Result<Toolkit<S>, ToolkitError>
    where
        T: Serialize + Send + 'static,
        F: Fn(Tool, Value, Cx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = T> + Send + 'static,
    {
        let handler = Arc::new(Isolated::new(handler));
        self.attach(|definition| definition.with_handler(for_tool(&handler, definition)))
    }

    /// Attaches a handler that succeeds or fails with a failure that the model reads. A tool that declares no failure
    /// declares this one.
    ///
    /// ```
    /// use haft_executor::{Tool, Toolkit};
    /// use serde_json::Value;
    ///
    /// let kit: Toolkit = Toolkit::dynamic([Tool::dynamic("read").define()?])
    ///     .try_handler(|tool: Tool, _: Value, _cx| async move { Err::<Value, _>(format!("{} is down", tool.name())) })?;
    /// assert_eq!(kit.get("read").unwrap().failure().as_json()["type"], "string");
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_handler<T, E, F, Fut>(self, handler: F) -> Result<Toolkit<S>, ToolkitError>
    where
        T: Serialize + Send + 'static,
        E: Failure,
        F: Fn(Tool, Value, Cx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
    {
        let handler = Arc::new(Isolated::new(handler));
        self.attach(|definition| definition.try_with_handler(for_tool(&handler, definition)))
    }

    /// Attaches a handler that returns failures for the model and errors for the operator.
    ///
    /// ```
    /// use haft_executor::{HandlerError, Tool, Toolkit};
    /// use serde_json::Value;
    ///
    /// let kit: Toolkit = Toolkit::dynamic([Tool::dynamic("read").define()?])
    ///     .try_handler_mixed(|_: Tool, arguments: Value, _cx| async move {
    ///         let path = arguments["path"].as_str().ok_or(HandlerError::Declared("say which file"))?;
    ///         Ok(std::fs::read_to_string(path)?)
    ///     })?;
    /// kit.ensure_runnable()?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_handler_mixed<T, E, F, Fut>(self, handler: F) -> Result<Toolkit<S>, ToolkitError>
    where
        T: Serialize + Send + 'static,
        E: Failure,
        F: Fn(Tool, Value, Cx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError<E>>> + Send + 'static,
    {
        let handler = Arc::new(Isolated::new(handler));
        self.attach(|definition| {
            let handler = AsyncFn::<_, Value, MIXED>::new(for_tool(&handler, definition));
            definition.replace_handler(Arc::new(handler))?.declaring::<E>()
        })
    }

    /// Attaches a handler that forwards calls to where the tools are executed: another process, a server, a device.
    ///
    /// Besides the tool as it was discovered, the handler gets the whole call as it was requested (id, name, metadata),
    /// with the arguments as text: checked by the tool's schema, but neither parsed nor encoded again. It returns a
    /// [`ToolOutput`] (a value, content or both, and metadata), which is checked by the tool's success schema, or a
    /// [`ToolFailure`].
    ///
    /// The [`started`](ToolFailure::started) of that failure is believed, as only the handler knows whether anything
    /// was sent: a refused connection has not started and may be repeated, a lost reply has and may not, unless the
    /// tool is idempotent. Report a call that was sent and may have been executed as
    /// [`OutcomeUnknown`](haft_core::FailureKind::OutcomeUnknown). [`ForwardCx`] reports the same while the call is in
    /// progress.
    ///
    /// ```
    /// use haft_core::{ContentPart, FailureKind, ToolCall, ToolFailure, ToolOutput};
    /// use haft_executor::{ForwardCx, Tool, Toolkit};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let kit: Toolkit = Toolkit::dynamic([Tool::dynamic("read").define()?]).forward(
    ///     |tool: Tool, call: ToolCall, _cx: ForwardCx| async move {
    ///         if call.metadata.contains_key("offline") {
    ///             let down = ToolFailure::new(FailureKind::ExecutionError, "the server is down");
    ///             return Err(down.not_started().retryable());
    ///         }
    ///         let request = format!("{} {} {}", call.call_id, tool.name(), call.arguments);
    ///         Ok(ToolOutput::content_only(vec![ContentPart::text(request)]).with_metadata("server", "eu-1"))
    ///     },
    /// )?;
    ///
    /// let call = ToolCall::new("c1", "read", r#"{ "path": "a.txt" }"#);
    /// let result = kit.run_call(&call).await;
    /// assert_eq!(result.to_model_text(), r#"c1 read { "path": "a.txt" }"#);
    /// assert_eq!(result.metadata().unwrap()["server"], "eu-1");
    ///
    /// let result = kit.run_call(&call.metadata("offline", true)).await;
    /// assert!(!result.failure().unwrap().started);
    /// # Ok(())
    /// # }
    /// ```
    pub fn forward<F, Fut>(self, forward: F) -> Result<Toolkit<S>, ToolkitError>
    where
        F: Fn(Tool, ToolCall, ForwardCx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ToolOutput, ToolFailure>> + Send + 'static,
    {
        let forward = erase(forward);
        self.attach(|definition| definition.forwarded(&forward))
    }

    fn attach(self, attach: impl Fn(&Tool) -> Result<Tool, DefinitionError>) -> Result<Toolkit<S>, ToolkitError> {
        let mut set = ToolSet::default();
        let mut faults = Vec::new();
        for definition in &self.definitions {
            let tool = attach(definition);
            // The definition takes its name even if the handler can't be attached, so that duplicate names are reported
            // as well.
            faults.extend(set.insert(tool.as_ref().unwrap_or(definition).clone()).err());
            faults.extend(tool.err().map(ToolkitFault::Definition));
        }
        if faults.is_empty() {
            Ok(Toolkit { set: Arc::new(set), needs: Vec::new() })
        } else {
            Err(ToolkitError { faults })
        }
    }
}

/// Returns the common handler, bound to one tool.
fn for_tool<F, Fut>(
    handler: &Arc<Isolated<F>>,
    definition: &Tool,
) -> impl Fn(Value, Cx) -> Fut + Send + Sync + 'static + use<F, Fut>
where
    F: Fn(Tool, Value, Cx) -> Fut + Send + Sync + 'static,
{
    let (handler, definition) = (Arc::clone(handler), definition.clone());
    move |arguments, cx| handler(definition.clone(), arguments, cx)
}

impl<S> fmt::Debug for DynamicTools<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.definitions.iter().map(Tool::name).collect();
        f.debug_struct("DynamicTools").field("definitions", &names).finish_non_exhaustive()
    }
}
