//! A tool: what a model can ask for.
//!
//! There is one erased form, [`Tool`], for all five kinds: a checked definition, a handler if it has one, and the
//! descriptor made from both, shared by all clones. A tool never changes; [combinators](Tool::set_parameters) give
//! changed copies. Whatever can be wrong with a definition is found when it is made, so a tool that exists is well
//! defined.

mod annotation;
mod approval;
mod builder;
mod combinator;
mod definition;
mod descriptor;
mod dialect;
mod draft;
mod empty_params;
mod failure_mode;
mod fault;
mod identity;
mod kind;
mod limit;
mod name_mapper;
mod prepare;
mod provider;
mod slot;
mod terminal;

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

pub use self::annotation::{
    Annotation, Annotations, Destructive, Idempotent, Meta, OpenWorld, Readonly, Strict, Title,
};
pub use self::approval::{ApprovalCx, ApprovalNeed, ApprovalPolicy, PolicyError};
pub use self::builder::ToolBuilder;
use self::definition::Definition;
pub use self::descriptor::{DescriptorKind, Hints, SchemaJson, ToolDescriptor};
pub use self::dialect::{Dialect, Loss, Rendered};
pub use self::empty_params::EmptyParams;
pub use self::failure_mode::FailureMode;
pub use self::fault::{DefinitionError, DefinitionFault, MAX_NAME_LEN, NameFault, SchemaPart};
pub use self::identity::ToolIdentity;
pub(crate) use self::kind::Execution;
pub use self::kind::ToolKind;
pub use self::limit::{Concurrency, EmitBuffer, ExecutionLimits, OnOverflow, OutputCap};
pub use self::name_mapper::{NameClash, NameMapError, NameMapper};
pub use self::prepare::MissingHandler;
pub(crate) use self::prepare::NO_APPROVAL;
pub use self::provider::{ProviderDefinition, ProviderTool};
pub use self::slot::{Inferred, Open, Slot, Typed};
use crate::call::ToolCall;
use crate::content::ContentPart;
use crate::handler::Handler;
use crate::issue::Issues;
use crate::json_text::JsonText;
use crate::middleware::Layers;
use crate::schema::Schema;
use crate::service::Dependency;
use crate::text_id::text_id;

text_id! {
    /// The name a tool is called by. Shared, so every event and result can carry it.
    ToolName
}

text_id! {
    /// What a tool is, whatever it is called: its name at creation, or `vendor.tool` for a provider-defined one.
    /// Renaming keeps it.
    ToolId
}

/// A tool. Cloning is cheap: everything is shared.
///
/// ```
/// use haft_core::Tool;
///
/// let greet = Tool::new("greet")
///     .describe("Greets somebody by name.")
///     .run(|name: String, _cx| async move { format!("Hello, {name}!") })?;
/// assert_eq!(greet.name(), "greet");
/// assert!(greet.is_user_defined());
/// # Ok::<_, haft_core::DefinitionError>(())
/// ```
#[derive(Clone)]
pub struct Tool(Arc<Inner>);

struct Inner {
    definition: Definition,
    handler: Option<Arc<dyn Handler>>,
    /// What is wrapped around the handler, the outermost last.
    layers: Layers,
    descriptor: OnceLock<Arc<ToolDescriptor>>,
    #[cfg(feature = "approval")]
    digest: OnceLock<String>,
}

/// Starting a definition.
impl Tool {
    /// A local tool: the application runs it, and its types are known.
    #[allow(clippy::new_ret_no_self, reason = "a tool begins as its builder, and the builder's last step may fail")]
    pub fn new(name: impl Into<String>) -> ToolBuilder {
        ToolBuilder::start(name, ToolKind::Local)
    }

    /// A tool whose schema is known only at run time. Without more said, it takes and gives anything.
    pub fn dynamic(name: impl Into<String>) -> ToolBuilder<Inferred, Open> {
        ToolBuilder::start(name, ToolKind::Dynamic)
    }

    /// A tool that nobody runs: the loop reads its calls with [`Tool::decode_args`] and acts on them. They are checked,
    /// permitted and approved like calls that run, except that a run rejects integers beyond 64 bits: a signal is kept as a
    /// tree, which would round them. Settings about running it are faults of the definition.
    pub fn signal(name: impl Into<String>) -> ToolBuilder {
        ToolBuilder::start(name, ToolKind::Signal)
    }

    /// A tool that somebody outside answers, possibly much later. Its calls are checked, permitted and approved like calls
    /// that run. Settings about running it are faults of the definition.
    pub fn interaction(name: impl Into<String>) -> ToolBuilder {
        ToolBuilder::start(name, ToolKind::Interaction)
    }

    /// A tool built into a provider, by its id `vendor.tool`.
    pub fn provider(id: impl Into<String>) -> ProviderTool {
        ProviderTool::new(id)
    }
}

/// What is known about a tool.
impl Tool {
    /// What the tool is, whatever it is called.
    #[must_use]
    pub fn id(&self) -> &ToolId {
        &self.definition().id
    }

    /// The name the model calls.
    #[must_use]
    pub fn name(&self) -> &str {
        self.definition().name.as_str()
    }

    /// Who executes it.
    #[must_use]
    pub fn kind(&self) -> &ToolKind {
        &self.definition().kind
    }

    /// A title for people.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.annotations().title()
    }

    /// What the tool does, for the model: what was said, even if empty; else what the parameter schema says.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.definition().description()
    }

    /// What arguments must fit.
    #[must_use]
    pub fn parameters(&self) -> &Schema {
        &self.definition().parameters
    }

    /// What results fit.
    #[must_use]
    pub fn success(&self) -> &Schema {
        &self.definition().success
    }

    /// What declared failures fit.
    #[must_use]
    pub fn failure(&self) -> &Schema {
        &self.definition().failure
    }

    /// What a failed call is to the code that called.
    #[must_use]
    pub fn failure_mode(&self) -> FailureMode {
        self.definition().failure_mode.unwrap_or_default()
    }

    /// What else is known.
    #[must_use]
    pub fn annotations(&self) -> &Annotations {
        &self.definition().annotations
    }

    /// Arguments that are known to fit.
    #[must_use]
    pub fn examples(&self) -> &[Value] {
        &self.definition().examples
    }

    /// When a call must be approved.
    #[must_use]
    pub fn approval(&self) -> &ApprovalPolicy {
        &self.definition().approval
    }

    /// The services that must be there before a call starts.
    #[must_use]
    pub fn dependencies(&self) -> &[Dependency] {
        &self.definition().dependencies
    }

    /// How long, how wide and how large a call may be.
    #[must_use]
    pub fn limits(&self) -> &ExecutionLimits {
        &self.definition().limits
    }

    /// The strict mode asked for; `None` is distinct from `Some(false)` and leaves it to the profile.
    #[must_use]
    pub fn strict(&self) -> Option<bool> {
        self.annotations().strict()
    }

    /// The JSON Schema of the parameters.
    #[must_use]
    pub fn json_schema(&self) -> &Value {
        self.parameters().as_json()
    }

    /// The JSON Schema of the parameters as a dialect writes it, and what it could not say.
    #[must_use]
    pub fn json_schema_for(&self, dialect: &dyn Dialect) -> Rendered {
        dialect.parameters(self.parameters())
    }

    /// The provider's side of a provider-defined tool.
    #[must_use]
    pub fn provider_definition(&self) -> Option<&ProviderDefinition> {
        self.kind().provider()
    }

    /// What others are told about the tool: made once, then shared.
    #[must_use]
    pub fn descriptor(&self) -> Arc<ToolDescriptor> {
        Arc::clone(self.0.descriptor.get_or_init(|| Arc::new(self.definition().describe())))
    }

    /// Whether its calls are run here, by a handler.
    #[must_use]
    pub fn requires_handler(&self) -> bool {
        self.kind().requires_handler()
    }

    /// Whether it has a handler.
    #[must_use]
    pub fn has_handler(&self) -> bool {
        self.0.handler.is_some()
    }

    /// Whether this is a local tool.
    #[must_use]
    pub fn is_user_defined(&self) -> bool {
        matches!(self.kind(), ToolKind::Local)
    }

    /// Whether this is a dynamic tool.
    #[must_use]
    pub fn is_dynamic(&self) -> bool {
        matches!(self.kind(), ToolKind::Dynamic)
    }

    /// Whether this tool is built into a provider.
    #[must_use]
    pub fn is_provider_defined(&self) -> bool {
        matches!(self.kind(), ToolKind::Provider(_))
    }

    /// Whether this is a signal to the loop.
    #[must_use]
    pub fn is_signal(&self) -> bool {
        matches!(self.kind(), ToolKind::Signal)
    }

    /// Whether somebody outside answers this tool.
    #[must_use]
    pub fn is_interaction(&self) -> bool {
        matches!(self.kind(), ToolKind::Interaction)
    }
}

impl Tool {
    fn assemble(definition: Definition, handler: Option<Arc<dyn Handler>>, layers: Layers) -> Self {
        Self(Arc::new(Inner {
            definition,
            handler,
            layers,
            descriptor: OnceLock::new(),
            #[cfg(feature = "approval")]
            digest: OnceLock::new(),
        }))
    }

    #[cfg(feature = "approval")]
    pub(crate) fn cached_definition_digest(&self, compute: impl FnOnce() -> String) -> &str {
        self.0.digest.get_or_init(compute)
    }

    fn definition(&self) -> &Definition {
        &self.0.definition
    }

    pub(crate) fn handler(&self) -> Option<&dyn Handler> {
        self.0.handler.as_deref()
    }

    pub(crate) fn layers(&self) -> &Layers {
        &self.0.layers
    }

    pub(crate) fn shared_name(&self) -> &ToolName {
        &self.definition().name
    }

    /// Returns what happens to a call of this tool once nothing prevents it.
    pub(crate) fn execution(&self, call: &ToolCall) -> Execution {
        if call.provider_executed { Execution::Provider } else { self.kind().execution() }
    }

    /// Checks an answer that is given in the place of a result: it must be what the tool promises. A tool that nobody runs
    /// here and that promises nothing takes any answer.
    pub fn check_answer(&self, answer: &JsonText) -> Result<(), Issues> {
        if !self.requires_handler() && *self.success() == Schema::unit() {
            return Ok(());
        }
        self.success().check_output(answer)
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// What the model sees of a successful value, if that differs from the value.
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
