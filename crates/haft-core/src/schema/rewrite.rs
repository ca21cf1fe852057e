//! Rewriting of valid text for the type that reads it.
//!
//! A type receives only what its schema describes. Integers written as `3.0` or `1e3` become integers, as many types
//! accept no others; of duplicate keys the last one is kept; and if the schema was generated from the type, keys that
//! it does not declare are removed, because the type could take one for an alias that the schema does not describe.

use std::collections::{HashMap, HashSet};

use super::budget::{BudgetSpent, WorkBudget};
use super::decimal::Decimal;
use super::document::{Document, Instance, MemberKey};
use super::node::{Arena, Node, NodeId, Openness, TypeRules};
use super::types::JsonType;
use super::walk::Walk;

/// Returns the text of a valid value in the form that its type should receive, or `None` if that is the original text.
pub(super) fn rewritten(
    arena: &Arena,
    id: NodeId,
    document: &Document<'_>,
    budget: &mut WorkBudget,
) -> Result<Option<String>, BudgetSpent> {
    let edits = Edits { removed: undeclared_keys(arena, id, document, budget)?, ..Edits::default() };
    Ok(edits.change(document).then(|| edits.apply(document)))
}

/// Returns the text with every number that has a point or an exponent rounded to a float, or `None` if nothing changes.
///
/// A type that reads a float receives the rounded number, so that number must be valid as well.
pub(super) fn rounded(document: &Document<'_>) -> Option<String> {
    if !document.has_inexact_float() {
        return None;
    }
    let each = document.values().filter_map(|value| Some((value.id(), as_float(value)?)));
    let edits = Edits { replaced: each.collect(), ..Edits::default() };
    (!edits.replaced.is_empty()).then(|| edits.apply(document))
}

/// Returns the digits of the nearest float if the number is not exactly a float.
fn as_float(value: Instance<'_>) -> Option<String> {
    let number = value.number().filter(|number| value.is_float() && !number.is_integer())?;
    let float = value.raw().parse().ok().and_then(serde_json::Number::from_f64)?.to_string();
    (Decimal::parse(&float) != number).then_some(float)
}

/// Reports whether the type should receive the text of a valid value unchanged.
pub(super) fn needs_no_rewrite(arena: &Arena, id: NodeId, document: &Document<'_>, budget: &mut WorkBudget) -> bool {
    let removed = undeclared_keys(arena, id, document, budget);
    removed.is_ok_and(|removed| !Edits { removed, ..Edits::default() }.change(document))
}

fn undeclared_keys(
    arena: &Arena,
    id: NodeId,
    document: &Document<'_>,
    budget: &mut WorkBudget,
) -> Result<HashSet<u32>, BudgetSpent> {
    let mut keys = HashSet::new();
    if arena.is_from_type() {
        let mut walk = Walk::over_valid(arena, budget);
        UndeclaredKeys { walk: &mut walk, keys: &mut keys }.collect(&[id], document.root());
    }
    // A search that ran out of budget has found only some of the keys.
    if budget.is_spent() { Err(BudgetSpent) } else { Ok(keys) }
}

/// The changes to make when a document is written.
#[derive(Debug, Default)]
pub(super) struct Edits {
    /// Keys that are removed with their values.
    pub(super) removed: HashSet<u32>,
    /// Replacement text for values.
    pub(super) replaced: HashMap<u32, String>,
}

impl Edits {
    fn change(&self, document: &Document<'_>) -> bool {
        !self.removed.is_empty()
            || !self.replaced.is_empty()
            || document.duplicates().len() > 0
            || (document.has_integral_float() && document.values().any(|value| integer(value).is_some()))
    }

    /// Writes a document with the changes applied.
    pub(super) fn apply(&self, document: &Document<'_>) -> String {
        let mut text = String::with_capacity(document.text().len());
        self.write(document.root(), &mut text);
        text
    }

    /// Writes a value. The depth of recursion is bounded by that of the document.
    fn write(&self, value: Instance<'_>, text: &mut String) {
        if let Some(replacement) = self.replaced.get(&value.id()) {
            text.push_str(replacement);
            return;
        }
        match value.kind() {
            JsonType::Array => {
                text.push('[');
                for (at, item) in value.items().enumerate() {
                    text.push_str(if at > 0 { "," } else { "" });
                    self.write(item, text);
                }
                text.push(']');
            }
            JsonType::Object => {
                text.push('{');
                let wanted = value.members().filter(|(key, _)| !self.removed.contains(&key.id()));
                for (at, (key, member)) in wanted.enumerate() {
                    text.push_str(if at > 0 { "," } else { "" });
                    text.push_str(key.as_instance().raw());
                    text.push(':');
                    self.write(member, text);
                }
                text.push('}');
            }
            JsonType::Null | JsonType::Boolean | JsonType::Number | JsonType::String => match integer(value) {
                Some(digits) => text.push_str(&digits),
                None => text.push_str(value.raw()),
            },
        }
    }
}

/// Returns the digits of an integer that was written as a float, if a machine integer can represent it.
fn integer(value: Instance<'_>) -> Option<String> {
    let number = value.number().filter(|_| value.is_float() || value.raw() == "-0")?;
    number.to_i128().map(|integer| integer.to_string()).or_else(|| Some(number.to_u128()?.to_string()))
}

/// A search for keys that have no field in the type a schema was generated from.
struct UndeclaredKeys<'w, 'a, 'b> {
    walk: &'w mut Walk<'a, 'b>,
    keys: &'w mut HashSet<u32>,
}

/// The rules that apply to one value.
#[derive(Default)]
struct AppliedRules<'a> {
    typed: Vec<&'a TypeRules>,
    /// The nodes that were visited: several paths may lead to one.
    visited: Vec<NodeId>,
    /// Set if `rules` contains all of them.
    is_complete: bool,
}

impl<'a> UndeclaredKeys<'_, 'a, '_> {
    fn collect(&mut self, ids: &[NodeId], value: Instance<'_>) {
        if !matches!(value.kind(), JsonType::Array | JsonType::Object) || !self.walk.work(1) {
            return;
        }
        let mut applied = AppliedRules { is_complete: true, ..AppliedRules::default() };
        for id in ids {
            self.gather(*id, value, &mut applied);
        }
        match value.kind() {
            JsonType::Array => {
                for (at, item) in value.items().enumerate() {
                    if !self.walk.work(applied.typed.len()) {
                        return;
                    }
                    let nodes: Vec<NodeId> = applied.typed.iter().map(|typed| typed.array.element(at)).collect();
                    self.collect(&nodes, item);
                }
            }
            _ => self.collect_members(&applied, value),
        }
    }

    fn collect_members(&mut self, applied: &AppliedRules<'a>, value: Instance<'_>) {
        let declares = applied.typed.iter().any(|typed| typed.object.open == Openness::Implied);
        for (at, (key, member)) in value.members().enumerate() {
            if !self.walk.work(applied.typed.len()) {
                return;
            }
            if applied.is_complete && declares && !applied.typed.iter().any(|typed| expects(typed, key, at)) {
                self.keys.insert(key.id());
                continue;
            }
            let node = |typed: &&'a TypeRules| {
                let rule = &typed.object;
                rule.find(&key.name(), at).map_or(rule.additional, |found| rule.properties[found].node)
            };
            let nodes: Vec<NodeId> = applied.typed.iter().map(node).collect();
            self.collect(&nodes, member);
        }
    }

    fn gather(&mut self, id: NodeId, value: Instance<'_>, applied: &mut AppliedRules<'a>) {
        if applied.visited.contains(&id) || !self.walk.work(1) {
            return;
        }
        applied.visited.push(id);
        match self.walk.arena.node(id) {
            Node::ByType(branches) => {
                if let Some(branch) = branches[value.kind() as usize] {
                    self.gather(branch, value, applied);
                }
            }
            Node::Typed(typed) => {
                applied.typed.push(typed);
                for rule in &typed.rules {
                    rule.all_of().iter().for_each(|part| self.gather(*part, value, applied));
                    let fitting = rule.any_of().iter().copied().find(|branch| self.walk.fits(*branch, value));
                    if let Some(branch) = fitting {
                        self.gather(branch, value, applied);
                    }
                }
            }
            Node::Any | Node::Never | Node::Same(_) => applied.is_complete = false,
        }
    }
}

fn expects(typed: &TypeRules, key: MemberKey<'_>, at: usize) -> bool {
    typed.object.open == Openness::Declared || typed.object.find(&key.name(), at).is_some()
}
