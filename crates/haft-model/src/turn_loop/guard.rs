//! Which calls were made how often.
//!
//! A model that is stuck asks for the same thing again and again. Two calls are the same when they name the same tool
//! with equal arguments, whatever the order of keys and the spaces between them. Only calls that were handed on count:
//! a refused one has not been tried.

use std::collections::BTreeMap;

use haft_core::ToolCall;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How often each call was made: by tool, then by arguments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct SeenCalls(BTreeMap<String, BTreeMap<String, u32>>);

impl SeenCalls {
    /// How often this call was made.
    pub(super) fn times(&self, call: &ToolCall) -> u32 {
        let times = self.0.get(&call.name).and_then(|seen| seen.get(&canonical(&call.arguments)));
        times.copied().unwrap_or_default()
    }

    /// Counts this call.
    pub(super) fn note(&mut self, call: &ToolCall) {
        let times = self.0.entry(call.name.clone()).or_default().entry(canonical(&call.arguments)).or_default();
        *times = times.saturating_add(1);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// One text for equal arguments. What is not JSON is compared as it is.
fn canonical(arguments: &str) -> String {
    match arguments.trim() {
        "" => "{}".to_owned(),
        text => serde_json::from_str(text).map_or_else(|_| text.to_owned(), |value| sorted(value).to_string()),
    }
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        Value::Object(members) => {
            let members: BTreeMap<String, Value> = members.into_iter().collect();
            Value::Object(members.into_iter().map(|(key, value)| (key, sorted(value))).collect::<Map<_, _>>())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall::new("c1", name, arguments)
    }

    #[test]
    fn equal_arguments_are_one_call_however_they_are_written() {
        let mut seen = SeenCalls::default();
        seen.note(&call("t", r#"{"a": 1, "b": [{"y": 2, "x": 1}]}"#));
        seen.note(&call("t", r#" {"b":[{"x":1,"y":2}],"a":1} "#));
        assert_eq!(seen.times(&call("t", r#"{"a":1,"b":[{"x":1,"y":2}]}"#)), 2);
        for (name, arguments) in
            [("t", r#"{"a":2}"#), ("u", r#"{"a":1,"b":[{"x":1,"y":2}]}"#), ("t", r#"{"a":1,"b":[]}"#)]
        {
            assert_eq!(seen.times(&call(name, arguments)), 0, "{name} {arguments}");
        }
    }

    #[test]
    fn blank_arguments_are_the_empty_object_and_broken_ones_themselves() {
        let mut seen = SeenCalls::default();
        seen.note(&call("t", ""));
        seen.note(&call("t", " {} "));
        seen.note(&call("t", "{\"a\": "));
        assert_eq!((seen.times(&call("t", "  ")), seen.times(&call("t", "{\"a\": "))), (2, 1));
        let deep = "[".repeat(100_000);
        seen.note(&call("t", &deep));
        assert_eq!(seen.times(&call("t", &deep)), 1);
    }
}
