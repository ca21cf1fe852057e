//! Redaction of the issues of an invalid result.
//!
//! An invalid result is never shown to the model, because a part of it may be something that `to_model_output`
//! withholds. The model therefore learns where the result is invalid, which rule it violates and what the schema
//! requires, all of which come from the definition, and nothing that comes from the value: no values, and no keys that
//! only the value has. The full issues are the cause, for the operator.

use std::collections::HashSet;

use serde_json::Value;

use super::path::{push_index, push_key};
use crate::issue::{Issue, Issues, TypeError};

/// The placeholder in a pointer for a key that the schema does not declare.
const ANY_KEY: &str = "*";

/// A rejected result, with all details.
pub(super) enum Rejected {
    /// The value violates its schema.
    Rules { issues: Vec<Issue>, value: Value },
    /// The tool's custom validator rejects the value. The texts of its issues come from user code.
    Check(Issues),
    /// The value could not be encoded. Only the path to the failure is known.
    Unwritten { issue: Issue, steps: Vec<ResultStep>, cause: Option<serde_json::Error> },
}

/// A step of the path into a result.
pub(super) enum ResultStep {
    /// A field or a variant, which the type names.
    Named(String),
    /// A member of a map, which may have any name.
    Key(String),
    /// An element.
    Index(usize),
}

impl Rejected {
    /// Returns the issues that the model may see, with the full details as their cause.
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

/// Returns the issue without any part of the value.
fn shown(issue: &Issue, pointer: String) -> Issue {
    let Issue { keyword, expected, .. } = issue;
    let message = match keyword.as_str() {
        "duplicateKey" => "has a duplicate key".to_owned(),
        // These issues are about the check, not about the value.
        "maxIssues" => "there are more problems than are listed".to_owned(),
        "budget" => issue.message.clone(),
        _ if expected.is_empty() => format!("violates the rule `{keyword}`"),
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

/// Returns the pointer with undeclared keys replaced. It is resolved against the value, because only the value
/// distinguishes an index from a key that looks like one.
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

/// Collects the names of all properties that a schema declares, at any depth.
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
