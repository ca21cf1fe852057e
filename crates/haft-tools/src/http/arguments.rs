//! The argument names that the schema declares.

use serde_json::Value;

/// Keywords with which a schema can declare properties beyond those in `properties`.
const COMPOSING: [&str; 8] =
    ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties"];

/// The arguments that a schema declares.
pub(super) struct ArgumentNames<'s> {
    schema: &'s Value,
}

impl<'s> ArgumentNames<'s> {
    pub(super) fn of(schema: &'s Value) -> Self {
        Self { schema }
    }

    /// Reports whether the schema certainly has no argument with this name, or only because it accepts any.
    pub(super) fn lacks(&self, name: &str) -> bool {
        !self.is_composed() && !self.names().any(|known| known == name)
    }

    /// Reports whether the schema certainly permits calls without this argument.
    pub(super) fn is_optional(&self, name: &str) -> bool {
        let required = self.schema.get("required").and_then(Value::as_array);
        !self.is_composed() && !required.is_some_and(|names| names.iter().any(|required| required == name))
    }

    /// Returns the names in `properties`.
    pub(super) fn names(&self) -> impl Iterator<Item = &'s str> {
        self.schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(|map| map.keys())
            .map(String::as_str)
    }

    fn is_composed(&self) -> bool {
        COMPOSING.iter().any(|keyword| self.schema.get(keyword).is_some())
    }
}
