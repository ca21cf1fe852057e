//! Strings, and strings with rules.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Texts {
    text: String,
    letter: char,
    path: Option<PathBuf>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct BoundedTexts {
    #[schemars(length(min = 1, max = 4))]
    short: String,
    #[schemars(length(equal = 2))]
    two: Option<String>,
    #[schemars(regex(pattern = r"^[a-z][a-z0-9_]{0,3}$"))]
    name: Option<String>,
    /// A pattern that dialects of regular expressions read differently.
    #[schemars(regex(pattern = r"^\s*\S.\b"))]
    spaced: Option<String>,
    #[schemars(length(max = 3), regex(pattern = r"a|ß"))]
    both: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["x", "yy"]))]
    listed: Option<String>,
}

/// Rules that only the full validator can enforce.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("dependentRequired" = {"b": ["c"]}))]
pub(super) struct Dependent {
    #[schemars(extend("not" = {"const": "no"}))]
    a: String,
    b: Option<u8>,
    c: Option<u8>,
    #[serde(default, alias = "alias")]
    d: u8,
}
