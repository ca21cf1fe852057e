//! Anthropic's dialects.

use haft_core::{Dialect, RenderFault, Rendered};
use haft_schema::Schema;

use crate::dialect::envelope::{self, Roots};
use crate::dialect::render;
use crate::dialect::rules::{
    Constants, Keys, MinItems, Null, Objects, OptionalMembers, Patterns, PropertyOrdering, References, Rules, Spelling,
    Tuples, Untyped,
};

/// The JSON Schema forms that Anthropic accepts for tool input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnthropicDialect {
    /// With `strict: true`: the model can only write arguments that match the rendered schema. Only the letter case of
    /// enumerated strings may differ, which the codec corrects.
    Strict,
    /// Without `strict`: the schema as it is, in an object if its root is not accepted.
    Plain,
}

const STRICT: Rules = Rules {
    name: "Anthropic strict",
    // Each optional nullable member counts as a union, and a request may have only a few.
    optional: OptionalMembers::Absent,
    objects: Objects::Closed,
    tuples: Tuples::Members,
    untyped: Untyped::Text,
    null: Null::Type,
    references: References::Kept,
    keys: Keys::PlainInRoot,
    constants: Constants::Scalars,
    patterns: Patterns::Simple,
    min_items: MinItems::AtMostOne,
    keywords: &["title", "default", "minItems"],
    string_formats: &["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"],
    number_formats: &[],
    property_ordering: PropertyOrdering::AsWritten,
    spelling: Spelling::AnyCase,
    max_depth: 64,
    sizes: None,
};

const PLAIN: Roots =
    Roots { name: "Anthropic", rejected: &["oneOf", "anyOf", "allOf", "$ref"], keys: Keys::PlainInRoot };

impl Dialect for AnthropicDialect {
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
