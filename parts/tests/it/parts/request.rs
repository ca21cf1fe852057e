//! The judge accepts right requests and rejects each kind of wrong one.
//!
//! Every case changes one right request at one place, so it is that change that is rejected.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use haft_parts::{Judge, WireName};
use serde_json::{Value, json};

/// A right request of a wire, and changes that make it wrong.
struct Cases {
    wire: WireName,
    right: Value,
    options: Value,
    judge: Judge,
}

impl Cases {
    /// Starts with a request that must be right.
    #[track_caller]
    fn of(wire: WireName, right: Value) -> Self {
        let cases = Self { wire, right, options: json!({}), judge: Judge::start() };
        cases.judge.assert_valid(wire, &cases.right);
        cases
    }

    /// Checks that the request stays right with this change.
    #[track_caller]
    fn accepts(&self, name: &str, change: impl FnOnce(&mut Value)) {
        let mut body = self.right.clone();
        change(&mut body);
        let faults = self.judge.validate_with(self.wire, &body, self.options.clone());
        assert!(faults.is_empty(), "{name}: {faults:#?}\n{body:#}");
    }

    /// Checks that the request becomes wrong with this change, with a fault whose pointer begins with `at`.
    #[track_caller]
    fn rejects(&self, name: &str, at: &str, change: impl FnOnce(&mut Value)) {
        let mut body = self.right.clone();
        change(&mut body);
        let faults = self.judge.validate_with(self.wire, &body, self.options.clone());
        assert!(faults.iter().any(|fault| fault.at.starts_with(at)), "{name}: no fault at {at}: {faults:#?}");
    }
}

/// Returns the list at a pointer.
fn list<'a>(body: &'a mut Value, at: &str) -> &'a mut Vec<Value> {
    body.pointer_mut(at).and_then(Value::as_array_mut).unwrap_or_else(|| panic!("no list at {at}"))
}

/// Sets a value at a pointer to an object and a key.
fn set(body: &mut Value, at: &str, key: &str, value: Value) {
    body.pointer_mut(at).unwrap_or_else(|| panic!("nothing at {at}"))[key] = value;
}

/// Removes a key of the object at a pointer.
fn remove(body: &mut Value, at: &str, key: &str) {
    let object = body.pointer_mut(at).and_then(Value::as_object_mut);
    assert!(object.is_some_and(|object| object.remove(key).is_some()), "no {key} at {at}");
}
