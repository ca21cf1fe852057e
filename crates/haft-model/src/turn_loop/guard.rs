//! The guard against repeated calls.
//!
//! A model that is stuck makes the same call again and again. Two calls are equal if they name the same tool
//! with equal arguments, whatever the order of keys and the whitespace. They count while they follow each other: another
//! call in between is progress, so that an agent may run its tests after every edit. Only calls that were run, or
//! rejected by this guard, count: any other rejected call was not tried.

use std::collections::BTreeMap;

use haft_core::ToolCall;
use serde::{Deserialize, Serialize};

/// The number of equal calls in a row, up to the last call. It holds a digest of the arguments, so that a state does not
/// hold them twice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredRow", into = "StoredRow")]
pub(super) struct CallRow(Option<(CallKey, u32)>);

/// The written form: the count by tool and digest. One with several entries, as earlier versions wrote it, is no row.
type StoredRow = BTreeMap<String, BTreeMap<String, u32>>;

/// The key of equal calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CallKey {
    tool: String,
    digest: String,
}

impl CallRow {
    /// Returns the number of calls with this key at the end of the row.
    pub(super) fn times(&self, key: &CallKey) -> u32 {
        self.0.as_ref().filter(|(last, _)| last == key).map_or(0, |(_, times)| *times)
    }

    /// Returns the length of the row.
    pub(super) fn len(&self) -> u32 {
        self.0.as_ref().map_or(0, |(_, times)| *times)
    }

    /// Adds a call with this key. Another key begins a new row.
    pub(super) fn note(&mut self, key: CallKey) {
        let times = self.times(&key).saturating_add(1);
        self.0 = Some((key, times));
    }

    /// Begins anew.
    pub(super) fn clear(&mut self) {
        self.0 = None;
    }
}

impl From<StoredRow> for CallRow {
    fn from(stored: StoredRow) -> Self {
        let mut entries = stored.into_iter().flat_map(|(tool, counts)| {
            counts.into_iter().map(move |(digest, times)| (CallKey { tool: tool.clone(), digest }, times))
        });
        match (entries.next(), entries.next()) {
            (Some(row), None) => Self(Some(row)),
            (Some(_), Some(_)) | (None, _) => Self(None),
        }
    }
}

impl From<CallRow> for StoredRow {
    fn from(CallRow(row): CallRow) -> Self {
        row.into_iter().map(|(key, times)| (key.tool, BTreeMap::from([(key.digest, times)]))).collect()
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
    fn equal_calls_in_a_row_are_counted_and_another_begins_anew() {
        let mut row = CallRow::default();
        row.note(key("t", r#"{"a": 1, "b": [{"y": 2, "x": 1}]}"#));
        row.note(key("t", r#" {"b":[{"x":1,"y":2}],"a":1.0} "#));
        let same = key("t", r#"{"a":1,"b":[{"x":1,"y":2}]}"#);
        assert_eq!((row.times(&same), row.len()), (2, 2));
        for (name, arguments) in
            [("t", r#"{"a":2}"#), ("u", r#"{"a":1,"b":[{"x":1,"y":2}]}"#), ("t", r#"{"a":1,"b":[]}"#)]
        {
            assert_eq!(row.times(&key(name, arguments)), 0, "{name} {arguments}");
            let mut other = row.clone();
            other.note(key(name, arguments));
            assert_eq!((other.times(&same), other.len()), (0, 1), "{name} {arguments}");
        }
    }

    #[test]
    fn a_row_is_read_back_and_never_overflows() {
        let mut row = CallRow(Some((key("t", "1"), u32::MAX - 1)));
        row.note(key("t", "1"));
        row.note(key("t", "1"));
        assert_eq!(row.len(), u32::MAX);
        for row in [row, CallRow::default()] {
            let written = serde_json::to_value(&row).unwrap();
            assert_eq!(serde_json::from_value::<CallRow>(written).unwrap(), row);
        }
        let several = serde_json::json!({"t": {"x": 4, "y": 1}, "u": {"x": 2}});
        assert_eq!(serde_json::from_value::<CallRow>(several).unwrap(), CallRow::default());
    }
}
