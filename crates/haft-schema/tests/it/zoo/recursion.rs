//! Recursive types.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Linked {
    value: u8,
    next: Option<Box<Linked>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Tree {
    name: String,
    #[serde(default)]
    children: Vec<Tree>,
    #[serde(default)]
    named: BTreeMap<String, Tree>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) enum Expression {
    Number(f64),
    Not(Box<Expression>),
    Sum(Vec<Expression>),
    Nothing,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Json {
    Text(String),
    List(Vec<Json>),
    Map(BTreeMap<String, Json>),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Folder {
    files: Vec<File>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct File {
    size: u32,
    inside: Option<Folder>,
}
