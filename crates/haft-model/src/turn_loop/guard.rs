//! The guard against repeated calls.
//!
//! A model that is stuck makes the same call again and again. Two calls are equal if they name the same tool
//! with equal arguments, whatever the order of keys and the whitespace. Only calls that were run count:
//! a rejected one was not tried.

use std::collections::BTreeMap;

use haft_core::ToolCall;
use serde::{Deserialize, Serialize};

/// The number of calls by tool and by the digest of the arguments, so that a state does not hold the arguments twice.
/// An entry of another form matches no call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct SeenCalls(BTreeMap<String, BTreeMap<String, u32>>);

/// The key of equal calls.
#[derive(Debug)]
pub(super) struct CallKey {
    tool: String,
    digest: String,
}

impl SeenCalls {
    /// Returns the number of calls with this key.
    pub(super) fn times(&self, key: &CallKey) -> u32 {
        self.0.get(&key.tool).and_then(|seen| seen.get(&key.digest)).copied().unwrap_or_default()
    }

    /// Counts a call with this key.
    pub(super) fn note(&mut self, key: CallKey) {
        self.add(key, 1);
    }

    /// Adds the counts of another value.
    pub(super) fn merge(&mut self, other: Self) {
        for (tool, seen) in other.0 {
            for (digest, times) in seen {
                self.add(CallKey { tool: tool.clone(), digest }, times);
            }
        }
    }

    /// Resets all counts.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn add(&mut self, key: CallKey, more: u32) {
        let times = self.0.entry(key.tool).or_default().entry(key.digest).or_default();
        *times = times.saturating_add(more);
    }
}

impl CallKey {
    /// Returns the key of a call.
    pub(super) fn of(call: &ToolCall) -> Self {
        Self { tool: call.name.clone(), digest: call.argument_digest() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str, arguments: &str) -> CallKey {
        CallKey::of(&ToolCall::new("c1", name, arguments))
    }

    #[test]
    fn equal_calls_are_counted_together_and_others_apart() {
        let mut seen = SeenCalls::default();
        seen.note(key("t", r#"{"a": 1, "b": [{"y": 2, "x": 1}]}"#));
        seen.note(key("t", r#" {"b":[{"x":1,"y":2}],"a":1.0} "#));
        assert_eq!(seen.times(&key("t", r#"{"a":1,"b":[{"x":1,"y":2}]}"#)), 2);
        for (name, arguments) in
            [("t", r#"{"a":2}"#), ("u", r#"{"a":1,"b":[{"x":1,"y":2}]}"#), ("t", r#"{"a":1,"b":[]}"#)]
        {
            assert_eq!(seen.times(&key(name, arguments)), 0, "{name} {arguments}");
        }
    }

    #[test]
    fn counts_are_added_up_and_never_overflow() {
        let mut seen = SeenCalls::default();
        seen.add(key("t", "1"), u32::MAX - 1);
        seen.note(key("u", "1"));
        let mut more = SeenCalls::default();
        more.add(key("t", "1"), 5);
        more.note(key("t", "2"));
        seen.merge(more);
        let times = [("t", "1"), ("t", "2"), ("u", "1"), ("u", "2")].map(|(tool, text)| seen.times(&key(tool, text)));
        assert_eq!(times, [u32::MAX, 1, 1, 0]);
    }
}
