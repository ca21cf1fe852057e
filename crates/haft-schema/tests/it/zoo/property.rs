//! The properties of every type of the zoo.

use std::collections::BTreeSet;
use std::fmt::Debug;

use haft_schema::{DecodeOptions, Issues, Schema};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::near;
use super::oracle::Oracle;
use super::tape::Tape;
use crate::seeded::for_all;

const CASES: u32 = 256;

/// A type of the zoo.
pub(super) trait Specimen: Serialize + DeserializeOwned + JsonSchema + PartialEq + Debug {}

impl<T: Serialize + DeserializeOwned + JsonSchema + PartialEq + Debug> Specimen for T {}

/// The treatment of values that a type's schema allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taste {
    /// It accepts all of them.
    TakesAll,
    /// It rejects some: it requires a format, has a custom `Deserialize`, or numeric keys.
    IsPicky,
}

/// Checks that nothing the schema forbids is read, and everything else is.
pub(super) fn agrees_with_the_validator<T: Specimen>(taste: Taste) {
    let schema = Schema::of::<T>().unwrap();
    let oracle = Oracle::new(schema.as_json());
    for_values(&schema, |value| {
        let checked = schema.check(value);
        // The other validator compares such integers as floats, haft by their digits.
        if !holds_inexact_integer(value) {
            prop_assert_eq!(checked.is_ok(), oracle.takes(value), "check says {:?}", checked);
        }
        let decoded = decode::<T>(&schema, &value.to_string());
        if let Err(issues) = &checked {
            prop_assert!(decoded.is_err(), "forbidden, and read as {:?}", decoded);
            points_into(value, issues)?;
        }
        match decoded {
            Ok(_) => {}
            Err(issues) if checked.is_err() => points_into(value, &issues)?,
            Err(issues) => {
                let keywords: Vec<_> = issues.as_slice().iter().map(|issue| issue.keyword.as_str()).collect();
                prop_assert!(!issues.is_empty());
                let excused = taste == Taste::IsPicky && keywords == ["decode"];
                prop_assert!(excused, "allowed, and refused: {}", issues);
            }
        }
        Ok(())
    });
}

/// Checks that text, a tree, pretty text and shuffled keys are read alike.
pub(super) fn reads_every_spelling_alike<T: Specimen>() {
    let schema = Schema::of::<T>().unwrap();
    for_values(&schema, |value| {
        let compact = decode::<T>(&schema, &value.to_string());
        let pretty = decode::<T>(&schema, &serde_json::to_string_pretty(value).unwrap());
        let reversed = decode::<T>(&schema, &reversed(value).to_string());
        let tree = schema.decode_value::<T>(value);
        prop_assert_eq!(outcome(&compact), outcome(&pretty), "pretty");
        prop_assert_eq!(outcome(&compact), outcome(&tree), "tree");
        prop_assert_eq!(outcome(&compact), outcome(&reversed), "reversed");
        Ok(())
    });
}

/// Checks that a value that was read can be written, that the text matches the schema of results, and that it reads
/// back as the same.
pub(super) fn survives_a_round_trip<T: Specimen>() {
    let schema = Schema::of::<T>().unwrap();
    let output = Schema::of_output::<T>().unwrap();
    let oracle = Oracle::new(output.as_json());
    for_values(&schema, |value| {
        let Ok(decoded) = decode::<T>(&schema, &value.to_string()) else {
            return Ok(());
        };
        let text = output.encode(&decoded);
        prop_assert!(text.is_ok(), "{:?} can't be written: {}", decoded, text.unwrap_err());
        let text = text.unwrap();
        prop_assert_eq!(text.as_str(), serde_json::to_string(&decoded).unwrap());
        prop_assert!(oracle.takes(&text.to_value()), "written as {}", text);
        let again = decode::<T>(&schema, text.as_str());
        prop_assert_eq!(again, Ok(decoded));
        Ok(())
    });
}

fn decode<T: DeserializeOwned>(schema: &Schema, text: &str) -> Result<T, Issues> {
    schema.decode(text, &DecodeOptions::default()).map(|decoded| decoded.value)
}

/// Returns the outcome of a reading, independent of the order of keys.
fn outcome<T>(result: &Result<T, Issues>) -> Result<&T, BTreeSet<(&str, &str)>> {
    result.as_ref().map_err(|issues| {
        // Of several values that the type itself rejects, the first one met is named.
        let pointer = |issue: &'_ haft_schema::Issue| issue.keyword != "decode";
        issues
            .iter()
            .map(|issue| (if pointer(issue) { issue.pointer.as_str() } else { "" }, issue.keyword.as_str()))
            .collect()
    })
}

fn points_into(value: &Value, issues: &Issues) -> TestCaseResult {
    prop_assert!(!issues.is_empty(), "refused without a reason");
    for issue in issues {
        prop_assert!(value.pointer(&issue.pointer).is_some(), "points nowhere: {:?}", issue);
        prop_assert!(!issue.message.is_empty() && !issue.keyword.is_empty(), "says nothing: {:?}", issue);
    }
    Ok(())
}

/// Returns whether some number is whole and too large for a float to distinguish from its neighbours.
fn holds_inexact_integer(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            !number.is_i64() && !number.is_u64() && number.as_f64().is_some_and(|float| float.abs() >= 2_f64.powi(53))
        }
        Value::Array(items) => items.iter().any(holds_inexact_integer),
        Value::Object(map) => map.values().any(holds_inexact_integer),
        _ => false,
    }
}

/// Returns the same value with the keys of every object reversed.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(reversed).collect(),
        Value::Object(map) => {
            let members: Map<String, Value> =
                map.iter().rev().map(|(key, member)| (key.clone(), reversed(member))).collect();
            Value::Object(members)
        }
        other => other.clone(),
    }
}

/// Checks a property on values near the schema and on some that are unrelated to it.
fn for_values(schema: &Schema, property: impl Fn(&Value) -> TestCaseResult) {
    let values = Tape::any().prop_map(|mut tape| {
        if tape.once_in(10) { near::arbitrary(&mut tape, 0) } else { near::value(schema.as_json(), &mut tape) }
    });
    for_all(CASES, values, |value| {
        property(&value).map_err(|error| match error {
            TestCaseError::Fail(reason) => TestCaseError::fail(format!("{reason}\nof the schema {}", schema.as_json())),
            rejected @ TestCaseError::Reject(_) => rejected,
        })
    });
}
