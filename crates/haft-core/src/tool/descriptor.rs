//! The public description of a tool, for a model, a provider or a client.
//!
//! A descriptor is plain data: it can be serialised, compared, stored and read by another process. It is built once per
//! definition and shared; its schemas are shared with the tool. It never contains a handler, a policy or anything else
//! that runs.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::schema::{Schema, Validation, tree};
use crate::tool::Annotations;

/// The public description of one tool.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolDescriptor {
    /// The name that the model calls.
    pub name: String,
    /// A title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description for the model. An empty text that was set explicitly is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The kind of the tool.
    pub kind: DescriptorKind,
    /// The JSON Schema of the arguments.
    pub input_schema: SchemaJson,
    /// The JSON Schema of the result, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<SchemaJson>,
    /// The JSON Schema of the values that a call emits while it runs, if it is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emits: Option<SchemaJson>,
    /// The requested strict mode. If absent, the profile decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// Hints about the behaviour of the tool. Always present.
    #[serde(default)]
    pub hints: Hints,
    /// Free-form metadata for clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
    /// Examples of valid arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Value>,
}

/// The kind of a tool, as far as clients need to know it.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum DescriptorKind {
    /// Executed by the application, with a handler whose types are known at compile time.
    #[default]
    Local,
    /// Executed by the application, with a schema that is known only at run time.
    Dynamic,
    /// Executed by the provider.
    Provider {
        /// The id, `vendor.tool`.
        id: String,
        /// The name at the provider.
        provider_name: String,
        /// The settings given with the tool.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        args: Value,
    },
    /// Not executed: the loop reads the call.
    Signal,
    /// Answered from outside: the loop stops and continues later.
    Interaction,
}

/// Hints about the behaviour of a tool, named as in MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(clippy::struct_excessive_bools, reason = "four independent hints that wires send as four booleans")]
#[non_exhaustive]
pub struct Hints {
    /// The tool only reads.
    pub readonly: bool,
    /// The tool may destroy data. Meaningless for a tool that only reads.
    pub destructive: bool,
    /// Repeating a call has no further effect.
    pub idempotent: bool,
    /// The tool reaches outside systems.
    pub open_world: bool,
}

/// The JSON of a schema, shared with the tool it came from. Serialises as the schema itself.
#[derive(Clone)]
pub struct SchemaJson(Schema);

impl ToolDescriptor {
    /// Creates the descriptor of a local tool with this name and these parameters. Everything else is unset.
    #[must_use]
    pub fn new(name: impl Into<String>, input_schema: impl Into<SchemaJson>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            kind: DescriptorKind::Local,
            input_schema: input_schema.into(),
            output_schema: None,
            emits: None,
            strict: None,
            hints: Hints::default(),
            meta: None,
            examples: Vec::new(),
        }
    }

    /// Sets the description.
    #[must_use]
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the kind.
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

    /// Sets the title, the hints, the strict mode and the metadata from annotations.
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

    /// Sets the examples.
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

/// The hints of a tool without annotations.
impl Default for Hints {
    fn default() -> Self {
        Self { readonly: false, destructive: true, idempotent: false, open_world: true }
    }
}

impl SchemaJson {
    /// Returns the schema as JSON.
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

/// Reads a schema without checking it: a descriptor only describes, and arguments are checked by the schema of the
/// tool.
impl<'de> Deserialize<'de> for SchemaJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = tree(deserializer)?;
        Schema::json_with(json, Validation::None).map(Self).map_err(serde::de::Error::custom)
    }
}
