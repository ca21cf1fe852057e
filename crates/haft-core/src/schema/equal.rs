//! When two JSON values are the same: as JSON Schema means it, where `1`, `1.0` and `1e0` are one number.

use std::collections::HashSet;

use serde_json::Value;

use super::number::Num;

/// Whether two values are the same.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || Num::of(a).is_same(Num::of(b)),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// Whether no two of `items` are the same.
pub(super) fn all_differ(items: &[Value]) -> bool {
    const FEW: usize = 8;
    if items.len() <= FEW {
        return items.iter().enumerate().all(|(at, item)| !items[..at].iter().any(|before| same(before, item)));
    }
    let mut seen = HashSet::with_capacity(items.len());
    items.iter().all(|item| {
        let mut key = String::new();
        write_key(item, &mut key);
        seen.insert(key)
    })
}

/// Writes a text that two values share exactly when they are the same.
fn write_key(value: &Value, key: &mut String) {
    match value {
        Value::Number(number) => match Num::of(number) {
            Num::Float(float) => match Num::whole(float) {
                Some(int) => key.push_str(&int.to_string()),
                None => key.push_str(&format!("{float:e}")),
            },
            int => key.push_str(&int.to_string()),
        },
        Value::Array(items) => {
            key.push('[');
            for item in items {
                write_key(item, key);
                key.push(',');
            }
            key.push(']');
        }
        Value::Object(map) => {
            let mut names: Vec<&String> = map.keys().collect();
            names.sort_unstable();
            key.push('{');
            for name in names {
                key.push_str(&Value::from(name.as_str()).to_string());
                key.push(':');
                write_key(&map[name], key);
                key.push(',');
            }
            key.push('}');
        }
        other => key.push_str(&other.to_string()),
    }
}
