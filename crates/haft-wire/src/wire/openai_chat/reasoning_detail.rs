//! Reasoning details, as `OpenRouter` sends them.
//!
//! A stream contains them in fragments, and the server expects them back whole: a signature that comes with a text's
//! last fragment is invalid for that fragment alone. Fragments belong together if they have the same `index` and type;
//! without an index, if they follow each other.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// The members that arrive in pieces. All others are whole, and the last one that is not `null` wins.
const PIECES: [&str; 3] = ["text", "summary", "data"];
/// The type of details whose data is whole, joined only by index or id.
const ENCRYPTED: &str = "reasoning.encrypted";

/// An answer's details in progress, in the order they began.
#[derive(Debug, Default)]
pub(super) struct ReasoningDetails {
    list: Vec<Map<String, Value>>,
    /// Positions by index and type.
    positions: HashMap<(u64, String), usize>,
}

impl ReasoningDetails {
    /// Adds a detail, or a fragment of one.
    pub(super) fn add(&mut self, detail: Map<String, Value>) {
        let kind = detail.get("type").and_then(Value::as_str).unwrap_or_default();
        let index = detail.get("index").and_then(Value::as_u64);
        let key = index.map(|index| (index, kind.to_owned()));
        let known = match &key {
            Some(key) => self.positions.get(key).copied(),
            None if kind == ENCRYPTED => None,
            None => self.list.len().checked_sub(1).filter(|last| {
                let last = &self.list[*last];
                last.get("type").and_then(Value::as_str) == Some(kind) && !last.contains_key("index")
            }),
        };
        match known.filter(|at| !have_other_ids(&self.list[*at], &detail)) {
            Some(at) => merge(&mut self.list[at], detail),
            None => {
                if let Some(key) = key {
                    self.positions.insert(key, self.list.len());
                }
                self.list.push(detail);
            }
        }
    }

    /// Returns the details.
    pub(super) fn into_list(self) -> Vec<Value> {
        self.list.into_iter().map(Value::Object).collect()
    }
}

/// Reports whether both have an id, and different ones.
fn have_other_ids(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let id = |detail: &Map<String, Value>| detail.get("id").filter(|id| !id.is_null()).cloned();
    matches!((id(one), id(other)), (Some(one), Some(other)) if one != other)
}

fn merge(known: &mut Map<String, Value>, fragment: Map<String, Value>) {
    for (member, value) in fragment {
        match (known.get_mut(&member), value) {
            (Some(Value::String(text)), Value::String(more)) if PIECES.contains(&member.as_str()) => {
                text.push_str(&more);
            }
            (Some(_), Value::Null) => {}
            (_, value) => drop(known.insert(member, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn merged(details: &[Value]) -> Value {
        let mut list = ReasoningDetails::default();
        details.iter().filter_map(Value::as_object).cloned().for_each(|detail| list.add(detail));
        list.into_list().into()
    }

    #[test]
    fn fragments_are_merged_by_index_and_type() {
        let text =
            |index: u64, text: &str| json!({"type": "reasoning.text", "index": index, "text": text, "signature": null});
        let signed = json!({"type": "reasoning.text", "index": 0, "text": "", "signature": "s", "format": "f"});
        let encrypted = json!({"type": "reasoning.encrypted", "index": 0, "data": "d", "id": "e1"});
        let fragments = [text(0, "a"), text(1, "x"), text(0, "b"), encrypted.clone(), signed, text(0, "c")];
        assert_eq!(
            merged(&fragments),
            json!([
                {"type": "reasoning.text", "index": 0, "text": "abc", "signature": "s", "format": "f"},
                text(1, "x"),
                encrypted,
            ])
        );
    }

    #[test]
    fn fragments_without_an_index_are_merged_while_they_follow_each_other() {
        let text = |text: &str| json!({"type": "reasoning.text", "text": text});
        let encrypted = |data: &str| json!({"type": "reasoning.encrypted", "data": data});
        let fragments = [text("a"), text("b"), encrypted("x"), encrypted("y"), text("c")];
        assert_eq!(merged(&fragments), json!([text("ab"), encrypted("x"), encrypted("y"), text("c")]));
    }

    #[test]
    fn details_with_different_ids_stay_apart() {
        let detail = |id: &str| json!({"type": "reasoning.summary", "index": 0, "id": id, "summary": "a"});
        assert_eq!(merged(&[detail("r1"), detail("r2")]), json!([detail("r1"), detail("r2")]));
        assert_eq!(merged(&[detail("r1"), detail("r1")])[0]["summary"], "aa");
    }
}
