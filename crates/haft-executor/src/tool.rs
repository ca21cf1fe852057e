//! A tool: a definition that a model reads, and a handler that runs its calls.
//!
//! ```text
//! Tool::new ─> ToolBuilder ─> Tool ─> ToolDescriptor ─> the model
//!
//! ToolCall ─> look up ─> permit ─> decode ─> approve ─> slot ─> middleware ─┐
//!             name                 schema    policy     limits              │
//!                                  ToolResult <─ encode <─ handler <────────┘
//!                                                schema    function
//! ```
//!
//! [`Tool`] is the single type-erased form of all five kinds of tools: a checked definition, an optional handler, and
//! the descriptor made from both, shared by all clones. A tool is immutable; [combinators](Tool::set_parameters) return
//! changed copies. All faults of a definition are reported when it is built, so every existing tool is well defined.

mod approval;
pub(crate) mod arguments;
mod builder;
mod combinator;
mod definition;
mod draft;
mod empty_params;
mod failure_mode;
mod fault;
mod identity;
mod kind;
mod limit;
mod mcp;
mod prepare;
mod provider;
mod provider_result;
mod rebuild;
mod refine;
mod resource;
mod scoped_policy;
mod slot;
mod terminal;

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::{Arc, OnceLock};

use haft_core::{Annotations, ContentPart, Dialect, RenderFault, Rendered, ToolCall, ToolDescriptor, ToolId, ToolName};
use haft_schema::{Issues, JsonText, Schema};
use serde_json::Value;

pub use self::approval::{ApprovalCx, ApprovalNeed, ApprovalPolicy, IntoApprovalNeed};
pub use self::builder::ToolBuilder;
use self::definition::Definition;
pub use self::empty_params::EmptyParams;
pub use self::failure_mode::FailureMode;
pub use self::fault::{DefinitionError, DefinitionFault, MAX_NAME_LEN, NameFault, SchemaPart};
pub use self::identity::ToolIdentity;
pub(crate) use self::kind::Execution;
pub use self::kind::ToolKind;
pub use self::limit::{Concurrency, CountedContent, EmitBuffer, ExecutionLimits, OnOverflow, OutputCap};
pub use self::prepare::MissingHandler;
pub(crate) use self::prepare::{NO_APPROVAL, explained};
pub use self::provider::{ProviderDefinition, ProviderTool};
pub use self::refine::RefineError;
pub(crate) use self::refine::{Refine, RefineFuture};
pub(crate) use self::resource::{CanonicalArguments, ResourceArgument, is_ruled_out};
pub use self::slot::{Fixed, Inferred, Open, Slot};
use crate::executor::{Lane, Permit};
use crate::handler::Handler;
use crate::middleware::Layers;
use crate::service::Dependency;

/// A tool. Cloning is cheap: everything is shared.
///
/// ```
/// use haft_executor::Tool;
///
/// let greet = Tool::new("greet")
///     .describe("Greets a person by name.")
///     .handler(|name: String, _cx| async move { format!("Hello, {name}!") })?;
/// assert_eq!(greet.name(), "greet");
/// assert!(greet.is_user_defined());
/// # Ok::<_, haft_executor::DefinitionError>(())
/// ```
#[derive(Clone)]
pub struct Tool(Arc<Inner>);

struct Inner {
    definition: Definition,
    handler: Option<Arc<dyn Handler>>,
    /// The middleware around the handler, outermost last.
    layers: Layers,
    /// Set if a call needs no more than its checks and its handler. See [`is_plain`].
    is_plain: bool,
    descriptor: OnceLock<Arc<ToolDescriptor>>,
    digest: OnceLock<String>,
}

/// Reports whether a call needs no more than its checks and its handler. Middlewares are part of preparing a call. See
/// [`Definition::is_plain`].
fn is_plain(definition: &Definition, handler: Option<&dyn Handler>) -> bool {
    definition.is_plain() && handler.is_none_or(|handler| !handler.needs_run())
}

/// Constructors.
impl Tool {
    /// Starts a local tool: the application runs it, and its types are known at compile time.
    ///
    /// A name has at most [`MAX_NAME_LEN`] bytes, is not blank and contains no control characters. Providers accept
    /// less, and a wire encodes names for them.
    #[allow(clippy::new_ret_no_self, reason = "a tool begins as its builder, and the builder's last step may fail")]
    pub fn new(name: impl Into<String>) -> ToolBuilder {
        ToolBuilder::start(name, ToolKind::Local)
    }

    /// Starts a tool whose schema is known only at run time. By default it accepts and returns any JSON value.
    pub fn dynamic(name: impl Into<String>) -> ToolBuilder<Inferred, Open> {
        ToolBuilder::start(name, ToolKind::Dynamic)
    }

    /// Starts a signal: a tool without a handler whose calls the loop reads with [`Tool::decode_args`] and acts on. Its
    /// calls are checked, permitted and approved like calls that run, except that a run rejects integers beyond 64
    /// bits: the arguments of a signal are kept as a `Value`, which would round them. Settings that concern execution
    /// are faults of the definition.
    pub fn signal(name: impl Into<String>) -> ToolBuilder {
        ToolBuilder::start(name, ToolKind::Signal)
    }

    /// Starts an interaction: a tool that is answered from outside, possibly much later. Its calls are checked,
    /// permitted and approved like calls that run. Settings that concern execution are faults of the definition.
    pub fn interaction(name: impl Into<String>) -> ToolBuilder {
        ToolBuilder::start(name, ToolKind::Interaction)
    }

    /// Starts a tool that is built into a provider, by its id `vendor.tool`.
    pub fn provider(id: impl Into<String>) -> ProviderTool {
        ProviderTool::new(id)
    }
}

/// Accessors.
impl Tool {
    /// Returns the identity of the tool, which does not depend on its name.
    #[must_use]
    pub fn id(&self) -> &ToolId {
        &self.definition().id
    }

    /// Returns the name that the model calls.
    #[must_use]
    pub fn name(&self) -> &str {
        self.definition().name.as_str()
    }

    /// Returns the kind, which decides where calls are executed.
    #[must_use]
    pub fn kind(&self) -> &ToolKind {
        &self.definition().kind
    }

    /// Returns the version of the tool.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.annotations().version()
    }

    /// Returns the title for people.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.annotations().title()
    }

    /// Returns the description for the model: the one that was set, even if empty, or else that of the parameter
    /// schema.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.definition().description()
    }

    /// Returns the schema of the arguments.
    #[must_use]
    pub fn parameters(&self) -> &Schema {
        &self.definition().parameters
    }

    /// Returns the schema of results.
    #[must_use]
    pub fn success(&self) -> &Schema {
        &self.definition().success
    }

    /// Returns the schema of declared failures.
    #[must_use]
    pub fn failure(&self) -> &Schema {
        &self.definition().failure
    }

    /// Returns the schema of the values that a call emits, if it is declared.
    #[must_use]
    pub fn emits(&self) -> Option<&Schema> {
        self.definition().emits.as_ref()
    }

    /// Returns how a failed call is reported to the calling code.
    #[must_use]
    pub fn failure_mode(&self) -> FailureMode {
        self.definition().failure_mode.unwrap_or_default()
    }

    /// Returns the annotations.
    #[must_use]
    pub fn annotations(&self) -> &Annotations {
        &self.definition().annotations
    }

    /// Returns examples of valid arguments.
    #[must_use]
    pub fn examples(&self) -> &[Value] {
        &self.definition().examples
    }

    /// Returns the policy that decides which calls require approval.
    #[must_use]
    pub fn approval(&self) -> &ApprovalPolicy {
        &self.definition().approval
    }

    /// Returns the services that a call requires.
    #[must_use]
    pub fn dependencies(&self) -> &[Dependency] {
        &self.definition().dependencies
    }

    /// Returns the timeouts and the limits of concurrency and size for each call.
    #[must_use]
    pub fn limits(&self) -> &ExecutionLimits {
        &self.definition().limits
    }

    /// Returns the requested strict mode. `None` differs from `Some(false)`: it leaves the choice to the profile.
    #[must_use]
    pub fn strict(&self) -> Option<bool> {
        self.annotations().strict()
    }

    /// Returns the JSON Schema of the parameters.
    #[must_use]
    pub fn json_schema(&self) -> &Value {
        self.parameters().as_json()
    }

    /// Renders the JSON Schema of the parameters in a dialect.
    pub fn json_schema_for(&self, dialect: &dyn Dialect) -> Result<Rendered, RenderFault> {
        dialect.render(self.parameters())
    }

    /// Returns the provider's part of a provider-defined tool.
    #[must_use]
    pub fn provider_definition(&self) -> Option<&ProviderDefinition> {
        self.kind().provider()
    }

    /// Returns the public description of the tool. It is built once and then shared.
    #[must_use]
    pub fn descriptor(&self) -> Arc<ToolDescriptor> {
        Arc::clone(self.0.descriptor.get_or_init(|| Arc::new(self.definition().describe())))
    }

    /// Reports whether its calls are executed by a local handler.
    #[must_use]
    pub fn requires_handler(&self) -> bool {
        self.kind().requires_handler()
    }

    /// Reports whether it has a handler.
    #[must_use]
    pub fn has_handler(&self) -> bool {
        self.0.handler.is_some()
    }

    /// Reports whether this is a local tool.
    #[must_use]
    pub fn is_user_defined(&self) -> bool {
        matches!(self.kind(), ToolKind::Local)
    }

    /// Reports whether this is a dynamic tool.
    #[must_use]
    pub fn is_dynamic(&self) -> bool {
        matches!(self.kind(), ToolKind::Dynamic)
    }

    /// Reports whether this tool is built into a provider.
    #[must_use]
    pub fn is_provider_defined(&self) -> bool {
        matches!(self.kind(), ToolKind::Provider(_))
    }

    /// Reports whether this is a signal to the loop.
    #[must_use]
    pub fn is_signal(&self) -> bool {
        matches!(self.kind(), ToolKind::Signal)
    }

    /// Reports whether this tool is answered from outside.
    #[must_use]
    pub fn is_interaction(&self) -> bool {
        matches!(self.kind(), ToolKind::Interaction)
    }
}

impl Tool {
    fn assemble(definition: Definition, handler: Option<Arc<dyn Handler>>, layers: Layers) -> Self {
        Self(Arc::new(Inner {
            is_plain: is_plain(&definition, handler.as_deref()),
            definition,
            handler,
            layers,
            descriptor: OnceLock::new(),
            digest: OnceLock::new(),
        }))
    }

    pub(crate) fn cached_definition_digest(&self, compute: impl FnOnce() -> String) -> &str {
        self.0.digest.get_or_init(compute)
    }

    /// Returns the permits that every run asks about calls of this tool.
    pub(crate) fn permits(&self) -> &[Arc<dyn Permit>] {
        self.definition().permits.as_slice()
    }

    /// Returns the lanes that every call enters before its handler starts.
    pub(crate) fn lanes(&self) -> &[Lane] {
        self.definition().lanes.as_slice()
    }

    fn definition(&self) -> &Definition {
        &self.0.definition
    }

    /// Reports whether a call can take the fast path.
    pub(crate) fn is_plain(&self) -> bool {
        self.0.is_plain
    }

    pub(crate) fn handler(&self) -> Option<&dyn Handler> {
        self.0.handler.as_deref()
    }

    pub(crate) fn refine(&self) -> Option<&Refine> {
        self.definition().refine.as_ref()
    }

    /// Returns the arguments that name resources.
    pub(crate) fn resources(&self) -> &[ResourceArgument] {
        &self.definition().resources
    }

    pub(crate) fn layers(&self) -> &Layers {
        &self.0.layers
    }

    pub(crate) fn rust_type(&self) -> Option<TypeId> {
        self.definition().rust_type
    }

    pub(crate) fn shared_name(&self) -> &ToolName {
        &self.definition().name
    }

    /// Returns how a call of this tool is executed once nothing prevents it.
    pub(crate) fn execution(&self, call: &ToolCall) -> Execution {
        if call.provider_executed { Execution::Provider } else { self.kind().execution() }
    }

    /// Checks an answer that is given in place of a result against the schema of results. A tool that is not executed
    /// here and declares no result accepts any answer.
    pub fn check_answer(&self, answer: &JsonText) -> Result<(), Issues> {
        if !self.requires_handler() && *self.success() == Schema::unit() {
            return Ok(());
        }
        self.success().check_output(answer)
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the content that the model reads for a successful value, if it differs from the value.
    pub(crate) fn render_for_model(&self, value: &dyn Any) -> Option<Vec<ContentPart>> {
        self.definition().model_output.as_ref()?.render(value)
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("id", self.id())
            .field("name", &self.name())
            .field("kind", self.kind())
            .field("has_handler", &self.has_handler())
            .finish_non_exhaustive()
    }
}
