//! The last step for a tree that fits: make it what the type would have been given, had it been read piece by piece.
//!
//! Whole numbers written as floats become integers where integers are meant, and keys that the schema neither
//! declares nor expects are dropped, so that no type mistakes one for an alias the schema knows nothing of.

use serde_json::Value;

use super::explain;
use super::node::{Arena, Node, NodeId, Open, Typed};
use super::number::{Exactness, Num};
use super::types::JsonType;

/// Settles `value`, which fits node `id`.
pub(super) fn settle(arena: &Arena, id: NodeId, value: &mut Value) {
    let mut rules = Rules { typed: Vec::new(), visited: Vec::new(), complete: true };
    rules.gather(arena, id, value);
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => {}
        Value::Number(number) => {
            let integer = rules.typed.iter().any(|typed| typed.integers_only());
            if let Num::Float(float) = Num::of(number)
                && integer
                && let Some(int) = Num::exact_integer(float)
            {
                *number = int.into();
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                for typed in &rules.typed {
                    settle(arena, typed.array.element(index), item);
                }
            }
        }
        Value::Object(map) => {
            let declares = rules.typed.iter().any(|typed| typed.object.open == Open::Implied);
            if arena.is_from_type() && rules.complete && declares {
                map.retain(|key, _| rules.typed.iter().any(|typed| expects(typed, key)));
            }
            for (key, member) in map.iter_mut() {
                for typed in &rules.typed {
                    let rule = &typed.object;
                    let child = rule.find(key, 0).map_or(rule.additional, |at| rule.properties[at].node);
                    settle(arena, child, member);
                }
            }
        }
    }
}

fn expects(typed: &Typed, key: &str) -> bool {
    typed.object.open == Open::Declared || typed.object.find(key, 0).is_some()
}

/// The rules that apply to one value.
struct Rules<'a> {
    typed: Vec<&'a Typed>,
    /// Where it was looked already: many ways may lead to one place.
    visited: Vec<NodeId>,
    /// Whether these are all of them.
    complete: bool,
}

impl<'a> Rules<'a> {
    fn gather(&mut self, arena: &'a Arena, id: NodeId, value: &Value) {
        if self.visited.contains(&id) {
            return;
        }
        self.visited.push(id);
        match arena.node(id) {
            Node::Typed(typed) => self.typed.push(typed),
            Node::ByType(branches) => {
                if let Some(branch) = branches[JsonType::of(value) as usize] {
                    self.gather(arena, branch, value);
                }
            }
            Node::Union(union) => {
                let fitting =
                    union.branches.iter().find(|branch| explain::fits(arena, **branch, value, Exactness::Waived));
                if let Some(branch) = fitting {
                    self.gather(arena, *branch, value);
                }
            }
            Node::All(parts) => parts.iter().for_each(|part| self.gather(arena, *part, value)),
            Node::Full(full) => self.gather(arena, full.shape, value),
            Node::Any | Node::Never | Node::Same(_) => self.complete = false,
        }
    }
}
