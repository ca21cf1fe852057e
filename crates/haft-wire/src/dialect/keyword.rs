//! JSON Schema keywords, by how a rendering treats them.

use crate::dialect::kind::{Kind, Kinds};

/// A keyword's treatment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// The walk renders it itself, or it means nothing to a model.
    Structure,
    /// It restricts values with these types.
    Assertion(Kinds),
    /// It combines schemas in a way that no dialect renders.
    Combination,
    /// It informs the model and may be stated in words.
    Annotation,
    /// It has no meaning in JSON Schema.
    Unknown,
}

const STRUCTURE: &[&str] = &[
    "$schema",
    "$id",
    "id",
    "$anchor",
    "$comment",
    "$vocabulary",
    "$defs",
    "definitions",
    "$ref",
    "$dynamicRef",
    "$dynamicAnchor",
    "$recursiveRef",
    "$recursiveAnchor",
    "type",
    "enum",
    "const",
    "allOf",
    "anyOf",
    "oneOf",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "items",
    "prefixItems",
    "additionalItems",
    "title",
    "description",
];

const COMBINATIONS: &[&str] = &["not", "if", "then", "else", "dependentSchemas", "dependencies"];

const ANNOTATIONS: &[&str] = &[
    "default",
    "example",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
];

/// The keywords that restrict values of one type. A number may be an integer.
const ASSERTIONS: &[(Kind, &[&str])] = &[
    (Kind::String, &["minLength", "maxLength", "pattern"]),
    (Kind::Number, &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
    (
        Kind::Array,
        &["minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains", "unevaluatedItems"],
    ),
    (Kind::Object, &["minProperties", "maxProperties", "propertyNames", "dependentRequired", "unevaluatedProperties"]),
];

/// Returns a keyword's treatment.
pub(crate) fn treatment(keyword: &str) -> Treatment {
    if STRUCTURE.contains(&keyword) {
        return Treatment::Structure;
    }
    if keyword == "format" {
        return Treatment::Assertion(kinds_of(Kind::Number).or(Kinds::one(Kind::String)));
    }
    if let Some((kind, _)) = ASSERTIONS.iter().find(|(_, keywords)| keywords.contains(&keyword)) {
        return Treatment::Assertion(kinds_of(*kind));
    }
    if COMBINATIONS.contains(&keyword) {
        return Treatment::Combination;
    }
    if ANNOTATIONS.contains(&keyword) { Treatment::Annotation } else { Treatment::Unknown }
}

/// Returns the type that a keyword restricts, if it is a single one.
pub(crate) fn implied_kind(keyword: &str) -> Option<Kind> {
    match keyword {
        "properties" | "required" | "additionalProperties" | "patternProperties" => Some(Kind::Object),
        "items" | "prefixItems" | "additionalItems" => Some(Kind::Array),
        _ => ASSERTIONS.iter().find(|(_, keywords)| keywords.contains(&keyword)).map(|(kind, _)| *kind),
    }
}

fn kinds_of(kind: Kind) -> Kinds {
    match kind {
        Kind::Number => Kinds::one(Kind::Number).or(Kinds::one(Kind::Integer)),
        kind => Kinds::one(kind),
    }
}
