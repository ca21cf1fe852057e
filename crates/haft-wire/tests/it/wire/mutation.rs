//! Documents with one thing wrong.

use serde_json::{Value, json};

/// Replaces each value of a document in turn by values of other types, and removes each member in turn.
pub(crate) fn mutations(document: &Value) -> Vec<Value> {
    let wrong = [json!(null), json!(true), json!(-1.5), json!("x"), json!([[]]), json!({"type": 1})];
    let mut all: Vec<Value> = wrong.to_vec();
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut copy = document.clone();
        change(&mut copy);
        copy
    };
    match document {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                all.extend(mutations(item).into_iter().map(|wrong| changed(&|copy| copy[at] = wrong.clone())));
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                all.extend(mutations(member).into_iter().map(|wrong| changed(&|copy| copy[key] = wrong.clone())));
                all.push(changed(&|copy| drop(copy.as_object_mut().unwrap().shift_remove(key))));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    all
}
