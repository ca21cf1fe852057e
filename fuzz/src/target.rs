//! The fuzz targets. A target takes bytes, panics when a promise is broken, and otherwise returns the kind of outcome;
//! inputs with a new outcome are worth mutating further.

mod chat;
mod decode;
mod expression;
mod gemini;
mod haft_toml;
mod messages;
mod openapi;
mod raw_schema;
mod responses;
mod schema_cost;
mod secure_parse;
mod sse;
mod wire;

use std::hash::{DefaultHasher, Hash, Hasher};

use haft_schema::Issues;
use serde::Deserialize;
use serde_json::Value;

/// One fuzz target.
#[derive(Debug)]
pub(crate) struct Target {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// Inputs to start from.
    pub(crate) seeds: &'static [&'static str],
    /// Reads the bytes.
    pub(crate) run: fn(&[u8]) -> Outcome,
}

/// A kind of outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Outcome(u64);

/// Every target.
pub(crate) static ALL: [Target; 12] = [
    secure_parse::TARGET,
    decode::TARGET,
    raw_schema::TARGET,
    schema_cost::TARGET,
    sse::TARGET,
    responses::TARGET,
    chat::TARGET,
    messages::TARGET,
    gemini::TARGET,
    expression::TARGET,
    haft_toml::TARGET,
    openapi::TARGET,
];

/// Returns the target of a name.
pub(crate) fn find(name: &str) -> Option<&'static Target> {
    ALL.iter().find(|target| target.name == name)
}

impl Outcome {
    /// Returns the outcome that this value identifies.
    pub(crate) fn of<T: Hash + ?Sized>(value: &T) -> Self {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// Parses accepted text with the plain parser. Only for accepted text: it has no depth limit.
fn parse_plain(accepted: &[u8]) -> Value {
    let mut reader = serde_json::Deserializer::from_slice(accepted);
    reader.disable_recursion_limit();
    let value = Value::deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    value.unwrap_or_else(|error| panic!("accepted, although the plain parser failed: {error}"))
}

/// Returns the rules that were broken, each once: the kind of a rejection. Formats the messages too, because a
/// rejection must be readable whatever was rejected.
fn rejection(issues: &Issues) -> Vec<String> {
    assert!(!issues.is_empty(), "a rejection without an issue");
    let cap = 40;
    assert!(issues.reason(cap).len() <= cap + " (and 18446744073709551615 more)".len(), "the reason is over its cap");
    let mut keywords: Vec<String> = issues.as_slice().iter().map(|issue| issue.keyword.clone()).collect();
    keywords.sort();
    keywords.dedup();
    keywords
}

#[cfg(test)]
mod tests {
    use super::{ALL, find};

    #[test]
    fn every_target_is_found_by_its_name_and_passes_its_seeds() {
        for target in &ALL {
            assert_eq!(find(target.name).map(|found| found.name), Some(target.name));
            for seed in target.seeds {
                (target.run)(seed.as_bytes());
            }
        }
    }
}
