//! Argument text into types: no value that a schema forbids may be accepted.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use haft_schema::{DecodeOptions, Issues, Schema};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Outcome, Target, parse_plain, rejection};

pub(super) const TARGET: Target = Target {
    name: "decode",
    seeds: &[
        "",
        r#"{"name":"ada","count":3,"ratio":0.5,"tags":["a","b"],"inner":{"flag":true,"color":"red"}}"#,
        r#"{"kind":"circle","radius":1.5}"#,
        r#"{"kind":"box","sides":[1,2,3]}"#,
        r#"{"Moved":{"x":1,"y":-1}}"#,
        r#""Gone""#,
        r#"{"a":[1,null],"b":[]}"#,
        r#"[[1,"x"],[2,"y"]]"#,
        "9007199254740993",
        r#"{"$serde_json::private::RawValue":"{\"a\":\"b\"}"}"#,
    ],
    run,
};

/// One type, with its schema compiled once.
struct Probe {
    schema: Schema,
    decode: fn(&Schema, &str) -> Result<(), Issues>,
}

static PROBES: LazyLock<Vec<Probe>> = LazyLock::new(|| {
    vec![
        Probe::of::<Person>(),
        Probe::of::<Shape>(),
        Probe::of::<Event>(),
        Probe::of::<Either>(),
        Probe::of::<BTreeMap<String, Vec<Option<u8>>>>(),
        Probe::of::<Vec<(i16, String)>>(),
        Probe::of::<i64>(),
        Probe::of::<Value>(),
    ]
});

fn run(input: &[u8]) -> Outcome {
    let Ok(text) = std::str::from_utf8(input) else { return Outcome::of(&"no text") };
    let outcomes: Vec<_> = PROBES.iter().map(|probe| probe.read(text)).collect();
    Outcome::of(&outcomes)
}

impl Probe {
    fn of<T: JsonSchema + DeserializeOwned>() -> Self {
        let schema = Schema::of::<T>().unwrap_or_else(|error| panic!("the schema of a type is rejected: {error}"));
        let decode = |schema: &Schema, text: &str| schema.decode::<T>(text, &DecodeOptions::default()).map(drop);
        Self { schema, decode }
    }

    /// Returns the kind of rejection; none for accepted text.
    fn read(&self, text: &str) -> Option<Vec<String>> {
        match (self.decode)(&self.schema, text) {
            Ok(()) => {
                // Blank text is read as the empty object.
                let value = if text.trim().is_empty() { json!({}) } else { parse_plain(text.as_bytes()) };
                let checked = self.schema.check(&value);
                assert!(
                    checked.is_ok(),
                    "accepted, although the check of {} returned {checked:?}",
                    self.schema.as_json()
                );
                None
            }
            Err(issues) => Some(rejection(&issues)),
        }
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Person {
    #[schemars(length(min = 1, max = 8), regex(pattern = "^[a-z]+$"))]
    name: String,
    #[schemars(range(min = 1, max = 14))]
    count: u8,
    ratio: f32,
    #[schemars(length(max = 3))]
    tags: Vec<String>,
    inner: Option<Inner>,
    #[serde(default)]
    extra: Value,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Inner {
    flag: bool,
    color: Color,
    next: Option<Box<Inner>>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Color {
    Red,
    Green,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Circle { radius: f64 },
    Box { sides: [u32; 3] },
    Point,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
enum Event {
    Moved { x: i8, y: i8 },
    Named(String),
    Gone,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    Number(u64),
    Text(String),
    Pair { a: i32, b: Option<bool> },
}
