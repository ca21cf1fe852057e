//! Enums in every representation serde has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::structure::{Closed, Plain};

#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub(super) enum Units {
    Red,
    Green,
    Blue,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum DocumentedUnits {
    /// Straight on.
    GoAhead,
    /// Not at all.
    StayHere,
    Undocumented,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) enum SingleUnit {
    Only,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) enum SingleNewtype {
    Only(u8),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) enum AliasedUnits {
    #[serde(alias = "alias", alias = "extra")]
    Known,
    #[serde(rename = "other")]
    Other,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) enum External {
    Unit,
    Other,
    Newtype(u8),
    Wrapped(Plain),
    Maybe(Option<bool>),
    Tuple(i8, String),
    Struct { a: u8, b: Option<String> },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(super) enum ExternalRenamed {
    NothingAtAll,
    SomeThing { first_name: String },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type")]
pub(super) enum Internal {
    Unit,
    Struct { a: u8, b: Option<String> },
    Newtype(Plain),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", deny_unknown_fields)]
pub(super) enum InternalClosed {
    One { a: u8 },
    Two { b: String },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
pub(super) enum Adjacent {
    Unit,
    Newtype(i16),
    Tuple(u8, bool),
    Struct { a: String },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c", deny_unknown_fields)]
pub(super) enum AdjacentClosed {
    Unit,
    Newtype(Closed),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Untagged {
    Number(i32),
    Text(String),
    List(Vec<u8>),
    Struct { a: u8 },
    Other { b: String },
    Nothing,
}

/// Alternatives that overlap: the first that matches is chosen.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Overlapping {
    Small(u8),
    Large(u64),
    Float(f64),
    Pair(u8, u8),
    Struct { a: u8, b: Option<u8> },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) enum WithUntagged {
    Known,
    #[serde(untagged)]
    Text(String),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct HoldsEnums {
    units: Units,
    maybe: Option<Units>,
    external: External,
    internal: Option<Internal>,
    adjacent: Vec<Adjacent>,
    untagged: Untagged,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
pub(super) enum NestedTags {
    Outer { inner: Internal },
    Deep(Internal),
}
