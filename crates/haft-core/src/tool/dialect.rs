//! How a provider wants a schema to be written.
//!
//! A dialect renders for the model only. Arguments are always checked against the tool's own schema, whatever was
//! rendered, so a dialect that leaves out a rule weakens the hint to the model and never the check.

use serde_json::Value;

use crate::schema::Schema;

/// A provider's form of JSON Schema.
pub trait Dialect: Send + Sync {
    /// The dialect's name, for reports.
    fn name(&self) -> &str;

    /// The parameter schema as this dialect writes it, and what could not be said in it.
    fn parameters(&self, schema: &Schema) -> Rendered;
}

/// A schema written in a dialect.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rendered {
    /// The schema for the wire.
    pub json: Value,
    /// What the dialect could not express.
    pub losses: Vec<Loss>,
}

/// One rule of a schema that a dialect can't express.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// JSON Pointer to the place in the tool's own schema.
    pub pointer: String,
    /// What is lost there, in a few words.
    pub what: String,
}

impl Rendered {
    /// A rendering that lost nothing.
    #[must_use]
    pub fn exact(json: Value) -> Self {
        Self { json, losses: Vec::new() }
    }

    /// The same rendering with a loss noted.
    #[must_use]
    pub fn with_loss(mut self, pointer: impl Into<String>, what: impl Into<String>) -> Self {
        self.losses.push(Loss { pointer: pointer.into(), what: what.into() });
        self
    }
}
