//! The part of the issues of a result that the model learns.
//!
//! A result belongs to the tool until the tool shows it, and one that is wrong is never shown: a part of it may be what
//! `to_model_output` keeps from the model. So the model learns where the result is wrong, which rule it breaks and what
//! the schema asks for, all of which is the definition's, and nothing that is the value's: no values, and no keys that
//! only the value has. Those are in the full issues, which are the cause, for the operator.

use std::collections::HashSet;

use serde_json::Value;

use super::path::{push_index, push_key};
use crate::issue::{Issue, Issues, TypeError};

/// The sign in a pointer for a key that is part of the value.
const ANY_KEY: &str = "*";

/// A result that was rejected, with everything that is known about it.
pub(super) enum Rejected {
    /// It breaks the rules of its schema.
    Rules { issues: Vec<Issue>, value: Value },
    /// The tool's own check rejects it. Its words are user code's.
    Check(Issues),
    /// It could not be written. There is no value then, only the way to where it went wrong.
    Unwritten { issue: Issue, steps: Vec<ResultStep>, cause: Option<serde_json::Error> },
}

/// A step into a value.
pub(super) enum ResultStep {
    /// To a field or a variant, which its type names.
    Named(String),
    /// To a member of a map, which may be called anything.
    Key(String),
    /// To an element.
    Index(usize),
}

impl Rejected {
    /// The issues that the model may see, with all that is known as their cause.
    pub(super) fn disclosed(self, schema: &Value) -> Issues {
        let mut names = HashSet::new();
        collect_names(schema, &mut names);
        match self {
            Self::Rules { issues, value } => {
                let shown = issues.iter().map(|issue| shown(issue, shown_pointer(&issue.pointer, &value, &names)));
                let shown = Issues::new(shown.collect());
                shown.because(Issues::new(issues))
            }
            Self::Check(issues) => {
                let shown = Issue::new("", "validator", "the tool's own check rejects the result");
                Issues::from(shown).because(issues)
            }
            Self::Unwritten { mut issue, steps, cause } => {
                let (mut full, mut pointer) = (String::new(), String::new());
                for step in &steps {
                    step.push(&mut full, step.name());
                    let is_known = |name: &str| matches!(step, ResultStep::Named(_)) || names.contains(name);
                    step.push(&mut pointer, step.name().filter(|name| is_known(name)));
                }
                issue.pointer = pointer;
                let shown = Issues::from(issue.clone());
                match cause {
                    Some(error) => shown.because(TypeError(error)),
                    None => {
                        issue.pointer = full;
                        shown.because(Issues::from(issue))
                    }
                }
            }
        }
    }
}

impl ResultStep {
    fn name(&self) -> Option<&str> {
        match self {
            Self::Named(name) | Self::Key(name) => Some(name),
            Self::Index(_) => None,
        }
    }

    fn push(&self, pointer: &mut String, name: Option<&str>) {
        match self {
            Self::Named(_) | Self::Key(_) => push_key(pointer, name.unwrap_or(ANY_KEY)),
            Self::Index(index) => push_index(pointer, *index),
        }
    }
}

/// The issue without anything that is part of the value.
fn shown(issue: &Issue, pointer: String) -> Issue {
    let Issue { keyword, expected, .. } = issue;
    let message = match keyword.as_str() {
        "duplicateKey" => "has a key twice".to_owned(),
        // These are about the check, not about the value.
        "maxIssues" => "there are more problems than are listed".to_owned(),
        "budget" => issue.message.clone(),
        _ if expected.is_empty() => format!("breaks the rule `{keyword}`"),
        "type" | "format" | "enum" | "const" | "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum"
        | "multipleOf" => format!("must be {expected}"),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            format!("must have {expected}")
        }
        "pattern" => format!("must match the pattern {expected}"),
        _ => format!("expected {expected}"),
    };
    Issue::new(pointer, keyword, message).expected(expected)
}

/// The pointer with keys that only the value has left open. It is followed through the value, as only that tells an index
/// from a key that looks like one.
fn shown_pointer(pointer: &str, value: &Value, names: &HashSet<&str>) -> String {
    let mut shown = String::with_capacity(pointer.len());
    let mut at = Some(value);
    for step in pointer.split('/').skip(1) {
        at = match at {
            Some(Value::Array(items)) => {
                let index = step.parse().ok();
                shown.push('/');
                shown.push_str(if index.is_some() { step } else { ANY_KEY });
                index.and_then(|index: usize| items.get(index))
            }
            Some(Value::Object(members)) => {
                let key = step.replace("~1", "/").replace("~0", "~");
                push_key(&mut shown, if names.contains(key.as_str()) { &key } else { ANY_KEY });
                members.get(&key)
            }
            _ => return shown,
        };
    }
    shown
}

/// Collects the names of all properties that a schema declares, wherever it does.
fn collect_names<'a>(schema: &'a Value, names: &mut HashSet<&'a str>) {
    match schema {
        Value::Object(keywords) => {
            for (keyword, inner) in keywords {
                if let ("properties", Value::Object(properties)) = (keyword.as_str(), inner) {
                    names.extend(properties.keys().map(String::as_str));
                }
                collect_names(inner, names);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_names(item, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
