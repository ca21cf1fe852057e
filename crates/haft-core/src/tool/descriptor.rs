//! What a model, a provider or a client is told about a tool.
//!
//! A descriptor is plain data: it serialises, compares, and can be stored and read back by another process. It is built
//! once per definition and shared; its schemas are those of the tool, not copies. It never carries a handler, a policy
//! or anything else that runs.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::schema::{Schema, Validation, tree};
use crate::tool::Annotations;

/// The public face of one tool.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolDescriptor {
    /// The name the model calls.
    pub name: String,
    /// A title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the tool does, for the model. An empty text that was set on purpose stays an empty text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Who executes it.
    pub kind: DescriptorKind,
    /// The JSON Schema of the arguments.
    pub input_schema: SchemaJson,
    /// The JSON Schema of the result; absent when it isn't known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<SchemaJson>,
    /// The strict mode asked for; absent when the profile is to decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// How the tool behaves. Always present.
    #[serde(default)]
    pub hints: Hints,
    /// Free metadata for clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
    /// Arguments that are known to fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Value>,
}

/// Who executes a tool, as far as the other side needs to know.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum DescriptorKind {
    /// The application, by a handler whose types are known.
    #[default]
    Local,
    /// The application, by a schema known only at run time.
    Dynamic,
    /// The provider.
    Provider {
        /// `vendor.tool`.
        id: String,
        /// The name at the provider.
        provider_name: String,
        /// The settings given with the tool.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        args: Value,
    },
    /// Nobody: the loop reads the call.
    Signal,
    /// Somebody outside; the loop stops and goes on later.
    Interaction,
}

/// How a tool behaves, as MCP and others name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(clippy::struct_excessive_bools, reason = "four independent hints that wires send as four booleans")]
#[non_exhaustive]
pub struct Hints {
    /// It only reads.
    pub readonly: bool,
    /// It may destroy something. Means nothing for a tool that only reads.
    pub destructive: bool,
    /// Repeating a call changes nothing more.
    pub idempotent: bool,
    /// It touches outside systems.
    pub open_world: bool,
}

/// The JSON of a schema, shared with the tool it came from. Serialises as the schema itself.
#[derive(Clone)]
pub struct SchemaJson(Schema);

impl ToolDescriptor {
    /// A local tool of this name and these parameters, with nothing else said.
    #[must_use]
    pub fn new(name: impl Into<String>, input_schema: impl Into<SchemaJson>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            kind: DescriptorKind::Local,
            input_schema: input_schema.into(),
            output_schema: None,
            strict: None,
            hints: Hints::default(),
            meta: None,
            examples: Vec::new(),
        }
    }

    /// The same descriptor with a description.
    #[must_use]
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The same descriptor of another kind.
    #[must_use]
    pub fn kind(mut self, kind: DescriptorKind) -> Self {
        self.kind = kind;
        self
    }

    /// The same descriptor with a result schema.
    #[must_use]
    pub fn output_schema(mut self, schema: impl Into<SchemaJson>) -> Self {
        self.output_schema = Some(schema.into());
        self
    }

    /// The same descriptor with everything its annotations say.
    #[must_use]
    pub fn annotations(mut self, annotations: &Annotations) -> Self {
        self.title = annotations.title().map(Into::into);
        self.strict = annotations.strict();
        self.meta = annotations.meta().cloned();
        self.hints = Hints {
            readonly: annotations.readonly(),
            destructive: annotations.destructive(),
            idempotent: annotations.idempotent(),
            open_world: annotations.open_world(),
        };
        self
    }

    /// The same descriptor with these examples.
    #[must_use]
    pub fn examples(mut self, examples: Vec<Value>) -> Self {
        self.examples = examples;
        self
    }
}

impl fmt::Debug for ToolDescriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolDescriptor").field("name", &self.name).field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// What holds for a tool that says nothing.
impl Default for Hints {
    fn default() -> Self {
        Self { readonly: false, destructive: true, idempotent: false, open_world: true }
    }
}

impl SchemaJson {
    /// The JSON.
    #[must_use]
    pub fn as_json(&self) -> &Value {
        self.0.as_json()
    }
}

impl From<Schema> for SchemaJson {
    fn from(schema: Schema) -> Self {
        Self(schema)
    }
}

impl fmt::Debug for SchemaJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_json())
    }
}

impl PartialEq for SchemaJson {
    fn eq(&self, other: &Self) -> bool {
        self.as_json() == other.as_json()
    }
}

impl Serialize for SchemaJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_json().serialize(serializer)
    }
}

/// Read back without a check of its own: a descriptor describes, the tool's own schema checks.
impl<'de> Deserialize<'de> for SchemaJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = tree(deserializer)?;
        Schema::json_with(json, Validation::None).map(Self).map_err(serde::de::Error::custom)
    }
}
