//! Sequences, sets, maps and tuples.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::enumeration::Units;
use super::structure::Closed;

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Sequences {
    numbers: Vec<u16>,
    texts: VecDeque<String>,
    nested: Vec<Vec<Option<bool>>>,
    array: [i8; 3],
    empty: [u8; 0],
    tuple: (u8, String, [bool; 2]),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Sets {
    sorted: BTreeSet<u8>,
    hashed: HashSet<String>,
    units: BTreeSet<Units>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Maps {
    hashed: HashMap<String, i32>,
    sorted: BTreeMap<String, Vec<Option<u8>>>,
    values: serde_json::Map<String, serde_json::Value>,
    structs: BTreeMap<String, Closed>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct EnumKeys {
    by_unit: BTreeMap<Units, u8>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct NumericKeys {
    unsigned: BTreeMap<u8, String>,
    signed: BTreeMap<i32, i16>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct BoundedLists {
    #[schemars(length(min = 1, max = 3))]
    some: Vec<u8>,
    #[schemars(length(equal = 2))]
    two: Vec<String>,
    #[schemars(length(max = 2), inner(range(min = 1, max = 9)))]
    digits: Vec<u8>,
    #[schemars(extend("minProperties" = 1, "maxProperties" = 2))]
    few: BTreeMap<String, u8>,
}
