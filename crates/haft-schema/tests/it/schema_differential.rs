//! Our checker against another: generated schemas of every draft and generated values, checked by haft and by the
//! crate `jsonschema`.
//!
//! If they disagree, one of them is wrong. Known faults of the other are listed in [`exception`], each with its
//! reason.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "schema_differential/cycle.rs"]
mod cycle;
#[path = "schema_differential/exception.rs"]
mod exception;
#[path = "schema_differential/plan.rs"]
mod plan;
#[path = "schema_differential/schema.rs"]
mod schema;
#[path = "schema_differential/tape.rs"]
mod tape;
#[path = "schema_differential/value.rs"]
mod value;

use std::cell::RefCell;

use haft_schema::{DecodeOptions, JsonText, Schema};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use serde_json::Value;

use self::exception::Exception;
use self::plan::Plan;
use self::tape::Tape;
use crate::seeded::for_all_from;

/// The seed of the cases unless another one is set: the other checker has faults of its own, and a rare one must not
/// fail an unrelated change.
const SEED: u64 = 11;

/// The number of schemas that are generated in one run.
const SCHEMAS: u32 = 6_000;
/// The number of values that are checked against each.
const VALUES: usize = 6;

/// The counts of a run, so that one which compares nothing fails.
#[derive(Debug, Default)]
struct Tally {
    built: usize,
    rejected: usize,
    fitting: usize,
    unfitting: usize,
    excepted: usize,
}

#[test]
fn agrees_with_another_checker_on_generated_schemas_of_every_draft() {
    let tally = RefCell::new(Tally::default());
    for_all_from(SEED, SCHEMAS, Tape::any(), |mut tape| {
        let plan = Plan::draw(&mut tape);
        let schema = schema::draw(&plan, &mut tape);
        agrees_on_schema(&plan, &schema, &mut tape, &mut tally.borrow_mut())
    });
    let Tally { built, rejected, fitting, unfitting, excepted } = tally.into_inner();
    assert!(built >= 3_500 && rejected >= 50, "{built} schemas were built and {rejected} rejected");
    assert!(fitting >= 5_000 && unfitting >= 5_000, "{fitting} values fitted and {unfitting} did not");
    assert!(excepted <= 4_000, "{excepted} cases were not compared");
}

fn agrees_on_schema(plan: &Plan, schema: &Value, tape: &mut Tape, tally: &mut Tally) -> TestCaseResult {
    let ours = Schema::json(schema.clone());
    if let Err(error) = &ours
        && error.to_string().contains("applies itself to the same value again")
    {
        prop_assert!(cycle::may_be_endless(schema), "rejected as endless, and is not: {schema}");
        tally.excepted += 1;
        return Ok(());
    }
    let (ours, theirs) = match (ours, oracle(schema)) {
        (Ok(ours), Ok(theirs)) => (ours, theirs),
        (Err(_), Err(_)) => {
            tally.rejected += 1;
            return Ok(());
        }
        (Ok(_), Err(theirs)) => {
            let exception = Exception::built_by_haft(plan, schema);
            prop_assert!(exception.is_some(), "only haft builds {schema}\njsonschema: {theirs}");
            tally.excepted += 1;
            return Ok(());
        }
        (Err(ours), Ok(_)) => {
            let is_meant = ours.issues().iter().all(|issue| Exception::rejected_by_haft(plan, schema, issue).is_some());
            prop_assert!(is_meant, "haft alone rejects {schema}\nhaft: {ours}");
            tally.excepted += 1;
            return Ok(());
        }
    };
    prop_assert_eq!(ours.as_json(), schema);
    tally.built += 1;
    for round in 0..VALUES {
        let value = match round {
            0 => value::any(tape, 2),
            round => {
                let fitting = value::fitting(schema, schema, tape, 4);
                if round % 2 == 0 { value::mutated(fitting, tape) } else { fitting }
            }
        };
        if Exception::of_value(plan, schema, &value).is_some() {
            tally.excepted += 1;
            continue;
        }
        let expected = theirs.is_valid(&value);
        agrees_on_value(&ours, &value, expected)?;
        *if expected { &mut tally.fitting } else { &mut tally.unfitting } += 1;
    }
    Ok(())
}

/// Builds the other checker.
fn oracle(schema: &Value) -> Result<jsonschema::Validator, String> {
    let options = jsonschema::options().should_validate_formats(false);
    options.offline().build(schema).map_err(|error| error.to_string())
}

/// Compares every way to check a value with one verdict.
fn agrees_on_value(schema: &Schema, value: &Value, expected: bool) -> TestCaseResult {
    let case = || format!("schema {}\nvalue {value}\njsonschema: {expected}", schema.as_json());
    let checked = schema.check(value);
    prop_assert_eq!(checked.is_ok(), expected, "{}\ncheck: {:?}", case(), checked);
    let output = schema.check_output(&JsonText::from(value));
    prop_assert_eq!(output.is_ok(), expected, "{}\ncheck_output: {:?}", case(), output);
    match schema.decode::<Value>(&value.to_string(), &DecodeOptions::default()) {
        Ok(decoded) => {
            prop_assert!(expected, "{}\ndecode: accepted", case());
            prop_assert!(is_same(&decoded.value, value), "{}\ndecoded: {}", case(), decoded.value);
        }
        // Some keys are rejected in all text from outside, whatever the schema.
        Err(issues) if issues.iter().any(|issue| issue.keyword == "forbiddenKey") => {}
        Err(issues) => prop_assert!(!expected, "{}\ndecode: {issues}", case()),
    }
    Ok(())
}

/// Returns whether two values are equal in JSON Schema, which does not distinguish `2` and `2.0`.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || (left.as_f64() == right.as_f64() && (left.is_f64() || right.is_f64()))
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let has_same = |(key, value): (&String, &Value)| right.get(key).is_some_and(|other| is_same(value, other));
            left.len() == right.len() && left.iter().all(has_same)
        }
        (left, right) => left == right,
    }
}
