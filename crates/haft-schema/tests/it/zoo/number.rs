//! Numbers of every width, and numbers with rules.

use std::num::{NonZeroI16, NonZeroU8, NonZeroU64, Wrapping};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Unsigned {
    a: Option<u8>,
    b: Option<u16>,
    c: Option<u32>,
    d: Option<u64>,
    e: Option<usize>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Signed {
    a: Option<i8>,
    b: Option<i16>,
    c: Option<i32>,
    d: Option<i64>,
    e: Option<isize>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct VeryLarge {
    signed: i128,
    unsigned: Option<u128>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct NonZero {
    a: NonZeroU8,
    b: Option<NonZeroU64>,
    c: Option<NonZeroI16>,
    d: Option<Wrapping<u8>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Floats {
    single: f32,
    double: f64,
    maybe: Option<f32>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Ranges {
    #[schemars(range(min = 1, max = 14))]
    days: u8,
    #[schemars(range(min = -1.5, max = 2.5))]
    share: f64,
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 10))]
    between: Option<f64>,
    #[schemars(extend("multipleOf" = 5))]
    fives: Option<i64>,
    #[schemars(extend("multipleOf" = 0.25))]
    quarters: Option<f64>,
    #[schemars(extend("multipleOf" = 2, "minimum" = 4))]
    whole: Option<f64>,
    #[schemars(extend("maximum" = 9_007_199_254_740_993_u64))]
    large: Option<u64>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Literals {
    #[schemars(extend("enum" = [1, 2, 3]))]
    small: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("const" = 7))]
    seven: Option<u8>,
    #[schemars(extend("enum" = ["a", 1, null, {"a": [1.0]}]))]
    mixed: serde_json::Value,
}
