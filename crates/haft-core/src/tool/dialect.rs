//! Dialects of JSON Schema that providers accept.
//!
//! A dialect renders a schema for the model only. Arguments are always checked against the schema of the tool, so a
//! constraint that a dialect omits weakens the hint to the model, never the check.

use serde_json::Value;

use crate::schema::Schema;

/// A provider's form of JSON Schema.
pub trait Dialect: Send + Sync {
    /// Returns the name of the dialect, for reports.
    fn name(&self) -> &str;

    /// Renders a parameter schema in this dialect, and reports the constraints it can't express.
    fn parameters(&self, schema: &Schema) -> Rendered;
}

/// A schema rendered in a dialect.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rendered {
    /// The schema to send.
    pub json: Value,
    /// The constraints that the dialect can't express.
    pub losses: Vec<Loss>,
}

/// One constraint of a schema that a dialect can't express.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// The JSON Pointer to the constraint in the schema of the tool.
    pub pointer: String,
    /// A short description of the constraint.
    pub what: String,
}

impl Rendered {
    /// Creates a rendering without losses.
    #[must_use]
    pub fn exact(json: Value) -> Self {
        Self { json, losses: Vec::new() }
    }

    /// Adds a loss.
    #[must_use]
    pub fn with_loss(mut self, pointer: impl Into<String>, what: impl Into<String>) -> Self {
        self.losses.push(Loss { pointer: pointer.into(), what: what.into() });
        self
    }
}
