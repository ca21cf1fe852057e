//! Rewriting of valid text for the type that reads it.
//!
//! A type receives only what its schema describes. Where the schema demands an integer, one written as `3.0` or `1e3`
//! becomes one, as many types accept no others; elsewhere a float stays one, keeps its sign, and selects the variant that
//! serde would select. Of duplicate keys the last one is kept; and if the schema was generated from the type, keys
//! that it does not declare are removed, because the type could take one for an alias that the schema does not describe.

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
    let edits = Edits::find(arena, id, document, budget)?;
    Ok(edits.change(document).then(|| edits.apply(document)))
}

/// Returns the text with every integer written as one, wherever it is, or `None` if that is the original text. It is
/// for types that take no float where their schema allows one.
pub(super) fn with_all_integers(document: &Document<'_>) -> Option<String> {
    let integers: HashSet<u32> = if document.has_integral_float() {
        document.values().filter(|value| integer(*value).is_some()).map(Instance::id).collect()
    } else {
        HashSet::new()
    };
    let edits = Edits { integers, ..Edits::default() };
    (!edits.integers.is_empty()).then(|| edits.apply(document))
}

/// Returns the text with every number that has a point or an exponent rounded to a float, or `None` if nothing changes.
///
/// A type that reads a float receives the rounded number, so that number must be valid as well.
pub(super) fn rounded(document: &Document<'_>) -> Option<String> {
    if !document.has_inexact_float() {
        return None;
    }
    let each = document.values().filter_map(|value| Some((value.id(), as_float(value)?)));
    let edits = Edits::replacing(each.collect());
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
    Edits::find(arena, id, document, budget).is_ok_and(|edits| !edits.change(document))
}

/// The changes to make when a document is written.
#[derive(Debug, Default)]
pub(super) struct Edits {
    /// Keys that are removed with their values.
    removed: HashSet<u32>,
    /// Replacement text for values.
    replaced: HashMap<u32, String>,
    /// Integers that were written as floats and are written as integers.
    integers: HashSet<u32>,
}

impl Edits {
    /// Creates the changes that replace the text of values.
    pub(super) fn replacing(replaced: HashMap<u32, String>) -> Self {
        Self { replaced, ..Self::default() }
    }

    /// Finds the changes that give a valid document the form that its type should receive.
    fn find(arena: &Arena, id: NodeId, document: &Document<'_>, budget: &mut WorkBudget) -> Result<Self, BudgetSpent> {
        let mut edits = Self::default();
        if arena.is_from_type() || document.has_integral_float() {
            let mut walk = Walk::over_valid(arena, budget);
            let has_floats = document.has_integral_float();
            EditSearch { walk: &mut walk, edits: &mut edits, has_floats }.collect(&Nodes::of(id), document.root());
        }
        // A search that ran out of budget has found only some of the changes.
        if budget.is_spent() { Err(BudgetSpent) } else { Ok(edits) }
    }

    fn change(&self, document: &Document<'_>) -> bool {
        !self.removed.is_empty()
            || !self.replaced.is_empty()
            || !self.integers.is_empty()
            || document.duplicates().len() > 0
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
            JsonType::Null | JsonType::Boolean | JsonType::Number | JsonType::String => {
                match integer(value).filter(|_| self.integers.contains(&value.id())) {
                    Some(digits) => text.push_str(&digits),
                    None => text.push_str(value.raw()),
                }
            }
        }
    }
}

/// Returns the digits of an integer that was written as a float, if a machine integer can represent it.
fn integer(value: Instance<'_>) -> Option<String> {
    let number = value.number().filter(|_| value.is_float() || value.raw() == "-0")?;
    number.to_i128().map(|integer| integer.to_string()).or_else(|| Some(number.to_u128()?.to_string()))
}

/// A search for the changes: keys that have no field in the type a schema was generated from, and integers that were
/// written as floats.
struct EditSearch<'w, 'a, 'b> {
    walk: &'w mut Walk<'a, 'b>,
    edits: &'w mut Edits,
    /// Set if there is any integer that was written as a float.
    has_floats: bool,
}

/// The nodes that apply to one value.
struct Nodes {
    /// Those of the alternatives that were chosen first, and of everything outside of alternatives.
    first: Vec<NodeId>,
    /// Those of further alternatives that the value is valid for: its type may be read as one of these.
    further: Vec<NodeId>,
}

impl Nodes {
    fn of(root: NodeId) -> Self {
        Self { first: vec![root], further: Vec::new() }
    }
}

/// The rules that apply to one value.
#[derive(Default)]
struct AppliedRules<'a> {
    typed: Vec<&'a TypeRules>,
    /// The nodes that were visited: several paths may lead to one.
    visited: Vec<NodeId>,
    /// Set if a node without rules by type was visited, so that `typed` does not hold all rules.
    is_incomplete: bool,
    /// The nodes of further alternatives that the value is valid for.
    further: Vec<NodeId>,
}

impl AppliedRules<'_> {
    fn demand_integers(&self) -> bool {
        self.typed.iter().any(|typed| typed.integers_only())
    }

    fn allow_floats(&self) -> bool {
        self.is_incomplete || self.typed.iter().any(|typed| !typed.integers_only())
    }
}

impl<'a> EditSearch<'_, 'a, '_> {
    fn collect(&mut self, nodes: &Nodes, value: Instance<'_>) {
        let is_sought = match value.kind() {
            JsonType::Array | JsonType::Object => true,
            JsonType::Number => self.has_floats && integer(value).is_some(),
            JsonType::Null | JsonType::Boolean | JsonType::String => false,
        };
        if !is_sought || !self.walk.work(1) {
            return;
        }
        let mut applied = AppliedRules::default();
        nodes.first.iter().for_each(|id| self.gather(*id, value, &mut applied));
        let mut further = AppliedRules::default();
        let ahead = nodes.further.iter().chain(&std::mem::take(&mut applied.further)).copied().collect::<Vec<_>>();
        for id in ahead {
            self.gather_all(id, value, &mut further);
        }
        match value.kind() {
            JsonType::Array => {
                for (at, item) in value.items().enumerate() {
                    if !self.walk.work(applied.typed.len() + further.typed.len()) {
                        return;
                    }
                    let of =
                        |rules: &AppliedRules<'a>| rules.typed.iter().map(|typed| typed.array.element(at)).collect();
                    self.collect(&Nodes { first: of(&applied), further: of(&further) }, item);
                }
            }
            JsonType::Object => self.collect_members(&applied, &further, value),
            _ if applied.demand_integers() && !further.allow_floats() => drop(self.edits.integers.insert(value.id())),
            _ => {}
        }
    }

    fn collect_members(&mut self, applied: &AppliedRules<'a>, further: &AppliedRules<'a>, value: Instance<'_>) {
        let declares = self.walk.arena.is_from_type()
            && !applied.is_incomplete
            && applied.typed.iter().any(|typed| typed.object.open == Openness::Implied);
        for (at, (key, member)) in value.members().enumerate() {
            if !self.walk.work(applied.typed.len() + further.typed.len()) {
                return;
            }
            if declares && !applied.typed.iter().any(|typed| expects(typed, key, at)) {
                self.edits.removed.insert(key.id());
                continue;
            }
            let node = |typed: &&'a TypeRules| {
                let rule = &typed.object;
                rule.find(&key.name(), at).map_or(rule.additional, |found| rule.properties[found].node)
            };
            let of = |rules: &AppliedRules<'a>| rules.typed.iter().map(node).collect();
            self.collect(&Nodes { first: of(applied), further: of(further) }, member);
        }
    }

    /// Collects the rules of a node, of alternatives those of the first that the value is valid for.
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
                    let mut branches = rule.any_of().iter().copied();
                    if let Some(branch) = branches.find(|branch| self.walk.fits(*branch, value)) {
                        self.gather(branch, value, applied);
                    }
                    if self.has_floats {
                        applied.further.extend(branches.filter(|branch| self.walk.fits(*branch, value)));
                    }
                }
            }
            Node::Any | Node::Never | Node::Same(_) => applied.is_incomplete = true,
        }
    }

    /// Collects the rules of a node and of all alternatives in it that the value is valid for.
    fn gather_all(&mut self, id: NodeId, value: Instance<'_>, applied: &mut AppliedRules<'a>) {
        self.gather(id, value, applied);
        while let Some(next) = applied.further.pop() {
            self.gather(next, value, applied);
        }
    }
}

fn expects(typed: &TypeRules, key: MemberKey<'_>, at: usize) -> bool {
    typed.object.open == Openness::Declared || typed.object.find(&key.name(), at).is_some()
}
