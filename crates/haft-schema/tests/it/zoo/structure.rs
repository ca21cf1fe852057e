//! Structs in all their forms, and with serde's attributes.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Plain {
    name: String,
    count: u32,
    ratio: f64,
    on: bool,
}

/// All of it may be left out.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Optional {
    text: Option<String>,
    number: Option<i16>,
    flag: Option<bool>,
    list: Option<Vec<u8>>,
    plain: Option<Plain>,
    unit: Option<()>,
    #[allow(clippy::option_option, reason = "users write it")]
    twice: Option<Option<u8>>,
    pair: Option<(u8, String)>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Nested {
    inner: Plain,
    list: Vec<Optional>,
    boxed: Box<Closed>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Closed {
    id: u64,
    #[serde(default)]
    tag: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Empty {}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct EmptyOpen {}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Unit;

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Newtype(i32);

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct NewtypeOfStruct(Closed);

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Transparent {
    inner: Vec<Newtype>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct TupleStruct(u8, String, Option<bool>);

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Defaults {
    #[serde(default)]
    count: u8,
    #[serde(default = "seven")]
    seven: i64,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    maybe: Option<String>,
}

fn seven() -> i64 {
    7
}

#[derive(Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct AllDefault {
    a: u8,
    b: Option<Vec<String>>,
}

/// The schema knows `colour` alone.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Aliased {
    #[serde(alias = "color", alias = "alias")]
    colour: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct AliasedDefault {
    #[serde(default, alias = "color", alias = "alias")]
    colour: String,
    #[serde(alias = "extra")]
    size: Option<u8>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AliasedClosed {
    #[serde(default, alias = "alias")]
    colour: u8,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Renamed {
    first_name: String,
    #[serde(rename = "type")]
    kind: u8,
    #[serde(rename = "$ref")]
    reference: Option<u8>,
    #[serde(rename = "a/b~c")]
    odd: Option<bool>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Skipping {
    shown: u8,
    #[serde(skip)]
    extra: u8,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct FreeForm {
    value: Value,
    maybe: Option<Value>,
    object: serde_json::Map<String, Value>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Borrowing {
    text: Cow<'static, str>,
    bytes: Cow<'static, [u8]>,
    boxed: Box<str>,
    slice: Box<[u16]>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Page<T> {
    items: Vec<T>,
    next: Option<T>,
}

/// One field of every width: keys are distinguished by hash, and by more than one word of bits.
macro_rules! wide {
    ($name:ident: $($field:ident)*) => {
        #[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub(super) struct $name {
            $($field: Option<u8>,)*
            first: u8,
            last: bool,
        }
    };
}

wide!(Wide: f00 f01 f02 f03 f04 f05 f06 f07 f08 f09 f10 f11 f12 f13 f14 f15 f16 f17);
wide!(VeryWide: f00 f01 f02 f03 f04 f05 f06 f07 f08 f09 f10 f11 f12 f13 f14 f15 f16 f17 f18 f19 f20 f21 f22 f23 f24
    f25 f26 f27 f28 f29 f30 f31 f32 f33 f34 f35 f36 f37 f38 f39 f40 f41 f42 f43 f44 f45 f46 f47 f48 f49 f50 f51 f52
    f53 f54 f55 f56 f57 f58 f59 f60 f61 f62 f63 f64 f65 f66 f67 f68 f69);
