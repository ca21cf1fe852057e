//! Positions of selected values.
//!
//! The values are found by their addresses in one walk over the document. The evaluation could return positions as
//! well, but it would build them for every value that it passes: for a deep document that is a hundred times its size.

use std::collections::HashMap;

use serde_json::Value;

/// Returns the JSON Pointers to a document's values, in order. A value may be listed more than once.
pub(super) fn locations(document: &Value, values: &[&Value]) -> Vec<String> {
    let mut walk = LocationWalk {
        wanted: values.iter().map(|value| (address(value), None)).collect(),
        missing: 0,
        path: String::new(),
    };
    walk.missing = walk.wanted.len();
    walk.visit(document);
    values.iter().map(|value| walk.wanted.get(&address(value)).cloned().flatten().unwrap_or_default()).collect()
}

fn address(value: &Value) -> *const Value {
    value
}

struct LocationWalk {
    wanted: HashMap<*const Value, Option<String>>,
    missing: usize,
    path: String,
}

impl LocationWalk {
    /// Visits a value. Documents nest to a fixed depth, because they were parsed with the default limits.
    fn visit(&mut self, value: &Value) {
        if let Some(found) = self.wanted.get_mut(&address(value)) {
            *found = Some(self.path.clone());
            self.missing -= 1;
        }
        let length = self.path.len();
        match value {
            Value::Object(members) => {
                for (key, member) in members {
                    self.enter(length, &key.replace('~', "~0").replace('/', "~1"), member);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.enter(length, &index.to_string(), item);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn enter(&mut self, length: usize, key: &str, value: &Value) {
        if self.missing == 0 {
            return;
        }
        self.path.push('/');
        self.path.push_str(key);
        self.visit(value);
        self.path.truncate(length);
    }
}
