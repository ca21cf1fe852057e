//! Fields that are flattened into the struct around them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::enumeration::{Adjacent, External, Internal, Untagged};
use super::structure::Plain;

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct FlatStruct {
    id: u8,
    #[serde(flatten)]
    plain: Plain,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct FlatMap {
    id: u8,
    #[serde(flatten)]
    rest: BTreeMap<String, i32>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct FlatValues {
    id: u8,
    #[serde(flatten)]
    rest: serde_json::Map<String, serde_json::Value>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct FlatExternal {
    id: u8,
    #[serde(flatten)]
    external: ExternalObjects,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) enum ExternalObjects {
    One(u8),
    Two { a: String },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct FlatInternal {
    id: u8,
    #[serde(flatten)]
    internal: Internal,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct FlatAdjacent {
    id: u8,
    #[serde(flatten)]
    adjacent: Adjacent,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct FlatOption {
    id: u8,
    #[serde(flatten)]
    plain: Option<Small>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Small {
    a: u8,
    b: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct FlatTwice {
    #[serde(flatten)]
    small: Small,
    #[serde(flatten)]
    switch: Switch,
    nested: Option<Box<FlatStruct>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Switch {
    On { level: u8 },
    Off,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct HoldsFlat {
    external: External,
    untagged: Option<Untagged>,
    flat: Vec<FlatMap>,
}
