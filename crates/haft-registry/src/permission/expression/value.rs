//! JSON as interpreter values. Texts are borrowed.

use std::collections::HashMap;

use cel::common::types::{CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString, CelUInt};
use cel::common::value::Val;
use serde_json::{Number, Value};

use super::check::ArgumentReads;

/// Converts the arguments that an expression reads, with bounded depth and size.
pub(super) fn arguments<'v>(arguments: &'v Value, reads: &ArgumentReads) -> Box<dyn Val + 'v> {
    match arguments {
        Value::Object(object) => map(object.iter().filter(|(name, _)| reads.includes(name))),
        _ => value(arguments),
    }
}

/// Converts a text, or null if there is none.
pub(super) fn text(text: Option<&str>) -> Box<dyn Val + '_> {
    match text {
        Some(text) => Box::new(CelString::from(text)),
        None => Box::new(CelNull),
    }
}

/// Converts a list of texts.
pub(super) fn texts(texts: &[Box<str>]) -> Box<dyn Val + '_> {
    Box::new(CelList::from(texts.iter().map(|written| text(Some(written))).collect::<Vec<_>>()))
}

fn value<'v>(json: &'v Value) -> Box<dyn Val + 'v> {
    match json {
        Value::Null => Box::new(CelNull),
        Value::Bool(flag) => Box::new(CelBool::from(*flag)),
        Value::Number(number) => self::number(number),
        Value::String(written) => text(Some(written)),
        Value::Array(elements) => Box::new(CelList::from(elements.iter().map(value).collect::<Vec<_>>())),
        Value::Object(members) => map(members.iter()),
    }
}

/// Converts a number. Integers are signed where possible, like those in an expression's text.
fn number<'v>(number: &Number) -> Box<dyn Val + 'v> {
    match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(signed), ..) => Box::new(CelInt::from(signed)),
        (None, Some(unsigned), _) => Box::new(CelUInt::from(unsigned)),
        (None, None, Some(float)) => Box::new(CelDouble::from(float)),
        // No number compares with it, so the rule fails closed.
        (None, None, None) => Box::new(CelNull),
    }
}

fn map<'v>(members: impl Iterator<Item = (&'v String, &'v Value)>) -> Box<dyn Val + 'v> {
    let members: HashMap<CelMapKey<'v>, Box<dyn Val + 'v>> =
        members.map(|(name, member)| (CelMapKey::from(name.as_str()), value(member))).collect();
    Box::new(CelMap::from(members))
}
