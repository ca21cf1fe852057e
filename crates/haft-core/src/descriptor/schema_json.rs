//! A schema in a descriptor.
//!
//! The descriptor of a tool shares the tool's schema. A descriptor that was read from outside keeps its JSON unchanged
//! and compiles it when it is first requested: a server may list thousands of tools of which a few are called, and one
//! with an invalid schema must not make the others unreadable.

use std::fmt;
use std::sync::Arc;
use std::sync::OnceLock;

use haft_schema::internal::{states_nothing, unambiguous_tree};
use haft_schema::{EnforcedRules, Enforcement, Schema, SchemaError};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// The schema of a descriptor. Serialises as the JSON Schema itself; clones share it.
///
/// ```
/// use haft_core::SchemaJson;
/// use serde_json::json;
///
/// let read: SchemaJson = serde_json::from_str(r#"{"type": "integer", "maximum": 9}"#)?;
/// assert_eq!(read.as_json(), &json!({"type": "integer", "maximum": 9}));
/// assert!(read.schema()?.check(&json!(10)).is_err());
///
/// let broken: SchemaJson = serde_json::from_str(r#"{"type": "intejer"}"#)?;
/// assert!(broken.schema().unwrap_err().to_string().contains("/type"));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SchemaJson(Source);

#[derive(Clone)]
enum Source {
    /// The schema of a tool.
    Compiled(Schema),
    /// A schema that was read or given as JSON, and is compiled on request.
    Stored(Arc<StoredSchema>),
}

struct StoredSchema {
    json: Value,
    enforcement: Enforcement,
    compiled: OnceLock<Result<Schema, SchemaError>>,
}

impl SchemaJson {
    /// Returns the schema as JSON.
    #[must_use]
    pub fn as_json(&self) -> &Value {
        match &self.0 {
            Source::Compiled(schema) => schema.as_json(),
            Source::Stored(stored) => &stored.json,
        }
    }

    /// Returns how values are checked.
    #[must_use]
    pub fn enforcement(&self) -> Enforcement {
        match &self.0 {
            Source::Compiled(schema) => schema.enforcement(),
            Source::Stored(stored) => stored.enforcement,
        }
    }

    /// Returns the schema that checks values, or its faults. A schema that was read from outside is compiled when this
    /// is first called.
    pub fn schema(&self) -> Result<&Schema, SchemaError> {
        match &self.0 {
            Source::Compiled(schema) => Ok(schema),
            Source::Stored(stored) => {
                let compiled = stored.compiled.get_or_init(|| Schema::stored(&stored.json, stored.enforcement));
                compiled.as_ref().map_err(Clone::clone)
            }
        }
    }

    /// Reports whether the schema accepts every value and has no custom check.
    #[must_use]
    pub fn is_unrestricted(&self) -> bool {
        states_nothing(self.as_json()) && !self.enforcement().custom_check
    }

    /// Reports whether the schema is `false`, as that of failures that are not declared.
    #[must_use]
    pub fn accepts_nothing(&self) -> bool {
        let Enforcement { rules, custom_check } = self.enforcement();
        self.as_json() == &Value::Bool(false) && rules != EnforcedRules::None && !custom_check
    }

    /// Returns the same JSON, to be enforced in this way.
    pub(crate) fn enforced(self, enforcement: Enforcement) -> Self {
        if self.enforcement() == enforcement {
            return self;
        }
        match self.0 {
            Source::Compiled(schema) => Self::stored(schema.as_json().clone(), enforcement),
            Source::Stored(stored) => match Arc::try_unwrap(stored) {
                Ok(stored) => Self::stored(stored.json, enforcement),
                Err(shared) => Self::stored(shared.json.clone(), enforcement),
            },
        }
    }

    fn stored(json: Value, enforcement: Enforcement) -> Self {
        Self(Source::Stored(Arc::new(StoredSchema { json, enforcement, compiled: OnceLock::new() })))
    }
}

impl From<Schema> for SchemaJson {
    fn from(schema: Schema) -> Self {
        Self(Source::Compiled(schema))
    }
}

/// Keeps the JSON unchanged. It is checked and compiled when the schema is first requested.
impl From<Value> for SchemaJson {
    fn from(json: Value) -> Self {
        Self::stored(json, Enforcement::default())
    }
}

impl fmt::Debug for SchemaJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_json())
    }
}

/// Two schemas are equal if their JSON is equal and they are enforced in the same way.
impl PartialEq for SchemaJson {
    fn eq(&self, other: &Self) -> bool {
        self.as_json() == other.as_json() && self.enforcement() == other.enforcement()
    }
}

impl Serialize for SchemaJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_json().serialize(serializer)
    }
}

/// Reads any JSON in which no key occurs twice in one object.
impl<'de> Deserialize<'de> for SchemaJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        unambiguous_tree(deserializer).map(Self::from)
    }
}
