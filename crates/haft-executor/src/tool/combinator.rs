//! Changed copies of a tool.
//!
//! Every combinator returns a copy with the same kind and, except for `with_id`, the same id; the original never
//! changes. Everything derived from a changed part is discarded and rebuilt, so a copy never contains an outdated
//! schema, description or descriptor. A handler always uses the schemas of the tool it is attached to, so a changed
//! schema is enforced at once.

use std::fmt;
use std::sync::Arc;

use haft_core::{Annotation, Annotations, ToolCall, ToolFailure, ToolOutput};
use haft_schema::Schema;
use haft_schema::isolation::Isolated;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cx::Cx;
use crate::executor::{Lane, Permit};
use crate::handler::{
    AsyncFn, DECLARED, Failure, ForwardCx, ForwardFn, ForwardHandler, Handler, PLAIN, erase, failure_schema,
};
use crate::middleware::{Layer, Middleware};
use crate::service::Dependency;
use crate::tool::definition::Definition;
use crate::tool::draft::handler_faults;
use crate::tool::{
    ApprovalPolicy, DefinitionError, DefinitionFault, ExecutionLimits, FailureMode, NameFault, ResourceArgument,
    SchemaPart, Tool, is_ruled_out,
};

impl Tool {
    /// Returns a copy with other parameters. Arguments are checked against the new schema and then read as the
    /// handler's type. Examples that are no longer valid are removed.
    #[must_use]
    pub fn set_parameters(&self, schema: Schema) -> Self {
        self.changed(|definition| {
            definition.examples.retain(|example| schema.check(example).is_ok());
            definition.parameters = schema;
        })
    }

    /// Returns a copy with another schema of results. A `to_model_output` function is removed, because it was made for
    /// the old one.
    #[must_use]
    pub fn set_success(&self, schema: Schema) -> Self {
        self.changed(|definition| {
            definition.success = schema;
            definition.model_output = None;
        })
    }

    /// Returns a copy with another declared failure.
    #[must_use]
    pub fn set_failure(&self, schema: Schema) -> Self {
        self.changed(|definition| definition.failure = schema)
    }

    /// Returns a copy with another approval policy. A tool that its provider executes supports none but
    /// [`never`](ApprovalPolicy::never): nothing could prevent its calls.
    pub fn set_needs_approval(&self, policy: ApprovalPolicy) -> Result<Self, DefinitionError> {
        self.try_changed(|definition| definition.approval = policy)
    }

    /// Returns a copy that also has this permit: every run asks it about calls of this tool, before the permits of its
    /// options. It stays with the tool, under whatever name and in whatever toolkit, so nothing that holds the tool can
    /// run it without the permit being asked. All permits must allow a call.
    ///
    /// ```
    /// use haft_executor::{Cx, Permission, Tool, Toolkit};
    /// use haft_core::ToolCall;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let reset = Tool::new("reset").handler(|(), _cx| async {})?;
    /// let reset = reset.guard(|_: &Tool, _: &ToolCall, cx: &Cx| match cx.caller() {
    ///     Some(_) => Permission::Allowed,
    ///     None => Permission::denied("only known callers may reset"),
    /// });
    /// let kit: Toolkit = Toolkit::from_iter([reset.with_name("reset_all")?]);
    /// let result = kit.run_call(&ToolCall::new("c1", "reset_all", "")).await;
    /// assert_eq!(result.failure().unwrap().message, "only known callers may reset");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn guard(&self, permit: impl Permit) -> Self {
        self.changed(|definition| definition.permits.add(Arc::new(Isolated::new(permit))))
    }

    /// Returns a copy whose calls also enter this lane before their handler starts, in whatever run and toolkit. See
    /// [`Lanes`](crate::Lanes). A tool that is not executed here supports none.
    pub fn in_lane(&self, lane: impl Into<Lane>) -> Result<Self, DefinitionError> {
        let lane = lane.into();
        self.try_changed(|definition| definition.lanes.add(lane))
    }

    /// Returns a copy in which an argument names a resource that has one canonical spelling: a path, a URL, a host, an
    /// account. The function returns it, or an error whose text the model reads.
    ///
    /// Permits, policies, digests, approvers, middlewares and the handler get the canonical spelling, whatever the model
    /// wrote: a rule about `secret.txt` also decides about `./pub/../secret.txt`. It applies again to arguments that a
    /// person edits, that [`refine`](crate::ToolBuilder::refine) returns, and that a middleware changes. Only
    /// [`Permit::permit`], which decides by the tool and the caller before any argument is read, gets the call as it
    /// came.
    ///
    /// The pointer leads to a text, or to a list whose texts are all such names. Where a call has something else or
    /// nothing, there is nothing to do. Several arguments take several calls of this method. A call that the provider
    /// executes keeps its arguments, since nothing can prevent it.
    ///
    /// The function runs within the call's first steps, so it must not wait for long, and must return its own results
    /// unchanged. A tool with such an argument rejects integers beyond 64 bits.
    ///
    /// # Errors
    ///
    /// The pointer is invalid, or the parameters have nothing there.
    ///
    /// ```
    /// use std::net::{AddrParseError, Ipv6Addr};
    ///
    /// use haft_executor::{CallArguments, Cx, Permission, Permit, Permitting, Tool, Toolkit};
    /// use haft_core::ToolCall;
    ///
    /// struct NotLocal;
    ///
    /// impl Permit for NotLocal {
    ///     fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
    ///         Permission::Allowed.into()
    ///     }
    ///
    ///     fn permits_arguments(&self, _: &Tool, _: &ToolCall, arguments: &CallArguments<'_>, _: &Cx) -> Permitting {
    ///         match arguments.decode::<(String,)>() {
    ///             Ok((address,)) if address == "::1" => Permission::denied("not this machine").into(),
    ///             Ok(_) => Permission::Allowed.into(),
    ///             Err(error) => Err(error).into(),
    ///         }
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let ping = Tool::new("ping").handler(|(address,): (String,), _cx| async move { address })?;
    /// let ping = ping.canonical_argument("/0", |written| {
    ///     written.parse::<Ipv6Addr>().map(|address| address.to_string()).map_err(|_| "must be an IPv6 address")
    /// })?;
    /// let kit: Toolkit = Toolkit::from_iter([ping.guard(NotLocal)]);
    ///
    /// let result = kit.run_call(&ToolCall::new("c1", "ping", r#"["0:0::0001"]"#)).await;
    /// assert_eq!(result.failure().unwrap().message, "not this machine");
    /// let result = kit.run_call(&ToolCall::new("c2", "ping", r#"["2001:DB8::0"]"#)).await;
    /// assert_eq!(result.to_model_text(), "2001:db8::");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`Permit::permit`]: crate::Permit::permit
    pub fn canonical_argument<E: fmt::Display>(
        &self,
        pointer: &str,
        canonical: impl Fn(&str) -> Result<String, E> + Send + Sync + 'static,
    ) -> Result<Self, DefinitionError> {
        if is_ruled_out(self.parameters().as_json(), pointer) {
            let faults = vec![DefinitionFault::NoArgument(pointer.to_owned())];
            return Err(DefinitionError { tool: self.name().to_owned(), faults });
        }
        let resource = ResourceArgument::new(pointer, canonical);
        Ok(self.changed(|definition| definition.resources.push(resource)))
    }

    /// Returns a copy with another failure mode. A tool that is not executed here supports none.
    pub fn set_failure_mode(&self, mode: FailureMode) -> Result<Self, DefinitionError> {
        self.try_changed(|definition| definition.failure_mode = Some(mode))
    }

    /// Returns a copy that also needs a service of type `T` before any call starts. A tool that is not run here
    /// supports no dependencies. A service that a middleware around the tool [provides](Middleware::provides) is not
    /// added.
    pub fn add_dependency<T: ?Sized + 'static>(&self) -> Result<Self, DefinitionError> {
        self.depending_on(Dependency::of::<T>())
    }

    /// Returns a copy that also needs a service of type `T` from each run, as
    /// [`depends_on_run`](crate::ToolBuilder::depends_on_run) declares it.
    pub fn add_run_dependency<T: ?Sized + 'static>(&self) -> Result<Self, DefinitionError> {
        self.depending_on(Dependency::per_run::<T>())
    }

    fn depending_on(&self, dependency: Dependency) -> Result<Self, DefinitionError> {
        let is_provided = self.layers().provide(&dependency);
        self.try_changed(|definition| {
            if !is_provided && !definition.dependencies.contains(&dependency) {
                definition.dependencies.push(dependency);
            }
        })
    }

    /// Returns a copy with an annotation, which replaces an earlier one of the same type or key. If it should be part
    /// of the descriptor and can't be encoded as JSON, the descriptor does not contain it.
    #[must_use]
    pub fn annotate(&self, annotation: impl Annotation) -> Self {
        self.annotate_merge(Annotations::new().with(annotation))
    }

    /// Returns a copy with more annotations, which replace earlier ones of the same types.
    #[must_use]
    pub fn annotate_merge(&self, annotations: Annotations) -> Self {
        self.changed(|definition| {
            definition.annotations = std::mem::take(&mut definition.annotations).merge(annotations);
        })
    }

    /// Returns a copy with another name. The id and the name at a provider stay the same.
    pub fn with_name(&self, name: impl Into<String>) -> Result<Self, DefinitionError> {
        let name = name.into();
        let faults = NameFault::of(&name).into_iter().map(DefinitionFault::Name).collect();
        DefinitionError::check(&name, faults)?;
        Ok(self.changed(|definition| definition.name = name.into()))
    }

    /// Returns a copy with another id. Approvals and memories of approvals refer to a tool by its id, so a copy with
    /// another one shares none of them.
    ///
    /// ```
    /// use haft_executor::Tool;
    ///
    /// let search = Tool::new("search").define()?.with_id("archive.search")?.with_name("find")?;
    /// assert_eq!((search.id().as_str(), search.name()), ("archive.search", "find"));
    /// # Ok::<_, haft_executor::DefinitionError>(())
    /// ```
    pub fn with_id(&self, id: impl Into<String>) -> Result<Self, DefinitionError> {
        let id = id.into();
        let faults = NameFault::of(&id).into_iter().map(DefinitionFault::Id).collect();
        DefinitionError::check(self.name(), faults)?;
        Ok(self.changed(|definition| definition.id = id.into()))
    }

    /// Returns a copy with other limits. A tool that is not executed here supports none.
    pub fn with_limits(&self, limits: ExecutionLimits) -> Result<Self, DefinitionError> {
        self.try_changed(|definition| definition.limits = limits)
    }

    /// Returns a copy with another handler that always succeeds. Everything the model reads stays the same to the byte.
    ///
    /// ```
    /// use haft_executor::Tool;
    /// use serde_json::{Value, json};
    ///
    /// let send = Tool::new("send").handler(|to: String, _cx| async move { to.len() })?;
    /// let dry = send.with_handler(|_: Value, _cx| async { json!(0) })?;
    /// assert_eq!(send.descriptor(), dry.descriptor());
    /// # Ok::<_, haft_executor::DefinitionError>(())
    /// ```
    pub fn with_handler<A, T, F, Fut>(&self, handler: F) -> Result<Self, DefinitionError>
    where
        A: DeserializeOwned + Send + 'static,
        T: Serialize + Send + 'static,
        F: Fn(A, Cx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = T> + Send + 'static,
    {
        self.replace_handler(Arc::new(AsyncFn::<_, A, PLAIN>::new(handler)))
    }

    /// Returns a copy with another handler that may fail. If the tool declared no failure, it declares this one;
    /// otherwise failures must be valid for the declared schema.
    pub fn try_with_handler<A, T, E, F, Fut>(&self, handler: F) -> Result<Self, DefinitionError>
    where
        A: DeserializeOwned + Send + 'static,
        T: Serialize + Send + 'static,
        E: Failure,
        F: Fn(A, Cx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
    {
        self.replace_handler(Arc::new(AsyncFn::<_, A, DECLARED>::new(handler)))?.declaring::<E>()
    }

    /// Returns a copy whose calls are forwarded to where the tool is executed. The function gets this tool, the whole
    /// call and the context, and the `started` of its failures is believed; see
    /// [`DynamicTools::forward`](crate::DynamicTools::forward), which does this for many tools.
    ///
    /// ```
    /// use haft_core::{FailureKind, ToolCall, ToolFailure};
    /// use haft_executor::{ForwardCx, Tool};
    ///
    /// let read = Tool::dynamic("read").define()?.with_forward(|_tool: Tool, _call: ToolCall, _cx: ForwardCx| async {
    ///     Err(ToolFailure::new(FailureKind::ExecutionError, "the server is down").not_started().retryable())
    /// })?;
    /// # Ok::<_, haft_executor::DefinitionError>(())
    /// ```
    pub fn with_forward<F, Fut>(&self, forward: F) -> Result<Self, DefinitionError>
    where
        F: Fn(Self, ToolCall, ForwardCx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ToolOutput, ToolFailure>> + Send + 'static,
    {
        self.forwarded(&erase(forward))
    }

    /// Returns a copy whose calls are forwarded by this function.
    pub(crate) fn forwarded(&self, forward: &Arc<ForwardFn>) -> Result<Self, DefinitionError> {
        self.replace_handler(Arc::new(ForwardHandler::new(self.clone(), Arc::clone(forward))))
    }

    /// Returns a copy with a middleware around the handler and all earlier middlewares: the last one applied is the
    /// outermost. The copy needs the services that the middleware needs, and no longer those that it
    /// [provides](Middleware::provides). A tool without a handler of its own stays unchanged.
    #[must_use]
    pub fn wrap(&self, middleware: impl Middleware) -> Self {
        self.wrap_in(&Layer::new(middleware))
    }

    pub(crate) fn wrap_in(&self, layer: &Layer) -> Self {
        if !self.requires_handler() {
            return self.clone();
        }
        let mut definition = self.definition().clone();
        layer.update_dependencies(&mut definition.dependencies);
        Self::assemble(definition, self.0.handler.clone(), self.layers().inside_of(layer.clone()))
    }

    pub(crate) fn replace_handler(&self, handler: Arc<dyn Handler>) -> Result<Self, DefinitionError> {
        let definition = self.definition();
        let faults = handler_faults(&definition.kind, handler.as_ref(), definition.model_output.as_ref());
        DefinitionError::check(self.name(), faults)?;
        Ok(Self::assemble(definition.clone(), Some(handler), self.layers().clone()))
    }

    /// Declares the failure `E`, unless a failure is already declared.
    pub(crate) fn declaring<E: Failure>(self) -> Result<Self, DefinitionError> {
        if self.failure().as_json() != Schema::never().as_json() {
            return Ok(self);
        }
        match failure_schema::<E>() {
            Ok(schema) => Ok(self.set_failure(schema)),
            Err(error) => {
                let fault = DefinitionFault::schema(SchemaPart::Failure, &error);
                Err(DefinitionError { tool: self.name().to_owned(), faults: vec![fault] })
            }
        }
    }

    /// Returns a changed copy, if the kind of the tool supports the change.
    fn try_changed(&self, change: impl FnOnce(&mut Definition)) -> Result<Self, DefinitionError> {
        let mut definition = self.definition().clone();
        change(&mut definition);
        let zeroes = definition.limits.zeroes().map(DefinitionFault::ZeroLimit);
        DefinitionError::check(self.name(), definition.unsupported().chain(zeroes).collect())?;
        Ok(Self::assemble(definition, self.0.handler.clone(), self.layers().clone()))
    }

    fn changed(&self, change: impl FnOnce(&mut Definition)) -> Self {
        let mut definition = self.definition().clone();
        change(&mut definition);
        Self::assemble(definition, self.0.handler.clone(), self.layers().clone())
    }
}
