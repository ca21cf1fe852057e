//! Cases in which haft and the oracle differ, and haft is right or differs on purpose.

use haft_schema::Issue;
use serde_json::Value;

use super::oracle;
use super::plan::{Draft, Plan};

/// A reason not to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exception {
    /// In draft 4 the oracle takes `2.0` for no integer. The official tests call that optional, and haft reads `2.0`
    /// as an integer in every draft.
    FloatAsInteger,
    /// The oracle divides by floats: to it, 2^63 is a multiple of 2.5 and 1e300 of 3. haft counts in decimal digits.
    MultipleOfLarge,
    /// The oracle follows a `$ref` below a keyword that its draft does not know. To the specification that is no
    /// subschema, so there is no reference.
    StrayReference,
    /// The meta-schema of draft 4 does not mention `$ref`, so the oracle accepts one that is no string. The draft
    /// itself requires a string, and haft rejects everything else.
    ReferenceOfWrongType,
    /// To the oracle an item that matches `contains` counts as evaluated in draft 2019-09 too. That came with draft 2020-12;
    /// before, `unevaluatedItems` goes by `items` and `additionalItems` alone.
    ContainsEvaluates,
    /// The oracle follows a reference only where a value can get to it. haft rejects every one that leads nowhere.
    UnusedReference,
    /// Drafts from 2019-09 on have no `dependencies`. Both checkers apply it there all the same; to haft, the
    /// properties of a schema below it count as evaluated, as below `dependentSchemas`.
    DependenciesEvaluate,
    /// To the oracle `unevaluated…` in a resource of an older draft evaluates for one around it. The older draft does
    /// not know the keyword, so there it has no effect.
    UnevaluatedInOlder,
}

impl Exception {
    /// Returns the reason why only haft builds a schema.
    pub(super) fn built_by_haft(plan: &Plan, schema: &Value) -> Option<Self> {
        let mut without = schema.clone();
        drop_unknown(&mut without, plan.draft);
        (without != *schema && oracle(&without).is_ok()).then_some(Self::StrayReference)
    }

    /// Returns the reason why haft alone has this issue with a schema.
    pub(super) fn rejected_by_haft(plan: &Plan, schema: &Value, issue: &Issue) -> Option<Self> {
        let reference = schema.pointer(&issue.pointer).filter(|_| issue.keyword == "$ref")?;
        let Some(text) = reference.as_str() else {
            return (plan.draft == Draft::Draft4).then_some(Self::ReferenceOfWrongType);
        };
        let place = text.strip_prefix('#').filter(|place| place.starts_with('/'))?;
        let is_there = schema.pointer(place).is_some_and(|target| target.is_object() || target.is_boolean());
        (!is_there).then_some(Self::UnusedReference)
    }

    /// Returns the reason why a value may be valid for one and not for the other.
    pub(super) fn of_value(plan: &Plan, schema: &Value, value: &Value) -> Option<Self> {
        let is_float_for_integer =
            plan.draft == Draft::Draft4 && mentions(schema, "integer") && any(value, &|value| value.is_f64());
        if is_float_for_integer {
            return Some(Self::FloatAsInteger);
        }
        let has = |word: &str| any(schema, &|schema| schema.get(word).is_some());
        if mentions(schema, Draft::Draft201909.address()) && has("contains") && has("unevaluatedItems") {
            return Some(Self::ContainsEvaluates);
        }
        if has("dependencies") && (has("unevaluatedItems") || has("unevaluatedProperties")) {
            return Some(Self::DependenciesEvaluate);
        }
        let is_unevaluated = |schema: &Value| {
            ["unevaluatedItems", "unevaluatedProperties"].iter().any(|word| schema.get(word).is_some())
        };
        let is_older = |schema: &Value| {
            let older = [Draft::Draft4, Draft::Draft6, Draft::Draft7];
            older.iter().any(|draft| schema.get("$schema").is_some_and(|address| address == draft.address()))
        };
        if plan.draft >= Draft::Draft201909 && any(schema, &|part| is_older(part) && any(part, &is_unevaluated)) {
            return Some(Self::UnevaluatedInOlder);
        }
        let is_large = |value: &Value| value.as_f64().is_some_and(|number| number.abs() > 9_007_199_254_740_992.0);
        (has("multipleOf") && any(value, &is_large)).then_some(Self::MultipleOfLarge)
    }
}

fn any(value: &Value, is: &dyn Fn(&Value) -> bool) -> bool {
    is(value)
        || match value {
            Value::Array(items) => items.iter().any(|item| any(item, is)),
            Value::Object(map) => map.values().any(|member| any(member, is)),
            _ => false,
        }
}

fn mentions(schema: &Value, text: &str) -> bool {
    any(schema, &|value| value == text)
}

/// Removes the keywords that a draft does not know, with everything below them.
fn drop_unknown(schema: &mut Value, draft: Draft) {
    match schema {
        Value::Object(map) => {
            map.retain(|word, _| LATER.iter().all(|(later, since)| word != later || *since <= draft));
            map.values_mut().for_each(|value| drop_unknown(value, draft));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| drop_unknown(item, draft)),
        _ => {}
    }
}

/// The keywords with subschemas that older drafts do not know, and the first draft that does.
const LATER: [(&str, Draft); 10] = [
    ("contains", Draft::Draft6),
    ("propertyNames", Draft::Draft6),
    ("if", Draft::Draft7),
    ("then", Draft::Draft7),
    ("else", Draft::Draft7),
    ("dependentSchemas", Draft::Draft201909),
    ("dependentRequired", Draft::Draft201909),
    ("unevaluatedItems", Draft::Draft201909),
    ("unevaluatedProperties", Draft::Draft201909),
    ("prefixItems", Draft::Draft202012),
];
