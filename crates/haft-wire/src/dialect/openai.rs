//! OpenAI's dialects.

use haft_core::{Dialect, RenderFault, Rendered};
use haft_schema::Schema;

use crate::dialect::envelope::{self, Roots};
use crate::dialect::render;
use crate::dialect::rules::{
    Constants, Keys, MinItems, Null, Objects, OptionalMembers, Patterns, PropertyOrdering, References, Rules, Sizes,
    Spelling, Tuples, Untyped,
};

/// The JSON Schema forms that OpenAI accepts for function parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OpenAiDialect {
    /// With `strict: true`: the model can only write arguments that match the rendered schema.
    Strict,
    /// With `strict: false`: the schema as it is, in an object if the root is anything else.
    Plain,
}

const STRICT: Rules = Rules {
    name: "OpenAI strict",
    optional: OptionalMembers::Nullable,
    objects: Objects::Closed,
    tuples: Tuples::Members,
    untyped: Untyped::Text,
    null: Null::Type,
    references: References::KeptRecursive,
    keys: Keys::Any,
    constants: Constants::Scalars,
    patterns: Patterns::Regular,
    min_items: MinItems::Any,
    keywords: &[
        "title",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
    ],
    string_formats: &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"],
    number_formats: &[],
    property_ordering: PropertyOrdering::AsWritten,
    spelling: Spelling::Exact,
    max_depth: 10,
    sizes: Some(Sizes {
        max_properties: 5_000,
        max_name_chars: 120_000,
        max_enum_values: 1_000,
        long_enum: 250,
        max_long_enum_chars: 15_000,
    }),
};

const PLAIN: Roots =
    Roots { name: "OpenAI", rejected: &["oneOf", "anyOf", "allOf", "enum", "not", "$ref", "const"], keys: Keys::Any };

impl Dialect for OpenAiDialect {
    fn name(&self) -> &'static str {
        match self {
            Self::Strict => STRICT.name,
            Self::Plain => PLAIN.name,
        }
    }

    fn render(&self, schema: &Schema) -> Result<Rendered, RenderFault> {
        match self {
            Self::Strict => render::render(&STRICT, schema),
            Self::Plain => envelope::render(&PLAIN, schema),
        }
    }
}
