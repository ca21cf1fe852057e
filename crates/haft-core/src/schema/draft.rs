//! Which draft of JSON Schema a schema speaks.

use serde_json::Value;

use crate::issue::Issue;

/// A draft that haft knows. Schemas without `$schema` are read as draft 2020-12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Dialect {
    Draft4,
    Draft6,
    Draft7,
    Draft201909,
    Draft202012,
}

impl Dialect {
    /// The draft that `$schema` names.
    pub(super) fn detect(schema: &Value) -> Result<Self, Issue> {
        let Some(address) = schema.get("$schema") else {
            return Ok(Self::Draft202012);
        };
        address.as_str().and_then(Self::named).ok_or_else(|| {
            Issue::new(
                "/$schema",
                "$schema",
                "must name a JSON Schema draft: 4, 6, 7, 2019-09 or 2020-12; or leave it out",
            )
            .found(address.to_string())
        })
    }

    /// Whether an address is a draft's own schema, or a part of one; those are always at hand.
    pub(super) fn is_meta_schema(address: &str) -> bool {
        let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
        Self::named(address).is_some() || rest.starts_with("json-schema.org/draft/20")
    }

    fn named(address: &str) -> Option<Self> {
        let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"))?;
        Some(match rest.trim_end_matches('#') {
            "json-schema.org/draft-04/schema" => Self::Draft4,
            "json-schema.org/draft-06/schema" => Self::Draft6,
            "json-schema.org/draft-07/schema" => Self::Draft7,
            "json-schema.org/draft/2019-09/schema" => Self::Draft201909,
            "json-schema.org/draft/2020-12/schema" => Self::Draft202012,
            _ => return None,
        })
    }

    /// Whether nodes can be compiled from it; the others go to the full validator whole.
    pub(super) fn compiles(self) -> bool {
        matches!(self, Self::Draft7 | Self::Draft202012)
    }

    /// Whether keywords beside a `$ref` count.
    pub(super) fn keeps_ref_siblings(self) -> bool {
        matches!(self, Self::Draft201909 | Self::Draft202012)
    }

    /// The keyword that holds definitions.
    #[cfg(feature = "validate")]
    pub(super) fn definitions(self) -> &'static str {
        if self.keeps_ref_siblings() { "$defs" } else { "definitions" }
    }

    #[cfg(feature = "validate")]
    pub(super) fn draft(self) -> jsonschema::Draft {
        match self {
            Self::Draft4 => jsonschema::Draft::Draft4,
            Self::Draft6 => jsonschema::Draft::Draft6,
            Self::Draft7 => jsonschema::Draft::Draft7,
            Self::Draft201909 => jsonschema::Draft::Draft201909,
            Self::Draft202012 => jsonschema::Draft::Draft202012,
        }
    }
}
