//! A profile: everything that one wire demands from the tools sent over it.
//!
//! ```text
//! descriptors ─> name rule ─> dialect (strict or plain, within the limits) ─> tool form ─> RenderedTools
//! ```
//!
//! A profile is data and a few traits, so you can describe a provider that haft does not know. Tools are rendered once
//! per profile: clones share what was rendered.

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

/// One wire's demands on the tools sent over it.
///
/// ```
/// use haft_executor::Tool;
/// use haft_core::{Item, TurnRequest};
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

/// The strict mode for tools that do not state one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strictness {
    /// Strict where the strict schema lets the model send everything that the tool is meant to receive. Keys that a
    /// schema neither lists nor mentions do not count, and a Rust `Option` may be `null` instead of absent. Such losses
    /// are reported as findings.
    #[default]
    Auto,
    /// Strict for every tool. A tool whose schema has no strict form is a fault, as if it stated `strict`.
    On,
    /// Strict for no tool.
    Off,
}

/// The treatment for a tool that must be strict but can't be.
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

/// Renders a request's tools.
pub trait RenderTools {
    /// Renders the tools with a profile, or returns the earlier rendering of the same ones.
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

    /// Sets the name for reports. It defaults to the provider's name.
    #[must_use]
    pub fn named(self, name: impl Into<Cow<'static, str>>) -> Self {
        let name = name.into();
        self.with(|definition| definition.name = name)
    }

    /// Sets the name under which the provider's options and data are kept, and the name for reports. Use it for a
    /// server that speaks another provider's protocol.
    #[must_use]
    pub fn of_provider(self, provider: impl Into<Cow<'static, str>>) -> Self {
        let provider = provider.into();
        self.with(|definition| {
            definition.name.clone_from(&provider);
            definition.provider = provider;
        })
    }

    /// Sets the dialect for strict mode.
    #[must_use]
    pub fn strict_dialect(self, dialect: impl Dialect + 'static) -> Self {
        self.with(|definition| definition.strict = Some(Arc::new(dialect)))
    }

    /// Removes strict mode, for a model that lacks it.
    #[must_use]
    pub fn without_strict_mode(self) -> Self {
        self.with(|definition| definition.strict = None)
    }

    /// Sets the mode for tools that do not state one.
    #[must_use]
    pub fn strictness(self, strictness: Strictness) -> Self {
        self.with(|definition| definition.strictness = strictness)
    }

    /// Sends a tool that states `strict` without it if it can't be strict, and reports that. By default the request
    /// fails: the tool's author relies on the provider to hold the model to the schema.
    #[must_use]
    pub fn allow_downgrades(self) -> Self {
        self.with(|definition| definition.unmet = UnmetStrict::IsDowngraded)
    }

    /// Sends each registry namespace's tools, such as `shop/find` and `shop/price`, as one tool of type `namespace`,
    /// where the provider has that: OpenAI's Responses API.
    ///
    /// OpenAI's tool search works best with namespaces: add [`tool_search`](crate::catalogue::openai::tool_search) to
    /// the tools, and make rarely needed ones [`deferred`](haft_core::ProviderOptions::deferred). Describe a namespace
    /// with [`namespace`](Self::namespace); otherwise its tools' names describe it.
    ///
    /// A request that chooses certain tools can't name those in a namespace, so it has all tools side by side.
    #[must_use]
    pub fn namespaces(self) -> Self {
        self.with(|definition| definition.namespaces.all = true)
    }

    /// Sends one namespace's tools as [`namespaces`](Self::namespaces) does, with this description. Until the model
    /// searches, it reads nothing else about deferred tools.
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

    /// Limits one request's tools.
    #[must_use]
    pub fn limits(self, limits: ToolLimits) -> Self {
        self.with(|definition| definition.limits = limits)
    }

    /// Returns the name, for reports.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// Returns the name under which the provider's options and data are kept.
    #[must_use]
    pub fn provider(&self) -> &str {
        &self.definition.provider
    }

    /// Returns the names that the provider accepts.
    #[must_use]
    pub fn name_rule(&self) -> NameRule {
        self.definition.names
    }

    /// Returns the request member that holds the answer schema, for an API with several.
    pub(crate) fn output_member(&self) -> &'static str {
        self.definition.form.output_member()
    }

    /// Renders tools, or returns the earlier rendering of the same ones.
    ///
    /// A tool that the provider can't take is left out and reported; it never affects the others. A tool that states
    /// `strict` and can't be strict is rendered without it, and [`RenderedTools::ensure_sendable`] fails.
    #[must_use]
    pub fn render(&self, tools: &[Arc<ToolDescriptor>]) -> Arc<RenderedTools> {
        self.cache.get_or_render(tools, || render::render(&self.definition, tools))
    }

    /// Renders an answer format, or returns the earlier rendering of an equal one. As with tools, an explicit `strict`
    /// that can't be met is an error.
    pub fn render_output(&self, format: &OutputFormat) -> Result<Arc<RenderedOutput>, RequestError> {
        self.cache.get_or_render_output(format, || output::render(&self.definition, format))
    }

    fn of(definition: ProfileDefinition) -> Self {
        Self { definition: Arc::new(definition), cache: Arc::default() }
    }

    /// Changes a copy of the definition, without its earlier renderings.
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
