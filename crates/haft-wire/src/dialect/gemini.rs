//! Gemini's dialects.

use haft_core::{Dialect, RenderFault, Rendered};
use haft_schema::Schema;
use serde_json::{Map, Value};

use crate::dialect::render;
use crate::dialect::rules::{
    Constants, Keys, MinItems, Null, Objects, OptionalMembers, Patterns, PropertyOrdering, References, Rules, Spelling,
    Tuples, Untyped,
};

/// The JSON Schema forms that Gemini accepts for function parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GeminiDialect {
    /// For the field `parameters`: the OpenAPI subset that all Gemini services accept, without references. Gemini does
    /// not accept an object without members. Such a schema renders as `null`: leave the field out.
    Parameters,
    /// For the field `parametersJsonSchema`.
    JsonSchema,
}

const PARAMETERS: Rules = Rules {
    name: "Gemini parameters",
    optional: OptionalMembers::Absent,
    objects: Objects::Listed,
    tuples: Tuples::Members,
    untyped: Untyped::Text,
    null: Null::Nullable,
    references: References::Inlined,
    keys: Keys::Identifiers,
    constants: Constants::Strings,
    patterns: Patterns::Regular,
    min_items: MinItems::Any,
    keywords: &[
        "title",
        "default",
        "example",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
    ],
    string_formats: &["date-time"],
    number_formats: &["float", "double", "int32", "int64"],
    property_ordering: PropertyOrdering::Keyword,
    spelling: Spelling::Exact,
    max_depth: 32,
    sizes: None,
};

const JSON_SCHEMA: Rules = Rules {
    name: "Gemini JSON Schema",
    optional: OptionalMembers::Absent,
    objects: Objects::Open,
    tuples: Tuples::PrefixItems,
    untyped: Untyped::Empty,
    null: Null::Type,
    references: References::Kept,
    keys: Keys::Identifiers,
    constants: Constants::StringsAndNumbers,
    patterns: Patterns::None,
    min_items: MinItems::Any,
    keywords: &["minimum", "maximum", "minItems", "maxItems"],
    string_formats: &["date-time", "date", "time"],
    number_formats: &[],
    property_ordering: PropertyOrdering::Keyword,
    spelling: Spelling::Exact,
    max_depth: 32,
    sizes: None,
};

impl Dialect for GeminiDialect {
    fn name(&self) -> &'static str {
        self.rules().name
    }

    fn render(&self, schema: &Schema) -> Result<Rendered, RenderFault> {
        let mut rendered = render::render(self.rules(), schema)?;
        if *self == Self::Parameters && rendered.json["properties"] == Value::Object(Map::new()) {
            rendered.json = Value::Null;
        }
        Ok(rendered)
    }
}

impl GeminiDialect {
    fn rules(self) -> &'static Rules {
        match self {
            Self::Parameters => &PARAMETERS,
            Self::JsonSchema => &JSON_SCHEMA,
        }
    }
}
