//! The public description of a tool, for a model, a provider or a client.
//!
//! A descriptor is plain data: it can be serialised, compared, stored and read by another process, which can rebuild
//! the tool from it. It is built once per definition and shared; its schemas are shared with the tool. It never
//! contains a handler, a policy or anything else that runs.

mod annotation;
mod icon;
mod mcp;
mod provider_option;
mod schema_json;
mod stored_descriptor;

use std::fmt;

use haft_schema::internal::tree;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

pub use self::annotation::{
    Annotation, Annotations, DescribedAnnotation, Destructive, Icons, Idempotent, Meta, OpenWorld, Readonly, Strict,
    Title, Version,
};
pub use self::icon::{Icon, IconTheme};
pub use self::mcp::McpMembers;
pub use self::provider_option::{CacheControl, ProviderOptions};
pub use self::schema_json::SchemaJson;
use self::stored_descriptor::StoredDescriptor;
use crate::description::IntoDescription;
use crate::tagged::{self, ReadVariant, TaggedEnum};
use crate::tool_name::ToolId;

/// The public description of one tool.
///
/// ```
/// use haft_core::ToolDescriptor;
/// use haft_schema::Schema;
///
/// let mut search = ToolDescriptor::new("search", Schema::of_params::<String>()?);
/// search.version = Some("1.2".to_owned());
/// let stored = serde_json::to_string(&search)?;
///
/// let read: ToolDescriptor = serde_json::from_str(&stored)?;
/// assert_eq!(read, search);
/// assert_eq!((read.version.as_deref(), read.requires_handler()), (Some("1.2"), true));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct ToolDescriptor {
    /// The identity of the tool, independent of its name.
    pub id: ToolId,
    /// The name that the model calls.
    pub name: String,
    /// The version of the tool, in its author's notation.
    pub version: Option<String>,
    /// A title for people.
    pub title: Option<String>,
    /// The description for the model. An empty text that was set explicitly is kept.
    pub description: Option<String>,
    /// The kind of the tool.
    pub kind: DescriptorKind,
    /// The schema of the arguments.
    pub input_schema: SchemaJson,
    /// The schema of the result, if it is known.
    pub output_schema: Option<SchemaJson>,
    /// The schema of declared failures, if any are declared.
    pub failure_schema: Option<SchemaJson>,
    /// The schema of the values that a call emits while it runs, if it is declared.
    pub emits: Option<SchemaJson>,
    /// The requested strict mode. If absent, the profile decides.
    pub strict: Option<bool>,
    /// Hints about the behaviour of the tool. Always present.
    pub hints: Hints,
    /// Icons for clients that show tools to people.
    pub icons: Vec<Icon>,
    /// Options for the providers that the tool is sent to.
    pub provider_options: ProviderOptions,
    /// The annotations of the application, by key. See [`DescribedAnnotation`].
    pub annotations: Map<String, Value>,
    /// Free-form metadata for clients.
    pub meta: Option<Map<String, Value>>,
    /// Examples of valid arguments.
    pub examples: Vec<Value>,
}

/// The kind of a tool, as far as clients need to know it.
#[derive(Clone, Debug, PartialEq, Default, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum DescriptorKind {
    /// Executed by the application, with a handler whose types are known at compile time where the tool is defined.
    #[default]
    Local,
    /// Executed by the application, with a schema that is known only at run time.
    Dynamic,
    /// Built into a provider.
    Provider {
        /// The id, `vendor.tool`.
        id: String,
        /// The name at the provider.
        provider_name: String,
        /// The settings given with the tool.
        #[serde(skip_serializing_if = "Value::is_null")]
        args: Value,
        /// Set if the application executes the tool, rather than the provider.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        requires_handler: bool,
    },
    /// Not executed: the loop reads the call.
    Signal,
    /// Answered from outside: the loop stops and continues later.
    Interaction,
}

/// Hints about the behaviour of a tool, named as in MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredHints")]
#[allow(clippy::struct_excessive_bools, reason = "independent hints that wires send as booleans")]
pub struct Hints {
    /// The tool only reads.
    pub readonly: bool,
    /// The tool may destroy data. Meaningless for a tool that only reads.
    pub destructive: bool,
    /// Repeating a call has no further effect.
    pub idempotent: bool,
    /// The tool reaches outside systems.
    pub open_world: bool,
    /// The tool only reads, and nothing is stated about its idempotence, so that calls of it may be repeated. A
    /// readonly tool for which `idempotent` is stated to be false must not be.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub idempotence_unset: bool,
}

/// Hints as they are read: an absent one has its default, and an absent `idempotent` is unset.
#[derive(Deserialize)]
#[serde(default)]
#[allow(clippy::struct_excessive_bools, reason = "the stored form of the hints")]
struct StoredHints {
    readonly: bool,
    destructive: bool,
    idempotent: Option<bool>,
    open_world: bool,
    idempotence_unset: bool,
}

impl ToolDescriptor {
    /// Creates the descriptor of a local tool with this name and these parameters. Its id is the name, and everything
    /// else is unset.
    #[must_use]
    pub fn new(name: impl Into<String>, input_schema: impl Into<SchemaJson>) -> Self {
        let name = name.into();
        Self {
            id: ToolId::from(name.as_str()),
            name,
            version: None,
            title: None,
            description: None,
            kind: DescriptorKind::Local,
            input_schema: input_schema.into(),
            output_schema: None,
            failure_schema: None,
            emits: None,
            strict: None,
            hints: Hints::default(),
            icons: Vec::new(),
            provider_options: ProviderOptions::new(),
            annotations: Map::new(),
            meta: None,
            examples: Vec::new(),
        }
    }

    /// Sets the id.
    #[must_use]
    pub fn id(mut self, id: impl Into<ToolId>) -> Self {
        self.id = id.into();
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn describe<M>(mut self, description: impl IntoDescription<M>) -> Self {
        self.description = description.into_description();
        self
    }

    /// Sets the kind. The id stays as it is.
    #[must_use]
    pub fn kind(mut self, kind: DescriptorKind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets the schema of results.
    #[must_use]
    pub fn output_schema(mut self, schema: impl Into<SchemaJson>) -> Self {
        self.output_schema = Some(schema.into());
        self
    }

    /// Sets the schema of declared failures.
    #[must_use]
    pub fn failure_schema(mut self, schema: impl Into<SchemaJson>) -> Self {
        self.failure_schema = Some(schema.into());
        self
    }

    /// Sets everything that annotations contain: the title, the version, the hints, the strict mode, the icons, the
    /// options for providers, the metadata, and the application's own.
    #[must_use]
    pub fn annotations(mut self, annotations: &Annotations) -> Self {
        self.title = annotations.title().map(Into::into);
        self.version = annotations.version().map(Into::into);
        self.strict = annotations.strict();
        self.meta = annotations.meta().cloned();
        self.icons = annotations.icons().to_vec();
        self.provider_options = annotations.provider_options().cloned().unwrap_or_default();
        self.annotations.clone_from(annotations.described());
        self.hints = Hints {
            readonly: annotations.readonly(),
            destructive: annotations.destructive(),
            idempotent: annotations.idempotent(),
            open_world: annotations.open_world(),
            idempotence_unset: annotations.readonly() && annotations.get::<Idempotent>().is_none(),
        };
        self
    }

    /// Sets the examples.
    #[must_use]
    pub fn examples(mut self, examples: Vec<Value>) -> Self {
        self.examples = examples;
        self
    }

    /// Reports whether calls are executed by a handler of the application.
    #[must_use]
    pub fn requires_handler(&self) -> bool {
        self.kind.requires_handler()
    }

    /// Reads one of the application's annotations; `None` if there is none.
    pub fn annotation<A: DescribedAnnotation>(&self) -> Result<Option<A>, serde_json::Error> {
        self.annotations.get(A::KEY).map(A::deserialize).transpose()
    }
}

impl DescriptorKind {
    /// Reports whether calls of such a tool are executed by a handler of the application.
    #[must_use]
    pub fn requires_handler(&self) -> bool {
        match self {
            Self::Local | Self::Dynamic => true,
            Self::Provider { requires_handler, .. } => *requires_handler,
            Self::Signal | Self::Interaction => false,
        }
    }

    /// Returns the id of such a tool if none is set.
    pub(crate) fn default_id(&self, name: &str) -> ToolId {
        match self {
            Self::Provider { id, .. } => ToolId::from(id.as_str()),
            Self::Local | Self::Dynamic | Self::Signal | Self::Interaction => ToolId::from(name),
        }
    }
}

impl fmt::Debug for ToolDescriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolDescriptor").field("name", &self.name).field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// The hints of a tool without annotations.
impl Default for Hints {
    fn default() -> Self {
        Self { readonly: false, destructive: true, idempotent: false, open_world: true, idempotence_unset: false }
    }
}

impl Default for StoredHints {
    fn default() -> Self {
        let Hints { readonly, destructive, idempotent: _, open_world, idempotence_unset } = Hints::default();
        Self { readonly, destructive, idempotent: None, open_world, idempotence_unset }
    }
}

impl From<StoredHints> for Hints {
    fn from(stored: StoredHints) -> Self {
        let StoredHints { readonly, destructive, idempotent, open_world, idempotence_unset } = stored;
        let is_unset = idempotent.is_none() || (idempotence_unset && idempotent == Some(false));
        let idempotence_unset = readonly && is_unset;
        Self { readonly, destructive, idempotent: idempotent.unwrap_or_default(), open_world, idempotence_unset }
    }
}

impl Serialize for ToolDescriptor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        StoredDescriptor::from(self).serialize(serializer)
    }
}

/// Reads a descriptor of any version up to the current one. Schemas are kept as they are, and checked when they are
/// first used.
impl<'de> Deserialize<'de> for ToolDescriptor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        StoredDescriptor::deserialize(deserializer).map(Into::into)
    }
}

impl TaggedEnum for DescriptorKind {
    const VARIANTS: &'static [(&'static str, ReadVariant<Self>)] = &[
        ("local", |_| Ok(Self::Local)),
        ("dynamic", |_| Ok(Self::Dynamic)),
        ("provider", |members| {
            Ok(Self::Provider {
                id: members.take("id")?,
                provider_name: members.take("provider_name")?,
                args: members.take_or_default("args")?,
                requires_handler: members.take_or_default("requires_handler")?,
            })
        }),
        ("signal", |_| Ok(Self::Signal)),
        ("interaction", |_| Ok(Self::Interaction)),
    ];
}

impl<'de> Deserialize<'de> for DescriptorKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}

/// Reads an object of free-form values.
pub(crate) fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    match tree(deserializer)? {
        Value::Object(members) => Ok(members),
        _ => Err(serde::de::Error::custom("expected an object")),
    }
}
