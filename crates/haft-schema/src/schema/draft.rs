//! The supported drafts of JSON Schema.

use serde_json::Value;

use crate::issue::Issue;

/// A draft of JSON Schema, oldest first. Schemas without `$schema` are read as draft 2020-12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Draft {
    Draft4,
    Draft6,
    Draft7,
    Draft201909,
    Draft202012,
}

impl Draft {
    /// Determines the draft from `$schema`.
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
            .found(super::message::excerpt(address))
        })
    }

    /// Returns the draft whose meta-schema has this address.
    pub(super) fn named(address: &str) -> Option<Self> {
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

    /// Reports whether keywords beside a `$ref` apply.
    pub(super) fn keeps_ref_siblings(self) -> bool {
        self >= Self::Draft201909
    }

    /// Returns the keyword that identifies a schema resource.
    pub(super) fn id_keyword(self) -> &'static str {
        if self == Self::Draft4 { "id" } else { "$id" }
    }
}
