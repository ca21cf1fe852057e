//! A profile: everything that one wire demands of the tools that are sent over it.
//!
//! ```text
//! descriptors ─> name rule ─> dialect (strict or plain, within the limits) ─> tool form ─> RenderedTools
//! ```
//!
//! A profile is data and a few traits, so that an application can describe a provider that haft does not know. The
//! same tools are rendered once per profile: clones of a profile share what was rendered.

mod built_in;
mod cache;
pub(crate) mod finding;
pub(crate) mod mcp_tool;
pub(crate) mod model_profile;
mod namespace;
mod output;
mod render;
pub(crate) mod rendered_tools;
pub(crate) mod tool_form;
mod tool_limits;
pub(crate) mod tool_name;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use haft_core::{Dialect, OutputFormat, ToolDescriptor, TurnRequest};

use self::cache::RenderCache;
use self::namespace::NamespaceRule;
pub use self::output::RenderedOutput;
pub use self::tool_limits::ToolLimits;
use crate::profile::rendered_tools::RenderedTools;
use crate::profile::tool_form::ToolForm;
use crate::profile::tool_name::NameRule;
use crate::wire_error::RequestError;

/// The demands of one wire on the tools that are sent over it.
///
/// ```
/// use haft_core::{Tool, TurnRequest, Item};
/// use haft_wire::{Profile, RenderTools};
///
/// let search = Tool::new("acme/search").describe("Searches.").handler(|query: String, _cx| async move { query })?;
/// let request = TurnRequest::new("gpt-5", vec![Item::user("hi")]).tools(&[search.descriptor()]);
///
/// let tools = request.render_tools(&Profile::openai());
/// assert_eq!(tools.wire_name("acme/search"), "acme--search");
/// assert_eq!(tools.tool_name("acme--search"), "acme/search");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Profile {
    definition: Arc<ProfileDefinition>,
    cache: Arc<RenderCache>,
}

/// The mode in which a model is held to the schemas of tools that do not state one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strictness {
    /// Strict where the strict form of the schema lets the model send everything that the tool is meant to receive. Keys
    /// that a schema neither lists nor mentions do not count, and an `Option` of a Rust type may be `null` instead of
    /// absent. What is lost so is reported as a finding.
    #[default]
    Auto,
    /// Strict for every tool. One whose schema has no strict form is a fault, as if it stated `strict`.
    On,
    /// Strict for no tool.
    Off,
}

/// The treatment of a tool that must be strict and can't be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnmetStrict {
    /// A request with it fails.
    Fails,
    /// It is sent without strict mode.
    IsDowngraded,
}

#[derive(Clone)]
struct ProfileDefinition {
    name: Cow<'static, str>,
    provider: Cow<'static, str>,
    plain: Arc<dyn Dialect>,
    strict: Option<Arc<dyn Dialect>>,
    strictness: Strictness,
    unmet: UnmetStrict,
    namespaces: NamespaceRule,
    names: NameRule,
    limits: ToolLimits,
    form: Arc<dyn ToolForm>,
}

/// Renders the tools of a request.
pub trait RenderTools {
    /// Renders the tools with a profile, or returns what was rendered before for the same ones.
    fn render_tools(&self, profile: &Profile) -> Arc<RenderedTools>;
}

impl RenderTools for TurnRequest {
    fn render_tools(&self, profile: &Profile) -> Arc<RenderedTools> {
        profile.render(&self.tools)
    }
}

impl Profile {
    /// Creates a profile without a strict mode and without limits. The provider is the name under which its options
    /// and data are kept, such as `openai`.
    #[must_use]
    pub fn new(
        provider: impl Into<Cow<'static, str>>,
        dialect: impl Dialect + 'static,
        form: impl ToolForm + 'static,
    ) -> Self {
        let provider = provider.into();
        Self::of(ProfileDefinition {
            name: provider.clone(),
            provider,
            plain: Arc::new(dialect),
            strict: None,
            strictness: Strictness::Auto,
            unmet: UnmetStrict::Fails,
            namespaces: NamespaceRule::default(),
            names: NameRule::new("_-", 64),
            limits: ToolLimits::default(),
            form: Arc::new(form),
        })
    }

    /// Sets the name for reports. It is the provider's name if unset.
    #[must_use]
    pub fn named(self, name: impl Into<Cow<'static, str>>) -> Self {
        let name = name.into();
        self.with(|definition| definition.name = name)
    }

    /// Sets the name under which the options and data of the provider are kept, for a server that speaks the protocol of
    /// another. It is the name for reports too.
    #[must_use]
    pub fn of_provider(self, provider: impl Into<Cow<'static, str>>) -> Self {
        let provider = provider.into();
        self.with(|definition| {
            definition.name.clone_from(&provider);
            definition.provider = provider;
        })
    }

    /// Sets the dialect of strict mode.
    #[must_use]
    pub fn strict_dialect(self, dialect: impl Dialect + 'static) -> Self {
        self.with(|definition| definition.strict = Some(Arc::new(dialect)))
    }

    /// Removes the strict mode, for a model that does not have one.
    #[must_use]
    pub fn without_strict_mode(self) -> Self {
        self.with(|definition| definition.strict = None)
    }

    /// Sets the mode for tools that do not state one.
    #[must_use]
    pub fn strictness(self, strictness: Strictness) -> Self {
        self.with(|definition| definition.strictness = strictness)
    }

    /// Sends a tool that states `strict` and can't be strict without it, and reports that. Otherwise a request with such
    /// a tool fails: its author relies on the provider to hold the model to the schema.
    #[must_use]
    pub fn allow_downgrades(self) -> Self {
        self.with(|definition| definition.unmet = UnmetStrict::IsDowngraded)
    }

    /// Sends the tools of each namespace of a registry, such as `shop/find` and `shop/price`, as one tool of the type
    /// `namespace`, where the provider has that: OpenAI's Responses API. Its search for tools works best with these: add
    /// [`tool_search`](crate::catalogue::openai::tool_search) to the tools, and let those that are rarely needed be
    /// [`deferred`](haft_core::ProviderOptions::deferred). A namespace that [`namespace`](Self::namespace) does not
    /// describe is described by the names of its tools.
    ///
    /// A choice of certain tools can't name those of a namespace, so a request with one has all tools side by side.
    #[must_use]
    pub fn namespaces(self) -> Self {
        self.with(|definition| definition.namespaces.all = true)
    }

    /// Sends the tools of one namespace as [`namespaces`](Self::namespaces) does, with this description. Until the model
    /// searches, it is all that the model reads about deferred tools.
    #[must_use]
    pub fn namespace(self, name: impl Into<String>, description: impl Into<String>) -> Self {
        let (name, description) = (name.into(), description.into());
        self.with(|definition| drop(definition.namespaces.described.insert(name, description)))
    }

    /// Sets the names that the provider accepts.
    #[must_use]
    pub fn names(self, names: NameRule) -> Self {
        self.with(|definition| definition.names = names)
    }

    /// Sets the limits on the tools of one request.
    #[must_use]
    pub fn limits(self, limits: ToolLimits) -> Self {
        self.with(|definition| definition.limits = limits)
    }

    /// Returns the name, for reports.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// Returns the name under which the options and data of the provider are kept.
    #[must_use]
    pub fn provider(&self) -> &str {
        &self.definition.provider
    }

    /// Returns the names that the provider accepts.
    #[must_use]
    pub fn name_rule(&self) -> NameRule {
        self.definition.names
    }

    /// Returns the member of a request that holds the schema of an answer, for an API with several of them.
    pub(crate) fn output_member(&self) -> &'static str {
        self.definition.form.output_member()
    }

    /// Renders tools, or returns what was rendered before for the same ones. A tool that the provider can't take is left
    /// out and reported; it never affects the others. One that states `strict` and can't be strict is rendered without it,
    /// and [`RenderedTools::ensure_sendable`] fails.
    #[must_use]
    pub fn render(&self, tools: &[Arc<ToolDescriptor>]) -> Arc<RenderedTools> {
        self.cache.get_or_render(tools, || render::render(&self.definition, tools))
    }

    /// Renders the format of an answer, or returns what was rendered before for an equal one. Strictness holds as for
    /// tools: an explicit `strict` that can't be met is an error.
    pub fn render_output(&self, format: &OutputFormat) -> Result<Arc<RenderedOutput>, RequestError> {
        self.cache.get_or_render_output(format, || output::render(&self.definition, format))
    }

    fn of(definition: ProfileDefinition) -> Self {
        Self { definition: Arc::new(definition), cache: Arc::default() }
    }

    /// Changes a copy of the definition. What was rendered before no longer applies.
    fn with(self, change: impl FnOnce(&mut ProfileDefinition)) -> Self {
        let mut definition = Arc::unwrap_or_clone(self.definition);
        change(&mut definition);
        Self::of(definition)
    }
}

impl fmt::Debug for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Profile").field("name", &self.name()).finish_non_exhaustive()
    }
}
