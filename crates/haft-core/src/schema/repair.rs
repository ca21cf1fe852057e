//! Mending the small mistakes that models make, when the caller allows it.
//!
//! A repair is tried only where the schema refuses a value for its type, and kept only if the whole value fits in
//! the end: a call is never half mended.

use serde_json::Value;

use super::limit::{DecodeOptions, Repair, RepairKind};
use super::node::Arena;
use super::number::Exactness;
use super::read::check;
use super::scan::nests_within;
use super::text;
use super::validation::Validator;
use crate::issue::Issues;

/// How often a value is looked at again: JSON in a string may itself hold such mistakes.
const ROUNDS: usize = 4;

/// A copy of `tree` that fits, with what was done to it; `None` if it can't be had.
pub(super) fn mend(
    arena: &Arena,
    custom: Option<&Validator>,
    tree: &Value,
    issues: &Issues,
    options: &DecodeOptions,
) -> Option<(Value, Vec<Repair>)> {
    let mut mended = tree.clone();
    let mut repairs = Vec::new();
    let mut issues = issues.clone();
    for _ in 0..ROUNDS {
        let before = repairs.len();
        for issue in &issues {
            let value = mended.pointer_mut(&issue.pointer)?;
            let (kind, replacement) = replacement(value, &issue.keyword, &issue.expected, options)?;
            *value = replacement;
            repairs.push(Repair { pointer: issue.pointer.clone(), kind });
        }
        // Each string was within the limit; what they make together must be, too.
        if !nests_within(&mended, options.limits.depth()) {
            return None;
        }
        match check(arena, custom, &mended, Exactness::Required) {
            Ok(()) => return Some((mended, repairs)),
            Err(left) if repairs.len() > before => issues = left,
            Err(_) => return None,
        }
    }
    None
}

fn replacement(value: &Value, keyword: &str, expected: &str, options: &DecodeOptions) -> Option<(RepairKind, Value)> {
    if keyword != "type" {
        return None;
    }
    if let Value::String(text) = value {
        let (read, faults) = text::read_str(text.trim(), &options.limits);
        let read = read.filter(|read| faults.is_empty() && !read.is_string() && !read.is_null());
        match read {
            Some(tree) if options.repairs.nested_json && (tree.is_array() || tree.is_object()) => {
                return Some((RepairKind::NestedJson, tree));
            }
            Some(scalar) if options.repairs.quoted_scalars && wants(expected, &scalar) => {
                return Some((RepairKind::QuotedScalar, scalar));
            }
            _ => {}
        }
    }
    let wraps = options.repairs.single_item_arrays && expected.contains("array") && !value.is_null();
    wraps.then(|| (RepairKind::SingleItemArray, Value::Array(vec![value.clone()])))
}

/// Whether a scalar read out of a string is of a type that was asked for.
fn wants(expected: &str, scalar: &Value) -> bool {
    match scalar {
        Value::Bool(_) => expected.contains("boolean"),
        Value::Number(_) => expected.contains("number") || expected.contains("integer"),
        _ => false,
    }
}
